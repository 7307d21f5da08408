"""Matrices of all settings of a baseline, made together and kept until their folds are run.

Making them may take longer than all folds; a run that is stopped among the folds reads them again.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rwk import __version__
from rwk.gram.rows import hashed, set_digest
from rwk.graphs import GraphSet
from rwk.runtime.files import read_arrays, write_arrays


class LazyMatrices(Mapping[str, Any]):
    """Matrices by setting that share work: all are made when the first is asked for."""

    def __init__(self, make: Callable[[], dict[str, Any]]) -> None:
        self._made = functools.cache(make)

    def __getitem__(self, name: str) -> Any:
        return self._made()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._made())

    def __len__(self) -> int:
        return len(self._made())


@dataclass(frozen=True, slots=True)
class KeptMatrices:
    """A file of matrices, and what they belong to: these graphs, this estimator with this grid."""

    place: Path
    meaning: str

    @classmethod
    def at(cls, place: str | os.PathLike[str], forms: Mapping[str, GraphSet], estimator: Any) -> KeptMatrices:
        digests = {form: set_digest(graphs) for form, graphs in forms.items()}
        grid = {name: list(map(str, values)) for name, values in estimator.grid.items()}
        return cls(Path(place), hashed([digests, repr(estimator), grid, __version__]))

    def read(self) -> dict[str, Any] | None:
        """All matrices by setting; None where there are none, or others, or a damaged file."""
        file = read_arrays(self.place, self.meaning)
        return file and {str(name): file[f"matrix-{i}"] for i, name in enumerate(file["names"])}

    def write(self, matrices: Mapping[str, Any]) -> None:
        """Keep them, whole or not at all."""
        arrays = {f"matrix-{i}": matrix for i, matrix in enumerate(matrices.values())}
        write_arrays(self.place, meaning=self.meaning, names=np.array(list(matrices)), **arrays)

    def remove(self) -> None:
        """Take the file away, and its folder if nothing else is in it."""
        self.place.unlink(missing_ok=True)
        with suppress(OSError):
            self.place.parent.rmdir()
