"""Who reads SMILES, without importing it: datasets of molecules need the converter, which is further to the right.

`rwk/__init__.py` sets the module, `rwk.convert.molecules`; it is imported when the first molecule is read.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

_module: list[str] = []  # at most one name


def read_smiles_with(module: str) -> None:
    """Set the module whose function `molecules(smiles, **options)` returns a GraphSet."""
    _module[:] = [module]


def smiles_reader() -> Callable[..., Any]:
    """The function that makes graphs from SMILES."""
    found: Callable[..., Any] = importlib.import_module(_module[0]).molecules
    return found
