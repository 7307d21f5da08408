"""The examples run as they stand, and say what they promise."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
NEEDS = {"similar_molecules": "rdkit", "matrix_on_disk": "zarr"}


def run(name, monkeypatch, tmp_path, capsys, *arguments):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    return capsys.readouterr().out


def test_every_example_is_tested():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {
        "explain_prediction",
        "matrix_on_disk",
        "own_graphs",
        "precomputed_kernel",
        "similar_molecules",
    }


def test_own_graphs(monkeypatch, tmp_path, capsys):
    printed = run("own_graphs", monkeypatch, tmp_path, capsys)
    assert float(printed.rsplit(":", 1)[1]) > 0.8


def test_similar_molecules(monkeypatch, tmp_path, capsys):
    printed = run("similar_molecules", monkeypatch, tmp_path, capsys, tmp_path / "aspirin.png")
    assert printed.startswith("salicylic acid")
    assert (tmp_path / "aspirin.png").read_bytes().startswith(b"\x89PNG")


def test_explain_prediction(monkeypatch, tmp_path, capsys):
    printed = run("explain_prediction", monkeypatch, tmp_path, capsys, tmp_path / "why.png")
    important, motif = (eval(line.split(":", 1)[1]) for line in printed.strip().splitlines()[-2:])
    assert len(set(important) & set(motif)) >= 4
    assert (tmp_path / "why.png").exists()


def test_precomputed_kernel(monkeypatch, tmp_path, capsys):
    assert "new graphs" in run("precomputed_kernel", monkeypatch, tmp_path, capsys)


def test_matrix_on_disk(monkeypatch, tmp_path, capsys):
    assert "the same bits: True" in run("matrix_on_disk", monkeypatch, tmp_path, capsys, tmp_path / "store")
