"""Old import paths of public modules: `from rwk.svm import IndefiniteSVC` still works, and says where to import from.

A finder on `sys.meta_path` is asked only for names that nothing else finds, so it costs nothing otherwise.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import sys
import warnings
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Final

# module of version 0.1 -> where its public names are now
MOVED: Final[Mapping[str, str]] = {
    "rwk.canonical": "rwk.graphs.canonical",
    "rwk.cards": "rwk.report.cards",
    "rwk.checks": "rwk.graphs.checks",
    "rwk.classifier": "rwk.learn.classifier",
    "rwk.datasets.planted": "rwk.datasets.synthetic",
    "rwk.datasets.statistics": "rwk.datasets.summary",
    "rwk.doctor": "rwk.cli.doctor",
    "rwk.experiment.grids": "rwk.learn.grids",
    "rwk.experiment.search": "rwk.learn.search",
    "rwk.explain": "rwk.learn.explain",
    "rwk.features": "rwk.represent.features",
    "rwk.files": "rwk.runtime.files",
    "rwk.forms": "rwk.datasets.forms",
    "rwk.landmarks": "rwk.retrieval.landmarks",
    "rwk.neighbours": "rwk.retrieval.neighbours",
    "rwk.report.commands": "rwk.report.writing",
    "rwk.report.curves": "rwk.report.charts",
    "rwk.report.explained": "rwk.report.explanations",
    "rwk.report.kernels": "rwk.report.heatmap",
    "rwk.svm": "rwk.learn.svc",
}


class _Redirect(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds a moved module under its old name, and loads the one at the new place."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(fullname, self) if fullname in MOVED else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        warnings.warn(f"{spec.name} has moved; import from {MOVED[spec.name]}", DeprecationWarning, stacklevel=2)
        # a module of its own: handing out the new one would make the import system rename it
        return ModuleType(spec.name, f"Moved to `{MOVED[spec.name]}`.")

    def exec_module(self, module: ModuleType) -> None:
        present = importlib.import_module(MOVED[module.__name__])
        module.__dict__.update({name: value for name, value in vars(present).items() if not name.startswith("__")})


def redirect_old_imports() -> None:
    """Make the old paths importable; the second call does nothing."""
    if not any(isinstance(finder, _Redirect) for finder in sys.meta_path):
        sys.meta_path.append(_Redirect())
