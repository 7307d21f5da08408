"""Where to draw the nodes: molecules as chemists do, other graphs by stress, the second to match the first."""

from __future__ import annotations

import numpy as np

from rwk.graphs import Graph
from rwk.report.palette import ELEMENTS
from rwk.runtime.arrays import FloatArray, IntArray

SWEEPS = 150
TURNS = 72
LARGE = 400  # nodes above which the stress layout stops at the spectral start
LEAN, WIDEN = 0.4, 2.5  # layouts thinner than this are widened, so much at most
APART, SPREADING = 0.7, 40  # how near nodes may be, in edges, and in how many steps they give way


def layout(graph: Graph) -> FloatArray:
    """Positions (n, 2) of a graph's nodes, typical edge length 1, long side vertical; the same graph, the same picture.

    Parts that are not connected are laid out one by one and put on shelves, the largest on top.

    >>> layout(Graph(2, np.array([[0, 1]]))).shape
    (2, 2)
    """
    parts = _parts(graph)
    return _on_shelves([_upright(_alone(_part_of(graph, nodes))[0]) for nodes in parts], parts)


def matched_layout(graph: Graph, places: FloatArray, coupling: FloatArray) -> FloatArray:
    """Positions of a second graph near those of the first that its nodes are coupled with.

    `places` (n, 2) are the first graph's and `coupling` (n, m) carries its nodes to this graph's.

    >>> pair = Graph(2, np.array([[0, 1]]))
    >>> first = layout(pair)
    >>> bool(np.allclose(matched_layout(pair, first, np.eye(2) / 2), first, atol=0.05))
    True
    """
    parts = _parts(graph)
    centre = places.mean(axis=0)
    drawn = [_matched(_part_of(graph, nodes), places - centre, coupling[:, nodes]) for nodes in parts]
    # parts go to shelves as high as the nodes their mass comes from, thirds of the picture counting as one height
    third = max(float(np.ptp(places[:, 1])), 1e-9) / 3
    heights = [float(_means(coupling[:, nodes].sum(axis=1)[:, None], places)[0, 1]) for nodes in parts]
    order = sorted(range(len(parts)), key=lambda p: (-round(heights[p] / third), -len(parts[p])))
    return _on_shelves([drawn[p] for p in order], [parts[p] for p in order])


def _alone(graph: Graph) -> tuple[FloatArray, bool]:
    """Places of a connected graph, and whether they are a molecule's."""
    places = molecule_layout(graph) if is_molecule(graph) else None
    if places is not None:
        return _unit_edges(places, graph.edges), True
    distances = path_distances(graph)
    return _roomy(stress_layout(distances, _classical(distances)), graph.edges), False


def _matched(graph: Graph, places: FloatArray, coupling: FloatArray) -> FloatArray:
    """One connected part of the second graph, as the coupling places it."""
    own, molecule = _alone(graph)
    start = _turned(own, places, coupling)
    if not molecule:
        wanted = _means(coupling, places)
        extent = float(np.linalg.norm(start - start.mean(axis=0)))
        # mass that is blurred over the first graph says little of where a node belongs
        sharp = min(1.0, float(np.linalg.norm(wanted - wanted.mean(axis=0))) / max(extent, 1e-9))
        anchor = _spread_like(wanted, start)
        middle = start + 0.5 * sharp * (anchor - start)
        start = stress_layout(path_distances(graph), middle, anchor=anchor, pull=max(0.15 * sharp**2, 1e-4))
        start = _turned(_roomy(start, graph.edges), places, coupling)
    return _twins_swapped(start, graph, places - places.mean(axis=0), coupling)


def is_molecule(graph: Graph) -> bool:
    """Whether all node labels are named after chemical elements, with bonds as few as atoms have."""
    if graph.node_labels is None or not graph.label_names or not graph.n_edges:
        return False
    names = {str(graph.label_names.get(int(label))) for label in np.unique(graph.node_labels)}
    degrees = np.bincount(graph.edges.ravel(), minlength=graph.n_nodes)
    return names <= set(ELEMENTS) | _METALS and "C" in names and int(degrees.max()) <= 6


_METALS = {"In", "Cu", "Zn", "Ba", "Sn", "Pb", "Ca", "As", "Se", "Hg", "Te", "Li", "Mg", "Al", "Fe", "Co", "Ni"}


def molecule_layout(graph: Graph) -> FloatArray | None:
    """RDKit's drawing of a molecule, or None where RDKit is not installed or can't."""
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


def path_distances(graph: Graph) -> FloatArray:
    """Hops between nodes; a node out of reach is one hop further than the farthest."""
    from scipy.sparse.csgraph import shortest_path

    distances = np.asarray(shortest_path(graph.adjacency(), directed=False, unweighted=True))
    reached = np.isfinite(distances)
    farthest = distances[reached].max() if reached.any() else 0.0
    return np.where(reached, distances, farthest + 1.0)


