"""The named grids are those that the stored records were made with, and names say what they change."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from rwk.experiment import paper
from rwk.experiment.methods import settings_of
from rwk.experiment.protocol import _plain_grid
from rwk.experiment.reproduce import TABLES
from rwk.experiment.trial_records import TRIALS, read_trials
from rwk.experiment.trials import CHANGES
from rwk.gram.kept import described
from rwk.learn.grids import SETTINGS, search_grid
from rwk.parameters import Parameters

RESULTS = Path(__file__).parent.parent / "results"
PAGE = RESULTS.parent / "docs" / "results.md"


def last_header(file: Path) -> dict[str, Any]:
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    found: dict[str, Any] = [line for line in lines if "protocol" in line][-1]
    return found


@pytest.mark.parametrize("dataset", [*paper.DISCRETE, *paper.CONTINUOUS])
def test_records_of_rwk_have_the_settings_of_the_named_grid(dataset: str) -> None:
    """Else a run could not go on from them, and the tables would be those of other settings."""
    missing = re.search(r"Not yet run with the present grid: (.*)\.\*\*", PAGE.read_text(encoding="utf-8"))
    if missing and dataset in missing[1].split(", "):
        pytest.skip("the results page says that the records are of an earlier grid")
    protocol = last_header(RESULTS / f"{dataset}-RWK.jsonl")["protocol"]
    name = "discrete" if dataset in paper.DISCRETE else "continuous"
    settings = settings_of("RWK", name, Parameters())
    forms = {title.rpartition(": ")[0] for title in protocol["settings"]}
    wanted = {
        f"{form}: {title}" if form else title: described(setting, form)
        for form in forms
        for title, setting in settings.items()
    }
    codes = {title: words.rpartition("@")[2] for title, words in protocol["settings"].items()}
    assert codes == {title: words.rpartition("@")[2] for title, words in wanted.items()}
    grid = _plain_grid(search_grid(name), "discrepancy")
    assert protocol["grid"] | {"combine": "sum"} == grid | {"combine": "sum"}


def test_tables_have_as_many_repeats_as_the_page_says() -> None:
    repeats = {name: table[2] for name, table in TABLES.items()}
    assert repeats == {
        **dict.fromkeys(("discrete", "continuous", "hops"), 10),
        **dict.fromkeys(("ablation", "trials", "runtime"), 3),
        **dict.fromkeys(("regression", "tables"), 0),
    }


def test_trials_are_named_for_what_they_change() -> None:
    for name, change in CHANGES.items():
        parameter, _, value = name.partition("=")
        if value and parameter in Parameters().asdict():
            assert {key: str(given) for key, given in change.parameters.items()} == {parameter: value}
    recorded = {change for _, change in read_trials(RESULTS / TRIALS)}
    assert len(recorded) > 20
    assert recorded <= set(CHANGES)


def test_a_debiased_setting_is_debiased() -> None:
    assert SETTINGS["full"]["debiased"] == {"debias": True}
    assert all(values["debias"] for values in SETTINGS["molecules"].values())
