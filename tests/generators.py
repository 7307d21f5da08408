"""Graphs and settings for tests: hypothesis strategies, and difficult graphs made by hand."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from numba import config

from rwk import Graph

# The same examples on every run; RWK_EXPLORE=1 looks for new ones.
EXPLORE = bool(os.environ.get("RWK_EXPLORE"))


def laws(max_examples: int) -> settings:
    """Settings of hypothesis for a law: so many examples (ten times as many when exploring), no deadline.

    A few do where compiled code runs as Python (plain_vectors.py), which takes a hundred times as long.
    """
    if config.DISABLE_JIT:
        max_examples = min(max_examples, 4)
    return settings(
        max_examples=max_examples * (10 if EXPLORE else 1),
        deadline=None,
        derandomize=not EXPLORE,
        suppress_health_check=list(HealthCheck),
    )


# ---------------------------------------------------------------- random graphs

FEATURES = ("none", "labels", "attributes", "both")


@st.composite
def graphs(draw: st.DrawFn, features: str = "labels", max_nodes: int = 9, **extra: bool) -> Graph:
    """A random graph with the named features; `extra` adds node_weights, zero_weights, edge_weights ..."""
    n = draw(st.integers(1, max_nodes))
    pairs = [(i, j) for i in range(n) for j in range(i + 1, n)]
    edges = sorted(draw(st.sets(st.sampled_from(pairs)))) if pairs else []
    return dressed(n, edges, features, seed=draw(st.integers(0, 2**16)), **extra)


def dressed(
    n: int,
    edges: Any,
    features: str,
    *,
    seed: int = 0,
    node_weights: bool = False,
    zero_weights: bool = False,
    edge_weights: bool = False,
    edge_labels: bool = False,
    edge_attributes: bool = False,
) -> Graph:
    """Nodes and edges with random features and weights; with `zero_weights` some node weights are 0, but not all."""
    rng = np.random.default_rng(seed)
    edges = np.array(edges, np.int64).reshape(-1, 2)
    m = len(edges)
    weights = rng.uniform(0.2, 1.0, n)
    if zero_weights:
        weights[rng.permutation(n)[: n // 3]] = 0.0
    return Graph(
        n,
        edges,
        node_labels=rng.integers(0, 3, n) if features in ("labels", "both") else None,
        node_attributes=rng.normal(size=(n, 2)) if features in ("attributes", "both") else None,
        node_weights=weights if node_weights or zero_weights else None,
        edge_weights=rng.uniform(0.5, 2.0, m) if edge_weights else None,
        edge_labels=rng.integers(0, 2, m) if edge_labels else None,
        edge_attributes=rng.uniform(0.5, 2.0, (m, 1)) if edge_attributes else None,
    )


@st.composite
def graph_sets(draw: st.DrawFn, *, min_size: int = 2, max_size: int = 2, max_nodes: int = 9) -> list[Graph]:
    """Graphs that all have the same features and the same kinds of weights."""
    features = draw(st.sampled_from(FEATURES))
    weighing = draw(st.sampled_from([{}, {"node_weights": True}, {"zero_weights": True}]))
    extra = dict.fromkeys(draw(st.sets(st.sampled_from(["edge_weights", "edge_labels"]))), True)
    one = graphs(features, max_nodes, edge_attributes=True, **weighing, **extra)
    return draw(st.lists(one, min_size=min_size, max_size=max_size))


# ---------------------------------------------------------------- random settings


def representations(*, attention: bool = True) -> st.SearchStrategy[dict[str, Any]]:
    """Settings of the representation."""
    embedding = st.just({"embedding": "heat-signature", "embedding_dim": 5})
    if attention:
        learned = st.sampled_from(["auto", "euclidean"]).map(
            lambda metric: {"embedding": "attention", "embedding_dim": 6, "structure_metric": metric, "walk_length": 3}
        )
        embedding = st.one_of(embedding, embedding, learned)
    rest = st.fixed_dictionaries(
        {
            "hops": st.integers(0, 3),
            "wl_rounds": st.integers(0, 3),
            "wl_edge_labels": st.booleans(),
            "feature_metric": st.sampled_from(["l2", "hamming", "both", "product"]),
            "return_weight": st.sampled_from([0.0, 1.0, 2.5]),
            "attribute_weight": st.sampled_from([0.0, 1.0, 0.5]),
            "hamming_weight": st.sampled_from([0.2, 0.5]),
            "label_weight": st.sampled_from([0.3, 0.5]),
            "attribute_rounds": st.integers(0, 1),
            "structure": st.sampled_from(
                ["embedding", "shortest-path", "adjacency", "laplacian", "heat-kernel", "edge-distance"]
            ),
            "laplacian": st.sampled_from(["normalized", "combinatorial"]),
            "scale": st.sampled_from(["fit", "none"]),
        }
    )
    return st.tuples(embedding, rest).map(lambda both: both[0] | both[1])


def models() -> st.SearchStrategy[dict[str, Any]]:
    """Weights of the terms, some of them 0."""
    weight = st.sampled_from([0.0, 0.3, 1.0])
    small = st.sampled_from([0.0, 0.01, 0.1])
    return st.fixed_dictionaries(
        {
            "beta_local": weight,
            "beta_global": weight,
            "laplacian_source": small,
            "laplacian_target": small,
            "ridge": small,
            "degree_weight": st.sampled_from([0.0, 0.01, 0.1, 5.0]),  # a large one makes the line search halve its step
            "degree_prior": st.sampled_from(["attract", "repel"]),
        }
    )


def solvers() -> st.SearchStrategy[dict[str, Any]]:
    """Settings of the solver, with tol = 0: it runs until no step descends."""
    return st.fixed_dictionaries(
        {
            "entropy": st.sampled_from([0.1, 0.3, 0.9]),
            "max_iter": st.sampled_from([1, 5, 10]),
            "sinkhorn_iter": st.sampled_from([1, 10, 30]),
            "tol": st.just(0.0),
            "backend": st.just("cpu"),
        }
    )


def all_settings(*, attention: bool = True) -> st.SearchStrategy[dict[str, Any]]:
    """Representation, model and solver together, as keywords."""
    parts = st.tuples(representations(attention=attention), models(), solvers())
    return parts.map(lambda three: three[0] | three[1] | three[2])


# ---------------------------------------------------------------- graphs made by hand


def path(n: int) -> list[tuple[int, int]]:
    return [(i, i + 1) for i in range(n - 1)]


def cycle(n: int) -> list[tuple[int, int]]:
    return [*path(n), (0, n - 1)]


def star(n: int) -> list[tuple[int, int]]:
    return [(0, i) for i in range(1, n)]


def complete(n: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(n) for j in range(i + 1, n)]


PETERSEN = [*[(i, (i + 1) % 5) for i in range(5)], *[(i, i + 5) for i in range(5)],
            *[(5 + i, 5 + (i + 2) % 5) for i in range(5)]]  # fmt: skip
CUBE = [(i, i ^ bit) for i in range(8) for bit in (1, 2, 4) if i < i ^ bit]

# name -> nodes, edges
SHAPES: dict[str, tuple[int, list[tuple[int, int]]]] = {
    "one node": (1, []),
    "two nodes": (2, [(0, 1)]),
    "two nodes apart": (2, []),
    "no edges": (5, []),
    "isolated nodes": (7, path(4)),
    "disconnected": (8, [*cycle(4), (4, 5), (5, 6), (6, 7)]),
    "complete": (9, complete(9)),
    "star": (9, star(9)),
    "path": (9, path(9)),
    "petersen": (10, [tuple(sorted(edge)) for edge in PETERSEN]),  # type: ignore[misc]
    "cube": (8, CUBE),
}


def plain(name: str) -> Graph:
    """One of the shapes as a graph with edges only."""
    n, edges = SHAPES[name]
    return Graph(n, np.array(sorted(edges), np.int64).reshape(-1, 2))


def asymmetric(n: int, seed: int) -> Graph:
    """A connected random graph whose node attributes are all different and far from each other."""
    rng = np.random.default_rng(seed)
    tree = [(int(rng.integers(0, i)), i) for i in range(1, n)]
    more = {tuple(sorted(map(int, rng.choice(n, 2, replace=False)))) for _ in range(n)}
    edges = np.array(sorted(set(tree) | more), np.int64)
    return Graph(n, edges, node_attributes=rng.permutation(n)[:, None] + rng.normal(scale=0.1, size=(n, 3)))


def hard_sets() -> dict[str, list[Graph]]:
    """Sets of difficult graphs; every pair in a set must give finite numbers with every setting."""
    shapes = [plain(name) for name in SHAPES]
    rng = np.random.default_rng(7)

    def with_attributes(make: Any) -> list[Graph]:
        return [replace(graph, node_attributes=make(graph.n_nodes)) for graph in shapes]

    def far(n: int) -> Any:
        return rng.normal(size=(n, 2))

    def weighed(graph: Graph) -> Graph:
        weights = rng.uniform(0.1, 1.0, graph.n_nodes)
        weights[1::2] = 0.0
        return replace(graph, node_weights=weights, edge_weights=rng.uniform(0.0, 3.0, graph.n_edges))

    return {
        "unlabelled": shapes,
        "one label": [replace(graph, node_labels=np.zeros(graph.n_nodes, int)) for graph in shapes],
        "constant attributes": with_attributes(lambda n: np.full((n, 2), 3.7)),
        "attributes of size 1e8": with_attributes(lambda n: 1e8 * far(n)),
        "attributes of size 1e-8": with_attributes(lambda n: 1e-8 * far(n)),
        "labels and attributes": [
            replace(graph, node_labels=rng.integers(-2, 3, graph.n_nodes), node_attributes=far(graph.n_nodes))
            for graph in shapes
        ],
        "weights, some 0": [weighed(graph) for graph in shapes],
        "tiny and huge weights": [
            replace(graph, node_weights=10.0 ** rng.integers(-9, 9, graph.n_nodes), edge_weights=10.0
                    ** rng.integers(-6, 6, graph.n_edges)) for graph in shapes
        ],
    }  # fmt: skip


def large_set() -> list[Graph]:
    """A graph of one node, and one of 500 nodes with hundreds of labels that occur once: thousands of columns."""
    shapes = [(1, []), (500, path(500)), (300, cycle(300))]
    return [
        Graph(n, np.array(sorted(edges), np.int64).reshape(-1, 2), node_labels=np.arange(n) + 1000 * s)
        for s, (n, edges) in enumerate(shapes)
    ]
