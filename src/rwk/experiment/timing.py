"""How long all pairs of a dataset take a method."""

from __future__ import annotations

import time

import numpy as np

from rwk.experiment.baseline_runs import baseline
from rwk.experiment.methods import METHODS
from rwk.experiment.runtimes import Runtime
from rwk.gram import symmetric_discrepancy
from rwk.graphs import GraphSet
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.runtime.backends import backend_name
from rwk.runtime.machine import cpu_name
from rwk.runtime.threads import thread_count


def time_method(graphs: GraphSet, name: str, parameters: Parameters, *, n_runs: int = 1) -> Runtime:
    """How long all pairs take, compilation left out: RWK with these parameters, a baseline with its defaults."""
    _run_once(graphs[np.arange(min(4, len(graphs)))], name, parameters)
    runs = [_run_once(graphs, name, parameters) for _ in range(n_runs)]
    return Runtime(
        dataset=graphs.name,
        method=name,
        n_graphs=len(graphs),
        n_pairs=len(graphs) * (len(graphs) + 1) // 2,
        represent=tuple(round(made, 4) for made, _ in runs),
        solve=tuple(round(solved, 4) for _, solved in runs),
        machine=_machine(backend_name(parameters.backend) if name in METHODS else "cpu"),
    )


def _run_once(graphs: GraphSet, name: str, parameters: Parameters) -> tuple[float, float]:
    """Seconds for what is made of each graph, and for all pairs."""
    start = time.perf_counter()
    if name not in METHODS:
        estimator = baseline(name)
        if "n_jobs" in estimator.get_params():
            estimator.set_params(n_jobs=parameters.n_jobs)
        estimator.fit_transform(graphs)
        return 0.0, time.perf_counter() - start
    measures, _ = represent(graphs, parameters)
    made = time.perf_counter()
    symmetric_discrepancy(measures, parameters)
    return made - start, time.perf_counter() - made


def _machine(backend: str) -> str:
    if backend == "gpu":
        from rwk.runtime.device import device_name

        return device_name()
    return f"{cpu_name()}, {thread_count(None)} cores"
