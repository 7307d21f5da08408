"""What is written is read again as it was, and what a form can't hold is said."""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from rwk import Graph, GraphSet, as_graphs, load_dataset, to_networkx, to_tu
from rwk.convert.exports import write_graphml
from rwk.datasets import dataset_statistics
from rwk.datasets.parsed_cache import content_checksum
from rwk.datasets.synthetic import planted_motif
from rwk.graphs import GraphError

PAIR = {"A": "1, 2\n2, 1\n4, 5\n5, 4\n", "graph_indicator": "1\n1\n1\n2\n2\n", "graph_labels": "1\n2\n"}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RWK_CACHE", str(tmp_path / "cache"))


def tu(place: Path, **changes: str) -> Path:
    folder = place / "PAIR"
    folder.mkdir()
    for part, text in {**PAIR, **changes}.items():
        (folder / f"PAIR_{part}.txt").write_text(text)
    return folder


@pytest.mark.parametrize("n", [1, 2, 10, 11, 12])
def test_graphml_files_keep_their_order(n: int, tmp_path: Path) -> None:
    """Names have as many digits as the last number, so that ten comes after nine."""
    graphs = as_graphs([nx.path_graph(2 + i) for i in range(n)], targets=list(range(n)))
    place = write_graphml(graphs, tmp_path / "out")
    files = sorted(file.name for file in place.glob("*.graphml"))
    assert files == [f"{i:0{len(str(n - 1))}d}.graphml" for i in range(n)]
    found = as_graphs(place)
    assert found.sizes.tolist() == graphs.sizes.tolist()
    assert found.targets is not None
    assert found.targets.tolist() == list(range(n))


