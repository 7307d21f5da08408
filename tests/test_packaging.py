"""The package as others install it: every import is declared, and one version number holds everywhere."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest

import rwk
from rwk.runtime.moved import MOVED

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
# imported by another name than installed by
PACKAGES = {"sklearn": "scikit-learn", "ot": "POT", "dash_cytoscape": "dash-cytoscape"}
# imported only where something else has brought them: PyTorch's builds with CUDA, and notebooks
BROUGHT_ALONG = {"triton", "IPython"}


def name_of(requirement: str) -> str:
    return re.split(r"[\[<>=!~; ]", requirement)[0].lower()


def declared() -> list[str]:
    extras = PROJECT["optional-dependencies"]
    needed = [line for extra, lines in extras.items() if extra not in ("dev", "docs") for line in lines]
    return [line for line in (*PROJECT["dependencies"], *needed) if name_of(line) != "rwk"]


def imported_by(file: Path) -> set[str]:
    """The top-level packages from elsewhere that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            found.add(node.module.split(".")[0])
    return found - set(sys.stdlib_module_names) - {"rwk"}


def imported() -> dict[str, set[Path]]:
    found: dict[str, set[Path]] = {}
    for file in (ROOT / "src" / "rwk").rglob("*.py"):
        for name in imported_by(file):
            found.setdefault(name, set()).add(file)
    return found


def test_every_import_is_declared() -> None:
    known = {name_of(line) for line in declared()}
    found = imported()
    assert {"numpy", "torch", "dash"} <= set(found)
    for name in set(found) - BROUGHT_ALONG:
        assert PACKAGES.get(name, name).lower() in known, f"{name} is imported but not declared: {sorted(found[name])}"


@pytest.mark.parametrize("line", sorted(set(declared())))
def test_every_dependency_has_a_lower_bound(line: str) -> None:
    assert re.match(r"[\w.-]+(\[\w+\])?>=\d", line), f"{line} has no lower bound"


def test_one_version_number() -> None:
    """The package has it; what must repeat it agrees."""
    assert PROJECT["dynamic"] == ["version"]
    assert "version" not in PROJECT
    copies = {
        "CHANGELOG.md": r"\A# Changelog\n(?:(?!^## ).*\n)*^## (\S+)",
        "CITATION.cff": r"^version: (\S+)$",
        "docs/cite.md": r"version = \{(\S+)\}|in rwk (\d+\.\d+\.\d+)",
    }
    for name, pattern in copies.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        found = {"".join(groups) for groups in (match.groups("") for match in re.finditer(pattern, text, re.MULTILINE))}
        assert found == {rwk.__version__}, f"{name} has {found}"


def test_the_changelog_lists_every_moved_module() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `(rwk[\w.]+)` \| `(rwk[\w.]+)` \|$", text, re.MULTILINE))
    assert listed == dict(MOVED)
