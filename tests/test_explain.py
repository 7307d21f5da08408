"""Explanations: they find the answer on data with a known one, and their parts add up."""

from __future__ import annotations

import numpy as np
import pytest

from rwk import IndefiniteSVC, RWKernel, load_dataset
from rwk.datasets.synthetic import MOTIF_SIZE, planted_motif
from rwk.learn.explain import explain
from rwk.report import plot_explanation, plot_importances


@pytest.fixture(scope="module")
def planted():
    graphs, motifs = planted_motif(50)
    train = np.arange(34)
    kernel = RWKernel()
    classifier = IndefiniteSVC(C=100.0).fit(kernel.fit_transform(graphs[train]), graphs.targets[train])
    held_out = [i for i in range(34, 50) if graphs.targets[i] == 1]
    found = {i: explain(kernel, classifier, graphs[train], graphs[i]) for i in held_out}
    return graphs, motifs, kernel, classifier, found


def test_planted_motif_nodes_matter_most(planted):
    _, motifs, _, _, found = planted
    right = [i for i, why in found.items() if why.predicted == 1]
    assert len(right) >= 7
    hits = [len(set(found[i].top_nodes(MOTIF_SIZE)) & set(motifs[i].tolist())) / MOTIF_SIZE for i in right]
    assert np.mean(hits) >= 0.8


def test_pulls_and_intercept_add_up_to_the_decision(planted):
    graphs, _, kernel, classifier, found = planted
    i = next(iter(found))
    everything = explain(kernel, classifier, graphs[np.arange(34)], graphs[i], n_supports=34)
    decision = classifier.decision_function(kernel.transform([graphs[i]]))[0]
    assert everything.margin == pytest.approx(abs(decision))
    pulls = sum(support.pull for support in everything.supports)
    assert pulls + classifier.intercept_[0] == pytest.approx(decision)
    assert everything.covered == pytest.approx(1.0)


def test_importances_add_up_to_the_difference_of_mean_discrepancies(planted):
    why = next(iter(planted[-1].values()))
    means = [
        np.average([s.solution.value for s in side], weights=[abs(s.pull) for s in side])
        for side in (why.away(), why.towards())
    ]
    assert why.importances.sum() == pytest.approx(means[0] - means[1])


def test_payments_of_either_side_sum_to_the_value(planted):
    for support in next(iter(planted[-1].values())).supports:
        for paid in support.solution.paid:
            assert paid.sum() == pytest.approx(support.solution.value, rel=1e-9)


def test_more_than_two_classes_name_the_runner_up():
    graphs, _ = planted_motif(18)
    targets = np.array(["a", "b", "c"])[np.arange(18) % 3]
    kernel = RWKernel()
    classifier = IndefiniteSVC(C=10.0).fit(kernel.fit_transform(graphs), targets)
    why = explain(kernel, classifier, graphs, graphs[0], n_supports=2)
    assert why.predicted == classifier.predict(kernel.transform([graphs[0]]))[0]
    assert why.rival in {"a", "b", "c"} - {why.predicted}


def test_wrong_graphs_are_one_sentence(planted):
    graphs, _, kernel, classifier, _ = planted
    with pytest.raises(ValueError, match="fitted on 34 graphs, but 3 were given"):
        explain(kernel, classifier, graphs[:3], graphs[0])


def test_figure_marks_the_motif(planted, tmp_path):
    _, motifs, _, _, found = planted
    i, why = next((i, why) for i, why in found.items() if why.predicted == 1)
    axes = plot_explanation(why, marked=motifs[i])
    halos = [c for c in axes[0].collections if len(c.get_offsets()) == MOTIF_SIZE]
    assert halos
    axes[0].figure.savefig(tmp_path / "planted.png", dpi=60)
    assert (tmp_path / "planted.png").stat().st_size > 10_000


def test_importance_picture_colours_every_node():
    graphs = load_dataset("MUTAG")[:20]
    kernel = RWKernel()
    classifier = IndefiniteSVC(C=10.0).fit(kernel.fit_transform(graphs), graphs.targets)
    why = explain(kernel, classifier, graphs, graphs[3], n_supports=2)
    nodes = next(c for c in plot_importances(why).collections if c.get_gid() == "nodes")
    assert len(nodes.get_facecolors()) == graphs[3].n_nodes
    assert len(np.unique(nodes.get_facecolors(), axis=0)) > 3
