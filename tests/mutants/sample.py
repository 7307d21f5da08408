"""Mutants made by a program: one operator, constant or statement changed at a time, at places drawn at random.

`python tests/mutants/sample.py --count 20 --record results/mutants.json` draws 20 mutants from each package and runs
the tests of that package on each, in a process that has the heavy libraries loaded already. A mutant that no test
notices is printed, to be judged by a person: `judged.py` has the verdicts on survivors that nobody could see.
"""

from __future__ import annotations

import argparse
import ast
import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from forked import OUTPUT, load_libraries, run_tests
from judged import JUDGED
from run import ROOT, copy_of_project

# the tests of each package: quick ones, and those that a survivor of the quick ones meets next; what needs a network, a
# device or many processes is left out
TESTS = {
    "gram": (
        "tests/test_promises.py tests/test_files.py",
        "tests/test_gram.py tests/test_kept.py tests/test_store.py tests/test_executors.py",
    ),
    "learn": (
        "tests/test_promises.py tests/test_svm.py",
        "tests/test_likelihood.py tests/test_regression.py tests/test_classifier.py tests/test_saved_models.py "
        "tests/test_explain.py tests/test_experiment.py",
    ),
    "experiment": (
        "tests/test_statistics.py tests/test_records.py tests/test_files.py",
        "tests/test_experiment.py tests/test_run.py tests/test_reproduce.py tests/test_trials.py "
        "tests/test_reproduce_regression.py tests/test_baseline_runs.py",
    ),
    "datasets": ("tests/test_datasets.py", "tests/test_promises.py tests/test_molecule_sets.py"),
    "convert": (
        "tests/test_convert.py tests/test_formats.py",
        "tests/test_node_names.py tests/test_molecules.py tests/test_names.py tests/test_edge_labels.py",
    ),
    "retrieval": ("tests/test_promises.py tests/test_neighbours.py", "tests/test_landmarks.py"),
}
LEFT_OUT = ("_gpu.py", "cluster.py", "__init__.py")  # need a device or a cluster; or have no code
COMPARE = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "=="}
COMPARE_SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
ARITHMETIC = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.Div: ("/", "*"), ast.Pow: ("**", "*")}


class Place(NamedTuple):
    """A change of one file: the characters from `start` to `end` become `new`."""

    file: str
    line: int
    start: int
    end: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.old!r} -> {self.new!r}"


def places(file: Path, name: str) -> list[Place]:
    """All mutants of a file."""
    text = file.read_text(encoding="utf-8")
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    raw = text.encode()

    def at(line: int | None, column: int | None) -> int:
        return starts[(line or 1) - 1] + (column or 0)

    def made(node: ast.expr | ast.stmt, start: int, end: int, new: str) -> Place:
        return Place(name, node.lineno, start, end, raw[start:end].decode(), new)

    def operator(node: ast.expr, left: ast.expr, right: ast.expr, old: str, new: str) -> Iterator[Place]:
        start, end = at(left.end_lineno, left.end_col_offset), at(right.lineno, right.col_offset)
        found = raw.find(old.encode(), start, end)
        if found >= 0:
            yield made(node, found, found + len(old), new)

    def changes(node: ast.AST) -> Iterator[Place]:
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARE:
            kind = type(node.ops[0])
            yield from operator(node, node.left, node.comparators[0], COMPARE_SIGNS[kind], COMPARE[kind])
        elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
            if not any(isinstance(side, ast.Constant | ast.JoinedStr) and _is_text(side) for side in _sides(node)):
                yield from operator(node, node.left, node.right, *ARITHMETIC[type(node.op)])
        elif isinstance(node, ast.BoolOp):
            old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            yield from operator(node, node.values[0], node.values[1], old, new)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            start = at(node.lineno, node.col_offset)
            yield made(node, start, start + len("not "), "")
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
            new = str(not node.value) if isinstance(node.value, bool) else repr(node.value + 1)
            yield made(node, at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset), new)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield made(node, at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset), "pass")
        elif isinstance(node, ast.Continue | ast.Break):
            start = at(node.lineno, node.col_offset)
            yield made(node, start, start + len("break" if isinstance(node, ast.Break) else "continue"), "pass")

    return [change for node in _code(ast.parse(text)) for change in changes(node)]


def _sides(node: ast.BinOp) -> tuple[ast.expr, ast.expr]:
    return node.left, node.right


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes that are executed: no annotations, no decorators, no text with values in it."""
    yield node
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params") or isinstance(node, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.keyword) and child.arg == "stacklevel":  # seen by nobody but a reader of warnings
                continue
            if isinstance(child, ast.AST):
                yield from _code(child)


def drawn(package: str, count: int, seed: int) -> list[Place]:
    """Mutants of a package, drawn at random without repetition; a longer draw begins with a shorter one."""
    files = sorted((ROOT / "src" / "rwk" / package).glob("*.py"))
    found = [place for file in files if not file.name.endswith(LEFT_OUT) for place in places(file, _name(file))]
    random.Random(f"{package} {seed}").shuffle(found)
    print(f"{package}: {min(count, len(found))} of {len(found)} mutants", flush=True)
    return found[:count]


def _name(file: Path) -> str:
    return file.relative_to(ROOT / "src" / "rwk").as_posix()


def is_killed(folder: Path, place: Place, tests: str) -> bool:
    """Whether a test fails, or never ends, with this mutant in the copy."""
    file = folder / "src" / "rwk" / place.file
    before = file.read_bytes()
    file.write_bytes(before[: place.start] + place.new.encode() + before[place.end :])
    try:
        return run_tests(folder, tests) != 0
    finally:
        file.write_bytes(before)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20, help="mutants per package")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--packages", default=",".join(TESTS))
    parser.add_argument("--in-place", action="store_true", help="change these sources, and change them back")
    parser.add_argument("--record", type=Path, help="file to add the outcome to")
    given = parser.parse_args()
    load_libraries()
    with copy_of_project(given.in_place) as folder:
        for package in given.packages.split(","):
            outcome = trial(folder, package, given.count, given.seed)
            if given.record:
                known = json.loads(given.record.read_text(encoding="utf-8")) if given.record.exists() else {}
                known.setdefault("drawn", {})[package] = outcome
                given.record.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")


def trial(folder: Path, package: str, count: int, seed: int) -> dict[str, Any]:
    """The outcome of one package: how many mutants were tried, and those that survived with their verdicts."""
    for tests in TESTS[package]:
        if run_tests(folder, tests) != 0:
            print(OUTPUT.read_text(encoding="utf-8")[-3000:])
            sys.exit(f"the tests of {package} fail without a mutant; mend that first")
    survived, tried = dict[str, str](), drawn(package, count, seed)
    for place in tried:
        killed = any(is_killed(folder, place, tests) for tests in TESTS[package])
        print("killed  " if killed else "SURVIVED", place, flush=True)
        if not killed:
            survived[str(place)] = JUDGED.get(str(place), "")
    print(f"{package}: {len(tried) - len(survived)} of {len(tried)} killed", flush=True)
    return {"drawn": len(tried), "seed": seed, "killed": len(tried) - len(survived), "survived": survived}


if __name__ == "__main__":
    main()
