"""Conversion of graphs: round trips through the real libraries, and the message for each invalid input."""

from __future__ import annotations

import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from rwk import Graph, GraphError, GraphSet, as_graphs, load_dataset
from rwk.graphs.checks import check_graphs

TRIANGLE = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
EDGES = [[0, 1], [0, 2], [1, 2]]


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RWK_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("RWK_DATA", raising=False)


@pytest.fixture
def silent() -> Iterator[None]:
    """No warning may be given, but for those of networkx 3.1 that pandas is not installed."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ImportWarning)
        yield


def names_of(graphs: GraphSet, field: str = "node_labels") -> list[str]:
    assert graphs.label_names is not None
    return [graphs.label_names[code] for code in getattr(graphs, field).tolist()]


def values(graphs: GraphSet, field: str) -> Any:
    found = getattr(graphs, field)
    return None if found is None else found.tolist()


# records


def test_a_set_is_returned_as_is() -> None:
    graphs = GraphSet.from_graphs([Graph(2, np.array([[0, 1]]))])
    assert as_graphs(graphs) is graphs
    assert values(as_graphs(graphs, targets=["a"]), "targets") == ["a"]


def test_graphs_and_lists_of_them() -> None:
    graph = Graph(2, np.array([[0, 1]]))
    assert len(as_graphs(graph)) == 1
    assert len(as_graphs([graph, graph])) == 2
    assert len(as_graphs(iter([graph, graph, graph]))) == 3
    assert len(as_graphs([as_graphs([graph, graph]), graph])) == 3
    several = np.empty(2, dtype=object)
    several[:] = [graph, graph]
    assert len(as_graphs(several)) == 2


def test_families_may_be_mixed_and_keep_their_order() -> None:
    graphs = as_graphs([nx.path_graph(3), TRIANGLE, Graph(1, np.empty((0, 2), np.int64)), nx.path_graph(4)])
    assert graphs.sizes.tolist() == [3, 3, 1, 4]


# networkx


@st.composite
def networks(draw: st.DrawFn) -> nx.Graph:
    n = draw(st.integers(1, 8))
    pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
    graph = nx.Graph()
    graph.add_nodes_from(draw(st.permutations([f"node {i}" for i in range(n)])))
    for u, v in draw(st.lists(pairs, max_size=15)):
        graph.add_edge(f"node {u}", f"node {v}", weight=draw(st.floats(0.5, 4)), kind=draw(st.sampled_from("ab")))
    for node in graph:
        graph.nodes[node].update(label=draw(st.sampled_from(["C", "N", 8])), x=[draw(st.floats(-5, 5)), 1.0])
    return graph


@given(st.lists(networks(), min_size=1, max_size=4))
def test_networkx_round_trip(originals: list[nx.Graph]) -> None:
    some_edge = any(u != v for graph in originals for u, v in graph.edges)
    has_kind = any(graph.number_of_edges() for graph in originals)
    graphs = as_graphs(originals, edge_label="kind" if has_kind else None)
    for original, graph in zip(originals, graphs, strict=True):
        nodes = list(original)
        wanted = {tuple(sorted((nodes.index(u), nodes.index(v)))): d for u, v, d in original.edges(data=True) if u != v}
        assert [tuple(edge) for edge in graph.edges.tolist()] == sorted(wanted)
        if some_edge and graph.n_edges:
            weights = [wanted[edge]["weight"] for edge in sorted(wanted)]
            got = np.ones(graph.n_edges) if graph.edge_weights is None else graph.edge_weights
            assert got.tolist() == weights
            assert graph.label_names is not None
            assert graph.edge_labels is not None
            kinds = [graph.label_names[code] for code in graph.edge_labels.tolist()]
            assert kinds == [wanted[edge]["kind"] for edge in sorted(wanted)]
        labels = [graph.label_names.get(c, c) if graph.label_names else c for c in graph.node_labels.tolist()]
        assert labels == [data["label"] for _, data in original.nodes(data=True)]
        assert graph.node_attributes.tolist() == [data["x"] for _, data in original.nodes(data=True)]


@given(networks(), st.randoms(use_true_random=False))
def test_permuted_networkx_is_the_permuted_graph(original: nx.Graph, random: Any) -> None:
    nodes = list(original)
    order = list(range(len(nodes)))
    random.shuffle(order)
    shuffled = nx.Graph()
    shuffled.add_nodes_from((nodes[i], original.nodes[nodes[i]]) for i in order)
    shuffled.add_edges_from((v, u, data) for u, v, data in original.edges(data=True))
    one, other = as_graphs(original)[0].permuted(order), as_graphs(shuffled)[0]
    np.testing.assert_array_equal(one.edges, other.edges)
    np.testing.assert_array_equal(one.node_labels, other.node_labels)
    np.testing.assert_array_equal(one.degrees, other.degrees)


@pytest.mark.usefixtures("silent")
def test_a_plain_network_needs_no_words() -> None:
    graphs = as_graphs([nx.cycle_graph(4), nx.empty_graph(2)])
    assert repr(graphs) == "GraphSet('graphs', 2 graphs, 2-4 nodes; structure only)"


def test_directed_networks_are_said_once() -> None:
    directed = nx.DiGraph([(0, 1), (1, 2), (2, 1)])
    with pytest.warns(UserWarning, match="directed") as caught:
        graphs = as_graphs([directed, directed, nx.path_graph(2)])
    assert [str(w.message) for w in caught] == ["2 of 3 graphs are directed; the edges are used in both directions"]
    assert caught[0].filename == __file__
    assert graphs[0].edges.tolist() == [[0, 1], [1, 2]]
    assert graphs.edge_weights is None


def test_directions_average_where_both_have_a_weight() -> None:
    directed = nx.DiGraph()
    directed.add_weighted_edges_from([(0, 1, 2.0), (1, 0, 4.0), (1, 2, 5.0)])
    with pytest.warns(UserWarning, match="directed"):
        assert values(as_graphs(directed), "edge_weights") == [3.0, 5.0]


def test_parallel_edges_add_their_weights() -> None:
    multi = nx.MultiGraph([(0, 1), (1, 0), (0, 1), (1, 2)])
    with pytest.warns(UserWarning, match="1 of 1 graphs have parallel edges; they are merged and their weights added"):
        assert values(as_graphs(multi), "edge_weights") == [3.0, 1.0]
    multi = nx.MultiGraph()
    multi.add_edge(0, 1, weight=0.5)
    multi.add_edge(1, 0, weight=2.0)
    with pytest.warns(UserWarning, match="parallel"):
        assert values(as_graphs(multi), "edge_weights") == [2.5]


@pytest.mark.usefixtures("silent")
def test_self_loops_are_dropped_quietly() -> None:
    assert as_graphs(nx.Graph([(0, 0), (0, 1)]))[0].edges.tolist() == [[0, 1]]


def test_a_missing_weight_is_one() -> None:
    graph = nx.Graph([(0, 1), (1, 2)])
    graph.edges[0, 1]["weight"] = 3
    assert values(as_graphs([graph, nx.path_graph(2)]), "edge_weights") == [3.0, 1.0, 1.0]


def test_named_attributes() -> None:
    graph = nx.Graph()
    graph.add_node("a", kind="x", mass=1.0, place=[1, 2])
    graph.add_node("b", kind="y", mass=2.0, place=[3, 4])
    graph.add_edge("a", "b", strength=3.0, colour="red", length=1.5)
    graphs = as_graphs(
        graph,
        node_label="kind",
        node_attributes=["mass", "place"],
        edge_weight="strength",
        edge_label="colour",
        edge_attributes="length",
    )
    assert names_of(graphs) == ["x", "y"]
    assert names_of(graphs, "edge_labels") == ["red"]
    assert values(graphs, "node_attributes") == [[1, 1, 2], [2, 3, 4]]
    assert values(graphs, "edge_weights") == [3.0]
    assert values(graphs, "edge_attributes") == [[1.5]]


@pytest.mark.parametrize("name", ["label", "node_label", "element", "atom"])
def test_usual_names_of_labels(name: str) -> None:
    graph = nx.path_graph(2)
    nx.set_node_attributes(graph, {0: "C", 1: "O"}, name)
    assert names_of(as_graphs(graph)) == ["C", "O"]


def test_equal_labels_have_equal_codes_in_separate_calls() -> None:
    one, other = nx.empty_graph(2), nx.empty_graph(2)
    nx.set_node_attributes(one, {0: "C", 1: "O"}, "label")
    nx.set_node_attributes(other, {0: "O", 1: "N"}, "label")
    a, b = as_graphs(one), as_graphs(other)
    assert a.node_labels is not None
    assert b.node_labels is not None
    assert a.node_labels[1] == b.node_labels[0]
    assert len({*a.node_labels.tolist(), *b.node_labels.tolist()}) == 3


# igraph


def test_igraph() -> None:
    igraph = pytest.importorskip("igraph")
    graph = igraph.Graph(edges=[(2, 1), (0, 1)])
    graph.vs["name"] = ["first", "second", "third"]
    graph.vs["label"] = ["C", "O", "C"]
    graph.es["weight"] = [2.0, None]
    graphs = as_graphs([graph, graph])
    assert graphs[0].edges.tolist() == [[0, 1], [1, 2]]
    assert values(graphs[:1], "edge_weights") == [1.0, 2.0]
    assert names_of(graphs[:1]) == ["C", "O", "C"]
    with pytest.warns(UserWarning, match="directed"):
        assert as_graphs(igraph.Graph(edges=[(1, 0)], directed=True))[0].edges.tolist() == [[0, 1]]


# arrays


@pytest.mark.parametrize(
    "form",
    [np.asarray, lambda a: a.tolist(), lambda a: a.astype(bool), sparse.csr_matrix, sparse.coo_array],
    ids=["dense", "lists", "boolean", "sparse matrix", "sparse array"],
)
@pytest.mark.usefixtures("silent")
def test_adjacency_in_every_form(form: Any) -> None:
    for graphs in (as_graphs(form(TRIANGLE)), as_graphs([form(TRIANGLE)])):
        assert len(graphs) == 1
        assert graphs.edges.tolist() == EDGES
        assert graphs.edge_weights is None
    labelled = as_graphs([(form(TRIANGLE), [1, 2, 3]), (form(TRIANGLE), [4, 5, 6])])
    assert values(labelled, "node_labels") == [1, 2, 3, 4, 5, 6]


def test_torch_adjacency() -> None:
    torch = pytest.importorskip("torch")
    assert as_graphs((torch.tensor(TRIANGLE), torch.tensor([1, 2, 3]))).edges.tolist() == EDGES


def test_stacked_adjacency() -> None:
    assert len(as_graphs(np.stack([TRIANGLE, TRIANGLE]))) == 2


@pytest.mark.parametrize(
    ("second", "labels", "attributes"),
    [
        ([3, 1, 2], [3, 1, 2], None),
        (np.array([True, False, True]), [1, 0, 1], None),
        (np.array([0.5, 1.5, 2.5]), None, [[0.5], [1.5], [2.5]]),
        (np.eye(3), None, np.eye(3).tolist()),
        (np.arange(6).reshape(3, 2), None, [[0, 1], [2, 3], [4, 5]]),
        (sparse.csr_array(np.eye(3)), None, np.eye(3).tolist()),
        (None, None, None),
    ],
    ids=["integers", "booleans", "floats", "float table", "integer table", "sparse table", "nothing"],
)
def test_second_of_a_pair(second: Any, labels: Any, attributes: Any) -> None:
    graphs = as_graphs((TRIANGLE, second))
    assert values(graphs, "node_labels") == labels
    assert values(graphs, "node_attributes") == attributes


def test_text_labels_and_mixed_ones() -> None:
    assert names_of(as_graphs((TRIANGLE, ["C", "O", "C"]))) == ["C", "O", "C"]
    assert names_of(as_graphs((TRIANGLE, np.array(["C", "O", "C"])))) == ["C", "O", "C"]
    mixed = as_graphs((TRIANGLE, ["C", 6, "C"]))
    assert values(mixed, "node_labels")[1] == 6


def test_triples() -> None:
    graphs = as_graphs([(TRIANGLE, [1, 2, 3], np.ones(3)), (TRIANGLE, [1, 2, 3], np.ones((3, 1)))])
    assert values(graphs, "node_labels") == [1, 2, 3] * 2
    assert values(graphs, "node_attributes") == [[1.0]] * 6
    assert values(as_graphs((TRIANGLE, None, np.ones((3, 2)))), "node_labels") is None


def test_weighted_and_unweighted_together() -> None:
    assert values(as_graphs([TRIANGLE, TRIANGLE * 2.5]), "edge_weights") == [1.0] * 3 + [2.5] * 3


def test_an_adjacency_that_is_not_symmetric_is_said_once() -> None:
    upper = np.triu(TRIANGLE * 2.0)
    with pytest.warns(UserWarning, match="symmetric") as caught:
        graphs = as_graphs([upper, upper, TRIANGLE, np.array([[0, 1], [3, 0]])])
    assert len(caught) == 1
    assert str(caught[0].message).startswith("3 of 4 graphs have an adjacency matrix that is not symmetric")
    assert graphs[0].degrees.tolist() == [4, 4, 4]
    assert graphs[3].degrees.tolist() == [2, 2]


def test_a_matrix_symmetric_but_for_rounding_is_symmetric() -> None:
    matrix = np.abs(np.corrcoef(np.random.default_rng(0).standard_normal((12, 40))))
    matrix[0, 1] = np.nextafter(matrix[1, 0], 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graphs = as_graphs([matrix, matrix.T])
    assert (graphs[0].edge_weights == graphs[1].edge_weights).all()
    matrix[0, 1] += 1e-6
    with pytest.warns(UserWarning, match="1 of 1 graphs have an adjacency matrix that is not symmetric"):
        as_graphs([matrix])


@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_adjacency_round_trip(n: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    dense = np.triu(rng.random((n, n)) * (rng.random((n, n)) < 0.5), 1)
    dense += dense.T
    for form in (dense, sparse.csr_array(dense)):
        np.testing.assert_array_equal(as_graphs(form)[0].adjacency().toarray(), dense)


# PyTorch Geometric


def pyg(**fields: Any) -> Any:
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data")
    tensors = {k: torch.tensor(np.asarray(v)) if not isinstance(v, int) else v for k, v in fields.items()}
    return data.Data(**tensors)


BOTH_WAYS = [[0, 1, 1, 2], [1, 0, 2, 1]]


@pytest.mark.usefixtures("silent")
def test_one_hot_x_is_labels() -> None:
    graphs = as_graphs([pyg(x=np.eye(3)[[0, 2, 0]], edge_index=BOTH_WAYS), pyg(x=np.eye(3)[:2], edge_index=[[], []])])
    assert values(graphs, "node_labels") == [0, 2, 0, 0, 1]
    assert graphs.n_edges.tolist() == [2, 0]


def test_other_x_is_attributes() -> None:
    graphs = as_graphs(pyg(x=[[0.5, 1], [1, 0], [1, 0]], edge_index=BOTH_WAYS))
    assert values(graphs, "node_attributes") == [[0.5, 1], [1, 0], [1, 0]]
    single = as_graphs(pyg(x=[[1.0], [1.0], [1.0]], edge_index=BOTH_WAYS))
    assert values(single, "node_attributes") == [[1], [1], [1]]
    named = as_graphs(pyg(x=np.eye(3), edge_index=BOTH_WAYS), node_attributes="x")
    assert named.node_labels is None


def test_one_graph_that_is_not_one_hot_makes_all_attributes() -> None:
    graphs = as_graphs([pyg(x=np.eye(2), edge_index=[[0, 1], [1, 0]]), pyg(x=np.ones((1, 2)), edge_index=[[], []])])
    assert graphs.node_labels is None


def test_integer_x_and_named_fields() -> None:
    graphs = as_graphs(pyg(x=[[6], [6], [8]], edge_index=BOTH_WAYS))
    assert values(graphs, "node_labels") == [6, 6, 8]
    graphs = as_graphs(
        pyg(z=[6, 6, 8], pos=np.ones((3, 3)), edge_index=BOTH_WAYS), node_label="z", node_attributes="pos"
    )
    assert values(graphs, "node_labels") == [6, 6, 8]
    assert values(graphs, "node_attributes") == np.ones((3, 3)).tolist()


def test_pyg_edges_and_targets() -> None:
    data = pyg(edge_index=BOTH_WAYS, edge_weight=[2.0, 2, 3, 3], edge_attr=np.eye(2)[[1, 1, 0, 0]], y=[1], num_nodes=4)
    graphs = as_graphs([data, data])
    assert graphs.sizes.tolist() == [4, 4]
    assert values(graphs, "targets") == [1, 1]
    assert values(graphs[:1], "edge_weights") == [2, 3]
    assert values(graphs[:1], "edge_labels") == [1, 0]
    lengths = as_graphs(pyg(edge_index=BOTH_WAYS, edge_attr=[0.5, 0.5, 0.25, 0.25], num_nodes=3))
    assert values(lengths, "edge_attributes") == [[0.5], [0.25]]


def test_pyg_with_one_direction_is_said() -> None:
    with pytest.warns(UserWarning, match="1 of 1 graphs have edges in one direction only"):
        assert as_graphs(pyg(edge_index=[[0, 1], [1, 2]], num_nodes=3)).n_edges.tolist() == [2]


def test_pyg_batch_and_dataset() -> None:
    loader = pytest.importorskip("torch_geometric.data")
    datasets = pytest.importorskip("torch_geometric.datasets")
    data = pyg(x=np.eye(3), edge_index=BOTH_WAYS, y=[1])
    assert len(as_graphs(loader.Batch.from_data_list([data, data]))) == 2
    fake = datasets.FakeDataset(num_graphs=4, avg_num_nodes=6, num_classes=3)
    graphs = as_graphs(fake)
    assert values(graphs, "targets") == [int(item.y) for item in fake]
    assert graphs.sizes.tolist() == [item.num_nodes for item in fake]
    assert len(as_graphs(fake[:2])) == 2


# GraKeL


@pytest.mark.parametrize(
    "edges",
    [
        {0: [1], 1: [0, 2], 2: [1]},
        {0: {1: 1.0}, 1: {0: 1.0, 2: 1.0}, 2: {1: 1.0}},
        {(0, 1): 1.0, (1, 0): 1.0, (1, 2): 1.0, (2, 1): 1.0},
        [(0, 1), (1, 0), (1, 2), (2, 1)],
        [(0, 1), (1, 2)],
        {(0, 1), (1, 2)},
        {(0, 1, 1.0), (1, 2, 1.0)},
        np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]),
        [[0, 1, 0], [1, 0, 1], [0, 1, 0]],
    ],
    ids=["neighbours", "nested", "weighted pairs", "both ways", "once", "set", "triples", "adjacency", "lists"],
)
@pytest.mark.parametrize("wrap", [tuple, list])
@pytest.mark.usefixtures("silent")
def test_grakel_edges_in_every_form(edges: Any, wrap: Any) -> None:
    item = wrap([edges, {0: "C", 1: "O", 2: "C"}, {(0, 1): "single", (1, 2): "double"}])
    graphs = as_graphs([item, item])
    assert graphs[0].edges.tolist() == [[0, 1], [1, 2]]
    assert names_of(graphs[:1]) == ["C", "O", "C"]
    assert names_of(graphs[:1], "edge_labels") == ["single", "double"]
    assert graphs.edge_weights is None
    assert len(as_graphs(tuple(item))) == 1


def test_grakel_names_attributes_and_weights() -> None:
    graphs = as_graphs(
        [({"a": {"b": 2.0}, "b": {"a": 2.0}, "lonely": {}}, {"a": [1, 2], "b": [3, 4], "lonely": [5, 6]})]
    )
    assert values(graphs, "node_attributes") == [[1, 2], [3, 4], [5, 6]]
    assert values(graphs, "edge_weights") == [2.0]
    assert as_graphs([({(0, "x")}, {0: 1, "x": 2})]).sizes.tolist() == [2]
    assert as_graphs({0: [1], 1: [0]}).sizes.tolist() == [2]
    lengths = as_graphs([([(0, 1)], {0: 1, 1: 2}, {(0, 1): [0.5, 1.0]})])
    assert values(lengths, "edge_attributes") == [[0.5, 1.0]]


def test_grakel_mixture_of_directions_is_said() -> None:
    with pytest.warns(UserWarning, match="one direction only"):
        as_graphs([({(0, 1), (1, 0), (1, 2)}, {0: 1, 1: 1, 2: 1})])


def test_grakel_reads_what_we_read() -> None:
    grakel = pytest.importorskip("grakel")
    network = nx.path_graph(3)
    nx.set_node_attributes(network, {0: "C", 1: "O", 2: "C"}, "label")
    theirs = list(grakel.graph_from_networkx([network], node_labels_tag="label"))
    ours = as_graphs(network)
    converted = as_graphs(theirs)
    np.testing.assert_array_equal(converted.edges, ours.edges)
    np.testing.assert_array_equal(converted.node_labels, ours.node_labels)  # type: ignore[arg-type]


# molecules


def test_smiles_and_molecules() -> None:
    chem = pytest.importorskip("rdkit.Chem")
    smiles = ["CCO", "c1ccccc1", "C=C", "C"]
    graphs = as_graphs(smiles, targets=[0, 1, 0, 1])
    assert graphs.sizes.tolist() == [3, 6, 2, 1]
    assert names_of(graphs[:1]) == ["C", "C", "O"]
    assert values(graphs[:1], "node_labels") == [6, 6, 8]
    assert sorted(set(names_of(graphs, "edge_labels"))) == ["aromatic", "double", "single"]
    molecules = as_graphs([chem.MolFromSmiles(text) for text in smiles])
    np.testing.assert_array_equal(molecules.edges, graphs.edges)
    np.testing.assert_array_equal(molecules.edge_labels, graphs.edge_labels)  # type: ignore[arg-type]
    assert len(as_graphs("CCO")) == len(as_graphs(chem.MolFromSmiles("CCO"))) == 1


def test_smiles_that_do_not_parse_are_named(capfd: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("rdkit")
    sentence = "2 of 4 SMILES do not parse: number 1 ('C1CC'), number 3 ('nonsense'); correct or remove them, or"
    with pytest.raises(GraphError, match=re.escape(sentence)):
        as_graphs(["CCO", "C1CC", "C", "nonsense"])
    with pytest.raises(GraphError, match="'nonsense' is neither a file that exists nor a SMILES that parses"):
        as_graphs("nonsense")
    with pytest.raises(GraphError, match=r"6 of 6 SMILES .* and others"):
        as_graphs(["(("] * 6)
    assert capfd.readouterr().err == ""


def test_without_rdkit_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rdkit", None)
    with pytest.raises(GraphError, match=re.escape("needs RDKit: pip install 'rwk[molecules]'")):
        as_graphs(["CCO"])


# files


def write(graph: nx.Graph, path: Path) -> Path:
    {".graphml": nx.write_graphml, ".gml": nx.write_gml, ".gexf": nx.write_gexf}[path.suffix](graph, path)
    return path


@pytest.mark.parametrize("kind", ["graphml", "gml", "gexf"])
@pytest.mark.usefixtures("silent")
def test_files(kind: str, tmp_path: Path) -> None:
    graph = nx.path_graph(3)
    nx.set_node_attributes(graph, {0: "C", 1: "O", 2: "C"}, "element")
    nx.set_node_attributes(graph, {0: 0.5, 1: 1.5, 2: 2.5}, "mass")
    nx.set_edge_attributes(graph, {(0, 1): 2.0, (1, 2): 3.0}, "weight")
    path = write(graph, tmp_path / f"one.{kind}")
    for given_path in (path, str(path), [path, str(path)]):
        graphs = as_graphs(given_path, node_attributes="mass")
        assert graphs[0].edges.tolist() == [[0, 1], [1, 2]]
        assert names_of(graphs[:1]) == ["C", "O", "C"]
        assert values(graphs[:1], "node_attributes") == [[0.5], [1.5], [2.5]]
        assert values(graphs[:1], "edge_weights") == [2.0, 3.0]


@pytest.mark.parametrize("kind", ["gml", "gexf"])
def test_names_of_nodes_in_files_are_not_labels(kind: str, tmp_path: Path) -> None:
    path = write(nx.path_graph(3), tmp_path / f"one.{kind}")
    assert as_graphs(path).node_labels is None
    assert as_graphs(path, node_label="label").node_labels is not None


def test_labels_in_gml(tmp_path: Path) -> None:
    text = 'graph [ node [ id 0 label "C" ] node [ id 1 label "C" ] edge [ source 0 target 1 ] ]'
    (tmp_path / "one.gml").write_text(text)
    assert names_of(as_graphs(tmp_path / "one.gml")) == ["C", "C"]


def test_bad_files(tmp_path: Path) -> None:
    for name in ("bad.graphml", "bad.gml", "bad.gexf"):
        (tmp_path / name).write_text("<nothing")
        with pytest.raises(GraphError, match=f"not a valid {name[4:]} file"):
            as_graphs(tmp_path / name)
    with pytest.raises(GraphError, match=r"none\.graphml cannot be opened"):
        as_graphs(str(tmp_path / "none.graphml"))
    (tmp_path / "notes.doc").write_text("hello")
    with pytest.raises(GraphError, match=r"give one of \.graphml, \.gml, \.gexf, .*, or a TU folder or zip"):
        as_graphs(tmp_path / "notes.doc")


def test_sets_by_path_and_name(tmp_path: Path) -> None:
    pytest.importorskip("grakel")
    assert len(as_graphs("MUTAG")) == 188
    folder = tmp_path / "TWO"
    folder.mkdir()
    (folder / "TWO_A.txt").write_text("1, 2\n2, 1\n")
    (folder / "TWO_graph_indicator.txt").write_text("1\n1\n2\n")
    (folder / "TWO_graph_labels.txt").write_text("1\n2\n")
    for path in (folder, str(folder)):
        graphs = as_graphs(path)
        assert values(graphs, "targets") == [1, 2]
        np.testing.assert_array_equal(graphs.edges, load_dataset(path).edges)
    assert values(as_graphs(folder, targets=[5, 6]), "targets") == [5, 6]


# invalid input


def labelled(**labels: str) -> nx.Graph:
    graph = nx.empty_graph(2)
    for node, label in labels.items():
        graph.nodes[int(node[1:])]["label"] = label
    return graph


BAD: dict[str, Any] = {
    "graphs is empty; give at least one graph": [],
    "graph 1 has no nodes; remove it or add a node": [nx.path_graph(2), nx.Graph()],
    "int is neither a graph nor a list of graphs": 5,
    "graph 1 is None, which is not a graph": [TRIANGLE, None],
    "graph 0 is of type float64, which is not a graph": np.ones(3),
    "graph 0: the adjacency matrix has shape (2, 3); it must be square": np.ones((2, 3)),
    "graph 1: the adjacency matrix has shape (1, 2); it must be square": [TRIANGLE, sparse.csr_array(np.ones((1, 2)))],
    "graph 0: the adjacency matrix is not a table of numbers": [[["a", "b"], ["c", "d"]]],
    "graph 0 has 3 nodes but 2 labels or attributes; give one per node": (TRIANGLE, [1, 2]),
    "graph 0: attributes must be numbers, the same number of them in every row": (TRIANGLE, [[1], [1, 2], [1]]),
    "graph 0: labels or attributes have shape (3, 1, 1)": (TRIANGLE, np.ones((3, 1, 1))),
    "graph 0, node 1: node attributes are NaN or infinite": (TRIANGLE, [1.0, np.nan, 1.0]),
    "graph 0, edge 0: edge weights are NaN or infinite": np.array([[0, np.nan], [np.nan, 0]]),
    "graph 0, edge 0: negative weight; weights must be 0 or more": np.array([[0, -1], [-1, 0]]),
    "graph 0, node 1 has no label; give a label to all or to none": (
        TRIANGLE,
        np.array(["C", None, "O"], dtype=object),
    ),
    "graph 0 has node labels and graph 1 has none; give them to all graphs or": [(TRIANGLE, [1, 2, 3]), TRIANGLE],
    "node attributes: graph 0 has 1 columns and graph 1 has 2; make them alike": [
        (TRIANGLE, np.ones((3, 1))),
        (TRIANGLE, np.ones((3, 2))),
    ],
    "graph 1, node 0 has no 'label' but others do; give it to all nodes or": [
        labelled(n0="C", n1="C"),
        labelled(n1="C"),
    ],
    "graph 0: (1, 2, 3, 4) is not an edge; write (u, v)": [({(1, 2, 3, 4)}, {1: 1})],
    "graph 0, node 1 has no label but others do": [({(0, 1)}, {0: "C"})],
    "graph 0, edge (1, 2) has no label but others do": [({(0, 1), (1, 2)}, {0: 1, 1: 1, 2: 1}, {(0, 1): 1})],
}


@pytest.mark.parametrize("sentence", BAD)
def test_invalid_input_is_rejected_in_one_sentence(sentence: str) -> None:
    with pytest.raises(GraphError, match=re.escape(sentence)) as caught:
        as_graphs(BAD[sentence])
    assert "\n" not in str(caught.value)


def test_targets_of_another_length() -> None:
    with pytest.raises(GraphError, match="3 targets were given for 1 graphs; give one per graph"):
        as_graphs(TRIANGLE, targets=[1, 2, 3])


def test_names_that_nothing_has() -> None:
    graph = nx.path_graph(2)
    graph.nodes[0]["mass"] = 1.0
    with pytest.raises(GraphError, match="no node has an attribute 'weigth'; the attributes of nodes are: 'mass'"):
        as_graphs(graph, node_label="weigth")
    with pytest.raises(GraphError, match="no edge has an attribute 'strength'; the attributes of edges are: none"):
        as_graphs(graph, edge_weight="strength")
    with pytest.raises(GraphError, match="graph 0 has no 'z'; give it to all graphs, or choose another name"):
        as_graphs(pyg(edge_index=BOTH_WAYS, num_nodes=3), node_label="z")


def test_attributes_that_are_not_numbers() -> None:
    graph = nx.empty_graph(2)
    nx.set_node_attributes(graph, {0: [1.0], 1: [1.0, 2.0]}, "x")
    with pytest.raises(GraphError, match="graph 0, 'x': attributes must be numbers, the same number of them in every"):
        as_graphs(graph)


def test_pyg_edges_to_nowhere() -> None:
    with pytest.raises(GraphError, match="graph 0: edge_index refers to node 9, but there are 3 nodes"):
        as_graphs(pyg(edge_index=[[0, 9], [9, 0]], num_nodes=3))


def test_every_result_passes_the_check() -> None:
    for data in (TRIANGLE, nx.path_graph(3), [({(1, 0)}, {0: 1, 1: 1})]):
        check_graphs(as_graphs(data))


def test_importing_rwk_imports_no_library() -> None:
    import subprocess

    code = (
        "import sys, rwk; rwk.as_graphs; rwk.load_dataset; "
        "print([m for m in ('networkx', 'scipy', 'pooch', 'torch', 'rdkit', 'grakel', 'igraph') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


def test_ignored_attributes_are_listed_once() -> None:
    people = nx.path_graph(3)
    for i, node in enumerate(people):
        people.nodes[node].update(club="ab"[i % 2], age=30 + i, name=f"n{i}")
    with pytest.warns(UserWarning, match="ignoring") as caught:
        as_graphs([people, people], node_label="club")
    used = "using node attribute 'club' as label; ignoring 'age', 'name'"
    sentence = f"{used}: pass node_attributes=['age'] to as_graphs to use them"
    assert [str(warning.message) for warning in caught] == [sentence]
    with pytest.warns(
        UserWarning, match=r"ignoring node attribute 'club', .*: pass node_attributes=\['age'\] or node_"
    ):
        as_graphs(people)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert as_graphs(people, node_label="club", node_attributes="age").node_attributes is not None
        as_graphs(people, node_label="club", node_attributes=[])


def test_ignored_edge_attributes_are_listed() -> None:
    network = nx.Graph()
    network.add_edge(0, 1, weight=2.0, length=1.5, sign="+")
    expected = r"'weight' as weight; ignoring 'length', 'sign': pass edge_attributes=\['length'\] or"
    with pytest.warns(UserWarning, match=expected):
        as_graphs(network)


@pytest.mark.parametrize("name", ["", "  "])
def test_no_name_is_not_the_current_folder(name: str) -> None:
    with pytest.raises(GraphError, match="the name is empty"):
        as_graphs(name)