@pytest.mark.parametrize("field", ["node_weights", "node_distances"])
def test_what_a_form_has_no_place_for_is_said(field: str, tmp_path: Path) -> None:
    values = {"node_weights": np.array([0.2, 0.8]), "node_distances": 3.0 * (1 - np.eye(2))}[field]
    graph = Graph(2, np.array([[0, 1]]), **{field: values})  # type: ignore[arg-type]
    graphs = GraphSet.from_graphs([graph], targets=np.array([1]))
    sentence = f"{field.replace('_', ' ')} have no place in this form and are left out"
    with pytest.warns(UserWarning, match=sentence):
        to_networkx(graphs)
    with pytest.warns(UserWarning, match=sentence):
        to_tu(graphs, tmp_path / "OUT")
    plain = GraphSet.from_graphs([Graph(2, np.array([[0, 1]]))], targets=np.array([1]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        to_networkx(plain)
        to_tu(plain, tmp_path / "PLAIN")


def test_node_link_data_of_a_multigraph_is_read(tmp_path: Path) -> None:
    """networkx writes the key of every edge, which is no attribute."""
    network = nx.MultiGraph([("a", "b", {"label": "x"}), ("b", "c", {"label": "y"})])
    path = tmp_path / "graph.json"
    path.write_text(json.dumps(nx.node_link_data(network)))
    assert '"key"' in path.read_text()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = as_graphs(path)
    assert found.n_edges.tolist() == [2]
    assert found.edge_labels is not None
    assert found.edge_attributes is None
    plain = {"nodes": [{"id": 0}, {"id": 1}], "links": [{"source": 0, "target": 1, "key": 7}]}
    path.write_text(json.dumps(plain))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert as_graphs(path).edge_labels is None
    path.write_text(json.dumps([nx.node_link_data(nx.path_graph(2)), {"links": 3}]))
    with pytest.raises(GraphError, match="graph 1 is not node-link JSON"):
        as_graphs(path)


# ---------------------------------------------------------------- TU folders


@pytest.mark.parametrize("edge", ["0, 1", "1, 0", "6, 5", "5, 6", "-1, 2", "2, -3"])
def test_every_end_of_every_edge_is_checked(edge: str, tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=rf"line 5: edge {edge} joins a node that does not exist \(there are 5\)"):
        load_dataset(tu(tmp_path, A=PAIR["A"] + edge + "\n" + "9, 9\n"))


@pytest.mark.parametrize(
    ("graphs", "sentence"), [("0\n1\n1\n2\n2\n", "line 1: graph 0"), ("1\n1\n1\n2\n3\n", "line 5: graph 3")]
)
def test_every_graph_number_is_checked(graphs: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=f"{sentence} does not exist, there are 2 graph labels"):
        load_dataset(tu(tmp_path, graph_indicator=graphs))


def test_the_first_and_last_node_may_be_joined(tmp_path: Path) -> None:
    found = load_dataset(tu(tmp_path, A="1, 3\n3, 1\n5, 4\n4, 5\n"))
    assert [graph.edges.tolist() for graph in found] == [[[0, 2]], [[0, 1]]]


def test_statistics_of_a_set_that_has_everything(tmp_path: Path) -> None:
    """Three graphs: a path of three, a pair and a lonely node, two pairs; each is counted by hand."""
    networks = [nx.path_graph(3), nx.Graph([(0, 1)]), nx.Graph([(0, 1), (2, 3)])]
    networks[1].add_node(2)
    found = dataset_statistics(as_graphs(networks, targets=["b", "a", "b"]))
    assert (found.n_graphs, found.classes) == (3, {"a": 1, "b": 2})
    assert (found.min_nodes, found.max_nodes, found.mean_nodes) == (3, 4, pytest.approx(10 / 3))
    assert found.mean_edges == pytest.approx(5 / 3)
    assert (found.n_with_isolated_nodes, found.n_disconnected) == (1, 2)
    alone = dataset_statistics(as_graphs([nx.empty_graph(1), nx.empty_graph(2)]))
    assert (alone.n_with_isolated_nodes, alone.n_disconnected) == (2, 1)


@pytest.mark.parametrize("seed", [0, 1])
def test_a_planted_motif_joins_a_tree_by_one_edge(seed: int) -> None:
    """A graph with the motif has a tree of n - 5 nodes, the seven edges of the motif, and one edge between them."""
    graphs, motifs = planted_motif(12, random_state=seed)
    for graph, motif in zip(graphs, motifs, strict=True):
        network = nx.Graph(graph.edges.tolist())
        assert nx.is_connected(network)
        assert network.number_of_nodes() == graph.n_nodes
        if not len(motif):
            assert nx.is_tree(network)
            continue
        inside = network.subgraph(motif.tolist())
        assert sorted(degree for _, degree in inside.degree()) == [2, 2, 3, 3, 4]
        assert inside.number_of_edges() == 7
        rest = network.copy()
        rest.remove_nodes_from(motif.tolist())
        assert nx.is_tree(rest)
        assert network.number_of_edges() == 7 + rest.number_of_edges() + 1
    sizes = graphs.sizes - 5
    assert set(sizes.tolist()) <= set(range(14, 19))
    assert len(set(sizes.tolist())) > 2
    same, _ = planted_motif(12)
    assert np.array_equal(same.edges, graphs.edges) == (seed == 0)


def test_a_checksum_without_node_order_is_that_of_any_order() -> None:
    """Also where the last node has no edge; another degree, size or target makes another checksum."""
    network = nx.Graph([(0, 1), (1, 2)])
    network.add_node(3)
    ends_lonely = as_graphs([network, network], targets=[0, 1])
    begins_lonely = GraphSet.from_graphs(
        [graph.permuted(np.array([3, 0, 1, 2])) for graph in ends_lonely], targets=np.array([0, 1])
    )
    assert not np.array_equal(begins_lonely.edges, ends_lonely.edges)
    wanted = content_checksum(ends_lonely, node_order=False)
    assert content_checksum(begins_lonely, node_order=False) == wanted
    assert content_checksum(begins_lonely) != content_checksum(ends_lonely)
    star = nx.star_graph(3)
    for other in (
        as_graphs([network, star], targets=[0, 1]),
        as_graphs([network, network], targets=[1, 1]),
        as_graphs([network, nx.path_graph(3)], targets=[0, 1]),
    ):
        assert content_checksum(other, node_order=False) != wanted


@pytest.mark.parametrize("n_bad", [5, 6, 7])
def test_five_bad_lines_are_named_and_the_rest_mentioned(n_bad: int, tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    path = tmp_path / "some.smi"
    path.write_text("CC\n" + "C(\n" * n_bad + "CCC\n")
    with pytest.raises(GraphError, match=f"{n_bad} of {n_bad + 2} SMILES do not parse") as caught:
        as_graphs(path)
    assert str(caught.value).count("line ") == 5
    assert ("and others" in str(caught.value)) == (n_bad > 5)


@pytest.mark.parametrize(("targets", "number"), [(3, 1), ([1, 2, 3], 3), ([], 0)])
def test_targets_are_counted(targets: object, number: int) -> None:
    with pytest.raises(GraphError, match=rf"\b{number} target") as caught:
        as_graphs([nx.path_graph(2), nx.path_graph(3)], targets=targets)
    assert "2 graphs" in str(caught.value)


def test_lists_of_smiles_that_are_odd(tmp_path: Path) -> None:
    """A header alone has no molecule; names count only if every line has one."""
    pytest.importorskip("rdkit")
    path = tmp_path / "list.smi"
    for text in ("", "\n# nothing\n", "smiles\n"):
        path.write_text(text)
        with pytest.raises(GraphError) as caught:
            as_graphs(path)
        assert "\n" not in str(caught.value)
    path.write_text("SMILES,\nCC ethane\nCCC propane gas\n")
    assert as_graphs(path).names == ("ethane", "propane gas")
    path.write_text("CC ethane\nCCC\n")
    assert as_graphs(path).names is None


def test_targets_of_several_files_are_joined(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    (tmp_path / "a.csv").write_text("smiles,y\nCC,1.5\nCCC,2.5\n")
    (tmp_path / "b.csv").write_text("smiles,y\nCCO,3.5\n")
    found = as_graphs(str(tmp_path / "*.csv"), target="y").targets
    assert found is not None
    assert found.tolist() == [1.5, 2.5, 3.5]
