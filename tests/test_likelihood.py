"""The criteria that choose the hyperparameters of a Gaussian process: values, gradients, and optima."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from rwk.learn.likelihood import (
    CRITERIA,
    GP_TREATMENTS,
    Hyperparameters,
    Problem,
    Term,
    leave_one_out,
    marginal_likelihood,
    optimise,
    total_kernel,
    treated_kernel,
)

N = 24


@pytest.fixture(scope="module")
def problem() -> Problem:
    """Three terms, of which the second makes the sum indefinite."""
    draw = np.random.default_rng(0)
    places = draw.normal(size=(N, 3))
    smooth = np.linalg.norm(places[:, None] - places, axis=-1)
    rough = draw.random((N, N))
    rough = (rough + rough.T) * (1 - np.eye(N))
    factors = draw.normal(size=(N, 4))
    terms = [Term(smooth / smooth.mean(), True), Term(rough / rough.mean(), True), Term(factors @ factors.T, False)]
    return Problem(terms, draw.normal(size=N), np.linspace(0.01, 0.2, N))


THETA = np.array([-1.0, 1.0, -3.0, 0.2, -1.0, -1.0])


def test_the_fixture_is_indefinite(problem: Problem) -> None:
    kernel = total_kernel(problem.terms, Hyperparameters.unpacked(THETA, problem.terms))
    assert treated_kernel(kernel, "clip").negative_share > 1e-3


@pytest.mark.parametrize("treatment", GP_TREATMENTS)
@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_gradient_is_that_of_finite_differences(problem: Problem, treatment: str, criterion: str) -> None:
    problem = problem._replace(treatment=treatment, criterion=criterion)
    _, gradient = problem.evaluate(THETA)
    step = 1e-5
    numeric = [
        (problem.evaluate(THETA + step * axis)[0] - problem.evaluate(THETA - step * axis)[0]) / (2 * step)
        for axis in np.eye(len(THETA))
    ]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-6, atol=1e-7)


def test_the_likelihood_is_that_of_a_normal_distribution(problem: Problem) -> None:
    covariance = problem.terms[2].matrix + np.eye(N)
    expected = multivariate_normal(np.zeros(N), covariance).logpdf(problem.targets)
    assert marginal_likelihood(covariance, problem.targets).value == pytest.approx(expected)


def test_leaving_one_out_is_predicting_it_from_the_others(problem: Problem) -> None:
    covariance, targets = problem.terms[2].matrix + np.eye(N), problem.targets
    total = 0.0
    for i in range(N):
        others = np.delete(np.arange(N), i)
        weights = np.linalg.solve(covariance[np.ix_(others, others)], covariance[others, i])
        variance = covariance[i, i] - weights @ covariance[others, i]
        total += multivariate_normal(weights @ targets[others], variance).logpdf(targets[i])
    assert leave_one_out(covariance, targets).value == pytest.approx(total)


def test_a_positive_kernel_is_not_treated(problem: Problem) -> None:
    kernel = problem.terms[2].matrix  # of rank 4: rounding must not count as negative
    assert treated_kernel(kernel, "clip").kernel is kernel
    assert treated_kernel(kernel, "clip").removed.shape == (N, 0)


def test_clip_and_shift_leave_no_negative_eigenvalue(problem: Problem) -> None:
    kernel = problem.terms[1].kernel(1.0) - 0.5 * np.eye(N)
    assert np.linalg.eigvalsh(kernel)[0] < -0.1
    for treatment in GP_TREATMENTS:
        treated = treated_kernel(kernel, treatment)
        assert np.linalg.eigvalsh(treated.kernel)[0] > -1e-12
    clipped = treated_kernel(kernel, "clip")
    project = np.eye(N) - clipped.removed @ clipped.removed.T
    np.testing.assert_allclose(kernel @ project, clipped.kernel, atol=1e-12)


def test_logarithms_and_back(problem: Problem) -> None:
    chosen = Hyperparameters((0.5, 0.25, 2.0), (1.5, 0.7, 1.0), 0.01)
    theta = chosen.packed(problem.terms)
    assert len(theta) == 6  # the kernel has no η
    np.testing.assert_allclose(np.hstack(Hyperparameters.unpacked(theta, problem.terms)), np.hstack(chosen))


def test_the_optimum_has_no_slope_and_more_starts_are_no_worse(problem: Problem) -> None:
    draw = np.random.default_rng(1)
    kernel = problem.terms[0].kernel(1.0)
    targets = np.linalg.cholesky(kernel + 0.1 * np.eye(N)) @ draw.normal(size=N)
    easy = Problem(problem.terms[:1], targets, np.zeros(N))
    one, three = (optimise(easy, n_starts=n, seed=0) for n in (1, 3))
    assert len(three.starts) == 3
    assert three.starts[0] == one.value
    assert three.value >= one.value
    _, slope = easy.evaluate(three.chosen.packed(easy.terms))
    inside = [low < at < high for at, (low, high) in zip(three.chosen.packed(easy.terms), easy.bounds(), strict=True)]
    assert np.abs(slope[inside]).max() < 0.05
