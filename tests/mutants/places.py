"""Mutants made by a program: one operator, constant or statement of a file changed at a time."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "rwk"
COMPARE = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "=="}
COMPARE_SIGNS = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
ARITHMETIC = {ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.Div: ("/", "*"), ast.Pow: ("**", "*")}
NOT_RUN = ("annotation", "returns", "decorator_list", "type_params")
# keywords that only a reader of a message sees, that guard against mistakes in this project (`zip`), or that spare a
# copy or a check of a LAPACK call: no value depends on them
NOT_MEANT = ("stacklevel", "indent", "strict", "overwrite_a", "overwrite_b", "check_finite", "copy")


class Place(NamedTuple):
    """A change of one file: the bytes from `start` to `end` become `new`."""

    file: str  # relative to src/rwk
    line: int
    start: int
    end: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line} {self.old!r} -> {self.new!r}"

    @property
    def key(self) -> str:
        """What a verdict is kept under: the changed line of code, so that lines added above do not matter."""
        raw = (SOURCES / self.file).read_bytes()
        begins, ends = raw.rfind(b"\n", 0, self.start) + 1, raw.find(b"\n", self.end)
        before, after = raw[begins : self.start].decode().lstrip(), raw[self.end : ends].decode().rstrip()
        return f"{self.file}: {before}[{self.old} -> {self.new}]{after}"

    def source(self) -> bytes:
        """The file with the change made."""
        before = (SOURCES / self.file).read_bytes()
        return before[: self.start] + self.new.encode() + before[self.end :]


def places(file: Path) -> list[Place]:
    """All mutants of a file."""
    raw = file.read_bytes()
    starts = [0]
    for line in raw.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    name = file.relative_to(SOURCES).as_posix()

    def at(line: int | None, column: int | None) -> int:
        return starts[(line or 1) - 1] + (column or 0)

    def span(node: ast.expr | ast.stmt) -> tuple[int, int]:
        return at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset)

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
            if not (_is_text(node.left) or _is_text(node.right)):
                yield from operator(node, node.left, node.right, *ARITHMETIC[type(node.op)])
        elif isinstance(node, ast.BoolOp):
            old, new = ("and", "or") if isinstance(node.op, ast.And) else ("or", "and")
            yield from operator(node, node.values[0], node.values[1], old, new)
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            start = at(node.lineno, node.col_offset)
            yield made(node, start, start + len("not "), "")
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float, bool):
            yield made(
                node, at(node.lineno, node.col_offset), at(node.end_lineno, node.end_col_offset), _other(node.value)
            )
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield made(node, *span(node), "pass")
        elif isinstance(node, ast.Continue | ast.Break):
            start = at(node.lineno, node.col_offset)
            yield made(node, start, start + len("break" if isinstance(node, ast.Break) else "continue"), "pass")

    return [change for node in _code(ast.parse(raw)) for change in changes(node)]


def _other(value: int | float | bool) -> str:
    if isinstance(value, bool):
        return str(not value)
    return repr(value + 1 if abs(value) < 1e6 else 2 * value)


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _code(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes that are executed: no annotations, no decorators, no text with values in it."""
    yield node
    for field, value in ast.iter_fields(node):
        if field in NOT_RUN or isinstance(node, ast.JoinedStr):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.keyword) and child.arg in NOT_MEANT:
                continue
            if isinstance(child, ast.AST):
                yield from _code(child)
