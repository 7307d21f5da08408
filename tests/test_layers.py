"""Data flows in one direction, and so do imports: each package imports only from packages to its left."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

import rwk

ROOT = Path(rwk.__file__).parent
HEAVY = ("numba", "sklearn", "scipy", "networkx", "torch", "ot", "matplotlib")

# every package and every module of the top level, in the order of the flow: imports point to the left
ORDER = (
    "runtime",
    "graphs",
    "datasets",
    "transport",
    "parameters",
    "convert",
    "represent",
    "gram",
    "spaces",
    "discrepancy",
    "matching",
    "kernel",
    "retrieval",
    "averages",
    "learn",
    "baselines",
    "experiment",
    "report",
    "explore",
    "bench",
    "cli",
)
# records and settings that packages which work on matrices may import from the packages that solve
RECORDS = {"transport.problem", "gram.health"}
SOLVING = {"transport", "represent", "gram"}  # what needs more goes through the facade


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def is_module(name: str) -> bool:
    at = ROOT.joinpath(*name.split("."))
    return at.with_suffix(".py").exists() or (at / "__init__.py").exists()


def imports_of(path: Path) -> set[str]:
    """Modules of rwk that a file imports: at the top, inside functions, or for type checking only."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "rwk":
            base = str(node.module).removeprefix("rwk").lstrip(".")
            for alias in node.names:
                below = f"{base}.{alias.name}".lstrip(".")
                found.add(below if is_module(below) else base)
        elif isinstance(node, ast.Import):
            found |= {alias.name.removeprefix("rwk.") for alias in node.names if alias.name.startswith("rwk.")}
    return {name for name in found if name}


FILES = sorted(path for path in ROOT.rglob("*.py") if module_of(path) not in ("", "__main__"))


def top_of(module: str) -> str:
    return module.split(".")[0]


def test_every_package_is_in_the_order() -> None:
    assert {top_of(module_of(path)) for path in FILES} == set(ORDER)


@pytest.mark.parametrize("package", ORDER)
def test_imports_point_one_way(package: str) -> None:
    allowed = set(ORDER[: ORDER.index(package) + 1])
    wrong = {
        module_of(path): sorted(seen)
        for path in FILES
        if top_of(module_of(path)) == package and (seen := {m for m in imports_of(path) if top_of(m) not in allowed})
    }
    assert not wrong


def test_no_import_cycles() -> None:
    """Also within a package, and including imports inside functions."""
    graph = {module_of(path): {m for m in imports_of(path) if m != module_of(path)} for path in FILES}
    packages = {module_of(path) for path in FILES if path.name == "__init__.py"}
    done: set[str] = set()

    def visit(module: str, way: tuple[str, ...]) -> None:
        assert module not in way, " imports ".join([*way[way.index(module) :], module])
        if module in done:
            return
        for seen in graph.get(module, ()):
            # a package's __init__ imports its modules: importing a module of the same package is not a cycle
            if not (seen in packages and module.startswith(f"{seen}.")):
                visit(seen, (*way, module))
        done.add(module)

    for module in graph:
        visit(module, ())


def test_learners_and_reports_see_no_solver() -> None:
    for path in FILES:
        name = module_of(path)
        if top_of(name) in ("learn", "report"):
            solving = {m for m in imports_of(path) if top_of(m) in SOLVING} - RECORDS
            assert not solving, f"{name} imports {sorted(solving)}"


def test_cpu_and_gpu_never_see_each_other() -> None:
    for path in FILES:
        name = module_of(path)
        for here, there in (("transport.cpu", "transport.gpu"), ("transport.gpu", "transport.cpu")):
            if name.startswith(here):
                assert not any(seen.startswith(there) for seen in imports_of(path)), name


def test_no_two_modules_share_a_name() -> None:
    places = defaultdict(list)
    for path in FILES:
        places[module_of(path).split(".")[-1]].append(module_of(path))
    assert not {name: found for name, found in places.items() if len(found) > 1}


def test_no_two_public_types_share_a_name() -> None:
    places = defaultdict(list)
    for path in FILES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module_of(path))
    assert not {name: found for name, found in places.items() if len(found) > 1}


def test_importing_rwk_imports_nothing_heavy() -> None:
    code = f"import rwk, sys; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_every_public_name_is_there() -> None:
    for name in rwk.__all__:
        assert getattr(rwk, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'allign'"):
        _ = rwk.allign