def stress_layout(
    distances: FloatArray, start: FloatArray, *, anchor: FloatArray | None = None, pull: float = 0.15
) -> FloatArray:
    """Positions whose distances follow the given ones, weighted 1/d²: stress majorisation.

    `anchor` are places the nodes are pulled to, with `pull` times their weight in the stress.
    """
    n = len(distances)
    if n < 2 or n > LARGE:
        return start
    weights = np.where(distances > 0, 1.0 / np.maximum(distances, 1e-9) ** 2, 0.0)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    held = pull * weights.sum(axis=1) if anchor is not None else np.full(n, 1e-6 * weights.sum() / n)
    inverse = np.linalg.inv(laplacian + np.diag(held))
    places, target = start, start if anchor is None else anchor
    for _ in range(SWEEPS):
        away = places[:, None] - places[None, :]
        apart = np.maximum(np.sqrt((away**2).sum(axis=2)), 1e-9)
        ratio = weights * distances / apart
        moved = inverse @ (ratio.sum(axis=1)[:, None] * places - ratio @ places + held[:, None] * target)
        done = float(np.abs(moved - places).max()) < 1e-4
        places = moved
        if done:
            break
    return places


def _classical(distances: FloatArray) -> FloatArray:
    """A start without chance: the two leading directions of classical scaling, a hair apart where they tie."""
    n = len(distances)
    centred = distances**2 - (distances**2).mean(axis=0) - (distances**2).mean(axis=1)[:, None] + (distances**2).mean()
    values, vectors = np.linalg.eigh(-0.5 * centred)
    places = vectors[:, ::-1][:, :2] * np.sqrt(np.maximum(values[::-1][:2], 0.0))
    if places.shape[1] < 2:
        places = np.pad(places, ((0, 0), (0, 2 - places.shape[1])))
    angle = 2.399963 * np.arange(n)
    scale = max(float(np.abs(places).max()), 1.0)
    return np.asarray(places + 0.02 * scale * np.stack([np.cos(angle), np.sin(angle)], axis=1))


def _parts(graph: Graph) -> list[IntArray]:
    """Nodes of each connected part, the largest first."""
    from scipy.sparse.csgraph import connected_components

    _, part_of = connected_components(graph.adjacency(), directed=False)
    sizes = np.bincount(part_of)
    return [np.flatnonzero(part_of == part) for part in np.argsort(-sizes, kind="stable")]


def _part_of(graph: Graph, nodes: IntArray) -> Graph:
    """Some nodes of a graph with what a layout looks at: edges among them and labels."""
    if len(nodes) == graph.n_nodes:
        return graph
    number = np.full(graph.n_nodes, -1)
    number[nodes] = np.arange(len(nodes))
    edges = number[graph.edges.reshape(-1, 2)]
    labels = None if graph.node_labels is None else graph.node_labels[nodes]
    return Graph(len(nodes), edges[(edges >= 0).all(axis=1)], node_labels=labels, label_names=graph.label_names)


def _on_shelves(drawn: list[FloatArray], parts: list[IntArray]) -> FloatArray:
    """Parts side by side on shelves about as wide as the largest part, one shelf under the other."""
    corners = [(part.min(axis=0) - 0.5, part.max(axis=0) + 0.5) for part in drawn]
    extents = np.array([high - low for low, high in corners])
    wide = max(float(extents[:, 0].max()), 0.8 * float(np.sqrt(extents.prod(axis=1).sum())))
    places = np.zeros((sum(map(len, parts)), 2))
    shelf: list[int] = []
    top = used = 0.0

    def put() -> float:
        """Place the parts of a shelf, centred; returns how high it is."""
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
    """Where the mass of each node of the second graph comes from, on average."""
    return np.asarray(coupling.T @ places / np.maximum(coupling.sum(axis=0), 1e-300)[:, None])


def _roomy(places: FloatArray, edges: IntArray) -> FloatArray:
    """A layout by stress with room to see: thin ones are widened, nodes on top of each other moved apart."""
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
    """Turned so that the longest extent is vertical and the heavier end below."""
    if len(places) < 2:
        return places
    _, _, axes = np.linalg.svd(places - places.mean(axis=0), full_matrices=False)
    turned = places @ np.array([[axes[0, 1], axes[0, 0]], [-axes[0, 0], axes[0, 1]]])
    signs = np.where((turned**3).sum(axis=0) > 1e-9, -1.0, 1.0)
    return np.asarray(turned * signs)


def _turned(places: FloatArray, first: FloatArray, coupling: FloatArray) -> FloatArray:
    """Turned and mirrored, never stretched, so that the mass has the least way to the first graph's places.

    Plain distances, not squared ones: where a symmetric graph sends its mass both ways, one of them wins.
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
    """Nodes with the same neighbours, such as the two O of a nitro group, trade places where that shortens the way."""
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
    """The wanted places, blown up to the extent of the graph's own layout."""
    centred = wanted - wanted.mean(axis=0)
    extent = float(np.linalg.norm(own - own.mean(axis=0)))
    return np.asarray(centred * (extent / max(float(np.linalg.norm(centred)), 1e-9)))
