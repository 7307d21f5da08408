"""Arrays kept on disk together with what they belong to, so that a stopped run computes only what is missing.

    matrices/NCI1-266e198d88.npz       a whole matrix of one setting
    matrices/NCI1-266e198d88.parts/    its blocks of pairs as they are solved, until it is whole:
        cpu-000000-000499-000500-000999.npz
    unfinished/MUTAG-WL.000.npz        matrices of a baseline that are made together, until its folds are recorded

Every file holds a digest of its graphs and its setting in words, which ends in a fingerprint of all parameters that
values depend on and of the solver's version. A file is written beside its name and renamed, so it is whole or not
there. This serves matrices that fit into memory and needs only numpy; for larger ones there is the `store`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rwk.gram.health import GramHealth
from rwk.gram.manifest import graph_digests
from rwk.graphs import GraphSet
from rwk.parameters import Parameters
from rwk.runtime.files import OutputError, read_arrays, write_arrays
from rwk.transport.problem import SOLVER_VERSION

PARTS: Final = "*-??????-??????-??????-??????"  # titles of parts: see `block_title`


# defaults that were others when the stored records were written; their descriptions leave these values out
RECORDED: Final = {"wl_edge_labels": False}


def fingerprint(parameters: Parameters, form: str = "") -> str:
    """Ten hexadecimal digits that stand for everything a matrix of one dataset depends on.

    `form` names what was made of the dataset first, such as "bonds".
    """
    values = parameters.determinants()
    if values["mass"] == 1.0:  # the matrix is the one of versions that did not have this parameter
        del values["mass"]
    return hashed([values, form, SOLVER_VERSION])[:10]


def described(parameters: Parameters, form: str = "") -> str:
    """A setting in words: what differs from the defaults of records, and the fingerprint of all of it.

    >>> described(Parameters(hops=1, wl_edge_labels=False)).split("@")[0]
    'hops=1 '
    """
    default = {**Parameters().determinants(), **RECORDED}
    words = [form] if form else []
    words += [f"{name}={value}" for name, value in parameters.determinants().items() if value != default[name]]
    return " ".join([*words, f"@{fingerprint(parameters, form)}"])


def set_digest(graphs: GraphSet) -> str:
    """A short hash of all graphs of a set in their order, the same on every computer."""
    return hashed(graph_digests(graphs))[:32]


@dataclass(frozen=True, slots=True)
class Kept:
    """Named arrays in the files of a folder that belong to some graphs and one setting."""

    folder: Path
    graphs: str  # digest
    setting: str  # in words, with a fingerprint after "@"

    @classmethod
    def at(cls, folder: str | os.PathLike[str], graphs: GraphSet | Mapping[str, GraphSet], setting: str) -> Kept:
        """The arrays of these graphs (or of all forms of a dataset) with this setting."""
        if Path(folder).is_file():
            raise OutputError(f"{folder} is a file, but results would be kept in a folder of that name; remove it")
        whole = set_digest(graphs) if isinstance(graphs, GraphSet) else _digest_of_forms(graphs)
        return cls(Path(folder), whole, setting)

    def parts(self, title: str, parameters: Parameters) -> Kept:
        """Where the parts of the matrix of this title are kept; they are not debiased, whatever the parameters say."""
        return Kept(self.folder / f"{title}.parts", self.graphs, described(replace(parameters, debias=False)))

    def place(self, title: str) -> Path:
        """The file of this title."""
        return self.folder / f"{title}.npz"

    def read(self, title: str, *, refuse_others: bool = False) -> dict[str, Any] | None:
        """The arrays of this title; None if there are none, or damaged ones, or those of other graphs or settings.

        With `refuse_others`, the last case, or another version of the solver, is a `ValueError`: what took long to
        compute is not overwritten.
        """
        found = read_arrays(self.place(title))
        if found is None:
            return None
        belongs = str(found.pop("graphs", "")), _code(str(found.pop("setting", "")))
        solver = _number(found.pop("solver", 1))
        if refuse_others and solver != SOLVER_VERSION:
            raise ValueError(
                f"{self.place(title)} was made by solver version {solver} (now {SOLVER_VERSION}); remove it, and it is "
                "made again"
            )
        if belongs == (self.graphs, _code(self.setting)):
            return found
        if refuse_others:
            place = self.place(title)
            raise ValueError(f"{place} belongs to other graphs of the same name; remove it, and it is made again")
        return None

    def write(self, title: str, /, **arrays: Any) -> None:
        """Keep arrays under this title, whole or not at all."""
        write_arrays(self.place(title), **arrays, graphs=self.graphs, setting=self.setting, solver=SOLVER_VERSION)

    def remove(self, titles: str = PARTS) -> None:
        """Remove the files whose titles match a pattern, and the folder if it is empty then."""
        for place in self.folder.glob(f"{titles}.npz"):
            place.unlink(missing_ok=True)
        with suppress(OSError):
            self.folder.rmdir()


def kept_parts(folder: str | os.PathLike[str], graphs: GraphSet, parameters: Parameters) -> Kept:
    """Parts of one matrix in a folder of their own."""
    return Kept.at(folder, graphs, described(replace(parameters, debias=False)))


def solved_values(found: Mapping[str, Any] | None, n_pairs: int) -> tuple[NDArray[Any], GramHealth] | None:
    """Values and health that were kept, or None if they are missing, not those of so many pairs, or not finite."""
    if found is None or not {"values", "health"} <= set(found):
        return None
    values, numbers = found["values"], found["health"]
    if values.shape != (n_pairs,) or values.dtype.kind != "f" or numbers.shape != (4,):
        return None
    return (values, health_of(numbers)) if np.isfinite(values).all() and np.isfinite(numbers).all() else None


def health_of(numbers: Any) -> GramHealth:
    """The health that was kept as an array.

    >>> health_of(np.array(GramHealth(3, 1, 2.5, 0.1))).n_pairs
    3
    """
    n_pairs, n_not_converged, *rest = np.asarray(numbers).tolist()
    return GramHealth(int(n_pairs), int(n_not_converged), *rest)


def _digest_of_forms(forms: Mapping[str, GraphSet]) -> str:
    return hashed({form: set_digest(graphs) for form, graphs in forms.items()})[:32]


def _number(stored: Any) -> int:
    """A whole number that was kept; -1 if it is none."""
    return int(stored) if np.shape(stored) == () and np.asarray(stored).dtype.kind in "iu" else -1


def _code(setting: str) -> str:
    """The fingerprint of a setting: words change with the defaults, the fingerprint does not."""
    return setting.rpartition("@")[2]


def hashed(content: object) -> str:
    """A hash of plain values, in hexadecimal digits."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
