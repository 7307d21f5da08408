"""The table of tolerances by backend and precision, and the assertions that use it."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

from rwk.transport.problem import PairSolution


class Tolerance(NamedTuple):
    """Largest relative error of values to the oracle, and largest absolute error of the marginals of couplings."""

    value: float
    marginal: float


TOLERANCES: Final = {
    ("cpu", "float64"): Tolerance(value=1e-9, marginal=1e-9),
    ("cpu", "float32"): Tolerance(value=1e-4, marginal=1e-6),
    ("gpu", "float32"): Tolerance(value=1e-4, marginal=1e-6),
}


def tolerance(precision: str = "float64", backend: str = "cpu") -> Tolerance:
    return TOLERANCES[backend, precision]


def assert_close(found: Any, wanted: Any, relative: float, *, scale: float | None = None, what: str = "") -> None:
    """Assert equality up to a relative error; it is relative to `scale`, or to the largest wanted number if None."""
    found, wanted = np.asarray(found, float), np.asarray(wanted, float)
    assert found.shape == wanted.shape, f"{what}: shape {found.shape}, wanted {wanted.shape}"
    if not wanted.size:
        return
    assert np.isfinite(found).all(), f"{what}: not finite"
    size = max(np.abs(wanted).max(), 1e-300) if scale is None else scale
    worst = np.abs(found - wanted).max() / size
    assert worst <= relative, f"{what}: off by {worst:.3g} of {size:.3g}, allowed {relative:.3g}"


def assert_marginals(coupling: Any, mu: Any, nu: Any, precision: str = "float64") -> None:
    """Assert that this is a coupling: not negative, with row sums mu and column sums nu."""
    allowed = tolerance(precision).marginal
    assert (coupling >= 0).all()
    assert np.abs(coupling.sum(axis=1) - mu).max() <= allowed
    assert np.abs(coupling.sum(axis=0) - nu).max() <= allowed


def assert_finite(solution: PairSolution) -> None:
    """Assert that nothing in a solution is NaN or infinite, and that its terms add up to the value."""
    assert np.isfinite(solution.coupling).all()
    assert np.isfinite([solution.value, solution.gap, *solution.terms.values()]).all(), solution
    assert_terms_add_up(solution)


def assert_terms_add_up(solution: PairSolution) -> None:
    size = sum(abs(term) for term in solution.terms.values())
    assert abs(sum(solution.terms.values()) - solution.value) <= 1e-12 * size
