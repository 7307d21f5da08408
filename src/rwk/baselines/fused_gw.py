"""Fused Gromov-Wasserstein (FGW): one coupling matches both node features and distances inside graphs.

    FGW = min over couplings T of  (1 − α) Σ M_ij T_ij + α Σ (C_ik − D_jl)² T_ij T_kl

found by conditional gradients with exact line search, from the product coupling. On the CPU (`fused_gw_exact`) each
direction is an exact transport plan, on a GPU (`fused_gw_gpu`) an entropic one. Masses are uniform. As C and D are
symmetric, the quadratic part is const − 2 <C T D, T>.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, Self

import numpy as np
from sklearn.model_selection import ParameterGrid

from rwk.baselines.base import EITHER, DiscrepancyKernel
from rwk.baselines.fused_gw_exact import FusedGraphs, solve_pairs
from rwk.baselines.node_costs import as_units, mean_hamming, mean_squares
from rwk.baselines.node_features import Standard, check_same_data, standard_of
from rwk.baselines.pair_matrix import pair_matrix
from rwk.graphs import GraphSet
from rwk.graphs.colours import wl_colours
from rwk.represent.structure import path_lengths, structure_cost
from rwk.runtime.arrays import FloatArray, IntArray

STRUCTURES: Final = ("auto", "shortest-path", "edge-distance")
HUGE: Final = 2e10  # pairs of nodes: DD and COLLAB, where a setting takes two to three minutes on an H200
HUGE_GRID: Final[Mapping[str, Sequence[Any]]] = {"alpha": (0.1, 0.5), "rounds": (1,)}


class FGW(DiscrepancyKernel):
    """exp(−γ FGW) with the fused Gromov-Wasserstein discrepancy of node features and shortest-path distances.

    Features are standardised attributes (squared Euclidean distance, divided by twice their number), Weisfeiler-Lehman
    colours (share of rounds in which they differ), or both. Distances inside graphs are divided by the largest one of
    the fitted graphs.

    Parameters
    ----------
    alpha : float, default 0.5
        Weight of the structure, from 0 (features only) to 1 (structure only).
    gamma : float, default 1.0
        γ of the kernel.
    rounds : int, default 2
        Rounds of colour refinement; not used if only attributes are compared.
    features : {"auto", "labels", "attributes", "both"}, default "auto"
        What the features are. "both" is a weighted sum of the two costs, each divided by its mean over all pairs of
        nodes of the fitted graphs. "auto" is "attributes" if there are any, otherwise "labels".
    label_weight : float, default 0.5
        Share of the labels in the cost with features="both", from 0 (attributes only) to 1 (labels only).
    structure : {"auto", "shortest-path", "edge-distance"}, default "auto"
        "shortest-path" counts edges, "edge-distance" takes their lengths from the first edge attribute; "auto" is the
        latter if there is exactly one edge attribute.
    backend : {"cpu", "gpu"}, default "cpu"
        Where discrepancies are computed. "gpu" finds the directions of the conditional gradient by Sinkhorn rounds
        instead of exact transport, so its values are a little larger: about 2 % on average on NCI1.
    n_jobs : int, optional
        Number of threads; by default all.

    Examples
    --------
    >>> from rwk import as_graphs
    >>> import networkx as nx
    >>> kernel = FGW(alpha=0.5, rounds=0)
    >>> kernel.fit_transform(as_graphs([nx.path_graph(2), nx.path_graph(3)])).diagonal().tolist()
    [1.0, 1.0]
    """

    title: ClassVar[str] = "FGW"
    reference: ClassVar[str] = (
        "T. Vayer, L. Chapel, R. Flamary, R. Tavenard, N. Courty. "
        "Optimal transport for structured data with application on graphs. ICML 2019."
    )
    accepts: ClassVar[tuple[str, ...]] = ("labels", "attributes", "structure")
    sees: ClassVar[str] = EITHER
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {"alpha": (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)}
    fair_values: ClassVar[Mapping[str, Sequence[Any]]] = {
        "alpha": (0.1, 0.5, 0.9),  # few, because rounds and weights are searched too
        "rounds": tuple(range(5)),
        "features": ("both",),
        "label_weight": (0.2, 0.5, 0.8),
    }
    _known: tuple[GraphSet, str, list[FloatArray]] | None = None  # graphs, structure, and the distances inside each
    gammas: ClassVar[Sequence[float]] = tuple(2.0**k for k in range(-10, 11, 2))

    def __init__(
        self,
        *,
        alpha: float = 0.5,
        gamma: float = 1.0,
        rounds: int = 2,
        features: str = "auto",
        label_weight: float = 0.5,
        structure: str = "auto",
        backend: str = "cpu",
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.gamma = gamma
        self.rounds = rounds
        self.features = features
        self.label_weight = label_weight
        self.structure = structure
        self.backend = backend
        self.n_jobs = n_jobs

    @classmethod
    def grid_for(cls, graphs: GraphSet, *, fair: bool = False) -> dict[str, Sequence[Any]]:
        """Like `Baseline.grid_for`; the fair grid of very large sets is smaller, because each setting takes minutes."""
        grid = super().grid_for(graphs, fair=fair)
        return {**grid, **HUGE_GRID} if fair and float(graphs.sizes.sum()) ** 2 > HUGE else grid

    def groups(self, X: Any, *, fair: bool = False) -> list[dict[str, Any]]:
        """Like `GraphKernel.groups`; all values of alpha come before the next features."""
        others = self.grid_for(self._graphs(X), fair=fair)
        alphas = others.pop("alpha")
        return [{"alpha": alpha, **parameters} for parameters in ParameterGrid(others) for alpha in alphas]

    def settings_of(self, X: Any, shared: Mapping[str, Any], *, fair: bool = False) -> Iterator[tuple[str, FloatArray]]:
        """Like `GraphKernel.settings_of`; distances inside graphs are computed once for all groups."""
        graphs = self._graphs(X)
        structure = self._structure(graphs)
        self._known = graphs, structure, self._distances(graphs, structure)
        yield from super().settings_of(graphs, shared, fair=fair)

    def _variant(self, parameters: Mapping[str, Any]) -> Self:
        made = super()._variant(parameters)
        made._known = self._known
        return made

    def solver(self) -> str:
        """How values are found, for records, if not exactly."""
        return "entropic directions" if self.backend == "gpu" else ""

    def _learn(self, graphs: GraphSet) -> None:
        if self.backend not in ("cpu", "gpu"):
            raise ValueError(f"backend={self.backend!r} is not known: it must be 'cpu' or 'gpu'")
        self.structure_ = self._structure(graphs)
        attributes = graphs.node_attributes
        self.standard_: Standard | None = None if attributes is None else standard_of(attributes)
        self._known = graphs, self.structure_, self._distances(graphs, self.structure_)
        self.unit_ = max(float(block.max()) for block in self._known[2]) or 1.0
        self.weights_ = (1.0, 1.0)  # of labels and attributes
        if self.features == "both":
            means = [mean_hamming(wl_colours(graphs, self.rounds))[-1], mean_squares(self._points(graphs))]
            units = as_units(np.array(means)).tolist()
            self.weights_ = self.label_weight / units[0], (1.0 - self.label_weight) / units[1]

    def _represent(self, graphs: GraphSet) -> FusedGraphs:
        check_same_data(graphs.node_attributes, self.standard_ is not None)
        n_nodes = int(graphs.node_offsets[-1])
        points, colours = np.zeros((n_nodes, 0)), np.zeros((0, n_nodes), np.uint64)
        if self.standard_ is not None:
            points = self._points(graphs)
        if self.standard_ is None or self.features == "both":
            colours = wl_colours(graphs, self.rounds)
        if self.features == "both":
            points = points * np.sqrt(self.weights_[1])
        flat = [block.ravel() / self.unit_ for block in self._distances(graphs, self.structure_)]
        self._known = None  # no longer needed
        place = graphs.sizes + np.array([0.5 * block.mean() for block in flat])
        return FusedGraphs(
            np.concatenate(flat),
            graphs.pair_offsets,
            points,
            colours,
            self.weights_[0] / max(1, len(colours)),
            graphs.node_offsets,
            place,
        )

    def _structure(self, graphs: GraphSet) -> str:
        if self.structure not in STRUCTURES:
            raise ValueError(f"structure={self.structure!r} is not known: it must be one of {STRUCTURES}")
        lengths = graphs.edge_attributes is not None and graphs.edge_attributes.shape[1] == 1
        return ("edge-distance" if lengths else "shortest-path") if self.structure == "auto" else self.structure

    def _distances(self, graphs: GraphSet, structure: str) -> list[FloatArray]:
        """Distances inside each graph, computed once for graphs that are learned from and then represented."""
        if self._known is not None and self._known[0] is graphs and self._known[1] == structure:
            return self._known[2]
        if structure == "shortest-path":
            return [path_lengths(graph, None) for graph in graphs]
        return [structure_cost(structure, graph, np.empty((0, 0)), None, None) for graph in graphs]

    def _points(self, graphs: GraphSet) -> FloatArray:
        """Standardised attributes, scaled so that their squared Euclidean distance is the cost."""
        assert graphs.node_attributes is not None
        assert self.standard_ is not None
        points = self.standard_.apply(graphs.node_attributes)
        return np.ascontiguousarray(points / np.sqrt(2.0 * points.shape[1]))

    def _discrepancies(self, rows: FusedGraphs, columns: FusedGraphs | None) -> FloatArray:
        same, alpha = columns is None, float(self.alpha)
        if self.backend == "gpu":
            from rwk.runtime.device import open_device

            open_device()  # raises an error that says what is missing, before torch is imported
            from rwk.baselines.fused_gw_gpu import discrepancies_on_device

            return discrepancies_on_device(rows, columns, alpha)
        other = rows if columns is None else columns

        def solve(i: IntArray, j: IntArray, out: FloatArray) -> None:
            solve_pairs(rows, other, i, j, same, alpha, out)

        sizes = (np.diff(rows.offsets), np.diff(other.offsets))
        return np.asarray(pair_matrix(solve, sizes, 1, symmetric=same, n_jobs=self.n_jobs)[0])
