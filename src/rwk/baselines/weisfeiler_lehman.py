"""Weisfeiler-Lehman subtree kernel (WL) and its optimal assignment variant (WL-OA)."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from rwk.baselines.base import NO_ATTRIBUTES, RoundsKernel
from rwk.baselines.histograms import Histograms, histograms, owners, unary
from rwk.graphs import GraphSet
from rwk.graphs.colours import Colours, wl_colours
from rwk.runtime.arrays import IntArray


class ColourKernel(RoundsKernel):
    """A kernel that counts Weisfeiler-Lehman colours; subclasses say how."""

    accepts: ClassVar[tuple[str, ...]] = ("labels", "structure")
    sees: ClassVar[str] = "labels"
    note: ClassVar[str] = NO_ATTRIBUTES
    grid: ClassVar[Mapping[str, Sequence[Any]]] = {"rounds": tuple(range(11))}

    def __init__(self, *, rounds: int = 5, normalize: bool = True) -> None:
        self.rounds = rounds
        self.normalize = normalize

    def _represent(self, graphs: GraphSet) -> list[Histograms]:
        owner = owners(graphs)
        return [self._counted(owner, colours, len(graphs)) for colours in wl_colours(graphs, self.rounds)]

    @abstractmethod
    def _counted(self, owner: IntArray, colours: Colours, n_graphs: int) -> Histograms:
        """Counts of the colours of one round."""


class WL(ColourKernel):
    """Weisfeiler-Lehman subtree kernel: counts of colours, compared by inner product.

    Parameters
    ----------
    rounds : int, default 5
        Rounds of colour refinement; round 0 counts the labels (degrees if there are none).
    normalize : bool, default True
        Whether to scale the kernel to a unit diagonal.

    Examples
    --------
    >>> from rwk import as_graphs
    >>> import networkx as nx
    >>> graphs = as_graphs([nx.path_graph(3), nx.path_graph(4)])
    >>> WL(rounds=0, normalize=False).fit_transform(graphs).tolist()  # degrees 1, 2, 1 and 1, 2, 2, 1
    [[5.0, 6.0], [6.0, 8.0]]
    """

    title: ClassVar[str] = "WL"
    reference: ClassVar[str] = (
        "N. Shervashidze, P. Schweitzer, E. J. van Leeuwen, K. Mehlhorn, K. M. Borgwardt. "
        "Weisfeiler-Lehman graph kernels. JMLR 12, 2011."
    )

    def _counted(self, owner: IntArray, colours: Colours, n_graphs: int) -> Histograms:
        return histograms(owner, colours, n_graphs)


class WLOA(ColourKernel):
    """Weisfeiler-Lehman optimal assignment kernel: the sum over colours of the smaller of the two counts.

    Parameters
    ----------
    rounds : int, default 5
        Rounds of colour refinement; round 0 counts the labels (degrees if there are none).
    normalize : bool, default True
        Whether to scale the kernel to a unit diagonal.

    Examples
    --------
    >>> from rwk import as_graphs
    >>> import networkx as nx
    >>> graphs = as_graphs([nx.path_graph(3), nx.path_graph(4)])
    >>> WLOA(rounds=0, normalize=False).fit_transform(graphs).tolist()
    [[3.0, 3.0], [3.0, 4.0]]
    """

    title: ClassVar[str] = "WL-OA"
    reference: ClassVar[str] = (
        "N. M. Kriege, P.-L. Giscard, R. C. Wilson. "
        "On valid optimal assignment kernels and applications to graph classification. NIPS 2016."
    )

    def _counted(self, owner: IntArray, colours: Colours, n_graphs: int) -> Histograms:
        return unary(owner, colours, n_graphs)
