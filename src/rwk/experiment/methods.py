"""Every method by its name in the paper: RWK with its variants, and the baselines; and how long each takes."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from rwk.experiment.rivals import baseline, baseline_names
from rwk.experiment.runtimes import Runtime
from rwk.gram import symmetric_discrepancy
from rwk.graphs import GraphSet
from rwk.learn.grids import SETTINGS
from rwk.parameters import VARIANTS, Parameters
from rwk.represent import represent
from rwk.runtime.backends import backend_name

# variants of the paper, and the sign of the degree prior as it is printed there
METHODS: Final[Mapping[str, Mapping[str, Any]]] = {
    **{name: {"variant": name} for name in VARIANTS},
    "RWK-repel": {"variant": "RWK", "degree_prior": "repel"},
}


def known_method(name: str) -> str:
    """The name of a variant or baseline as the paper spells it.

    >>> known_method("rwk-1")
    'RWK-1'
    """
    names = {known.lower(): known for known in (*METHODS, *baseline_names())}
    if name.lower() not in names:
        raise ValueError(f"there is no method {name!r}; the methods are {', '.join(names.values())}")
    return names[name.lower()]


def settings_of(method: str, grid: str, base: Parameters) -> dict[str, Parameters]:
    """The settings of a grid as a variant sees them; of those that it makes equal, the first.

    >>> len(settings_of("RWK-1", "discrete", Parameters())) == len(SETTINGS["discrete"])
    True
    """
    if grid not in SETTINGS:
        raise ValueError(f"there is no grid {grid!r}; the grids are {', '.join(SETTINGS)}")
    settings: dict[str, Parameters] = {}
    for name, changes in SETTINGS[grid].items():
        made = replace(replace(base, **changes), **METHODS[method]).checked()
        if made.feature_metric == "hamming" and method in ("RWK", "RWK-1", "RWK-0"):
            raise ValueError(f"setting {name!r} compares by Hamming alone, on which hops do not act; use l2 or both")
        if made not in settings.values():
            settings[name] = made
    return settings


def time_method(graphs: GraphSet, name: str, parameters: Parameters, *, n_runs: int = 1) -> Runtime:
    """How long all pairs take, compilation left out: RWK with the parameters given, a baseline with its defaults."""
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
        baseline(name).fit_transform(graphs)
        return 0.0, time.perf_counter() - start
    measures, _ = represent(graphs, parameters)
    made = time.perf_counter()
    symmetric_discrepancy(measures, parameters)
    return made - start, time.perf_counter() - made


def _machine(backend: str) -> str:
    from rwk.runtime.machine import machine_record
    from rwk.transport.problem import SOLVER_VERSION

    if backend == "gpu":
        from rwk.runtime.device import device_name

        return device_name()
    record = machine_record(SOLVER_VERSION)
    return f"{record['cpu']}, {record['cores']} cores"
