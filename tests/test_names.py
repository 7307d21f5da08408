"""Names of graphs: which dicts are sets of named graphs, and that names survive to where graphs are listed."""

from __future__ import annotations

from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import rwk
from rwk import Graph, GraphError, GraphSet, as_graphs
from rwk.convert.recognise import is_named_set
from rwk.gram.matrix_file import save_gram
from rwk.report.cards import neighbours_card

NAMED = {"path": nx.path_graph(4), "star": nx.star_graph(4), "ring": nx.cycle_graph(5), "pan": nx.lollipop_graph(3, 2)}
MATRIX = np.array([[0, 1], [1, 0]])


@pytest.mark.parametrize(
    "data",
    [
        NAMED,
        {"a": Graph(2, np.array([[0, 1]]))},
        {"a": MATRIX, "b": MATRIX},
        {"a": [[0, 1], [1, 0]]},
        {"a": (MATRIX, ["C", "O"])},
        {"a": ({(0, 1)}, {0: "C", 1: "O"}, {})},
        {"ethanol": "CCO"},
        {"a": {0: [1], 1: [0]}, "b": {0: [1, 2], 1: [0], 2: [0]}},
        {0: nx.path_graph(2), 1: nx.path_graph(3)},
    ],
)
def test_dict_of_graphs_is_a_named_set(data: dict[object, object]) -> None:
    if not any(isinstance(value, str) for value in data.values()):
        assert as_graphs(data).names == tuple(map(str, data))
    assert is_named_set(data)


@pytest.mark.parametrize(
    "data",
    [
        {0: [1, 2], 1: [0], 2: [0]},
        {0: {1, 2}, 1: {0}, 2: {0}},
        {0: (1, 2), 1: (0,), 2: (0,)},
        {0: {1: 2.0}, 1: {0: 2.0}},
        {(0, 1): 2.5, (1, 0): 2.5},
        {"a": ["b"], "b": ["a"]},
        {0: np.array([1]), 1: np.array([0])},
    ],
)
def test_dict_of_neighbours_or_weights_is_one_graph(data: dict[object, object]) -> None:
    graphs = as_graphs(data)
    assert len(graphs) == 1
    assert graphs.names is None


def test_tuples_that_name_nodes_are_not_taken_for_edges() -> None:
    assert not is_named_set({(0, 0): [(0, 1), (1, 0)], (0, 1): [(0, 0)], (1, 0): [(0, 0)]})
    assert not is_named_set({(0, 0): {(0, 1): 1.0}, (0, 1): {(0, 0): 1.0}})


def test_node_link_dict_is_not_a_named_set() -> None:
    assert not is_named_set({"directed": False, "name": "karate", "nodes": [{"id": 0}], "links": []})


def test_names_and_graphs_must_agree() -> None:
    with pytest.raises(GraphError, match="'many' holds 2 graphs; give one graph per name"):
        as_graphs({"many": as_graphs([MATRIX, MATRIX])})
    with pytest.raises(GraphError, match="graph 1 is None"):
        as_graphs({"a": MATRIX, "b": None})
    graphs = GraphSet.from_graphs([Graph(1, np.empty((0, 2), int))], names=["a", "b"])
    with pytest.raises(GraphError, match="names: 2 given for 1 graphs"):
        as_graphs(graphs)


def test_slicing_and_joining_keep_names() -> None:
    graphs = as_graphs(NAMED)
    assert graphs[1:3].names == ("star", "ring")
    assert graphs[[3, 0]].names == ("pan", "path")
    assert graphs["ring"].n_nodes == 5
    assert [graphs.title(1), as_graphs([MATRIX]).title(0)] == ["star", "graph 0"]
    with pytest.raises(KeyError, match="no graph is named 'wheel'"):
        graphs["wheel"]
    assert as_graphs([graphs[:2], graphs[2:]]).names == graphs.names
    assert as_graphs([graphs[:1], MATRIX]).names is None
    assert as_graphs(graphs, targets=[0, 1, 0, 1])[2:].names == ("ring", "pan")


def test_files_of_a_list_are_read_as_each_file_is(tmp_path: Path) -> None:
    nx.write_graphml(nx.path_graph(3), tmp_path / "first.graphml")
    nx.write_gml(nx.path_graph(4), tmp_path / "second.gml")
    graphs = as_graphs([tmp_path / "first.graphml", str(tmp_path / "second.gml")])
    assert (graphs.names, graphs.sizes.tolist()) == (("first", "second"), [3, 4])
    folder = tmp_path / "TWO"
    folder.mkdir()
    (folder / "TWO_A.txt").write_text("1, 2\n2, 1\n3, 4\n4, 3\n")
    (folder / "TWO_graph_indicator.txt").write_text("1\n1\n2\n2\n")
    (folder / "TWO_graph_labels.txt").write_text("1\n-1\n")
    assert as_graphs([folder, tmp_path / "first.graphml"]).sizes.tolist() == [2, 2, 3]
    assert as_graphs([folder, folder]).targets.tolist() == [1, -1, 1, -1]


def test_nearest_and_its_card_show_names() -> None:
    found = rwk.nearest(nx.cycle_graph(6), NAMED, k=2)
    assert found.names[0] == "ring"
    assert "ring" in neighbours_card(found)
    kernel = rwk.RWKernel().fit(NAMED)
    assert rwk.nearest([MATRIX, nx.cycle_graph(6)], kernel, k=2).names.shape == (2, 2)
    assert kernel.get_feature_names_out().tolist() == list(NAMED)
    assert rwk.nearest(nx.cycle_graph(6), list(NAMED.values()), k=2).names is None


def test_landmarks_keep_their_names() -> None:
    features = rwk.RWFeatures(n_landmarks=2).fit(NAMED)
    assert features.kernel_.names_ == tuple(list(NAMED)[i] for i in features.landmarks_)


def test_report_and_map_show_names(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from rwk.report import plot_map
    from rwk.report.writing import write_report

    D = rwk.pairwise_discrepancy(NAMED)
    graphs = as_graphs(NAMED)
    place = save_gram(tmp_path / "K.npz", D, rwk.Parameters(), name=graphs.name, names=graphs.names)
    write_report(place, tmp_path / "report.html")
    assert "ring" in (tmp_path / "report.html").read_text()
    written = [text.get_text() for text in plot_map(D, names=graphs.names).texts]
    assert set(NAMED) <= set(written)


def test_explanations_show_names() -> None:
    from rwk.learn.explain import explain_left_out

    graphs = as_graphs(NAMED, targets=[0, 0, 1, 1])
    found = explain_left_out(graphs, 3, rwk.Parameters())
    assert {support.title for support in found.supports} <= {"path", "star", "ring"}


def test_explorer_shows_names() -> None:
    from rwk.explore.state import Explorer

    explorer = Explorer(as_graphs(NAMED))
    assert [explorer.name("2"), explorer.key_of("ring"), explorer.key_of("graph 1")] == ["ring", "2", "1"]
    assert {near.name for near in explorer.neighbours("0", 3)} == {"star", "ring", "pan"}


def test_molecules_keep_the_names_of_a_dict() -> None:
    pytest.importorskip("rdkit")
    library = {"ethanol": "CCO", "broken": "C(", "benzene": "c1ccccc1"}
    with pytest.warns(UserWarning, match="do not parse"):
        assert rwk.molecules(library, on_error="skip").names == ("ethanol", "benzene")
    assert as_graphs({"ethanol": "CCO", "benzene": "c1ccccc1"}).names == ("ethanol", "benzene")
