"""The docstring of each package lists its files: all that there are, and none that is gone."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import rwk

ROOT = Path(rwk.__file__).parent
PACKAGES = [
    "baselines",
    "bench",
    "convert",
    "datasets",
    "explore",
    "gram",
    "graphs",
    "learn",
    "report",
    "represent",
    "retrieval",
    "runtime",
]
GROUPS = {"baselines": {"kernels", "tools"}}  # titles of groups of files
# "    name, other   what is in them"
ENTRY = re.compile(r"^ +((?:\w+, )*\w+) {2,}\S", re.MULTILINE)


def header(package: str) -> str:
    return ast.get_docstring(ast.parse((ROOT / package / "__init__.py").read_text(encoding="utf-8"))) or ""


def modules(package: str) -> set[str]:
    found = {path.stem for path in (ROOT / package).glob("*.py")} - {"__init__"}
    return found | {path.parent.name for path in (ROOT / package).glob("*/__init__.py")}


@pytest.mark.parametrize("package", PACKAGES)
def test_a_header_names_every_file(package: str) -> None:
    assert modules(package) <= set(re.findall(r"\w+", header(package)))


@pytest.mark.parametrize("package", PACKAGES)
def test_a_header_lists_no_file_that_is_gone(package: str) -> None:
    listed = {name for entry in ENTRY.findall(header(package)) for name in entry.split(", ")}
    assert listed <= modules(package) | GROUPS.get(package, set())
