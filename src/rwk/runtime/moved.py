"""Old import paths of public modules: `from rwk.svm import IndefiniteSVC` still works, with a `DeprecationWarning`.

`redirect_old_imports` adds a finder at the end of `sys.meta_path`; it is asked only for names that no other finder
knows, so other imports are not slower.
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

# old module -> the module that has its public names now
MOVED: Final[Mapping[str, str]] = {
    "rwk.canonical": "rwk.graphs.canonical",
    "rwk.cards": "rwk.report.cards",
    "rwk.checks": "rwk.graphs.checks",
    "rwk.classifier": "rwk.learn.classifier",
    "rwk.datasets.planted": "rwk.datasets.synthetic",
    "rwk.datasets.statistics": "rwk.datasets.summary",
    "rwk.doctor": "rwk.cli.doctor_command",
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
    """Finds a moved module under its old name and fills it with the names of the new one."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        return importlib.machinery.ModuleSpec(fullname, self) if fullname in MOVED else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        warnings.warn(f"{spec.name} has moved; import from {MOVED[spec.name]}", DeprecationWarning, stacklevel=2)
        # a separate module: the import system would rename the new module if it were returned here
        return ModuleType(spec.name, f"Moved to `{MOVED[spec.name]}`.")

    def exec_module(self, module: ModuleType) -> None:
        present = importlib.import_module(MOVED[module.__name__])
        module.__dict__.update({name: value for name, value in vars(present).items() if not name.startswith("__")})


def redirect_old_imports() -> None:
    """Make the old paths importable; further calls do nothing."""
    if not any(isinstance(finder, _Redirect) for finder in sys.meta_path):
        sys.meta_path.append(_Redirect())
