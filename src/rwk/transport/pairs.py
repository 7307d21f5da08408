"""Many pairs: which orientation, which backend.

`solve_pairs` puts every pair into an orientation that depends on the two graphs alone, so a matrix is exactly
symmetric and a part of it equals the whole, and hands the list to a backend.
"""

from __future__ import annotations

import importlib
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rwk.runtime.backends import backend_name
from rwk.runtime.threads import Ticker
from rwk.transport.measures import GraphMeasures, measure_digests
from rwk.transport.problem import NO_START, CostWeights, PairResults, PairSolution, ScgOptions

# name -> module with run_pairs() and run_pair(); imported on use
_BACKENDS: Final = {
    "cpu": "rwk.transport.cpu.dispatch",
    "gpu": "rwk.transport.gpu",
    "exact": "rwk.transport.exact",
}


def solve_pairs(
    measures: GraphMeasures,
    pairs: NDArray[np.int64],
    weights: CostWeights,
    options: ScgOptions,
    *,
    backend: str = "cpu",
    n_jobs: int | None = None,
    tick: Ticker | None = None,
    ranks: NDArray[np.int64] | None = None,
) -> PairResults:
    """Solve the listed pairs (rows of two graph numbers) in their canonical orientation.

    With unequal Laplacian weights the two orientations are different problems: their mean is returned. `ranks` are
    the `content_ranks` of the measures, for who calls many times or gives them in another precision: those of the
    measures as they were made orient a pair alike in both.
    """
    run = backend_named(backend).run_pairs
    oriented = orient(measures, pairs, ranks)
    first = run(measures, oriented, weights, options, n_jobs=n_jobs, tick=tick)
    if weights.beta_local == 0 or weights.laplacian_source == weights.laplacian_target:
        return PairResults(*first)
    second = PairResults(*run(measures, oriented[:, ::-1].copy(), weights, options, n_jobs=n_jobs, tick=tick))
    return PairResults(
        0.5 * (first.values + second.values),
        np.maximum(first.n_iter, second.n_iter),
        np.maximum(first.gaps, second.gaps),
        first.converged & second.converged,
    )


def solve_pair(
    measures: GraphMeasures,
    a: int,
    b: int,
    weights: CostWeights,
    options: ScgOptions,
    *,
    backend: str = "cpu",
    trace: bool = False,
    start: NDArray[np.float64] = NO_START,
) -> PairSolution:
    """Solve graphs a and b in this order, coupling included; on a GPU from mu nu^T alone."""
    elsewhere = {"start": start} if start.size else {}
    solution: PairSolution = backend_named(backend).run_pair(measures, a, b, weights, options, trace=trace, **elsewhere)
    return solution


def backend_named(name: str) -> Any:
    """The module that runs pairs: it has `run_pairs` and `run_pair`."""
    return importlib.import_module(_BACKENDS[backend_name(name)])


def orient(
    measures: GraphMeasures, pairs: NDArray[np.int64], ranks: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Each pair with the smaller graph first; content, never position, decides between equal sizes."""
    ranks = content_ranks(measures) if ranks is None else ranks
    swap = ranks[pairs[:, 0]] > ranks[pairs[:, 1]]
    return np.where(swap[:, None], pairs[:, ::-1], pairs).astype(np.int64)


def content_ranks(measures: GraphMeasures) -> NDArray[np.int64]:
    """Rank of each graph by size, then by a digest of its measure; graphs of equal content share a rank."""
    keys = [
        int(size).to_bytes(8, "big") + digest
        for size, digest in zip(measures.sizes, measure_digests(measures), strict=True)
    ]
    _, ranks = np.unique(np.array(keys, dtype="S24"), return_inverse=True)
    return ranks.astype(np.int64)
