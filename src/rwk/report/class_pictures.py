"""Draws a class of graphs: its average or its medoid, and beside it some members, their nodes in matching places."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from rwk.averages.averaged import AverageGraph
from rwk.convert import as_graphs
from rwk.convert.label_coding import in_codes_of
from rwk.graphs import Graph, GraphSet
from rwk.report.drawing import draw_graph, frame, label_fills, node_fills
from rwk.report.given_graphs import given_graph
from rwk.report.layout import layout, matched_layout
from rwk.report.palette import headline, new_axes
from rwk.runtime.arrays import FloatArray

SHOWN: Final = 5  # members beside the centre
ADDED: Final = "#d9711c"  # edges that a member has and the average lacks
LACKED: Final = "#9aa5b1"
DISPUTED: Final = 0.25  # share from which on an edge that the average lacks is drawn in it, dashed


def plot_class(
    center: Any, members: Any, *, couplings: Sequence[Any] | None = None, axes: Any = None, title: str = ""
) -> Any:
    """Draw the average or the medoid of a class, and beside it some of its members.

    Beside an average, the nodes of the members are where the nodes of the average are that they match. Edges that a
    member has and the average lacks are orange; edges that it lacks are dashed. In the average, dashed edges are those
    that at least a quarter of the members have.

    Parameters
    ----------
    center : AverageGraph or graph
        What `barycenter` returned, or one graph, such as a medoid.
    members : graphs
        The graphs of the class. For an average, those that it was made of, in the same order; the nearest ones are
        shown. Else the first ones are shown.
    couplings : sequence of arrays, optional
        For a medoid, its couplings with the members, by which their nodes are placed.
    axes : sequence of matplotlib Axes, optional
        Where to draw, the centre first; a new figure with five members if None.
    title : str
        Title of the centre.

    Returns
    -------
    ndarray of matplotlib Axes

    Examples
    --------
    >>> import networkx as nx
    >>> from rwk import barycenter
    >>> from rwk.report import plot_class
    >>> rings = [nx.cycle_graph(5), nx.cycle_graph(5), nx.path_graph(5)]
    >>> len(plot_class(barycenter(rings, n_starts=1), rings, title="rings"))
    4
    """
    average = center if isinstance(center, AverageGraph) else None
    graph = given_graph(center) if average is None else average.graph
    graphs = in_codes_of(_as_set(members), graph.label_names)
    if average is not None and len(graphs) != len(average.values):
        raise ValueError(f"{len(graphs)} members were given for an average of {len(average.values)}; give those")
    if couplings is not None and len(couplings) != len(graphs):
        raise ValueError(f"{len(couplings)} couplings were given for {len(graphs)} members; give one per member")
    axes = _new_row(1 + min(SHOWN, len(graphs))) if axes is None else np.atleast_1d(axes)
    order = np.arange(len(graphs)) if average is None else np.argsort(average.values, kind="stable")
    order = order[: len(axes) - 1]
    fills, places = label_fills(graph, *(graphs[int(i)] for i in order)), layout(graph)
    _panel(axes[0], graph, places, fills, title or ("average" if average is not None else "medoid"))
    if average is not None:
        disputed = np.argwhere(np.triu(average.edge_shares, 1) >= DISPUTED)
        _lines(axes[0], places, _without(disputed, graph), LACKED, dashed=True)
    for ax, i in zip(axes[1:], order.tolist(), strict=False):
        member = graphs[i]
        if average is not None:
            own = _matched_places(member, places, average.matchings[i])
        else:
            own = layout(member) if couplings is None else matched_layout(member, places, np.asarray(couplings[i]))
        _panel(ax, member, own, fills, graphs.title(i))
        if average is not None:
            _mark_differences(ax, graph, member, own, average.matchings[i])
    return axes


def _as_set(members: Any) -> GraphSet:
    return members if isinstance(members, GraphSet) else as_graphs(members)


def _new_row(count: int) -> Any:
    return np.atleast_1d(new_axes(2.3 * count, 2.6, ncols=count))


def _panel(ax: Any, graph: Graph, places: FloatArray, fills: dict[int, str], title: str) -> None:
    frame(ax, places)
    draw_graph(ax, graph, places, colours=node_fills(graph, fills))
    headline(ax, title)


def _matched_places(member: Graph, places: FloatArray, pairs: Any) -> FloatArray:
    """Matched nodes where their partners are; others beside the mean of their neighbours."""
    own = np.full((member.n_nodes, 2), np.nan)
    own[pairs[:, 1]] = places[pairs[:, 0]]
    for node in np.flatnonzero(np.isnan(own[:, 0])):
        ends = member.edges[(member.edges == node).any(axis=1)]
        near = [other for other in ends.ravel().tolist() if other != node and np.isfinite(own[other, 0])]
        own[node] = (own[near].mean(axis=0) if near else places.mean(axis=0)) + 0.45
    return own


def _mark_differences(ax: Any, graph: Graph, member: Graph, own: FloatArray, pairs: Any) -> None:
    """Colour the edges that the average lacks, and dash those that the member lacks."""
    place = np.full(graph.n_nodes, -1)
    place[pairs[:, 0]] = pairs[:, 1]
    wanted = place[graph.edges]
    wanted = np.sort(wanted[(wanted >= 0).all(axis=1)], axis=1)
    _lines(ax, own, _without(wanted, member), LACKED, dashed=True)
    expected = Graph(member.n_nodes, wanted)
    _lines(ax, own, _without(member.edges, expected), ADDED, dashed=False)


def _without(edges: Any, graph: Graph) -> Any:
    """The edges that are not edges of the graph."""
    known = {(int(i), int(k)) for i, k in np.sort(graph.edges, axis=1)}
    left = [edge for edge in np.sort(edges, axis=1).tolist() if tuple(edge) not in known]
    return np.array(left, np.int64).reshape(-1, 2)


def _lines(ax: Any, places: FloatArray, edges: Any, colour: str, *, dashed: bool) -> None:
    from matplotlib.collections import LineCollection

    style: Any = (0, (2.5, 2.0)) if dashed else "solid"
    drawn = LineCollection(
        list(places[edges]), colors=colour, linewidths=1.2 if dashed else 2.2, linestyles=style, zorder=2.2
    )
    ax.add_collection(drawn)
