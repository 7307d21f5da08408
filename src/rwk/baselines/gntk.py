"""Graph neural tangent kernel (GNTK): the kernel of an infinitely wide graph network trained by gradient descent.

At first Σ = Θ = XXᵀ: [labels equal] for one-hot labels; for attributes, standardised and divided by the root of their
mean squared norm, their inner products; for both, a weighted sum. Each block aggregates over closed neighbourhoods,

    Σ(u, v) ← c_u c_v Σ_{a ∈ N[u], b ∈ N[v]} Σ(a, b),   Θ likewise,

and then applies `layers` fully connected ReLU layers: with s_u = sqrt(Σ(u, u)) and ρ = Σ(u, v) / (s_u s_v),

    Σ ← s_u s_v κ₁(ρ),   Θ ← Θ κ₀(ρ) + Σ,
    κ₀(ρ) = (π − arccos ρ)/π,   κ₁(ρ) = (ρ (π − arccos ρ) + sqrt(1 − ρ²))/π.

κ₁(1) = 1, so the layers do not change s_u: it is one number per node and block, computed once per graph. The kernel is
the sum of Θ(u, v) after the last block or, with jumping knowledge, its sum over the input and all blocks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from rwk.baselines.base import GraphKernel, cosine, kept, setting_name
from rwk.baselines.gntk_cpu import learn_roots, solve_pairs
from rwk.baselines.gntk_graphs import TangentGraphs
from rwk.baselines.node_costs import as_units
from rwk.baselines.node_features import Standard, labels_or_degrees, standard_of
from rwk.baselines.pair_matrix import pair_matrix
from rwk.graphs import GraphSet
from rwk.represent.features import block_adjacency
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.threads import in_threads

HUGE: Final = 2e10  # pairs of nodes: DD and COLLAB, where the whole grid would take about an hour on an H200
HUGE_GRID: Final[Mapping[str, Sequence[Any]]] = {"blocks": (2, 6), "layers": (2,)}


class GNTK(GraphKernel):
    """Graph neural tangent kernel; nodes are described by their labels (degrees if there are none), attributes or both.

    Parameters
    ----------
    blocks : int, default 4
        Number of aggregations over neighbours.
    layers : int, default 2
        Number of ReLU layers after each aggregation.
    scale : {"uniform", "degree"}, default "uniform"
        Factor of an aggregation: c_u = 1, or c_u = 1 / |N[u]|.
    features : {"auto", "labels", "attributes", "both"}, default "auto"
        What describes the nodes; "auto" is "labels".
    label_weight : float, default 0.5
        Share of the labels with features="both", from 0 (attributes only) to 1 (labels only).
    jumping : bool, default True
        Whether to sum over the input and all blocks (jumping knowledge) instead of taking the last block.
    normalize : bool, default True
        Whether to scale the kernel to a unit diagonal.
    backend : {"cpu", "gpu"}, default "cpu"
        Where the kernel is computed.
    n_jobs : int, optional
        Number of threads; by default all.

    Examples
    --------
    >>> from rwk import as_graphs
    >>> import networkx as nx
    >>> K = GNTK(blocks=2).fit_transform(as_graphs([nx.path_graph(3), nx.cycle_graph(3)]))
    >>> K.shape, K.diagonal().tolist()
    ((2, 2), [1.0, 1.0])
    """

    title: ClassVar[str] = "GNTK"
    reference: ClassVar[str] = (
        "S. S. Du, K. Hou, B. Póczos, R. Salakhutdinov, R. Wang, K. Xu. "
        "Graph neural tangent kernel: fusing graph neural networks with graph kernels. NeurIPS 2019."
    )
    accepts: ClassVar[tuple[str, ...]] = ("labels", "attributes", "structure")
    sees: ClassVar[str] = "labels"
    together: ClassVar[tuple[str, ...]] = ("blocks",)
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {
        "blocks": (2, 6, 10, 14),
        "layers": (1, 2, 3),
        "scale": ("uniform", "degree"),
    }
    fair_values: ClassVar[Mapping[str, Sequence[Any]]] = {"features": ("labels", "both")}

    def __init__(
        self,
        *,
        blocks: int = 4,
        layers: int = 2,
        scale: str = "uniform",
        features: str = "auto",
        label_weight: float = 0.5,
        jumping: bool = True,
        normalize: bool = True,
        backend: str = "cpu",
        n_jobs: int | None = None,
    ) -> None:
        self.blocks = blocks
        self.layers = layers
        self.scale = scale
        self.features = features
        self.label_weight = label_weight
        self.jumping = jumping
        self.normalize = normalize
        self.backend = backend
        self.n_jobs = n_jobs

    @classmethod
    def grid_for(cls, graphs: GraphSet, *, fair: bool = False) -> dict[str, Sequence[Any]]:
        """Like `Baseline.grid_for`; the fair grid of very large sets is smaller."""
        grid = super().grid_for(graphs, fair=fair)
        return {**grid, **HUGE_GRID} if fair and float(graphs.sizes.sum()) ** 2 > HUGE else grid

    def settings_of(self, X: Any, shared: Mapping[str, Any], *, fair: bool = False) -> Iterator[tuple[str, FloatArray]]:
        """Like `GraphKernel.settings_of`; few blocks are the first of more blocks."""
        graphs = self._graphs(X)
        wanted = self.grid_for(graphs, fair=fair)["blocks"]
        deepest = self._variant({"blocks": max(wanted), **shared}).fit(graphs)
        sums = deepest._after_blocks(deepest.fitted_, None, wanted)
        for blocks, gram in zip(wanted, sums, strict=True):
            name = setting_name({"blocks": blocks, **shared})
            yield name, kept(deepest._finish(gram, (deepest.fitted_, deepest.fitted_), blocks))

    def _learn(self, graphs: GraphSet) -> None:
        self.label_weight_ = {"both": float(self.label_weight), "attributes": 0.0}.get(self.features, 1.0)
        self.standard_: Standard | None = None
        if self.features in ("attributes", "both"):
            assert graphs.node_attributes is not None
            self.standard_ = standard_of(graphs.node_attributes)
            norms = (self.standard_.apply(graphs.node_attributes) ** 2).sum(axis=1)
            self.unit_ = float(as_units(norms.mean()))

    def _represent(self, graphs: GraphSet) -> TangentGraphs:
        if self.scale not in ("uniform", "degree"):
            raise ValueError(f"scale={self.scale!r} is not known: it must be 'uniform' or 'degree'")
        if self.backend not in ("cpu", "gpu"):
            raise ValueError(f"backend={self.backend!r} is not known: it must be 'cpu' or 'gpu'")
        closed = block_adjacency(graphs).tocsr()
        first = closed.indptr.astype(np.int64)
        starts = np.repeat(graphs.node_offsets[:-1], graphs.sizes)
        neighbours = closed.indices.astype(np.int64) - np.repeat(starts, np.diff(first))
        n_nodes = int(graphs.node_offsets[-1])
        scale = np.ones(n_nodes) if self.scale == "uniform" else 1.0 / (1.0 + np.diff(first))
        points = np.zeros((n_nodes, 0))
        if self.standard_ is not None:
            assert graphs.node_attributes is not None
            points = self.standard_.apply(graphs.node_attributes) * np.sqrt((1.0 - self.label_weight_) / self.unit_)
        state = TangentGraphs(
            labels=labels_or_degrees(graphs).astype(np.int64),
            label_weight=self.label_weight_,
            points=points,
            offsets=graphs.node_offsets,
            first=first,
            neighbours=np.ascontiguousarray(neighbours),
            scale=scale,
            roots=np.ones((self.blocks, n_nodes)),
            own=np.empty((self.blocks + 1, len(graphs))),
        )
        layers = self.layers

        def learn(graph: int) -> int:
            learn_roots(state, graph, layers)
            return 1

        in_threads(learn, len(graphs), n_jobs=self.n_jobs, tick=None)
        return state

    def _compare(self, rows: TangentGraphs, columns: TangentGraphs | None) -> FloatArray:
        gram = self._after_blocks(rows, columns, (self.blocks,))[0]
        return self._finish(gram, (rows, rows if columns is None else columns), self.blocks)

    def _after_blocks(self, rows: TangentGraphs, columns: TangentGraphs | None, wanted: Sequence[int]) -> FloatArray:
        """The kernel of all pairs for each wanted number of blocks, shape (wanted, rows, columns)."""
        if self.backend == "gpu":
            from rwk.runtime.device import open_device

            device = open_device()  # raises an error that says what is missing, before torch is imported
            from rwk.baselines.gntk_gpu import kernel_on_device

            return kernel_on_device(rows, columns, self.layers, self.jumping, wanted, device)
        other = rows if columns is None else columns
        layers, jumping, ends = self.layers, self.jumping, np.array(wanted, np.int64)

        def solve(i: IntArray, j: IntArray, out: FloatArray) -> None:
            solve_pairs(rows, other, i, j, layers, jumping, ends, out)

        sizes = (np.diff(rows.offsets), np.diff(other.offsets))
        return pair_matrix(solve, sizes, len(ends), symmetric=columns is None, n_jobs=self.n_jobs)

    def _finish(self, gram: FloatArray, states: tuple[TangentGraphs, TangentGraphs], blocks: int) -> FloatArray:
        if not self.normalize:
            return gram
        used = slice(0, blocks + 1) if self.jumping else slice(blocks, blocks + 1)
        normalized = cosine(gram, *(state.own[used].sum(axis=0) for state in states))
        if states[0] is states[1]:
            np.fill_diagonal(normalized, 1.0)
        return normalized
