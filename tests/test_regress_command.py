"""`rwk regress` and `rwk predict`: from a table of SMILES to predictions with error bars."""

from __future__ import annotations

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from commands import run_here
from rwk.convert.table_files import smiles_columns

pytest.importorskip("rdkit")
pytest.importorskip("matplotlib")

SMILES = [tail + "C" * n for n in range(1, 9) for tail in ("", "O", "c1ccccc1")]


def rwk(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "rwk", *map(str, arguments)], capture_output=True, text=True)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    folder = tmp_path_factory.mktemp("regress")
    lines = [f"{smiles},{len(smiles)}" for smiles in SMILES]
    (folder / "table.csv").write_text("structure,length\n" + "\n".join(lines) + "\n")
    done = rwk("regress", folder / "table.csv", "--target", "length", "--settings", "quick", "-o", folder / "out")
    return folder, done


def test_a_folder_with_everything(made) -> None:
    folder, done = made
    assert done.returncode == 0, done.stderr
    names = {place.name for place in (folder / "out").iterdir()}
    pictures = {"parity.png", "calibration.png", "learning-curve.png"}
    assert names == pictures | {"model.npz", "gram.npz", "predictions.csv", "outliers.csv", "summary.json"}
    rows = list(csv.DictReader((folder / "out" / "predictions.csv").open()))
    assert [row["smiles"] for row in rows] == SMILES
    errors = np.array([float(row["mean"]) - float(row["value"]) for row in rows])
    assert np.abs(errors).mean() < 2.0
    assert all(float(row["std"]) > 0 for row in rows)


def test_the_model_predicts_new_molecules(made) -> None:
    folder, _ = made
    (folder / "new.csv").write_text("smiles,y\nCCCCC,1\nOCCCC,\n")
    done = run_here("predict", folder / "out" / "model.npz", folder / "new.csv", "-o", folder / "new-out.csv")
    assert done.returncode == 0, done.stderr
    rows = list(csv.DictReader((folder / "new-out.csv").open()))
    assert [row["smiles"] for row in rows] == ["CCCCC", "OCCCC"]
    assert abs(float(rows[0]["mean"]) - 5.0) < 2.0


def test_the_folder_has_a_report(made) -> None:
    folder, _ = made
    done = run_here("report", folder / "out", "-o", folder / "report.html")
    assert done.returncode == 0, done.stderr
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<h2>Most surprising values</h2>" in page
    assert SMILES[0] in page


def test_the_only_column_of_numbers_is_learned(made) -> None:
    folder, _ = made
    smiles, values, name = smiles_columns(folder / "table.csv", None, None)
    assert (smiles, name) == (SMILES, "length")
    assert values == [float(len(one)) for one in SMILES]


def test_mistakes_are_one_sentence(made) -> None:
    folder, _ = made
    (folder / "several.csv").write_text("smiles,first,second,id\nCC,1,2,7\nCCC,2,,8\n")
    (folder / "typo.csv").write_text("smiles,y\nCC,1\nCCX(,2\nCCC,3\n")
    (folder / "words.csv").write_text("smiles,colour\nCC,red\nCCC,\n")
    (folder / "comma.csv").write_text("smiles;y\nCC;1\nCCC;2,5\n")
    (folder / "word.csv").write_text("smiles,y\nCC,1\nCCC,high\n")
    for arguments, sentence in (
        (
            ["regress", folder / "several.csv", "-o", folder / "none"],
            "name the column of the values to learn with --target; the columns of numbers are 'first', 'second'",
        ),
        (
            ["regress", folder / "words.csv", "-o", folder / "none"],
            "with --target; no column of 'smiles', 'colour' has numbers",
        ),
        (["regress", folder / "typo.csv", "-o", folder / "none"], "SMILES do not parse: line 3 ('CCX(')"),
        (
            ["regress", folder / "comma.csv", "-o", folder / "none"],
            "comma.csv, line 3: '2,5' in column 'y' is not a number; write a decimal point in place of the comma",
        ),
        (
            ["regress", folder / "word.csv", "-o", folder / "none"],
            "word.csv, line 3: 'high' in column 'y' is not a number; correct it, or leave it empty",
        ),
        (["predict", folder / "table.csv", folder / "table.csv"], "is not a saved regression model"),
    ):
        done = run_here(*arguments)
        assert done.returncode == 2
        assert sentence in " ".join(done.stderr.split())
        assert "Traceback" not in done.stderr
    assert not (folder / "none").exists()
