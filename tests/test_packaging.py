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
        "recipe/meta.yaml": r'set version = "(\S+)"',
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


def test_the_conda_recipe_requires_what_the_package_requires() -> None:
    text = (ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8")
    listed = re.findall(r"^    - (.+)$", text.split("  run:")[1].split("\ntest:")[0], re.MULTILINE)
    wanted = [f"python{PROJECT['requires-python']}", *PROJECT["dependencies"]]
    assert sorted(line.replace(" ", "") for line in listed) == sorted(wanted)


def test_constraints_pin_all_that_the_workflows_install() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    pinned = {name.lower().replace("_", "-") for name in pins}
    wanted = {*map(name_of, PROJECT["optional-dependencies"]["dev"]), *map(name_of, declared()), "build", "twine", "uv"}
    assert {name.replace("_", "-") for name in wanted} - {"rwk"} <= pinned
    assert all(re.fullmatch(r"[\w.]+", version) for version in pins.values())  # no build of one machine, such as +cpu


WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: file.stem)
def test_workflows_are_bounded_and_name_files_that_exist(file: Path) -> None:
    yaml = pytest.importorskip("yaml")
    text = file.read_text(encoding="utf-8")
    flow = yaml.safe_load(text)
    assert flow["permissions"] == {"contents": "read"}
    for job in flow["jobs"].values():
        assert job["timeout-minutes"] <= 60
        assert all(("run" in step) != ("uses" in step) for step in job["steps"])
        assert all(re.fullmatch(r"actions/[\w-]+@v\d+", step["uses"]) for step in job["steps"] if "uses" in step)
    for name in re.findall(r"tests/\w+\.py|constraints\.txt", text):
        assert (ROOT / name).exists(), f"{file.name} names {name}"


def test_the_tests_run_on_every_python_that_the_package_claims() -> None:
    yaml = pytest.importorskip("yaml")
    flow = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text(encoding="utf-8"))
    claimed = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert set(claimed) <= set(flow["jobs"]["test"]["strategy"]["matrix"]["python"])
    assert PROJECT["requires-python"] == f">={claimed[0]}"
