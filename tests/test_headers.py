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
    "baselines/networks",
    "bench",
    "convert",
    "datasets",
    "experiment",
    "explore",
    "gram",
    "graphs",
    "learn",
    "matching",
    "report",
    "represent",
    "retrieval",
    "runtime",
    "spaces",
    "transport",
    "transport/cpu",
    "transport/cpu/lanes",
    "transport/cpu/simd",
    "transport/gpu",
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
    text = header(package)
    with_ending = re.findall(r"(\w+)\.py\b", text)  # a header names files with their ending throughout, or none
    listed = with_ending or [name for entry in ENTRY.findall(text) for name in entry.split(", ")]
    everywhere = {path.stem for path in ROOT.rglob("*.py")}
    assert set(listed) <= (everywhere if with_ending else modules(package) | GROUPS.get(package, set()))
