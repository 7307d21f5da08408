"""A picture of a one-to-one matching: two graphs, and a line from each node to its partner."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rwk.report.drawing import draw_graph, frame, label_fills, node_fills
from rwk.report.given_graphs import given_pair
from rwk.report.palette import headline, new_axes
from rwk.report.side_by_side import draw_key, draw_links, placed
from rwk.runtime.words import counted

if TYPE_CHECKING:
    from rwk.matching.matched import Matching

FAINTEST = 0.25  # a line stays visible where the matching is not sure at all


def plot_matching(G: Any, H: Any, found: Matching, *, ax: Any = None, title: str | None = None) -> Any:
    """Draw two graphs side by side with a line for each matched pair of nodes.

    Lines are thinner and paler where the matching is less sure, blue between nodes of the same label and orange
    between different ones. Nodes without a partner have a red ring.

    Parameters
    ----------
    G, H : graph
        The two graphs, each in any form that `as_graphs` accepts.
    found : Matching
        Their matching, from `rwk.match(G, H)` or `rwk.common_part(G, H)`.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.
    title : str, optional
        Title; the numbers of nodes if None.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import networkx as nx
    >>> from rwk import match
    >>> from rwk.report import plot_matching
    >>> path, star = nx.path_graph(5), nx.star_graph(3)
    >>> plot_matching(path, star, match(path, star)).get_title(loc="left")
    '5 and 4 nodes\\n'
    """
    G, H = given_pair(G, H)
    if ax is None:
        larger = float(np.clip(max(G.n_nodes, H.n_nodes) / 50, 1.0, 1.5))
        ax = new_axes(7.0 * larger, 4.8 * larger)
    pairs = found.as_coupling()
    source, target = placed(G, H, pairs)
    frame(ax, np.concatenate([source.places, target.places]))
    if len(found):
        draw_links(ax, source, target, tuple(found.numbers.T), np.maximum(found.confidence, FAINTEST))
    fills = label_fills(G, H)
    for axis, side in enumerate((source, target)):
        alone = (pairs.sum(axis=1 - axis) == 0).astype(float)
        colours = node_fills(side.graph, fills)
        draw_graph(ax, side.graph, side.places, colours=colours, levels=alone if alone.any() else None)
    left = sum(map(len, found.unmatched))
    state = f"{counted(len(found), 'pair')} · {found.edges_preserved:.0%} of the edges between them preserved"
    headline(ax, title or f"{G.n_nodes} and {H.n_nodes} nodes", state)
    draw_key(ax, G, H, rings="without a partner" if left else "")
    return ax
