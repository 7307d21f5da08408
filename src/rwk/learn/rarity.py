"""Node weights by rarity: nodes whose surroundings few graphs have count more.

In a set of like molecules, such as the ligands of one protein, most atoms belong to a frame that all of them share.
What tells the molecules apart is the rest, and a coupling that has to carry more mass there is more sensitive to it.
The weights are those of words in documents, log((1 + N) / (1 + n)) for a colour that n of N graphs have (inverse
document frequency), averaged over the rounds of Weisfeiler-Lehman refinement.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple, Self

import numpy as np

from rwk.graphs import GraphSet
from rwk.graphs.colours import wl_colours
from rwk.runtime.arrays import FloatArray

ROUNDS: Final = 3
FLOOR: Final = 0.1  # of the mean weight: a node that every graph has still counts a little
BONDS: Final = "bonds"  # the form that rare nodes are looked for in
RARE_BONDS: Final = "bonds: rare nodes"  # a form that belongs to the group of the bonds (`Grid.combine`)


class NodeRarity(NamedTuple):
    """How many of the training graphs have each colour.

    >>> from rwk import Graph
    >>> graphs = [Graph(2, np.array([[0, 1]]), node_labels=np.array(labels)) for labels in ([6, 6], [6, 8], [6, 6])]
    >>> together = GraphSet.from_graphs(graphs)
    >>> NodeRarity.learned(together).of(together).node_weights.round(2).tolist()
    [0.72, 0.72, 1.6, 2.1, 0.72, 0.72]
    """

    n_graphs: int
    colours: tuple[Any, ...]  # of each round, sorted
    counts: tuple[Any, ...]  # of the graphs that have them
    mean: float  # rarity of a node of the training graphs

    @classmethod
    def learned(cls, graphs: GraphSet) -> Self:
        """Count in how many graphs each colour appears."""
        owners, colours, counts = np.repeat(np.arange(len(graphs)), graphs.sizes), [], []
        for row in wl_colours(graphs, ROUNDS):
            known, numbers = np.unique(row, return_inverse=True)
            once = np.unique(numbers.reshape(-1) * len(graphs) + owners)  # a colour and a graph that has it
            colours.append(known)
            counts.append(np.bincount(once // max(len(graphs), 1), minlength=len(known)))
        counted = cls(len(graphs), tuple(colours), tuple(counts), 1.0)
        return counted._replace(mean=float(counted._rarity(graphs).mean()) or 1.0)

    def of(self, graphs: GraphSet) -> GraphSet:
        """Graphs with rarity as node weights, times the weights that they have."""
        weights = self._rarity(graphs) / self.mean + FLOOR
        return replace(graphs, node_weights=weights if graphs.node_weights is None else weights * graphs.node_weights)

    def _rarity(self, graphs: GraphSet) -> FloatArray:
        """Mean over the rounds of log((1 + N) / (1 + n)); n is 0 for colours that no training graph has."""
        total = np.zeros(int(graphs.node_offsets[-1]))
        for row, known, counts in zip(wl_colours(graphs, ROUNDS), self.colours, self.counts, strict=True):
            places = np.minimum(np.searchsorted(known, row), len(known) - 1)
            total += np.log((1 + self.n_graphs) / (1 + np.where(known[places] == row, counts[places], 0)))
        return np.asarray(total / len(self.colours))


def learned_rarity(forms: Mapping[str, GraphSet]) -> NodeRarity | None:
    """The rarity of the nodes of molecules in space, which are seen as bonds and distances; None for other graphs."""
    return NodeRarity.learned(forms[BONDS]) if len(forms) > 1 and BONDS in forms else None


def with_rare_nodes(forms: Mapping[str, GraphSet], rarity: NodeRarity | None) -> dict[str, GraphSet]:
    """The forms in which RWK sees graphs: `forms`, and after the bonds these with weights by rarity."""
    if rarity is None:
        return dict(forms)
    rare = {BONDS: forms[BONDS], RARE_BONDS: rarity.of(forms[BONDS])}
    return rare | {form: graphs for form, graphs in forms.items() if form != BONDS}
