"""A short slice of hostile inputs of every kind, and all that a campaign once found: each is answered or refused."""

from __future__ import annotations

import importlib
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fuzz", reason="fuzz/ lies beside the tests in the repository")

from fuzz.campaign import CASES, Finding, Tally, run_slice, small, written
from fuzz.kinds import KINDS
from fuzz.promise import outcome
from fuzz.record import add_to_record
from fuzz.shrink import shrunk
from fuzz.values import Chance, built

# how many cases of a kind, and the library without which there are none; all of them together take a few seconds
SLICE = {
    "record": (300, ""),
    "anything": (300, "rdkit"),
    "parameters": (500, ""),
    "file": (60, "rdkit"),
    "solver": (20, "ot"),
    "arrays": (25, "ot"),
    "svc": (30, ""),
    "baseline": (15, "ot"),
    "learner": (2, ""),
    "command": (25, ""),
    "request": (30, "dash"),
}


@pytest.mark.parametrize("kind", SLICE)
def test_slice(kind: str) -> None:
    count, library = SLICE[kind]
    if library:
        pytest.importorskip(library)
    tally = run_slice(kind, range(count))
    assert not tally.findings
    assert sum(tally.counts.values()) == count


@pytest.mark.parametrize("place", sorted(CASES.glob("*.json")), ids=lambda place: place.stem)
def test_what_was_found_is_mended(place: Path) -> None:
    case = json.loads(place.read_text(encoding="utf-8"))
    if SLICE.get(case["kind"], (0, ""))[1]:
        pytest.importorskip(SLICE[case["kind"]][1])
    assert outcome(KINDS[case["kind"]].runner, case["recipe"]) in ("answered", "refused")


def test_every_kind_has_its_functions() -> None:
    for kind in KINDS.values():
        module = importlib.import_module(f"fuzz.{kind.module}")
        assert callable(getattr(module, kind.make))
        assert callable(getattr(module, kind.run))
    assert set(SLICE) == set(KINDS) - {"signal"}


def test_cases_depend_on_their_number_alone() -> None:
    for name, kind in KINDS.items():
        first = json.dumps(kind.recipe(name, 3))
        assert first == json.dumps(kind.recipe(name, 3)) == json.dumps(json.loads(first))
        assert any(kind.recipe(name, i) != json.loads(first) for i in range(4, 9))


def _unclear(recipe: Any) -> None:
    if 7 in recipe.get("numbers", []):
        raise KeyError("deep inside")


def _not_finite(recipe: Any) -> None:
    from fuzz.promise import finite

    finite([1.0, float("nan")], "a value")


def test_promises_can_be_broken() -> None:
    """The check itself fails where it should."""
    assert outcome(_unclear, {"numbers": [7]}).startswith("broken: KeyError")
    assert outcome(_not_finite, {}) == "broken: a value is not finite"
    assert outcome(lambda recipe: int("x"), {}).startswith("broken: ValueError of test_fuzz")
    assert outcome(lambda recipe: Counter(), {}) == "answered"


def test_findings_are_made_small_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = {"numbers": [1, 7, 30, 2], "more": {"a": [1, 2]}}
    assert shrunk(recipe, lambda one: outcome(_unclear, one).startswith("broken: KeyError in")) == {"numbers": [7]}
    monkeypatch.setitem(KINDS, "odd", KINDS["svc"]._replace(module="no_such"))
    monkeypatch.setattr(type(KINDS["odd"]), "runner", property(lambda self: _unclear))
    found = small(Finding("odd", 5, outcome(_unclear, recipe), recipe))
    stored = json.loads(written(found, tmp_path).read_text())
    assert stored["recipe"] == {"numbers": [7]}
    assert stored["was"] == found.what


def test_record_joins_adjoining_campaigns(tmp_path: Path) -> None:
    place = tmp_path / "fuzz.json"
    add_to_record("svc", range(10), {"answered": 6, "refused": 4}, 1.0, place)
    add_to_record("svc", range(10, 30), {"answered": 20}, 1.0, place)
    add_to_record("file", range(5), {"refused": 5, "broken": 0}, 1.0, place)
    record = json.loads(place.read_text())
    assert (record["cases"], record["broken"], len(record["campaigns"])) == (35, 0, 2)
    assert (record["campaigns"][0]["from"], record["campaigns"][0]["to"]) == (0, 30)


def test_hostile_values_are_built_as_written() -> None:
    chance = Chance("seed")
    for _ in range(200):
        built(chance.scalar())
        built(chance.array(2, 3))
    assert built({"$array": [1, 2], "shape": [2], "dtype": "int8"}).dtype == "int8"
    assert Tally(Counter(), {}).counts.total() == 0
