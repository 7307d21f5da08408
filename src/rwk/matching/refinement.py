"""From couplings and soft starts to one assignment of the nodes of the smaller graph.

Couplings are rounded, grown and improved by exchanges (growing.py, local_search.py), soft starts come that way
(soft_starts.py); the best ones are then improved by kicks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from rwk.graphs import Graph
from rwk.matching.first_start import first_start
from rwk.matching.growing import grown
from rwk.matching.listed_edges import EdgeLists, edge_arrays, edge_lists
from rwk.matching.local_search import (
    KICK_DRAWS,
    changes,
    fresh_standing,
    improve_by_kicks,
    misfit,
)
from rwk.matching.signatures import signature_costs
from rwk.matching.soft_starts import NOISE, PLAIN_ROUNDS, ROUNDS, soft_start
from rwk.runtime.arrays import FloatArray, IntArray

LABEL_COST: Final = 2.0  # misfit of two nodes with different labels; an edge without counterpart costs 1
ATTRIBUTE_COST: Final = 1.0  # misfit of two nodes whose attributes have the median distance
GROWING_ROUNDS: Final = 20
LARGEST_WEIGHT: Final = 1e100  # of an edge
KICKED: Final = 3  # best assignments that are improved by kicks
TEMPERATURE: Final = 0.5  # of the weights of exchanges in the confidence, in edges
FAR_TEMPERATURE: Final = 2.0  # of the weights of assignments that were found from other starts,
ALTERNATIVES: Final = 10  # of which so many count, the best ones
ALTERNATIVE_STARTS: Final = 20  # from which alternatives are looked for, if the first start led to a perfect assignment


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
    G, H, codes = _comparable(G, H)
    return Search(edge_lists(G, codes), edge_lists(H, codes), node_costs(G, H))


def first_candidate(G: Graph, H: Graph) -> Candidate:
    """What the soft start without noise leads to; faster than `from_soft_starts`."""
    G, H, codes = _comparable(G, H)
    places = np.zeros(G.n_nodes, np.int64)
    found = first_start(edge_arrays(G, codes), edge_arrays(H, codes), node_costs(G, H), places)
    return Candidate(found, places)


def _comparable(G: Graph, H: Graph) -> tuple[Graph, Graph, IntArray | None]:
    """Both graphs, with weights of edges that can be multiplied, and all labels of edges that they have."""
    if G.edge_weights is None and H.edge_weights is None and G.edge_labels is None and H.edge_labels is None:
        return G, H, None
    weights = [g.edge_weights for g in (G, H) if g.edge_weights is not None]
    largest = max((float(some.max(initial=0.0)) for some in weights), default=0.0)
    if largest > LARGEST_WEIGHT:  # products of weights would not be finite
        G, H = (g if g.edge_weights is None else replace(g, edge_weights=g.edge_weights / largest) for g in (G, H))
    labels = [g.edge_labels for g in (G, H) if g.edge_labels is not None]
    return G, H, np.unique(np.concatenate(labels)) if labels else None


def node_costs(G: Graph, H: Graph) -> FloatArray:
    """U: what two nodes cost by their labels and attributes."""
    costs = np.zeros((G.n_nodes, H.n_nodes))
    if G.node_labels is not None and H.node_labels is not None:
        costs += LABEL_COST * (G.node_labels[:, None] != H.node_labels[None, :])
    if G.node_attributes is not None and H.node_attributes is not None:
        from scipy.spatial.distance import cdist

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
    found = from_couplings(search, couplings)
    return kicked(search, found, kicks, seed) if found[0].misfit > 0 and kicks else found


def from_couplings(search: Search, couplings: Sequence[FloatArray]) -> list[Candidate]:
    """The assignments that couplings lead to by rounding, growing and exchanges, that with the least misfit first."""
    starts = {places.tobytes(): places for places in map(rounded, couplings)}
    found = [_grown(search, places, 0) for places in starts.values()]
    if min(one.misfit for one in found) > 0:
        found = [_grown(search, candidate.places, GROWING_ROUNDS) for candidate in found]
    return distinct(found)


def from_soft_starts(search: Search, first: Candidate, n_starts: int, seed: int | None) -> list[Candidate]:
    """The assignments that soft starts lead to, that with the least misfit first; after one that fits, no more.

    The start without noise has led to `first`, and is one of the starts.
    """
    if n_starts == 1 or first.misfit == 0:
        return [first]
    found = [first]
    for candidate in _noisy_starts(search, n_starts - 1, seed):
        found.append(candidate)
        if candidate.misfit == 0:
            break
    return distinct(found)


def with_alternatives(search: Search, best: Candidate, seed: int | None) -> list[Candidate]:
    """An assignment, then others that soft starts lead to: if graphs are symmetric, some that are as good."""
    return distinct([best, *_noisy_starts(search, ALTERNATIVE_STARTS, seed)])


def _noisy_starts(search: Search, n_starts: int, seed: int | None) -> Iterator[Candidate]:
    """What soft starts with random numbers lead to, one after the other."""
    now, costs = fresh_standing(*search.costs.shape), signature_costs(*search)
    random = np.random.default_rng(seed)
    for _ in range(n_starts):
        soft_start(*search, costs, NOISE * random.random(costs.shape), now)
        misfit = float(grown(*search, now, PLAIN_ROUNDS, ROUNDS))
        yield Candidate(misfit, now.p.copy())


def kicked(search: Search, found: Sequence[Candidate], kicks: int, seed: int | None) -> list[Candidate]:
    """The candidates with the best ones improved by kicks, until one fits."""
    random, left = np.random.default_rng(seed), list(found)
    for at in range(min(KICKED, len(found))):
        now = fresh_standing(*search.costs.shape)
        now.p[:] = found[at].places
        left[at] = Candidate(float(improve_by_kicks(*search, now, random.random((kicks, KICK_DRAWS)))), now.p)
        if left[at].misfit == 0:
            break
    return distinct(left)


def distinct(found: Sequence[Candidate]) -> list[Candidate]:
    """The candidates without those that are there twice, that with the least misfit first."""
    if len(found) == 1:
        return [*found]
    return list({one.places.tobytes(): one for one in sorted(found, key=lambda one: one.misfit)}.values())


def misfit_of(search: Search, places: IntArray) -> float:
    """The misfit of an assignment."""
    return float(misfit(*search, places))


def confidences(search: Search, found: Sequence[Candidate]) -> FloatArray:
    """How sure each pair of the first assignment is, from two kinds of alternatives to it.

    The one is its weight among all assignments that differ by one exchange of this node. An assignment whose misfit is
    larger by d has weight exp(-d / T): a node that could be exchanged with another at no cost has confidence 1/2, with
    two others 1/3. The other is the weight of those assignments found from other starts that have the same pair: where
    whole parts of a graph look alike, no single exchange leads from one to the other. The product is returned.
    """
    places, found = found[0].places, found[:ALTERNATIVES]
    weights = np.exp([-(one.misfit - found[0].misfit) / FAR_TEMPERATURE for one in found])
    agreeing = np.array([one.places == places for one in found])  # (candidates, n)
    agreed = weights @ agreeing / weights.sum()
    return np.asarray(agreed * _certainty(search, places))


def _certainty(search: Search, places: IntArray) -> FloatArray:
    """The weight of each pair among the exchanges of its node."""
    found, now = np.empty_like(search.costs), fresh_standing(*search.costs.shape)
    now.p[:] = places
    changes(*search, now, found)
    return np.asarray(1.0 / np.exp(-np.maximum(found, 0.0) / TEMPERATURE).sum(axis=1))


def _grown(search: Search, places: IntArray, rounds: int) -> Candidate:
    """An assignment improved by exchanges, and grown in up to so many rounds."""
    now = fresh_standing(*search.costs.shape)
    now.p[:] = places
    return Candidate(float(grown(*search, now, 0, rounds)), now.p)
