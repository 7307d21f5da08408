"""`rwk warmup`: afterwards nothing that comparing and classifying graphs uses has to be compiled."""

from __future__ import annotations

from typing import Any

import pytest
from typer.testing import CliRunner

from rwk.cli.app import app
from rwk.learn import smo
from rwk.runtime import compiling
from rwk.transport.cpu import dispatch

SOLVERS = {"solve_side_by_side", "solve_in_rows", "solve_chunk", "solve_one"}


def test_warmup_calls_every_solver_in_both_precisions(monkeypatch: pytest.MonkeyPatch) -> None:
    called = set()

    def call(function: Any, measures: Any, *arguments: Any) -> Any:
        called.add((function.__name__, str(measures.structure.dtype)))
        return compiling.call_compiled(function, measures, *arguments)

    monkeypatch.setattr(dispatch, "call_compiled", call)
    done = CliRunner().invoke(app, ["warmup"], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    assert "pairs of large graphs, float32" in done.output
    assert {(name, precision) for name in SOLVERS for precision in ("float64", "float32")} <= called
    assert {("solve_from", "float64"), ("solve_loaded", "float64")} <= called
    assert smo.svm_path.signatures  # type: ignore[attr-defined]
