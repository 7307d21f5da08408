"""Baselines against independent implementations: GraKeL for kernels on counts, POT for transport."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from baseline_graphs import random_set, to_grakel, without
from rwk import baselines
from rwk.baselines.fused_gw_exact import fused_cost
from rwk.baselines.network_simplex import uniform_plan
from rwk.baselines.node_features import one_hot
from rwk.graphs.colours import wl_colours

GRAPHS = random_set(1, 16, low=8, high=16)
LABELLED = without(GRAPHS, "node_attributes")


def grakel_kernel(name: str, **parameters: Any) -> Any:
    kernels = pytest.importorskip("grakel.kernels", reason="GraKeL is not installed (extra: baselines)")
    return getattr(kernels, name)(**parameters)


@pytest.mark.parametrize("rounds", [0, 1, 4])
@pytest.mark.parametrize("normalize", [False, True])
def test_wl_agrees_with_grakel(rounds: int, normalize: bool) -> None:
    # GraKeL wants at least one round; its base kernel alone is round 0
    name, extra = ("WeisfeilerLehman", {"n_iter": rounds}) if rounds else ("VertexHistogram", {})
    wanted = grakel_kernel(name, normalize=normalize, **extra).fit_transform(to_grakel(LABELLED))
    found = baselines.get("wl", rounds=rounds, normalize=normalize).fit_transform(LABELLED)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


@pytest.mark.parametrize("rounds", [1, 4])
@pytest.mark.parametrize("normalize", [False, True])
def test_wl_oa_agrees_with_grakel(rounds: int, normalize: bool) -> None:
    theirs = grakel_kernel("WeisfeilerLehmanOptimalAssignment", n_iter=rounds, normalize=normalize)
    wanted = theirs.fit_transform(to_grakel(LABELLED))
    found = baselines.get("wl-oa", rounds=rounds, normalize=normalize).fit_transform(LABELLED)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_ghk_linear_agrees_with_grakel() -> None:
    wanted = grakel_kernel("GraphHopper").fit_transform(to_grakel(GRAPHS, attributes=True))
    found = baselines.get("ghk", standardize=False, normalize=False).fit_transform(GRAPHS)
    np.testing.assert_allclose(found, wanted, rtol=1e-9)


def test_ghk_gaussian_agrees_with_grakel() -> None:
    width = GRAPHS.node_attributes.shape[1]
    theirs = grakel_kernel("GraphHopper", kernel_type=("gaussian", 1 / width))
    wanted = theirs.fit_transform(to_grakel(GRAPHS, attributes=True))
    ours = baselines.get("ghk", node_kernel="gaussian", standardize=False, normalize=False)
    np.testing.assert_allclose(ours.fit_transform(GRAPHS), wanted, rtol=1e-9)


def test_ghk_dirac_is_grakels_linear_kernel_of_one_hot_labels() -> None:
    coded = replace(GRAPHS, node_attributes=one_hot(GRAPHS.node_labels, np.unique(GRAPHS.node_labels)))
    wanted = grakel_kernel("GraphHopper", normalize=True).fit_transform(to_grakel(coded, attributes=True))
    np.testing.assert_allclose(baselines.get("ghk").fit_transform(LABELLED), wanted, rtol=1e-9)


@pytest.mark.parametrize(("distance", "theirs"), [("l1", "TV"), ("l2", "H")])
def test_pk_of_labels_agrees_with_grakel_for_its_draws(distance: str, theirs: str) -> None:
    source = grakel_kernel("Propagation", M=theirs, t_max=4, random_state=3)
    wanted = source.fit_transform(to_grakel(LABELLED))
    at = [source._enum_labels[label] for label in sorted(source._enum_labels)]
    kernel = baselines.get("pk", rounds=3, distance=distance, normalize=False)
    kernel._label_draws = lambda labels: (np.array(source._u)[:, at], np.array(source._b))
    np.testing.assert_allclose(kernel.fit_transform(LABELLED), wanted, rtol=1e-12)


@pytest.mark.parametrize(("distance", "theirs"), [("l1", "L1"), ("l2", "L2")])
def test_pk_of_attributes_agrees_with_grakel_for_its_draws(distance: str, theirs: str) -> None:
    source = grakel_kernel("PropagationAttr", M=theirs, t_max=4, w=0.5, random_state=3)
    wanted = source.fit_transform(to_grakel(GRAPHS, attributes=True))
    kernel = baselines.get("pk", rounds=3, distance=distance, width=0.5, normalize=False)
    kernel._attribute_draws = lambda: (np.array(source._u), np.array(source._b))
    np.testing.assert_allclose(kernel.fit_transform(GRAPHS), wanted, rtol=1e-12)


@pytest.mark.parametrize("levels", [0, 1, 3])
@pytest.mark.parametrize("rounds", [0, 2])
def test_wl_pm_agrees_with_grakel(levels: int, rounds: int) -> None:
    # GraKeL's value for L is ours for L − 1 levels plus half of its own value for L − 1. It takes eigenvectors in the
    # order ARPACK leaves them, which is sure only for two of them.
    def theirs(depth: int) -> Any:
        matrices = pytest.importorskip("grakel.kernels", reason="GraKeL is not installed (extra: baselines)")
        base = (matrices.PyramidMatch, {"L": depth, "d": 2})
        kernel = matrices.WeisfeilerLehman(n_iter=rounds, base_graph_kernel=base)
        return (kernel if rounds else base[0](**base[1])).fit_transform(to_grakel(LABELLED))

    wanted = theirs(levels + 1) - (theirs(levels) / 2 if levels else 0.0)
    ours = baselines.get("wl-pm", rounds=rounds, levels=levels, dimension=2, normalize=False)
    np.testing.assert_allclose(ours.fit_transform(LABELLED), wanted, rtol=1e-9)


@pytest.mark.parametrize("seed", range(40))
def test_transport_agrees_with_pot(seed: int) -> None:
    ot = pytest.importorskip("ot", reason="POT is not installed (extra: baselines)")
    rng = np.random.default_rng(seed)
    n, m = rng.integers(1, 40, 2)
    # few distinct costs make many ties
    cost = rng.normal(size=(n, m)) if seed % 2 else rng.integers(0, 4, (n, m)).astype(float)
    plan = uniform_plan(cost)
    np.testing.assert_allclose(plan.sum(axis=1), 1 / n, atol=1e-12)
    np.testing.assert_allclose(plan.sum(axis=0), 1 / m, atol=1e-12)
    wanted = ot.emd2(np.full(n, 1 / n), np.full(m, 1 / m), cost)
    np.testing.assert_allclose((plan * cost).sum(), wanted, atol=1e-12)


def test_wwl_of_labels_agrees_with_pot() -> None:
    ot = pytest.importorskip("ot", reason="POT is not installed (extra: baselines)")
    colours, at = wl_colours(LABELLED, 3), LABELLED.node_offsets
    found = baselines.get("wwl", rounds=3).fit(LABELLED).discrepancy()
    for i, j in np.ndindex(5, 5):
        a, b = colours[:, at[i] : at[i + 1]], colours[:, at[j] : at[j + 1]]
        cost = (a[:, :, None] != b[:, None, :]).mean(axis=0)
        wanted = ot.emd2(np.full(len(cost), 1 / len(cost)), np.full(cost.shape[1], 1 / cost.shape[1]), cost)
        np.testing.assert_allclose(found[i, j], wanted, atol=1e-12)


def test_wwl_of_attributes_agrees_with_pot() -> None:
    ot = pytest.importorskip("ot", reason="POT is not installed (extra: baselines)")
    found = baselines.get("wwl", rounds=2, standardize=False).fit(GRAPHS).discrepancy()
    points = []
    for graph in list(GRAPHS)[:5]:
        walk = graph.adjacency().toarray()
        degrees = walk.sum(axis=1, keepdims=True)
        rounds = [graph.node_attributes]
        for _ in range(2):
            x = rounds[-1]
            mean = np.where(degrees > 0, walk @ x / np.maximum(degrees, 1), x)
            rounds.append((x + mean) / 2)
        points.append(np.concatenate(rounds, axis=1))
    for i, j in np.ndindex(5, 5):
        cost = ot.dist(points[i], points[j], metric="euclidean")
        wanted = ot.emd2(np.full(len(cost), 1 / len(cost)), np.full(cost.shape[1], 1 / cost.shape[1]), cost)
        np.testing.assert_allclose(found[i, j], wanted, atol=1e-7)


@pytest.mark.parametrize("alpha", [0.05, 0.3, 0.8, 1.0])
def test_fgw_agrees_with_pot(alpha: float) -> None:
    ot = pytest.importorskip("ot", reason="POT is not installed (extra: baselines)")
    rng = np.random.default_rng(5)
    for _ in range(10):
        n, m = rng.integers(4, 12, 2)
        x, y, z, w = (rng.normal(size=(size, 2)) for size in (n, m, n, m))
        cost, c, d = ot.dist(x, y), ot.dist(z, z, metric="euclidean"), ot.dist(w, w, metric="euclidean")
        found = fused_cost(cost, c, d, alpha)
        wanted = ot.gromov.fused_gromov_wasserstein2(cost, c, d, alpha=alpha, tol_rel=1e-12, tol_abs=1e-12)
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
