"""Compiles what the tests use before they start, in as many processes as there are cores: `make test` runs this.

Without it every worker of pytest-xdist begins by compiling the same functions as the others.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from typing import Any

import networkx as nx

import rwk.baselines
from rwk.cli.warmup_command import steps
from rwk.runtime.threads import thread_count
from rwk.runtime.words import duration


def all_steps() -> dict[str, Callable[[], Any]]:
    """What `rwk warmup` compiles, and the baselines that are compiled, by name."""
    graphs = [nx.path_graph(4), nx.cycle_graph(5)]
    for graph in graphs:
        nx.set_node_attributes(graph, dict.fromkeys(graph, "a"), "label")
    kernels = {name: partial(rwk.baselines.get(name).fit_transform, graphs) for name in ("FGW", "GNTK", "WWL", "GHK")}
    return {**dict(steps()), **kernels}


def compile_step(what: str) -> str:
    """Do one step, and say how long it took."""
    begun = time.process_time()
    all_steps()[what]()
    return f"compiling {what}: {duration(time.process_time() - begun)}"


def main() -> None:
    with ProcessPoolExecutor(thread_count(None), get_context("spawn")) as pool:
        for line in pool.map(compile_step, all_steps()):
            print(line, flush=True)


if __name__ == "__main__":
    main()
