"""Laws of `Graph` and `GraphSet`: selecting, joining and reordering lose nothing, and unusable graphs are rejected."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rwk import Graph, GraphError, GraphSet
from rwk.graphs import EDGE_FIELDS, NODE_FIELDS
from rwk.graphs.canonical import canonical_edges, label_codes
from rwk.graphs.checks import check_graphs

FIELDS = (*NODE_FIELDS, *EDGE_FIELDS, "node_distances", "edges")


@st.composite
def full_graphs(draw: st.DrawFn) -> Graph:
    """A graph with every optional field."""
    n = draw(st.integers(1, 7))
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    edges = np.array(sorted(draw(st.sets(st.sampled_from(pairs))) if pairs else []), dtype=np.int64).reshape(-1, 2)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    m = len(edges)
    return Graph(
        n,
        edges,
        node_labels=rng.integers(0, 4, n),
        node_attributes=rng.normal(size=(n, 2)),
        node_weights=rng.random(n) + 0.1,
        edge_weights=rng.random(m),
        edge_labels=rng.integers(0, 3, m),
        edge_attributes=rng.normal(size=(m, 1)),
        node_distances=rng.random((n, n)),
    )


def assert_same(one: Graph, other: Graph) -> None:
    assert one.n_nodes == other.n_nodes
    for name in FIELDS:
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None) or one.n_edges == 0, name
        if a is not None and b is not None:
            np.testing.assert_array_equal(a, b, err_msg=name)


def path(n: int = 3, **values: object) -> Graph:
    return Graph(n, np.array([[i, i + 1] for i in range(n - 1)], dtype=np.int64).reshape(-1, 2), **values)


@given(st.lists(full_graphs(), min_size=1, max_size=6))
def test_packing_and_indexing_give_the_graphs_back(graphs: list[Graph]) -> None:
    packed = check_graphs(GraphSet.from_graphs(graphs))
    assert len(packed) == len(graphs)
    for one, other in zip(packed, graphs, strict=True):
        assert_same(one, other)


@given(st.lists(full_graphs(), min_size=1, max_size=6), st.data())
def test_a_part_of_the_whole_equals_the_part(graphs: list[Graph], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.integers(0, len(graphs) - 1), max_size=8))
    whole = GraphSet.from_graphs(graphs, targets=np.arange(len(graphs)))
    part = whole[chosen]
    assert part.targets is not None
    assert part.targets.tolist() == chosen
    for one, i in zip(part, chosen, strict=True):
        assert_same(one, graphs[i])


@given(st.lists(full_graphs(), min_size=1, max_size=5))
def test_slice_mask_and_list_agree(graphs: list[Graph]) -> None:
    whole = GraphSet.from_graphs(graphs)
    mask = np.arange(len(whole)) % 2 == 0
    for part in (whole[::2], whole[np.flatnonzero(mask)], whole[mask]):
        assert [g.n_nodes for g in part] == [g.n_nodes for g in graphs[::2]]
        np.testing.assert_array_equal(part.edges, whole[list(range(0, len(whole), 2))].edges)
    assert_same(whole[-1], graphs[-1])
    with pytest.raises(IndexError, match="there are"):
        whole[len(graphs)]


@given(full_graphs(), st.randoms(use_true_random=False))
def test_permutation_moves_every_field_along(graph: Graph, random: object) -> None:
    order = list(range(graph.n_nodes))
    random.shuffle(order)  # type: ignore[attr-defined]
    moved = graph.permuted(order)
    np.testing.assert_allclose(moved.adjacency().toarray(), graph.adjacency().toarray()[np.ix_(order, order)])
    np.testing.assert_allclose(moved.degrees, graph.degrees[order])
    assert_same(moved.permuted(np.argsort(order)), graph)
    check_graphs(GraphSet.from_graphs([moved]))


def test_degrees_are_row_sums() -> None:
    graph = path(3, edge_weights=np.array([2.0, 0.5]))
    assert graph.degrees.tolist() == [2.0, 2.5, 0.5]
    np.testing.assert_allclose(graph.adjacency().sum(axis=1), graph.degrees)


def test_an_edge_without_weight_weighs_one() -> None:
    packed = GraphSet.from_graphs([path(3), path(2, edge_weights=np.array([3.0]))])
    assert packed.edge_weights is not None
    assert packed.edge_weights.tolist() == [1.0, 1.0, 3.0]


def test_a_graph_without_edges_needs_no_edge_fields() -> None:
    packed = GraphSet.from_graphs([path(1), path(3, edge_labels=np.array([1, 2]))])
    assert packed.edge_labels is not None
    assert packed.edge_labels.tolist() == [1, 2]


def test_self_loop_counts_follow_their_graphs() -> None:
    graphs = replace(GraphSet.from_graphs([path(2), path(3)]), n_self_loops=np.array([4, 5]))
    part = graphs[[1]]
    assert part.n_self_loops is not None
    assert part.n_self_loops.tolist() == [5]


def test_repr_says_what_is_there() -> None:
    assert repr(GraphSet.from_graphs([path(2)])) == "GraphSet('graphs', 1 graphs, 2-2 nodes; structure only)"
    assert "empty" in repr(GraphSet.from_graphs([]))


BAD = {
    "graphs is empty; give at least one graph": GraphSet.from_graphs([]),
    "graph 1 has no nodes": GraphSet.from_graphs([path(2), path(0)]),
    "graph 1, edge 0 joins [0, 5], but the nodes are 0 to 1": GraphSet.from_graphs(
        [path(2), Graph(2, np.array([[0, 5]]))]
    ),
    "graph 0, edge 0 joins [-1, 1]": GraphSet.from_graphs([Graph(2, np.array([[-1, 1]]))]),
    "with the smaller node first, and no self-loops": GraphSet.from_graphs([Graph(2, np.array([[1, 1]]))]),
    "graph 1, node 1: node attributes are NaN or infinite": GraphSet.from_graphs(
        [path(1, node_attributes=np.ones((1, 2))), path(2, node_attributes=np.array([[1, 2], [3, np.nan]]))]
    ),
    "graph 0, edge 1: edge attributes are NaN or infinite": GraphSet.from_graphs(
        [path(3, edge_attributes=np.array([[1.0], [np.inf]]))]
    ),
    "graph 0, edge 0: edge weights are NaN or infinite": GraphSet.from_graphs(
        [path(2, edge_weights=np.array([np.nan]))]
    ),
    "graph 0, edge 1: negative weight": GraphSet.from_graphs([path(3, edge_weights=np.array([1.0, -1.0]))]),
    "graph 0, node 0: negative weight": GraphSet.from_graphs([path(1, node_weights=np.array([-1.0]))]),
    "graph 1: all node weights are 0; make at least one positive": GraphSet.from_graphs(
        [path(1, node_weights=np.ones(1)), path(2, node_weights=np.zeros(2))]
    ),
    "graph 0, pair 1: negative distance; distances must be": GraphSet.from_graphs(
        [path(2, node_distances=np.array([[0.0, -1.0], [1.0, 0.0]]))]
    ),
    "node labels: 3 given for 2 nodes": GraphSet.from_graphs([path(2, node_labels=np.arange(3))]),
    "targets: 3 given for 1 graphs": GraphSet.from_graphs([path(2)], targets=np.arange(3)),
}


@pytest.mark.parametrize("sentence", BAD)
def test_bad_graphs_are_rejected_in_one_sentence(sentence: str) -> None:
    with pytest.raises(GraphError, match=re.escape(sentence)) as caught:
        check_graphs(BAD[sentence])
    assert "\n" not in str(caught.value)


def test_labels_for_some_graphs_only() -> None:
    with pytest.raises(GraphError, match="graph 1 has node labels and graph 0 has none; give them to all graphs or to"):
        GraphSet.from_graphs([path(2), path(2, node_labels=np.zeros(2, int))])


def test_attribute_widths_differ() -> None:
    with pytest.raises(GraphError, match="node attributes: graph 0 has 1 columns and graph 1 has 2; make them alike"):
        GraphSet.from_graphs([path(1, node_attributes=np.ones((1, 1))), path(1, node_attributes=np.ones((1, 2)))])


edge_lists = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=20)


@given(edge_lists, st.randoms(use_true_random=False))
def test_canonical_form_is_the_symmetric_set_and_ignores_order(pairs: list[tuple[int, int]], random: object) -> None:
    form = canonical_edges(np.array(pairs, dtype=np.int64).reshape(-1, 2), 6)
    wanted = sorted({(min(pair), max(pair)) for pair in pairs if pair[0] != pair[1]})
    assert [tuple(edge) for edge in form.edges.tolist()] == wanted
    assert len(form.loops) == sum(u == v for u, v in pairs)
    assert form.one_way == sum((u, v) not in pairs or (v, u) not in pairs for u, v in wanted)
    random.shuffle(pairs)  # type: ignore[attr-defined]
    np.testing.assert_array_equal(canonical_edges(np.array(pairs, dtype=np.int64).reshape(-1, 2), 6).edges, form.edges)


@given(edge_lists)
def test_canonical_form_with_values_has_the_same_edges(pairs: list[tuple[int, int]]) -> None:
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    bare = canonical_edges(ends, 6)
    full = canonical_edges(
        ends,
        6,
        weights=np.ones(len(ends)),
        labels=np.zeros(len(ends), np.int64),
        attributes=np.ones((len(ends), 2)),
    )
    np.testing.assert_array_equal(bare.edges, full.edges)
    assert full.one_way == bare.one_way
    assert full.weights is not None
    assert full.labels is not None
    assert full.attributes is not None
    assert len(full.edges) == len(full.weights) == len(full.labels) == len(full.attributes)


def test_parallel_weights_add_and_directions_average() -> None:
    ends = np.array([[0, 1], [0, 1], [1, 0], [1, 2]])
    form = canonical_edges(
        ends,
        3,
        weights=np.array([1.0, 2.0, 5.0, 7.0]),
        labels=np.array([4, 3, 3, 9]),
        attributes=np.array([[1.0], [2.0], [6.0], [8.0]]),
    )
    assert form.weights is not None
    assert form.labels is not None
    assert form.attributes is not None
    assert form.weights.tolist() == [4.0, 7.0]
    assert form.labels.tolist() == [3, 9]
    assert form.attributes.tolist() == [[3.0], [8.0]]
    assert (form.one_way, form.uneven) == (1, 1)


@given(st.lists(st.one_of(st.integers(-(2**40), 2**40), st.text(max_size=5)), max_size=10))
def test_label_codes_are_equal_where_labels_are(labels: list[int | str]) -> None:
    codes, names = label_codes(labels)
    again, _ = label_codes(reversed(labels))
    assert codes.tolist() == again.tolist()[::-1]
    for label, code in zip(labels, codes.tolist(), strict=True):
        assert code == label if isinstance(label, int) else names[code] == label and 0 <= code < 2**63


def test_label_codes_never_change() -> None:
    """Stored kernels contain these codes."""
    assert label_codes(["C"])[0].tolist() == label_codes(np.array(["C"]))[0].tolist() == [3660663412060528133]
    assert label_codes([3, np.int32(3), 3.0, True])[0].tolist() == [3, 3, 3, 1]
    assert label_codes([("C", 1)])[1] == {int(label_codes([["C", 1]])[0][0]): "('C', 1)"}


def test_a_graph_takes_lists_and_whole_floats() -> None:
    given = Graph(
        3,
        [[0, 1], [1, 2]],  # type: ignore[arg-type]
        node_labels=np.array([1.0, 2.0, 3.0]),  # type: ignore[arg-type]
        node_attributes=[1, 2, 3],  # type: ignore[arg-type]
        edge_weights=np.array([1, 2]),  # type: ignore[arg-type]
    )
    wanted = Graph(
        3,
        np.array([[0, 1], [1, 2]]),
        node_labels=np.array([1, 2, 3]),
        node_attributes=np.array([[1.0], [2.0], [3.0]]),
        edge_weights=np.array([1.0, 2.0]),
    )
    for name in FIELDS:
        value, same = getattr(given, name), getattr(wanted, name)
        assert (value is None) == (same is None)
        assert value is None or (value.dtype == same.dtype and np.array_equal(value, same))
    for nothing in ([], np.array([]), np.zeros((0, 2))):
        assert GraphSet.from_graphs([Graph(2, nothing)]).edges.shape == (0, 2)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"edges": [[0.5, 1.0]]}, "edges must be whole numbers, not 0.5"),
        ({"edges": [0, 1]}, "edges must have two columns"),
        ({"edges": "ab"}, "edges must be an array of numbers"),
        ({"edges": [[0, 1], [2]]}, "edges must be an array of numbers"),
        ({"edges": [], "node_labels": ["C", "N"]}, "node labels must be an array of numbers"),
        ({"edges": [], "node_labels": ["1", "2"]}, "node labels must be whole numbers, not '1'"),
        ({"edges": [], "node_labels": [1, float("nan")]}, "node labels must be whole numbers, not nan"),
    ],
)
def test_a_graph_rejects_what_is_not_a_number(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(GraphError, match=re.escape(words)):
        Graph(2, **fields)
