"""The methods of `rwk reproduce regression`: which matrices each of them has, or what else it learns from.

Every kernel is learned with by the same Gaussian process, and every graph kernel gets the same kernels on the
composition of the molecules beside it. Fingerprints are run with it, and without it; then they have a constant instead,
as GAUCHE has, whose weight is learned: no min-max or Tanimoto kernel can stand for a mean that is not the training
molecules'.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import numpy as np

from rwk import __version__
from rwk.convert.fingerprints import fingerprint_counts, scaffolds, smiles_of
from rwk.datasets.molecule_sets import load_molecules
from rwk.experiment.baseline_runs import baseline
from rwk.gram.kept import Kept, described, hashed
from rwk.gram.matrices import discrepancy_matrix
from rwk.graphs import GraphSet
from rwk.learn.composition import CompositionTerms
from rwk.learn.count_kernels import tanimoto_kernel
from rwk.learn.exact_gp import Block
from rwk.learn.grids import named_settings
from rwk.learn.term_sources import FINGERPRINTS
from rwk.runtime.arrays import FloatArray

FORM: Final = "full"  # the featurizer
GRID: Final = "molecules"
# a few settings of each baseline; the process learns their weights
BASELINE_SETTINGS: Final[Mapping[str, tuple[Mapping[str, Any], ...]]] = {
    "WL": tuple({"rounds": rounds} for rounds in (1, 2, 3, 5)),
    "WL-OA": tuple({"rounds": rounds} for rounds in (1, 2, 3, 5)),
    "WWL": tuple({"rounds": rounds} for rounds in (1, 2, 3)),
    "FGW": ({"alpha": 0.25}, {"alpha": 0.75}),
    "RetGK": ({},),
}
CONSTANT: Final = "constant"
KERNEL_METHODS: Final = (
    "RW",
    "RW+FP",
    "RW-plain",
    "FP-Morgan",
    "FP-fragments",
    "FP",
    "FP+composition",
    *BASELINE_SETTINGS,
)
FOREST: Final = "RF"
NETWORK: Final = "GIN"
GAUCHE: Final = "GAUCHE"  # if it is installed
REGRESSION_METHODS: Final = (*KERNEL_METHODS, FOREST, NETWORK, GAUCHE)


@dataclass
class MoleculeData:
    """One set of molecules, and what the methods make of it; everything is made on first use, once."""

    name: str
    data: Path | None = None
    matrices: Path | None = None
    backend: str = "auto"
    n_jobs: int | None = None
    _last: tuple[str, Any] | None = field(default=None, repr=False)  # the last method and its inputs, which are large

    @cached_property
    def graphs(self) -> GraphSet:
        return load_molecules(self.name, self.data, featurizer="full")

    @cached_property
    def targets(self) -> FloatArray:
        return np.asarray(self.graphs.targets, dtype=np.float64)

    @cached_property
    def scaffolds(self) -> list[str]:
        return scaffolds(self.graphs)

    @cached_property
    def composition(self) -> dict[str, Block]:
        """Of all molecules: counts without targets of the whole set, as the scales of discrepancies are."""
        return CompositionTerms.of(self.graphs).blocks(self.graphs, self.graphs)

    def counts(self, kind: str) -> FloatArray:
        return fingerprint_counts(self.graphs, kind)

    def fingerprints(self, *kinds: str) -> dict[str, Block]:
        """A kernel on each kind of substructures."""
        return {kind: Block(self._kept(f"tanimoto-{kind}", partial(self._tanimoto, kind)), False) for kind in kinds}

    def rw(self) -> dict[str, Block]:
        """The discrepancies of every RW setting."""
        found = {}
        for name, setting in named_settings(GRID, self.backend, self.n_jobs, 0).items():
            matrix, _ = discrepancy_matrix(self.graphs, setting, form=FORM, folder=self.matrices)
            found[name] = Block(np.asarray(matrix, np.float64), True)
        return found

    def baseline(self, name: str) -> dict[str, Block]:
        """The matrices of some settings of a baseline."""
        found = {}
        for setting in BASELINE_SETTINGS[name]:
            estimator = baseline(name).set_params(**setting)
            words = ", ".join(f"{key}={value}" for key, value in setting.items()) or "default"
            matrix = self._kept(f"{name}-{words}", partial(_matrix_of, estimator, self.graphs))
            found[words] = Block(matrix, estimator.kind == "discrepancy")
        return found

    def blocks(self, method: str) -> dict[str, Block]:
        """The terms of the sum that a method is."""
        both = self.composition
        if method in ("RW", "RW-plain"):
            return self.rw() | (both if method == "RW" else {})
        if method == "RW+FP":
            return self.rw() | self.fingerprints(*FINGERPRINTS) | both
        if method == "FP+composition":
            return self.fingerprints(*FINGERPRINTS) | both
        if method == "FP" or method.startswith("FP-"):
            kinds = FINGERPRINTS if method == "FP" else (method.removeprefix("FP-").lower(),)
            return self.fingerprints(*kinds) | {CONSTANT: Block(np.ones((len(self.graphs),) * 2), False)}
        return self.baseline(method) | both

    def inputs(self, method: str) -> Any:
        """What a method learns from: the matrices of its terms, counts of substructures, SMILES, or graphs."""
        if self._last is None or self._last[0] != method:
            self._last = (method, self._made(method))
        return self._last[1]

    def _made(self, method: str) -> Any:
        if method == FOREST:
            return self.counts("both")
        if method == GAUCHE:
            return smiles_of(self.graphs)
        return self.graphs if method == NETWORK else self.blocks(method)

    def about(self, method: str) -> dict[str, Any]:
        """What the figures of a method depend on, for the header of its records."""
        if method.startswith("RW"):
            settings = named_settings(GRID, "cpu", None, 0)
            return {"settings": {name: described(setting, FORM) for name, setting in settings.items()}}
        if method in BASELINE_SETTINGS:
            return {"settings": [repr(baseline(method).set_params(**one)) for one in BASELINE_SETTINGS[method]]}
        return {"gauche": version("gauche")} if method == GAUCHE else {}

    def _tanimoto(self, kind: str) -> FloatArray:
        counts = self.counts(kind)
        return tanimoto_kernel(counts, counts)

    def _kept(self, title: str, make: Callable[[], FloatArray]) -> FloatArray:
        """A matrix from the folder of matrices; else made, and kept there in single precision."""
        if self.matrices is None:
            return np.asarray(make(), np.float64)
        kept = Kept.at(self.matrices, self.graphs, f"{title} @{hashed([title, __version__])[:10]}")
        found = kept.read(f"{self.name}-{title}")
        values = np.asarray(make() if found is None else found["values"], np.float32)
        if found is None:
            kept.write(f"{self.name}-{title}", values=values)
        return np.asarray(values, np.float64)


def _matrix_of(estimator: Any, graphs: GraphSet) -> FloatArray:
    """Discrepancies of all graphs, or the kernel of a baseline that has none."""
    discrepancy = estimator.kind == "discrepancy"
    return np.asarray(estimator.fit(graphs).discrepancy() if discrepancy else estimator.fit_transform(graphs))
