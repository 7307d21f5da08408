"""Executors by name: "threads", "processes", or a Dask client."""

from __future__ import annotations

from typing import Any

from rwk.gram.errors import GramError
from rwk.gram.executors import Executor, Processes, Threads


def as_executor(executor: Any, n_jobs: int | None) -> Executor:
    """The executor that a user means by None or "threads", "processes", a Dask client, or an executor itself.

    >>> as_executor("processes", 2).load.tiles
    3
    """
    if executor is None or executor == "threads":
        return Threads(n_jobs)
    if executor == "processes":
        return Processes(n_jobs)
    if hasattr(executor, "solve") and hasattr(executor, "find_backend"):
        return executor  # type: ignore[no-any-return]
    if type(executor).__module__.split(".")[0] == "distributed":
        from rwk.gram.cluster import Dask

        return Dask(client=executor)
    raise GramError(f"executor={executor!r} is not known; give 'threads', 'processes', a Dask client or an Executor")
