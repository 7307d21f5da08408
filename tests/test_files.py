"""Files that this package wrote are read through one door: damage is one sentence, and never taken for good."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rwk.experiment.folds import load_folds, make_folds, save_folds, stored_folds
from rwk.gram.kept import Kept, solved_values
from rwk.gram.matrix_file import save_gram
from rwk.parameters import Parameters
from rwk.report.run_data import ReportError, read_run
from rwk.runtime.files import DamagedFileError, load_arrays, load_json, read_arrays, write_arrays, write_json

ARRAYS = {"values": np.linspace(0.0, 1.0, 50), "names": np.array(["ab", "c"]), "count": np.array(3)}


def damaged(content: bytes, seed: int) -> Iterator[bytes]:
    """Flipped bits, zeroed stretches, ends cut off."""
    rng = np.random.default_rng(seed)
    for _ in range(60):
        changed, at = bytearray(content), int(rng.integers(len(content)))
        changed[at] ^= 1 << int(rng.integers(8))
        yield bytes(changed)
        yield content[:at]
        changed[at : at + 16] = bytes(len(changed[at : at + 16]))
        yield bytes(changed)


def same(first: dict[str, Any], second: dict[str, Any]) -> bool:
    return set(first) == set(second) and all(np.array_equal(first[name], second[name]) for name in first)


@pytest.mark.parametrize("compressed", [False, True])
def test_damaged_arrays_are_an_error_or_unchanged(tmp_path: Path, compressed: bool) -> None:
    path = write_arrays(tmp_path / "a.npz", compressed=compressed, **ARRAYS)
    whole, refused = path.read_bytes(), 0
    assert same(load_arrays(path), ARRAYS)
    for content in damaged(whole, 0):
        path.write_bytes(content)
        found = read_arrays(path)
        if found is not None:  # a byte that means nothing, such as the time of an entry
            assert same(found, ARRAYS)
            continue
        refused += 1
        with pytest.raises(DamagedFileError, match=f"^{re.escape(str(path))} is damaged"):
            load_arrays(path)
    assert refused > 50


def test_changed_content_has_another_checksum(tmp_path: Path) -> None:
    path = write_arrays(tmp_path / "a.npz", **ARRAYS)
    with np.load(path) as file:
        stored = dict(file)
    for changed in (
        {**stored, "values": stored["values"] + 1},
        {**stored, "values": stored["values"].astype(np.float32)},
        {name: stored[name] for name in stored if name != "count"},
        {**stored, "more": np.zeros(1)},
    ):
        np.savez(path, **changed)
        with pytest.raises(DamagedFileError, match="its content has changed"):
            load_arrays(path)


def test_arrays_of_an_earlier_version_have_no_checksum(tmp_path: Path) -> None:
    np.savez(tmp_path / "old.npz", **ARRAYS)
    assert same(load_arrays(tmp_path / "old.npz"), ARRAYS)
    with pytest.raises(FileNotFoundError):
        load_arrays(tmp_path / "none.npz")
    assert read_arrays(tmp_path / "none.npz") is None


def test_damaged_records(tmp_path: Path) -> None:
    path = write_json(tmp_path / "run.json", {"kind": "rwk run", "score": 0.5, "names": ("a", "ü")}, checksum=True)
    assert load_json(path) == {"kind": "rwk run", "score": 0.5, "names": ["a", "ü"]}
    text = path.read_text(encoding="utf-8")
    for changed in (text.replace("0.5", "0.6"), text[:20], "[1]", "[" * 100_000, "null"):
        path.write_text(changed, encoding="utf-8")
        with pytest.raises(DamagedFileError, match="is damaged"):
            load_json(path)
        with pytest.raises(ReportError, match=r"run\.json"):
            read_run(tmp_path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DamagedFileError, match="is damaged"):
        load_json(path)


def test_damaged_matrices_are_not_reported_on(tmp_path: Path) -> None:
    path = save_gram(tmp_path / "K.npz", np.zeros((4, 4)), Parameters(), targets=[0, 1, 0, 1])
    assert read_run(path).kernel.shape == (4, 4)
    for content in damaged(path.read_bytes(), 1):
        path.write_bytes(content)
        if read_arrays(path) is not None:
            assert (read_run(path).discrepancy == 0.0).all()
            continue
        with pytest.raises(ReportError, match=re.escape(str(path))):
            read_run(path)


@pytest.mark.parametrize(
    "change",
    [
        {"discrepancy": np.zeros((4, 3))},
        {"kernel": np.full((4, 4), np.nan)},
        {"kernel": np.array("text")},
        {"targets": np.zeros(3)},
    ],
)
def test_matrices_of_an_earlier_version_are_checked(tmp_path: Path, change: dict[str, Any]) -> None:
    arrays = {"discrepancy": np.zeros((4, 4)), "kernel": np.ones((4, 4)), "targets": np.zeros(4)}
    np.savez(tmp_path / "old.npz", **arrays)
    assert read_run(tmp_path / "old.npz").kernel.shape == (4, 4)
    np.savez(tmp_path / "old.npz", **{**arrays, **change})
    with pytest.raises(ReportError, match="is damaged"):
        read_run(tmp_path / "old.npz")


def test_damaged_rows_are_solved_again(tmp_path: Path) -> None:
    kept = Kept(tmp_path, "graphs", "setting@1")
    values, health = np.linspace(0.0, 1.0, 6), np.array([6.0, 0.0, 2.0, 0.1])
    kept.write("rows", values=values, health=health)
    found = solved_values(kept.read("rows"), 6)
    assert found is not None
    assert np.array_equal(found[0], values)
    assert solved_values(kept.read("rows"), 7) is None
    for content in damaged(kept.place("rows").read_bytes(), 2):
        kept.place("rows").write_bytes(content)
        again = solved_values(kept.read("rows"), 6)
        assert again is None or np.array_equal(again[0], values)


@pytest.mark.parametrize(
    "change",
    [
        {"values": np.full(6, np.nan)},
        {"values": np.zeros((6, 1))},
        {"health": np.zeros(3)},
    ],
)
def test_rows_that_are_not_numbers_are_solved_again(tmp_path: Path, change: dict[str, Any]) -> None:
    kept = Kept(tmp_path, "graphs", "setting@1")
    kept.write("rows", **{"values": np.zeros(6), "health": np.zeros(4), **change})
    assert solved_values(kept.read("rows"), 6) is None


TARGETS = [0, 1] * 10


@pytest.mark.parametrize(
    "change",
    [
        lambda content: content["test_fold"]["0"].pop(),
        lambda content: content["test_fold"]["0"].__setitem__(3, 5),
        lambda content: content["test_fold"]["0"].__setitem__(3, -1),
        lambda content: content["test_fold"]["0"].__setitem__(3, 1.5),
        lambda content: content["test_fold"]["0"].__setitem__(3, 10**30),
        lambda content: content["test_fold"].__setitem__("0", [0] * 20),
        lambda content: content["test_fold"].__setitem__("0", 3),
        lambda content: content["test_fold"].__setitem__("0", "0" * 20),
        lambda content: content["test_fold"].__setitem__("0", "0123x" * 4),
        lambda content: content.__setitem__("n_splits", "5"),
        lambda content: content.__setitem__("n_splits", 4),
        lambda content: content.pop("classes"),
    ],
)
def test_folds_must_be_a_partition(tmp_path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = tmp_path / "folds.json"
    save_folds(make_folds(TARGETS, 5, n_repeats=2), path)
    content = json.loads(path.read_text())
    del content["checksum"]  # as earlier versions wrote it, with a list of numbers
    content["test_fold"] = {seed: [int(digit) for digit in digits] for seed, digits in content["test_fold"].items()}
    path.write_text(json.dumps(content))
    assert len(load_folds(path)) == 10
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match=r"folds\.json is (damaged|not a file of folds)"):
        load_folds(path)


def test_folds_have_a_checksum_and_cover_the_targets(tmp_path: Path) -> None:
    path = tmp_path / "folds.json"
    stored_folds(path, TARGETS, 5, range(2))
    content = json.loads(path.read_text())
    at = content["test_fold"]["0"]
    content["test_fold"]["0"] = str((int(at[0]) + 1) % 5) + at[1:]
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="is not a file of folds"):
        load_folds(path)
    del content["checksum"]
    content["test_fold"] = {seed: values[:-1] for seed, values in content["test_fold"].items()}
    path.write_text(json.dumps(content))
    with pytest.raises(ValueError, match="do not cover the graphs"):
        stored_folds(path, TARGETS, 5, range(2))
