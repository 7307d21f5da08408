"""Where to draw the nodes of a graph: molecules as chemists draw them, other graphs by stress.

The second graph of an alignment is laid out so that its nodes are near those of the first that they are coupled with.
"""

from __future__ import annotations

import numpy as np

from rwk.graphs import Graph
from rwk.graphs.atom_names import elements_in
from rwk.report.palette import ELEMENTS
from rwk.report.stress import classical_start, path_distances, stress_layout
from rwk.runtime.arrays import FloatArray, IntArray

TURNS = 72  # rotations that are tried
LEAN, WIDEN = 0.4, 2.5  # layouts with a smaller ratio of width to length are widened, at most by this factor
APART, SPREADING = 0.7, 40  # least distance of nodes, in edges, and the number of steps that move them apart


def layout(graph: Graph) -> FloatArray:
    """Positions (n, 2) of the nodes of a graph: the median edge has length 1, the longer side is vertical.

    The same graph always gets the same layout. Connected components are laid out one by one and arranged in rows, the
    largest on top.

    >>> layout(Graph(2, np.array([[0, 1]]))).shape
    (2, 2)
    """
    parts = _parts(graph)
    return _on_shelves([_upright(_alone(_part_of(graph, nodes))[0]) for nodes in parts], parts)


def matched_layout(graph: Graph, places: FloatArray, coupling: FloatArray) -> FloatArray:
    """Positions of the nodes of a second graph, near the nodes of the first that they are coupled with.

    `places` (n, 2) are the positions of the first graph, and `coupling` (n, m) is from the first graph to this one.

    >>> pair = Graph(2, np.array([[0, 1]]))
    >>> first = layout(pair)
    >>> bool(np.allclose(matched_layout(pair, first, np.eye(2) / 2), first, atol=0.05))
    True
    """
    parts = _parts(graph)
    centre = places.mean(axis=0)
    drawn = [_matched(_part_of(graph, nodes), places - centre, coupling[:, nodes]) for nodes in parts]
    # components go to rows at the height of the nodes that their mass comes from, in thirds of the picture
    third = max(float(np.ptp(places[:, 1])), 1e-9) / 3
    heights = [float(_means(coupling[:, nodes].sum(axis=1)[:, None], places)[0, 1]) for nodes in parts]
    order = sorted(range(len(parts)), key=lambda p: (-round(heights[p] / third), -len(parts[p])))
    return _on_shelves([drawn[p] for p in order], [parts[p] for p in order])


def _alone(graph: Graph) -> tuple[FloatArray, bool]:
    """Places of a connected graph, and whether it was drawn as a molecule."""
    places = molecule_layout(graph) if is_molecule(graph) else None
    if places is not None:
        return _unit_edges(places, graph.edges), True
    distances = path_distances(graph)
    return _roomy(stress_layout(distances, classical_start(distances)), graph.edges), False


def _matched(graph: Graph, places: FloatArray, coupling: FloatArray) -> FloatArray:
    """Places of one connected component of the second graph."""
    own, molecule = _alone(graph)
    start = _turned(own, places, coupling)
    if not molecule:
        wanted = _means(coupling, places)
        extent = float(np.linalg.norm(start - start.mean(axis=0)))
        # mass that is spread over the whole first graph says little of where a node belongs
        sharp = min(1.0, float(np.linalg.norm(wanted - wanted.mean(axis=0))) / max(extent, 1e-9))
        anchor = _spread_like(wanted, start)
        middle = start + 0.5 * sharp * (anchor - start)
        start = stress_layout(path_distances(graph), middle, anchor=anchor, pull=max(0.15 * sharp**2, 1e-4))
        start = _turned(_roomy(start, graph.edges), places, coupling)
    return _twins_swapped(start, graph, places - places.mean(axis=0), coupling)


