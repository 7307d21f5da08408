"""Sets of graphs of different sizes, and settings, for both bodies of the GPU backend.

Run as a script with TRITON_INTERPRET=1, it solves them with the fused kernels on the CPU and writes the results to a
file: `python gpu_cases.py results.npz`.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from generators import dressed
from rwk import Graph, GraphSet, Parameters
from rwk.represent import represent
from rwk.transport.measures import GraphMeasures
from rwk.transport.problem import CostWeights, ScgOptions

# name -> (features and weights of the graphs, settings); every term, both signs, every kind of cost
CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "all terms": ({"features": "labels"}, {}),
    "attributes and node weights": ({"features": "both", "zero_weights": True}, {"laplacian_target": 0.1}),
    "no features": ({"features": "none"}, {"structure": "embedding"}),
    "repel": ({"features": "both", "node_weights": True}, {"degree_prior": "repel", "degree_weight": 0.05}),
    "attention": ({"features": "labels"}, {"embedding": "attention", "embedding_dim": 6, "walk_length": 2}),
    "hamming only": ({"features": "labels", "edge_weights": True}, {"feature_metric": "hamming"}),
    "product": ({"features": "both", "node_weights": True}, {"feature_metric": "product"}),
    "product of degrees": (
        {"features": "none", "edge_weights": True},
        {"feature_metric": "product", "return_weight": 0.5, "beta_global": 0.1, "entropy": 0.03},
    ),
    "euclidean only": ({"features": "attributes"}, {"feature_metric": "l2", "hops": 1}),
    "local only": ({"features": "labels"}, {"variant": "RWK-LW", "laplacian_source": 0.1}),
    "global only": ({"features": "labels"}, {"variant": "RWK-GW"}),
    "no regularisers": ({"features": "both"}, {"variant": "NoRegs", "structure": "heat-kernel"}),
    "stops early": ({"features": "labels"}, {"tol": 0.05}),
    "small entropy": ({"features": "labels"}, {"entropy": 0.01, "beta_global": 0.1}),
    "unscaled": ({"features": "none"}, {"scale": "none", "structure": "adjacency", "laplacian": "combinatorial"}),
}
# title -> case, settings and variant of the fused kernel
INTERPRETED: dict[str, tuple[str, dict[str, Any], bool]] = {
    "attributes and node weights": ("attributes and node weights", {}, False),
    "repel": ("repel", {}, False),
    "attention": ("attention", {}, False),
    "product": ("product", {}, False),
    "wide": ("repel", {"entropy": 0.02}, True),
}
# cases that are also solved by the kernels for large graphs
STREAMED = ("attributes and node weights", "repel", "small entropy", "no regularisers")
STREAMED_PAIRS = np.array([[3, 4], [5, 4]])
STREAMED_SIZES = (1, 3, 14, 20, 37, 30)
INTERPRETED_PAIRS = np.array([[0, 2], [1, 1], [3, 2], [2, 4]])
INTERPRETED_SETTINGS = {"max_iter": 4, "sinkhorn_iter": 5, "tol": 1e-3}
SIZES = (1, 3, 14, 20, 37)


def ragged_set(seed: int, sizes: tuple[int, ...], **extra: Any) -> list[Graph]:
    """Random graphs of these sizes with about three neighbours per node; some nodes have none."""
    rng = np.random.default_rng(seed)
    graphs = []
    for number, n in enumerate(sizes):
        near = np.triu(rng.random((n, n)) < min(1.0, 3.0 / n), 1)
        graphs.append(dressed(n, np.argwhere(near), seed=seed + number, **extra))
    return graphs


def measured(
    name: str, sizes: tuple[int, ...] = SIZES, **overrides: Any
) -> tuple[GraphMeasures, CostWeights, ScgOptions]:
    looks, settings = CASES[name]
    parameters = Parameters.of({**settings, **overrides, "backend": "cpu"})
    measures, _ = represent(GraphSet.from_graphs(ragged_set(7, sizes, **looks)), parameters)
    return measures, parameters.cost_weights(), parameters.scg_options()


def all_pairs(count: int) -> Any:
    return np.stack(np.indices((count, count)).reshape(2, -1), axis=1)


def repair_interpreter() -> None:
    """Triton's interpreter turns one-element arrays into numbers in a way that NumPy 2.4 no longer accepts."""
    from triton.runtime import interpreter

    patch = interpreter._patch_lang_tensor

    def repaired(tensor: Any, scope: Any) -> None:
        patch(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    interpreter._patch_lang_tensor = repaired


def main(path: str) -> None:
    import torch

    from rwk.transport.gpu.device_measures import make_store
    from rwk.transport.gpu.fused_run import UNSURE, launch
    from rwk.transport.gpu.plan import Job, fused_shape, group_pairs
    from rwk.transport.problem import PairResults

    repair_interpreter()
    found: dict[str, Any] = {}
    for name, (case, settings, wide) in INTERPRETED.items():
        measures, weights, options = measured(case, **INTERPRETED_SETTINGS, **settings)
        store = make_store(measures, np.arange(measures.n_graphs), torch.device("cpu"), torch.float32)
        for a, b in INTERPRETED_PAIRS:
            pair = np.array([[a, b]])
            job = Job(store, pair, weights, options, PairResults.empty(1), lambda done: None)
            group = group_pairs(store, pair)[0]
            shape = fused_shape(group.source, group.target)
            solved = launch(job, group, shape, *job.places(np.arange(1)), couplings=True, wide=wide)
            n, m = measures.sizes[a], measures.sizes[b]
            found[f"{name}/{a}/{b}/coupling"] = solved.couplings[0, :n, :m].numpy()
            found[f"{name}/{a}/{b}/numbers"] = np.array(
                [float(part[0]) for part in (solved.values, solved.n_iter, solved.gaps, solved.states % UNSURE)]
            )
    np.savez(path, **found, **streamed_results())


def streamed_results() -> dict[str, Any]:
    """Values, iterations, gaps and convergence of the large kernels, in tiles smaller than the matrices."""
    import torch

    from rwk.transport.gpu import streamed
    from rwk.transport.gpu.device_measures import make_store
    from rwk.transport.gpu.fused_run import linear_cost_on_chip
    from rwk.transport.gpu.plan import Job, group_pairs
    from rwk.transport.gpu.streamed_run import solve_streamed
    from rwk.transport.problem import PairResults

    streamed.TILE = streamed.FLAT_TILE = 512
    found = {}
    for name in STREAMED:
        measures, weights, options = measured(name, STREAMED_SIZES, **INTERPRETED_SETTINGS)
        store = make_store(measures, np.arange(measures.n_graphs), torch.device("cpu"), torch.float32)
        job = Job(store, STREAMED_PAIRS, weights, options, PairResults.empty(2), lambda done: None)
        numbers = np.zeros((len(STREAMED_PAIRS), 4))
        for group in group_pairs(store, STREAMED_PAIRS):
            places = job.places(group.members)
            cost = linear_cost_on_chip(job, group.source, group.target, *places)
            solved = solve_streamed(cost, group.source, group.target, *places, weights, options)
            numbers[group.members] = torch.stack(
                [part.double() for part in (solved.values, solved.n_iter, solved.gaps, solved.converged)], dim=1
            ).numpy()
        found[f"streamed/{name}"] = numbers
    return found


if __name__ == "__main__":
    main(sys.argv[1])
