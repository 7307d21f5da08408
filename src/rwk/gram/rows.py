"""Rows of a matrix, kept as they are solved: a run that was stopped solves the missing ones only.

    NAME.rows/
      cpu-000000-000117.npz     rows 0 to 117 from the diagonal on, how their solving went, and what they belong to

Each file is written beside its name and renamed. It needs no library beyond numpy and serves a matrix that fits into
memory, solved by one process; for more there is the `store`. It is taken away when the matrix is whole.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rwk.gram.health import GramHealth
from rwk.gram.manifest import graph_digests, stored_parameters
from rwk.graphs import GraphSet
from rwk.parameters import Parameters
from rwk.runtime.files import OutputError, read_arrays, write_arrays
from rwk.transport.problem import SOLVER_VERSION

KeptBlock = tuple[NDArray[np.float64], GramHealth]


def set_digest(graphs: GraphSet) -> str:
    """A short hash of all graphs of a set in their order, the same on every machine."""
    return hashed(graph_digests(graphs))


@dataclass(frozen=True, slots=True)
class KeptRows:
    """Where rows are kept, and what they belong to: these graphs, with these parameters, by this solver."""

    folder: Path
    meaning: str

    @classmethod
    def at(cls, folder: str | os.PathLike[str], graphs: GraphSet, parameters: Parameters) -> KeptRows:
        if Path(folder).is_file():
            raise OutputError(f"{folder} is a file, and solved rows would be kept in a folder of that name; remove it")
        return cls(Path(folder), hashed([set_digest(graphs), stored_parameters(parameters), SOLVER_VERSION]))

    def read(self, title: str, n_pairs: int) -> KeptBlock | None:
        """The rows of this title; None where there are none, or others, or damaged ones."""
        file = read_arrays(self.folder / f"{title}.npz", self.meaning)
        if file is None or file["values"].shape != (n_pairs,):
            return None
        n_solved, n_not_converged, *rest = file["health"].tolist()
        return file["values"], GramHealth(int(n_solved), int(n_not_converged), *rest)

    def write(self, title: str, values: NDArray[np.float64], health: GramHealth) -> None:
        """Keep solved rows, whole or not at all."""
        place = self.folder / f"{title}.npz"
        write_arrays(place, values=values, health=np.array(health, np.float64), meaning=self.meaning)

    def remove(self) -> None:
        """Take the rows away, and their folder if nothing else is in it."""
        for place in self.folder.glob("*-??????-??????.npz"):
            place.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


def hashed(content: object) -> str:
    """A short hash of plain values."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