def is_molecule(graph: Graph) -> bool:
    """Whether all node labels are chemical elements, and no node has more than six neighbours."""
    if graph.node_labels is None or not graph.label_names or not graph.n_edges:
        return False
    elements = elements_in(graph.label_names)
    names = {str(elements.get(int(label))) for label in np.unique(graph.node_labels)}
    degrees = np.bincount(graph.edges.ravel(), minlength=graph.n_nodes)
    return names <= set(ELEMENTS) | _METALS and "C" in names and int(degrees.max()) <= 6


_METALS = {"In", "Cu", "Zn", "Ba", "Sn", "Pb", "Ca", "As", "Se", "Hg", "Te", "Li", "Mg", "Al", "Fe", "Co", "Ni"}


def molecule_layout(graph: Graph) -> FloatArray | None:
    """RDKit's layout of a molecule; None if RDKit is not installed or fails."""
    try:
        from rdkit import Chem, rdBase
        from rdkit.Chem import rdDepictor
    except ImportError:
        return None
    molecule = Chem.RWMol()
    for _ in range(graph.n_nodes):
        molecule.AddAtom(Chem.Atom(6))
    for a, b in graph.edges:
        molecule.AddBond(int(a), int(b), Chem.BondType.SINGLE)
    with rdBase.BlockLogs():
        try:
            molecule.UpdatePropertyCache(strict=False)
            Chem.FastFindRings(molecule)
            rdDepictor.Compute2DCoords(molecule)
        except (RuntimeError, ValueError):
            return None
    places = np.asarray(molecule.GetConformer().GetPositions())[:, :2]
    return places if np.isfinite(places).all() else None


def _parts(graph: Graph) -> list[IntArray]:
    """The nodes of each connected component, the largest first."""
    from scipy.sparse.csgraph import connected_components

    _, part_of = connected_components(graph.adjacency(), directed=False)
    sizes = np.bincount(part_of)
    return [np.flatnonzero(part_of == part) for part in np.argsort(-sizes, kind="stable")]


def _part_of(graph: Graph, nodes: IntArray) -> Graph:
    """The subgraph of some nodes, with their edges and labels."""
    if len(nodes) == graph.n_nodes:
        return graph
    number = np.full(graph.n_nodes, -1)
    number[nodes] = np.arange(len(nodes))
    edges = number[graph.edges.reshape(-1, 2)]
    labels = None if graph.node_labels is None else graph.node_labels[nodes]
    return Graph(len(nodes), edges[(edges >= 0).all(axis=1)], node_labels=labels, label_names=graph.label_names)


def _on_shelves(drawn: list[FloatArray], parts: list[IntArray]) -> FloatArray:
    """Arrange components in rows that are about as wide as the largest component, one row below the other."""
    corners = [(part.min(axis=0) - 0.5, part.max(axis=0) + 0.5) for part in drawn]
    extents = np.array([high - low for low, high in corners])
    wide = max(float(extents[:, 0].max()), 0.8 * float(np.sqrt(extents.prod(axis=1).sum())))
    places = np.zeros((sum(map(len, parts)), 2))
    shelf: list[int] = []
    top = used = 0.0

    def put() -> float:
        """Place the components of one row, centred; returns its height."""
        high = float(extents[shelf, 1].max())
        x = 0.5 * (wide - used)
        for p in shelf:
            middle = 0.5 * (high - extents[p, 1])
            places[parts[p]] = drawn[p] - corners[p][0] + (x, top - high + middle)
            x += extents[p, 0]
        return high

    for p in range(len(parts)):
        if shelf and used + extents[p, 0] > wide + 1e-9:
            top -= put()
            shelf, used = [], 0.0
        shelf.append(p)
        used += extents[p, 0]
    put()
    return np.asarray(places - places.mean(axis=0))


def _means(coupling: FloatArray, places: FloatArray) -> FloatArray:
    """The mean position from which each node of the second graph gets its mass."""
    return np.asarray(coupling.T @ places / np.maximum(coupling.sum(axis=0), 1e-300)[:, None])


