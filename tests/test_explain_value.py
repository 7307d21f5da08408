"""Explanations of values: parts add up, and they find the contributions of the nodes where these are known."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from scipy.stats import spearmanr

from rwk import RWKernel, RWKGaussianProcess, as_graphs
from rwk.learn.explain_value import explain_value, explain_value_left_out
from rwk.parameters import Parameters
from rwk.report import plot_explanation

WORTH = {"a": 2.0, "b": 0.7, "c": -0.5, "d": -1.6}
ONE = {"one": {"wl_rounds": 0, "beta_local": 0.0, "beta_global": 0.0, "debias": True}}


def labelled_trees(n, seed=0):
    """Trees whose value is the sum of what their nodes are worth."""
    draw = np.random.default_rng(seed)
    graphs, worth = [], []
    for _ in range(n):
        size = int(draw.integers(6, 11))
        tree = nx.Graph([(i, int(draw.integers(0, i))) for i in range(1, size)])
        labels = draw.choice(list(WORTH), size)
        nx.set_node_attributes(tree, dict(enumerate(labels)), "label")
        graphs.append(tree)
        worth.append(np.array([WORTH[labels[node]] for node in tree.nodes]))
    return as_graphs(graphs), worth


@pytest.fixture(scope="module")
def trees():
    return labelled_trees(70)


@pytest.fixture(scope="module")
def fitted(trees):
    graphs, worth = trees
    return RWKGaussianProcess(settings=ONE).fit(graphs[:60], [one.sum() for one in worth[:60]])


def correlation(process, graphs, worth):
    found = [explain_value(process, graphs[[i]], n_supports=1).contributions for i in range(60, 70)]
    return spearmanr(np.concatenate(found), np.concatenate(worth[60:])).statistic


def test_contributions_rank_nodes_by_what_they_are_worth(fitted, trees):
    graphs, worth = trees
    assert correlation(fitted, graphs, worth) >= 0.9


def test_alignments_alone_rank_nodes_by_what_they_are_worth(trees):
    """Without the kernel on the composition; a kernel on shares of nodes sees means, not sums."""
    graphs, worth = trees
    process = RWKGaussianProcess(settings=ONE, extensive=False)
    process.fit(graphs[:60], [one.mean() for one in worth[:60]])
    assert correlation(process, graphs, worth) >= 0.9


@pytest.mark.parametrize("method", ["exact", "landmarks"])
def test_contributions_add_up_to_the_prediction(trees, method):
    graphs, worth = trees
    process = RWKGaussianProcess(settings=ONE, method=method, n_landmarks=30)
    process.fit(graphs[:60], [one.sum() for one in worth[:60]])
    mean, std = process.predict(graphs[[61]], return_std=True)
    why = explain_value(process, graphs[[61]], n_supports=60)
    assert (why.predicted, why.std) == (pytest.approx(mean[0]), pytest.approx(std[0]))
    assert why.base + why.contributions.sum() == pytest.approx(why.predicted, abs=1e-4)
    assert why.rest == 0.0
    assert process.model_.target_mean + sum(s.pull for s in why.supports) == pytest.approx(why.predicted, abs=1e-4)
    assert why.covered == pytest.approx(1.0)


@pytest.mark.parametrize("debias", [False, True])
def test_payments_add_up_to_the_discrepancies(trees, debias):
    graphs, _ = trees
    kernel = RWKernel(debias=debias).fit(graphs[:5])
    paid = kernel.payments(graphs[6])
    assert paid.shape == (5, graphs[6].n_nodes)
    np.testing.assert_allclose(paid.sum(axis=1), kernel.discrepancy(graphs[[6]])[0], atol=2e-3)


def test_fingerprints_are_the_rest():
    pytest.importorskip("rdkit", reason="RDKit is not installed (extra: molecules)")
    smiles = ["C" * n + tail for n in range(1, 6) for tail in ("", "O", "Cl")]
    process = RWKGaussianProcess(settings=ONE, fingerprints="morgan")
    process.fit(smiles, [len(one) - 3.0 * ("O" in one) for one in smiles])
    why = explain_value(process, "CCCCCCO", n_supports=2)
    assert why.base + why.contributions.sum() + why.rest == pytest.approx(why.predicted)
    assert why.supports[0].title in smiles


def test_pictures_and_cards_speak_of_values(fitted, trees):
    graphs, _ = trees
    why = explain_value(fitted, graphs[[60]], n_supports=2)
    axes = plot_explanation(why, n_alignments=1)
    words = " ".join([axes[0].get_title(loc="left"), axes[1].get_xlabel(), why._repr_html_(), repr(why)])
    assert "class" not in words
    assert "pull up" in words
    assert f"Predicted {why.predicted:.3g} ±" in words


def test_supports_of_a_left_out_graph_are_numbered_as_in_the_set(trees):
    from dataclasses import replace

    graphs, worth = trees
    small = replace(graphs[:20], targets=np.array([one.sum() for one in worth[:20]]))
    why = explain_value_left_out(small, 3, Parameters(**ONE["one"]), n_supports=19)
    assert sorted(support.index for support in why.supports) == [i for i in range(20) if i != 3]
    assert all(support.target == pytest.approx(small.targets[support.index]) for support in why.supports)


def test_what_can_not_be_explained_is_one_sentence(fitted, trees):
    graphs, worth = trees
    with pytest.raises(ValueError, match="one graph can be explained at a time, but 2 were given"):
        explain_value(fitted, graphs[:2])
    ridge = RWKGaussianProcess(settings=ONE, method="features", n_landmarks=10)
    ridge.fit(graphs[:20], [one.sum() for one in worth[:20]])
    with pytest.raises(ValueError, match="method='features' can't be explained"):
        explain_value(ridge, graphs[[3]])
