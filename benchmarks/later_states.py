"""Real networks and a later state of theirs: `python benchmarks/later_states.py --output results/later-states.json`.

Two networks that networkx has and whose history is known: the karate club before it split, and the two clubs after
(Zachary 1977: 34 members; the ties between members who chose different clubs have ended); the women and the social
events of Natchez, by the end of June and by the end of the year (Davis, Gardner and Gardner 1941: the dates of the
events are theirs). The nodes of the later state come in another order, ten times; every method says who is who. "Alike"
counts a node as right if colour refinement of the later state can't tell its partner from the true one.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from matching import METHODS, Planted, refined_colours
from threadpoolctl import threadpool_limits

import rwk
from rwk.runtime.files import write_json
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION

SHUFFLES = 10
CHOSEN = ("rwk.match, quick", "rwk.match", "POT GW", "POT FGW", "SciPy FAQ")
# month and day of the events, in the order of their numbers
DATES = (
    (6, 27), (3, 2), (4, 12), (9, 26), (2, 25), (5, 19), (3, 15), (9, 16), (4, 8), (6, 10), (2, 23), (4, 7), (11, 21),
    (8, 3),
)  # fmt: skip
States = tuple[nx.Graph, nx.Graph]


def karate() -> States:
    """The club, and the two clubs that it became."""
    before = nx.karate_club_graph()
    club = nx.get_node_attributes(before, "club")
    after = nx.Graph()
    after.add_nodes_from(before)
    after.add_edges_from((a, b) for a, b in before.edges if club[a] == club[b])
    return before, after


def natchez() -> States:
    """Women and events up to the end of June, and of the whole year."""
    year = nx.davis_southern_women_graph()
    june = nx.Graph(year)
    june.remove_nodes_from([f"E{number + 1}" for number, date in enumerate(DATES) if date > (6, 30)])
    return june, year


def shuffled(states: States, seed: int) -> Planted:
    """Both states; the nodes of the later one come in another order, and the truth is where those of the first are."""
    before, after = states
    order = [list(after)[i] for i in np.random.default_rng(seed).permutation(len(after))]
    A = nx.to_numpy_array(after, nodelist=order, weight=None)
    later, earlier = rwk.as_graphs([A, nx.to_numpy_array(before, weight=None)])
    truth = np.array([order.index(node) for node in before])
    return Planted(later, earlier, truth, refined_colours(A, np.zeros(len(order), int)))


def measured(states: States) -> dict[str, Any]:
    """What every method finds, in the mean over the orders of nodes."""
    found: dict[str, list[list[float]]] = {name: [] for name in CHOSEN}
    for seed in range(SHUFFLES):
        pair = shuffled(states, seed)
        for name in CHOSEN:
            if seed == 0:
                METHODS[name](pair)  # compile
            start = time.thread_time()
            places = METHODS[name](pair)
            seconds = time.thread_time() - start
            alike = (pair.colours[places] == pair.colours[pair.truth]).mean()
            found[name].append([float((places == pair.truth).mean()), float(alike), seconds])
    rows = {name: np.array(lines) for name, lines in found.items()}
    return {
        name: {
            "right": round(float(lines[:, 0].mean()), 3),
            "alike": round(float(lines[:, 1].mean()), 3),
            "milliseconds": round(1e3 * float(np.median(lines[:, 2])), 2),
        }
        for name, lines in rows.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    networks = {
        "karate club, before and after it split": karate(),
        "women and events of Natchez, June and December": natchez(),
    }
    record: dict[str, Any] = {"made_with": machine_record(SOLVER_VERSION), "orders": SHUFFLES, "networks": {}}
    for name, states in networks.items():
        sizes = [[graph.number_of_nodes(), graph.number_of_edges()] for graph in states]
        record["networks"][name] = {"sizes": sizes, "methods": measured(states)}
        print(name, record["networks"][name], flush=True)
    write_json(options.output, record)


if __name__ == "__main__":
    with threadpool_limits(1):
        main()