def _roomy(places: FloatArray, edges: IntArray) -> FloatArray:
    """A layout by stress that is easier to read: narrow ones are widened, nodes that overlap are moved apart."""
    places = _unit_edges(places, edges)
    if len(places) < 4:
        return places
    _, _, axes = np.linalg.svd(places, full_matrices=False)
    turned = places @ axes.T
    long, short = np.ptp(turned, axis=0)
    if 0 < short < LEAN * long:
        turned[:, 1] *= min(LEAN * long / short, WIDEN)
    for _ in range(SPREADING):
        away = turned[:, None] - turned[None, :]
        apart = np.sqrt((away**2).sum(axis=2))
        push = np.where(apart < APART, 0.5 * (APART - apart) / np.maximum(apart, 1e-6), 0.0)
        np.fill_diagonal(push, 0.0)
        if not push.any():
            break
        turned = turned + 0.6 * (push[:, :, None] * away).sum(axis=1)
    return np.asarray(turned @ axes)


def _unit_edges(places: FloatArray, edges: IntArray) -> FloatArray:
    places = places - places.mean(axis=0)
    if not len(edges):
        return places
    lengths = np.linalg.norm(places[edges[:, 0]] - places[edges[:, 1]], axis=1)
    return places / max(float(np.median(lengths)), 1e-9)


def _upright(places: FloatArray) -> FloatArray:
    """Rotated so that the longest extent is vertical and the heavier end is below."""
    if len(places) < 2:
        return places
    _, _, axes = np.linalg.svd(places - places.mean(axis=0), full_matrices=False)
    turned = places @ np.array([[axes[0, 1], axes[0, 0]], [-axes[0, 0], axes[0, 1]]])
    signs = np.where((turned**3).sum(axis=0) > 1e-9, -1.0, 1.0)
    return np.asarray(turned * signs)


def _turned(places: FloatArray, first: FloatArray, coupling: FloatArray) -> FloatArray:
    """Rotated and mirrored, but not stretched, so that the mass travels the shortest way from the first graph's places.

    Distances are not squared, so that one of two equivalent sides is chosen if a symmetric graph sends mass to both.
    """
    sent, received = coupling.sum(axis=1), coupling.sum(axis=0)
    places = places - np.average(places, axis=0, weights=received)
    first = first - np.average(first, axis=0, weights=sent)
    rows, columns = np.nonzero(coupling > 1e-3 * coupling.max())
    best, least = places, np.inf
    for mirror in (1.0, -1.0):
        for angle in 2 * np.pi * np.arange(TURNS) / TURNS:
            c, s = np.cos(angle), np.sin(angle)
            turned = places @ np.array([[c, s], [-mirror * s, mirror * c]])
            way = float(coupling[rows, columns] @ np.linalg.norm(first[rows] - turned[columns], axis=1))
            if way < least - 1e-9:
                best, least = turned, way
    return best


def _twins_swapped(places: FloatArray, graph: Graph, first: FloatArray, coupling: FloatArray) -> FloatArray:
    """Nodes with the same neighbours, such as the two O of a nitro group, swap places if that shortens the lines."""
    from scipy.optimize import linear_sum_assignment

    around: dict[int, set[int]] = {i: set() for i in range(graph.n_nodes)}
    for a, b in graph.edges.tolist():
        around[a].add(b)
        around[b].add(a)
    twins: dict[tuple[int, ...], list[int]] = {}
    for node, others in around.items():
        if others:
            twins.setdefault(tuple(sorted(others)), []).append(node)
    places = places.copy()
    for group in twins.values():
        if len(group) > 1:
            apart = np.linalg.norm(first[:, None] - places[group][None], axis=2)  # (n, slots)
            nodes, slots = linear_sum_assignment(coupling[:, group].T @ apart)
            places[[group[node] for node in nodes]] = places[[group[slot] for slot in slots]]
    return places


def _spread_like(wanted: FloatArray, own: FloatArray) -> FloatArray:
    """The wanted places, scaled to the extent of the graph's own layout."""
    centred = wanted - wanted.mean(axis=0)
    extent = float(np.linalg.norm(own - own.mean(axis=0)))
    return np.asarray(centred * (extent / max(float(np.linalg.norm(centred)), 1e-9)))
