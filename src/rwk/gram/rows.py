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
import zipfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rwk.files import OutputError, write_whole
from rwk.gram.health import GramHealth
from rwk.gram.manifest import graph_digests, stored_parameters
from rwk.graphs import GraphSet
from rwk.parameters import Parameters
from rwk.transport.problem import SOLVER_VERSION

KeptBlock = tuple[NDArray[np.float64], GramHealth]


def set_digest(graphs: GraphSet) -> str:
    """A short hash of all graphs of a set in their order, the same on every machine."""
    return _hashed(graph_digests(graphs))


@dataclass(frozen=True, slots=True)
class KeptRows:
    """Where rows are kept, and what they belong to: these graphs, with these parameters, by this solver."""

    folder: Path
    meaning: str

    @classmethod
    def at(cls, folder: str | os.PathLike[str], graphs: GraphSet, parameters: Parameters) -> KeptRows:
        if Path(folder).is_file():
            raise OutputError(f"{folder} is a file, and solved rows would be kept in a folder of that name; remove it")
        return cls(Path(folder), _hashed([set_digest(graphs), stored_parameters(parameters), SOLVER_VERSION]))

    def read(self, title: str, n_pairs: int) -> KeptBlock | None:
        """The rows of this title; None where there are none, or others, or damaged ones."""
        try:
            with np.load(self.folder / f"{title}.npz", allow_pickle=False) as file:
                meaning, values, health = str(file["meaning"]), file["values"], file["health"].tolist()
        except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
            return None
        if meaning != self.meaning or values.shape != (n_pairs,):
            return None
        return values, GramHealth(int(health[0]), int(health[1]), *health[2:])

    def write(self, title: str, values: NDArray[np.float64], health: GramHealth) -> None:
        """Keep solved rows, whole or not at all."""

        def write(beside: Path) -> None:
            with open(beside, "wb") as file:
                np.savez(file, values=values, health=np.array(health, np.float64), meaning=self.meaning)

        write_whole(self.folder / f"{title}.npz", write)

    def remove(self) -> None:
        """Take the rows away, and their folder if nothing else is in it."""
        for place in self.folder.glob("*-??????-??????.npz"):
            place.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


def _hashed(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:32]
