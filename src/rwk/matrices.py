"""Discrepancy matrices by content: solved where a fast machine is, kept in a folder, read where folds are run.

A matrix is named by its dataset and by a fingerprint of everything its values depend on, so that settings, variants
and grids that share one solve it once. It is kept, and always handed out, in single precision: figures do not depend
on whether it came from the folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rwk.files import write_whole
from rwk.gram import GramHealth, symmetric_discrepancy
from rwk.graphs import GraphSet
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.transport.chunks import Ticker
from rwk.transport.problem import SOLVER_VERSION

SingleMatrix = NDArray[np.float32]

# what a discrepancy does not depend on
_RUNNING: Final = ("eta", "backend", "n_jobs", "variant")


def described(parameters: Parameters, form: str = "") -> str:
    """A setting in words: what differs from the defaults, and the fingerprint of all of it.

    >>> described(Parameters(hops=1)).split("@")[0]
    'hops=1 '
    """
    values = _values(parameters)
    default = _values(Parameters())
    words = [form] if form else []
    words += [f"{name}={value}" for name, value in values.items() if value != default[name]]
    return " ".join([*words, f"@{fingerprint(parameters, form)}"])


def fingerprint(parameters: Parameters, form: str = "") -> str:
    """Ten hexadecimal digits that stand for everything a matrix of one dataset depends on."""
    content = json.dumps([_values(parameters), form, SOLVER_VERSION], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:10]


def discrepancy_matrix(
    graphs: GraphSet,
    parameters: Parameters,
    *,
    form: str = "",
    folder: str | os.PathLike[str] | None = None,
    tick: Ticker | None = None,
) -> tuple[SingleMatrix, GramHealth]:
    """The symmetric matrix of all graphs, from the folder where it is kept there, else solved (and kept).

    `form` names what was made of the dataset before (as "bonds"), where that is not the dataset itself.

    >>> from rwk import as_graphs
    >>> triangle = np.ones((3, 3)) - np.eye(3)
    >>> matrix, health = discrepancy_matrix(as_graphs([triangle, triangle]), Parameters(debias=True))
    >>> matrix.tolist(), health.n_pairs
    ([[0.0, 0.0], [0.0, 0.0]], 3)
    """
    place = None if folder is None else matrix_place(folder, graphs.name, parameters, form)
    if place is not None and place.exists():
        return _read(place, len(graphs))
    start = time.perf_counter()
    measures, _ = represent(graphs, parameters)
    matrix, health = symmetric_discrepancy(measures, parameters, tick=tick)
    health = health._replace(seconds=time.perf_counter() - start)
    single = matrix.astype(np.float32)
    if place is not None:
        keep_matrix(place, single, health, described(parameters, form))
    return single, health


def matrix_place(folder: str | os.PathLike[str], name: str, parameters: Parameters, form: str = "") -> Path:
    """The file of a dataset's matrix in a folder of them."""
    return Path(folder) / f"{name.replace(os.sep, '_')}-{fingerprint(parameters, form)}.npz"


def _read(place: Path, n: int) -> tuple[SingleMatrix, GramHealth]:
    with np.load(place, allow_pickle=False) as kept:
        values, (n_pairs, n_not_converged, *rest) = kept["values"], kept["health"].tolist()
    health = GramHealth(int(n_pairs), int(n_not_converged), *rest)
    if len(values) != n * (n + 1) // 2:
        raise ValueError(f"{place} is not a matrix of {n} graphs; remove it, and it is made again")
    matrix = np.empty((n, n), np.float32)
    rows, columns = np.triu_indices(n)
    matrix[rows, columns] = values
    matrix[columns, rows] = values
    return matrix, health


def keep_matrix(place: Path, matrix: SingleMatrix, health: GramHealth, description: str) -> None:
    """Write a symmetric matrix to its place, whole or not at all."""
    upper = matrix[np.triu_indices(len(matrix))]

    def write(beside: Path) -> None:
        with open(beside, "wb") as file:
            np.savez(file, values=upper, health=np.array(health, np.float64), setting=description)

    write_whole(place, write)


def _values(parameters: Parameters) -> Mapping[str, Any]:
    """The fields a matrix depends on, in their order."""
    return {f.name: getattr(parameters, f.name) for f in fields(parameters) if f.name not in _RUNNING}
