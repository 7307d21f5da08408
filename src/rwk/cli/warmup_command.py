"""`rwk warmup`: compile the solver once, so that no later start has to."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from rwk.cli.screen import console, errors, figures_of, note
from rwk.runtime.words import duration


def warmup() -> None:
    """Compile everything that comparing and classifying graphs uses, once; for containers and clusters."""
    took: dict[str, str] = {}
    for what, work in steps():
        begun = time.perf_counter()
        with errors.status(f"compiling {what}"):
            work()
        took[what] = duration(time.perf_counter() - begun)
    console.print(figures_of("compiled, or found compiled", took))
    note(f"compiled code is kept in {os.environ.get('NUMBA_CACHE_DIR') or '__pycache__, beside the package'}")


def steps() -> Iterator[tuple[str, Callable[[], Any]]]:
    """What is compiled, in words, and the call on a few tiny graphs that has it compiled.

    >>> [what for what, _ in steps()][:2]
    ['pairs of small graphs, float64', 'pairs of large graphs, float64']
    """
    import networkx as nx
    import numpy as np

    import rwk

    small = [nx.path_graph(5), nx.cycle_graph(6), nx.star_graph(4), nx.complete_graph(4)]
    large = [nx.path_graph(111), nx.cycle_graph(112)]  # too large for the solver of small pairs
    quick: dict[str, Any] = {"backend": "cpu", "max_iter": 1, "sinkhorn_iter": 1}

    def solve(graphs: list[Any], precision: str) -> None:
        rwk.pairwise_discrepancy(graphs, precision=precision, **quick)
        if graphs is large:  # again with a kernel that would underflow: such pairs have a solver of their own
            rwk.pairwise_discrepancy(graphs, precision=precision, entropy=1e-4, **quick)
            rwk.align(*graphs, precision=precision, entropy=1e-4, **quick)
        rwk.align(*graphs[:2], precision=precision, **quick)

    for precision in ("float64", "float32"):
        yield f"pairs of small graphs, {precision}", partial(solve, small, precision)
        yield f"pairs of large graphs, {precision}", partial(solve, large, precision)
    yield "representation", lambda: rwk.pairwise_discrepancy(small, feature_metric="product", **quick)
    yield "attention embeddings", lambda: rwk.pairwise_discrepancy(small, embedding="attention", **quick)
    yield "neighbours", lambda: rwk.nearest(small[0], small, 1, **quick)
    yield "matchings", lambda: [rwk.match(*two, kicks=1, backend="cpu").solution for two in (small[2:], large)]
    yield "common parts", lambda: rwk.common_part(*small[:2], repairs=1, backend="cpu")
    yield "patterns", lambda: rwk.find(small[3], small, backend="cpu")
    yield "your own costs", lambda: rwk.solve(cost=np.eye(112), backend="cpu")
    yield "the SVM", lambda: rwk.IndefiniteSVC().fit(np.eye(6), [0, 1] * 3)
