"""From couplings to one assignment of the nodes of the smaller graph: rounded, grown, improved by exchanges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np

from rwk.graphs import Graph
from rwk.matching.local_search import KICK_DRAWS, EdgeLists, changes, edge_lists, improve_by_kicks, misfit
from rwk.runtime.arrays import FloatArray, IntArray

LABEL_COST: Final = 2.0  # misfit of two nodes with different labels; an edge without counterpart costs 1
ATTRIBUTE_COST: Final = 1.0  # misfit of two nodes whose attributes have the median distance
GROWING_ROUNDS: Final = 20
LARGEST_WEIGHT: Final = 1e100  # of an edge
WITHOUT_GAIN: Final = 3  # rounds of growing without a gain, before it stops
KICKED: Final = 3  # best assignments that are improved by kicks
TEMPERATURE: Final = 0.5  # of the weights of exchanges in the confidence, in edges
FAR_TEMPERATURE: Final = 2.0  # of the weights of assignments that were found from other starts


class Search(NamedTuple):
    """What assignments of G (n nodes) to H (m >= n nodes) are judged by."""

    G: EdgeLists
    H: EdgeLists
    costs: FloatArray  # U (n, m)


class Candidate(NamedTuple):
    """An assignment and its misfit."""

    misfit: float
    places: IntArray  # (n,): node of H of each node of G


def search_of(G: Graph, H: Graph) -> Search:
    """The search for the best assignment of the nodes of G to those of H."""
    largest = max([0.0, *(float(g.edge_weights.max(initial=0.0)) for g in (G, H) if g.edge_weights is not None)])
    if largest > LARGEST_WEIGHT:  # products of weights would not be finite
        G, H = (g if g.edge_weights is None else replace(g, edge_weights=g.edge_weights / largest) for g in (G, H))
    return Search(edge_lists(G), edge_lists(H), node_costs(G, H))


def node_costs(G: Graph, H: Graph) -> FloatArray:
    """U: what two nodes cost by their labels and attributes."""
    from scipy.spatial.distance import cdist

    costs = np.zeros((G.n_nodes, H.n_nodes))
    if G.node_labels is not None and H.node_labels is not None:
        costs += LABEL_COST * (G.node_labels[:, None] != H.node_labels[None, :])
    if G.node_attributes is not None and H.node_attributes is not None:
        both = np.concatenate([G.node_attributes, H.node_attributes])
        largest = np.abs(both).max(axis=0)
        both = both / np.where(largest > 0, largest, 1.0)  # so that squares are finite
        spread = both.std(axis=0)
        both = both / np.where(spread > 0, spread, 1.0)
        distances = cdist(both[: G.n_nodes], both[G.n_nodes :])
        costs += ATTRIBUTE_COST * distances / max(float(np.median(distances)), 1e-12)
    return costs


def rounded(coupling: FloatArray) -> IntArray:
    """The assignment that carries the most mass."""
    from scipy.optimize import linear_sum_assignment

    return np.asarray(linear_sum_assignment(-coupling)[1], np.int64)


def best_assignments(
    search: Search, couplings: Sequence[FloatArray], *, kicks: int, seed: int | None
) -> list[Candidate]:
    """The assignments that are found from the couplings, that with the least misfit first."""
    starts = {places.tobytes(): places for places in map(rounded, couplings)}
    found = [_exchanged(search, places) for places in starts.values()]
    if min(one.misfit for one in found) > 0:
        found = [_grown(search, candidate) for candidate in found]
    distinct = {candidate.places.tobytes(): candidate for candidate in sorted(found, key=lambda one: one.misfit)}
    found = list(distinct.values())
    if found[0].misfit > 0 and kicks:
        random = np.random.default_rng(seed)
        found[:KICKED] = [_exchanged(search, one.places, random.random((kicks, KICK_DRAWS))) for one in found[:KICKED]]
    return sorted(found, key=lambda one: one.misfit)


def misfit_of(search: Search, places: IntArray) -> float:
    """The misfit of an assignment."""
    return float(misfit(search.G, search.H, search.costs, places, np.zeros(len(places))))


def confidences(search: Search, found: Sequence[Candidate]) -> FloatArray:
    """How sure each pair of the first assignment is, from two kinds of alternatives to it.

    The one is its weight among all assignments that differ by one exchange of this node. An assignment whose misfit is
    larger by d has weight exp(-d / T): a node that could be exchanged with another at no cost has confidence 1/2, with
    two others 1/3. The other is the weight of those assignments found from other starts that have the same pair: where
    whole parts of a graph look alike, no single exchange leads from one to the other. The product is returned.
    """
    places = found[0].places
    weights = np.exp([-(one.misfit - found[0].misfit) / FAR_TEMPERATURE for one in found])
    agreeing = np.array([one.places == places for one in found])  # (candidates, n)
    agreed = weights @ agreeing / weights.sum()
    return np.asarray(agreed * _certainty(search, places))


def _certainty(search: Search, places: IntArray) -> FloatArray:
    """The weight of each pair among the exchanges of its node."""
    found, m = np.zeros_like(search.costs), search.costs.shape[1]
    changes(search.G, search.H, search.costs, places, _inverse(places, m), found)
    return np.asarray(1.0 / np.exp(-np.maximum(found, 0.0) / TEMPERATURE).sum(axis=1))


def _exchanged(search: Search, places: IntArray, draws: Any = None) -> Candidate:
    """An assignment improved by exchanges, and by kicks if there are draws for them."""
    p, q = places.copy(), _inverse(places, search.costs.shape[1])
    draws = np.empty((0, KICK_DRAWS)) if draws is None else draws
    return Candidate(float(improve_by_kicks(search.G, search.H, search.costs, p, q, draws)), p)


def _inverse(places: IntArray, m: int) -> IntArray:
    inverse = np.full(m, -1, np.int64)
    inverse[places] = np.arange(len(places))
    return inverse


def _grown(search: Search, candidate: Candidate) -> Candidate:
    """Assign every node again by how many of its neighbours are matched to neighbours of its new place.

    A part that is matched well spreads this way to its surroundings. Counts are divided by the root of both degrees.
    """
    G, H = search.G.weights, search.H.weights
    roots = [np.sqrt(np.maximum(weights.sum(axis=1), 1e-12)) for weights in (G, H)]
    best = now = candidate
    stalled = 0
    for _ in range(GROWING_ROUNDS):
        witnesses = G @ H[now.places] / roots[0][:, None] / roots[1][None, :]
        now = _exchanged(search, rounded(witnesses - search.costs))
        stalled = 0 if now.misfit < best.misfit else stalled + 1
        best = min(best, now, key=lambda one: one.misfit)
        if stalled == WITHOUT_GAIN or best.misfit == 0:
            break
    return best
