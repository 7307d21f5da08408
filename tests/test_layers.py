"""Data flows one way, and so do imports: load, represent, solve pairs, gram, learn, report."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rwk

ROOT = Path(rwk.__file__).parent
HEAVY = ("numba", "sklearn", "scipy", "networkx", "torch", "ot", "matplotlib")

# each layer may import from those above it, and from itself
LAYERS = (
    ("cards", "graphs", "transport"),
    ("canonical", "checks", "parameters"),
    ("datasets", "features", "files", "spectrum"),
    ("convert", "embedding", "structure", "measures", "scaling"),
    ("represent",),
    ("gram",),
    ("discrepancy",),
    ("kernel",),
)
LEARNERS = (
    "svm",
    "machines",
    "smo",
    "smo_gpu",
    "proxy",
    "platt",
    "treatment",
    "treatment_gpu",
)  # they see matrices only
SOLVING = {
    "transport",
    "represent",
    "measures",
    "scaling",
    "gram",
    "discrepancy",
    "kernel",
    "embedding",
    "features",
    "structure",
}


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path, *, anywhere: bool) -> set[str]:
    """Modules of rwk that a file imports: on being imported itself, or `anywhere` (in functions, for types)."""
    found: set[str] = set()
    todo: list[ast.AST] = [ast.parse(path.read_text())]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.ImportFrom) and node.module == "rwk":
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rwk."):
            below = {f"{node.module}.{alias.name}".removeprefix("rwk.") for alias in node.names}
            modules = {name for name in below if is_module(name)}
            found |= modules or {str(node.module).removeprefix("rwk.")}
        elif isinstance(node, ast.Import):
            found |= {alias.name.removeprefix("rwk.") for alias in node.names if alias.name.startswith("rwk.")}
        later = isinstance(node, ast.FunctionDef) or (
            isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        )
        if anywhere or not later:
            todo.extend(ast.iter_child_nodes(node))
    return found


def is_module(name: str) -> bool:
    at = ROOT.joinpath(*name.split("."))
    return at.with_suffix(".py").exists() or (at / "__init__.py").exists()


def files(name: str) -> list[Path]:
    """The files of a module or package; commands.py belongs to the command line."""
    one = ROOT / f"{name}.py"
    return [one] if one.exists() else [p for p in (ROOT / name).rglob("*.py") if p.name != "commands.py"]


def tops(modules: set[str]) -> set[str]:
    return {module.split(".")[0] for module in modules}


@pytest.mark.parametrize("layer", range(len(LAYERS)))
def test_imports_point_one_way(layer: int) -> None:
    allowed = {name for names in LAYERS[: layer + 1] for name in names}
    for name in LAYERS[layer]:
        assert files(name), f"{name} is gone: correct the list of layers"
        for path in files(name):
            seen = {top for top in tops(imports_of(path, anywhere=False)) if is_module(top)}
            assert seen <= allowed, f"{module_of(path)} imports {sorted(seen - allowed)}"


@pytest.mark.parametrize("name", ["transport", "graphs"])
def test_the_foundations_see_nothing_of_the_rest(name: str) -> None:
    for path in files(name):
        assert tops(imports_of(path, anywhere=True)) <= {name, "cards"}, module_of(path)


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_see_no_solver(name: str) -> None:
    for path in files(name):
        seen = imports_of(path, anywhere=True)
        assert not tops(seen) & SOLVING, f"{module_of(path)} imports {sorted(seen)}"


def test_reports_see_records_and_no_solver() -> None:
    for path in files("report"):
        seen = imports_of(path, anywhere=False) - {"transport.problem"}
        assert not tops(seen) & SOLVING, f"{module_of(path)} imports {sorted(seen)}"


def test_cpu_and_gpu_never_see_each_other() -> None:
    cpu = [ROOT / "transport" / name for name in ("cpu.py", "loading.py", "sinkhorn.py", "costs.py", "threads.py")]
    gpu = [path for path in (ROOT / "transport").rglob("*.py") if "gpu" in module_of(path)]
    for path in cpu:
        assert not any("gpu" in module for module in imports_of(path, anywhere=True)), path
    for path in gpu:
        seen = imports_of(path, anywhere=True)
        assert not seen & {f"transport.{path.stem}" for path in cpu}, path


def test_importing_rwk_imports_nothing_heavy() -> None:
    code = f"import rwk, sys; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_every_public_name_is_there() -> None:
    for name in rwk.__all__:
        assert getattr(rwk, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'allign'"):
        _ = rwk.allign
