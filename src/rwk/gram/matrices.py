"""Discrepancy matrices by content: solved where a fast machine is, kept in a folder, read where folds are run.

A matrix is named by its dataset and by a fingerprint of everything its values depend on, so that settings, variants
and grids that share one solve it once. It is kept, and always handed out, in single precision: figures do not depend
on whether it came from the folder. While one is solved, its rows are kept beside its place: a run that was stopped goes
on where it was.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rwk.gram import GramHealth, symmetric_discrepancy
from rwk.gram.rows import KeptRows, set_digest
from rwk.graphs import GraphSet
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.runtime.files import write_arrays
from rwk.runtime.threads import Ticker
from rwk.transport.problem import SOLVER_VERSION

SingleMatrix = NDArray[np.float32]
# title and number of pairs -> a context that yields the ticker
Bar = Callable[[str, int], AbstractContextManager[Ticker | None]]

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
        return _read(place, graphs)
    kept = None if place is None else KeptRows.at(place.with_suffix(".rows"), graphs, parameters)
    start = time.perf_counter()
    measures, _ = represent(graphs, parameters)
    represented = time.perf_counter() - start
    matrix, health = symmetric_discrepancy(measures, parameters, tick=tick, kept=kept)
    health = health._replace(seconds=represented + health.seconds)
    single = matrix.astype(np.float32)
    if place is not None and kept is not None:
        keep_matrix(place, graphs, single, health, described(parameters, form))
        kept.remove()
    return single, health


@dataclass(frozen=True, slots=True)
class MatrixSolve:
    """One matrix, when it is asked for: from its folder or solved, with a line on how that went."""

    graphs: GraphSet
    parameters: Parameters
    form: str
    folder: Path
    title: str
    say: Callable[[str], None]
    bar: Bar | None = None

    def __call__(self) -> SingleMatrix:
        n_pairs = len(self.graphs) * (len(self.graphs) + 1) // 2
        shown = self.bar(self.title, n_pairs) if self.bar else nullcontext()
        with shown as tick:
            matrix, health = discrepancy_matrix(
                self.graphs, self.parameters, form=self.form, folder=self.folder, tick=tick
            )
        left = f"{health.n_not_converged:,} not converged"
        self.say(f"{self.title}: {health.n_pairs:,} pairs solved in {health.seconds:.1f} s, {left}")
        return matrix

    def forget(self) -> None:
        """Take the matrix out of its folder, and the folder if it is empty then."""
        matrix_place(self.folder, self.graphs.name, self.parameters, self.form).unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


def matrix_place(folder: str | os.PathLike[str], name: str, parameters: Parameters, form: str = "") -> Path:
    """The file of a dataset's matrix in a folder of them."""
    return Path(folder) / f"{name.replace(os.sep, '_')}-{fingerprint(parameters, form)}.npz"


def _read(place: Path, graphs: GraphSet) -> tuple[SingleMatrix, GramHealth]:
    n = len(graphs)
    with np.load(place, allow_pickle=False) as kept:
        values, (n_pairs, n_not_converged, *rest) = kept["values"], kept["health"].tolist()
        digest = str(kept["graphs"]) if "graphs" in kept.files else None
    health = GramHealth(int(n_pairs), int(n_not_converged), *rest)
    if len(values) != n * (n + 1) // 2:
        raise ValueError(f"{place} is not a matrix of {n} graphs; remove it, and it is made again")
    if digest is not None and digest != set_digest(graphs):
        raise ValueError(f"{place} is a matrix of other graphs of the same name; remove it, and it is made again")
    matrix = np.empty((n, n), np.float32)
    rows, columns = np.triu_indices(n)
    matrix[rows, columns] = values
    matrix[columns, rows] = values
    return matrix, health


def keep_matrix(place: Path, graphs: GraphSet, matrix: SingleMatrix, health: GramHealth, description: str) -> None:
    """Write the symmetric matrix of some graphs to its place, whole or not at all."""
    upper, digest = matrix[np.triu_indices(len(matrix))], set_digest(graphs)
    write_arrays(place, values=upper, health=np.array(health, np.float64), setting=description, graphs=digest)


def _values(parameters: Parameters) -> Mapping[str, Any]:
    """The fields a matrix depends on, in their order."""
    return {f.name: getattr(parameters, f.name) for f in fields(parameters) if f.name not in _RUNNING}
