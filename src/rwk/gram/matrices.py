"""The discrepancy matrix of one setting: read from the folder where it is kept, else solved and kept there.

A matrix is named by its dataset and by the fingerprint of everything its values depend on, so settings, variants and
grids that share one solve it once, and one computer may solve what another learns from. It is kept, and always
returned, in single precision: figures do not depend on whether it came from the folder. While it is solved its parts
are kept beside it, so a stopped run goes on where it was.
"""

from __future__ import annotations

import glob
import os
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rwk.gram.health import GramHealth
from rwk.gram.kept import Kept, described, fingerprint, solved_values
from rwk.gram.matrix import symmetric_discrepancy
from rwk.graphs import GraphSet
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.runtime.threads import Ticker
from rwk.transport.measures import GraphMeasures
from rwk.transport.starts import best_values

SingleMatrix = NDArray[np.float32]
# called with the measures when pairs are about to be solved; the context yields the ticker
Solving = Callable[[GraphMeasures], AbstractContextManager[Ticker | None]]


def discrepancy_matrix(
    graphs: GraphSet,
    parameters: Parameters,
    *,
    form: str = "",
    folder: str | os.PathLike[str] | None = None,
    solving: Solving | None = None,
) -> tuple[SingleMatrix, GramHealth]:
    """The symmetric matrix of all graphs, from the folder if it is kept there, else solved (and kept).

    `form` names what was made of the dataset first (such as "bonds"), if the graphs are not the dataset itself.
    `solving` is called only if pairs must be solved.

    >>> from rwk import as_graphs
    >>> triangle = np.ones((3, 3)) - np.eye(3)
    >>> matrix, health = discrepancy_matrix(as_graphs([triangle, triangle]), Parameters(debias=True))
    >>> matrix.tolist(), health.n_pairs
    ([[0.0, 0.0], [0.0, 0.0]], 3)
    """
    kept = None if folder is None else Kept.at(folder, graphs, described(parameters, form))
    title = matrix_title(graphs.name, parameters, form)
    n_pairs = len(graphs) * (len(graphs) + 1) // 2
    found = solved_values(kept.read(title, refuse_others=True), n_pairs) if kept else None
    if found is not None:
        return _unpacked(found[0], len(graphs)), found[1]
    parts = kept.parts(title, parameters) if kept else None
    start = time.perf_counter()
    measures, _ = represent(graphs, parameters)
    represented = time.perf_counter() - start
    with solving(measures) if solving else nullcontext() as tick:
        matrix, health = symmetric_discrepancy(measures, parameters, tick=tick, kept=parts)
    health = health._replace(seconds=represented + health.seconds)
    single = matrix.astype(np.float32)
    if kept and parts:
        _keep(kept, title, single, health)
        parts.remove()
    return single, health


def keep_matrix(
    folder: str | os.PathLike[str], graphs: GraphSet, parameters: Parameters, matrix: SingleMatrix, health: GramHealth
) -> None:
    """Put a solved matrix where `discrepancy_matrix` looks for it."""
    kept = Kept.at(folder, graphs, described(parameters))
    _keep(kept, matrix_title(graphs.name, parameters), matrix, health)


def forget_matrix(folder: str | os.PathLike[str], name: str, parameters: Parameters, form: str = "") -> None:
    """Remove the matrix of a dataset from the folder it is kept in, and the folder if it is empty then."""
    Kept(Path(folder), "", "").remove(glob.escape(matrix_title(name, parameters, form)))


def matrix_title(name: str, parameters: Parameters, form: str = "") -> str:
    """What the matrix of a dataset is called in a folder of matrices.

    >>> matrix_title("MUTAG", Parameters()).split("-")[0]
    'MUTAG'
    """
    return f"{name.replace(os.sep, '_')}-{fingerprint(parameters, form)}"


def matrix_of_starts(graphs: GraphSet, parameters: Parameters, n_starts: int) -> SingleMatrix:
    """The least discrepancy of all pairs over several starts, on the CPU.

    >>> from rwk import as_graphs
    >>> triangle = np.ones((3, 3)) - np.eye(3)
    >>> matrix_of_starts(as_graphs([triangle, triangle]), Parameters(), 2).shape
    (2, 2)
    """
    rows, columns = np.triu_indices(len(graphs))
    measures, _ = represent(graphs, parameters)
    values = best_values(
        measures,
        np.stack([rows, columns], axis=1),
        parameters.cost_weights(),
        parameters.scg_options(),
        n_starts=n_starts,
        n_jobs=parameters.n_jobs,
    )
    return _unpacked(values, len(graphs))


def _keep(kept: Kept, title: str, matrix: SingleMatrix, health: GramHealth) -> None:
    kept.write(title, values=matrix[np.triu_indices(len(matrix))], health=np.array(health, np.float64))


def _unpacked(values: NDArray[np.float64] | SingleMatrix, n: int) -> SingleMatrix:
    """A symmetric matrix from its upper triangle."""
    matrix = np.empty((n, n), np.float32)
    rows, columns = np.triu_indices(n)
    matrix[rows, columns] = matrix[columns, rows] = values
    return matrix
