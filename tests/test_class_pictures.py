"""Pictures of a class: the average or medoid beside members, in the plot, the report and the explorer."""

from __future__ import annotations

import base64
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest

import rwk
from rwk.gram.matrix_file import save_gram

pytest.importorskip("matplotlib")

from rwk.report import plot_class
from rwk.report.writing import write_report
from test_averages import copies


@pytest.fixture(scope="module")
def members() -> rwk.GraphSet:
    """Six noisy copies of each of two graphs, as two classes."""
    kinds = [nx.path_graph(7), nx.star_graph(6)]
    graphs = rwk.as_graphs([copy for kind in kinds for copy in copies(kind, 6, moved=1, deleted=1, seed=1)])
    return replace(graphs, targets=np.repeat(["path", "star"], 6))


def lines_of(ax, colour):
    from matplotlib.colors import to_rgba

    found = [c for c in ax.collections if len(c.get_edgecolors()) and tuple(c.get_edgecolors()[0]) == to_rgba(colour)]
    return sum(len(c.get_segments()) for c in found if hasattr(c, "get_segments"))


def test_edges_that_the_average_lacks_are_marked():
    graphs = [nx.path_graph(5), nx.path_graph(5), nx.cycle_graph(5)]
    average = rwk.barycenter(graphs, n_nodes=5, n_starts=1)
    assert average.graph.n_edges == 4
    axes = plot_class(average, graphs, title="paths")
    assert axes[0].get_title(loc="left") == "paths"
    titles = [ax.get_title(loc="left") for ax in axes[1:]]
    assert titles[-1] == "graph 2"  # the cycle is farthest
    assert [lines_of(ax, "#d9711c") for ax in axes[1:]] == [0, 0, 1]


def test_matched_nodes_are_drawn_where_the_average_has_them():
    graphs = [nx.path_graph(6), nx.relabel_nodes(nx.path_graph(6), {i: 5 - i for i in range(6)})]
    average = rwk.barycenter(graphs, n_nodes=6, n_starts=1)
    axes = plot_class(average, graphs)
    dots = [next(c for c in ax.collections if c.get_gid() == "nodes").get_offsets() for ax in axes]
    order = np.argsort(average.values, kind="stable")
    for drawn, i in zip(dots[1:], order, strict=True):
        pairs = average.matchings[i]
        assert np.allclose(drawn[pairs[:, 1]], dots[0][pairs[:, 0]])


def test_a_medoid_is_drawn_beside_members(members):
    medoid = rwk.medoid(members[:6])
    axes = plot_class(members[medoid], members[:6])
    assert len(axes) == 6
    assert axes[0].get_title(loc="left") == "medoid"
    with pytest.raises(ValueError, match="1 couplings were given for 6 members"):
        plot_class(members[medoid], members[:6], couplings=[np.eye(7)])


def test_other_members_are_one_sentence(members):
    average = rwk.barycenter(members[:3], n_starts=1, max_iter=1)
    with pytest.raises(ValueError, match="6 members were given for an average of 3"):
        plot_class(average, members[:6])


def test_report_shows_each_class(members, tmp_path):
    matrix = save_gram(tmp_path / "K.npz", rwk.pairwise_discrepancy(members), rwk.Parameters(), targets=members.targets)
    page = write_report(matrix, tmp_path / "report.html", graphs=members)[0].read_text(encoding="utf-8")
    assert "<h2>Classes" in page or ">Classes<" in page
    for label in ("path", "star"):
        assert f"Class {label}: graph " in page


def test_explorer_shows_the_medoid_first(members):
    pytest.importorskip("dash")
    from rwk.explore.class_view import class_items, class_keys
    from rwk.explore.state import Explorer

    explorer = Explorer(members)
    keys = class_keys(explorer, "star")
    inside = explorer.discrepancy[6:, 6:]
    assert int(keys[0]) == 6 + int(inside.sum(axis=0).argmin())
    assert set(map(int, keys)) == set(range(6, 12))
    assert class_keys(explorer, "ring") == []
    items = class_items(explorer, "star")
    assert [item.children.id["key"] for item in items] == keys
    image, caption = items[0].children.children
    svg = base64.b64decode(image.src.partition(",")[2]).decode()
    assert svg.count("<circle") == members[int(keys[0])].n_nodes
    assert svg.count("<line") == members[int(keys[0])].n_edges
    assert caption.children[0].children == "medoid, "


def test_a_click_on_a_member_makes_it_the_second_graph(members):
    pytest.importorskip("dash")
    from rwk.explore.choosing import choose
    from rwk.explore.state import Explorer

    chosen = {"a": "0", "b": "1", "next": "a"}
    found = choose(Explorer(members), chosen, {"kind": "member", "key": "7"}, {})
    assert found.chosen == {**chosen, "b": "7"}
