"""Trials of single changes: which are run, what they record, and how they are reported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rwk.experiment.trials as module
from generators import cycle, path
from rwk import GraphSet
from rwk.datasets.forms import grid_of
from rwk.experiment import make_folds
from rwk.experiment.page import results_page
from rwk.experiment.reproduce import Options, reproduce
from rwk.experiment.run import RunOptions
from rwk.experiment.trial_records import BASE, TRIALS, Trial, append_trial, read_trials, trials_table
from rwk.experiment.trials import CHANGES, run_trials, settings_of_trial, with_degree_weights
from rwk.gram.matrices import discrepancy_matrix
from rwk.graphs import Graph
from rwk.parameters import Parameters


@pytest.fixture
def graphs() -> GraphSet:
    """Labelled paths and cycles, two classes."""
    made = []
    for g in range(18):
        n = 4 + g % 4
        made.append(Graph(n, np.array(cycle(n) if g % 2 else path(n)), node_labels=np.arange(n) % 2))
    return GraphSet.from_graphs(made, targets=np.arange(18) % 2, name="TOY")


def tried(graphs: GraphSet, records: Path, *changes: str, seeds: int = 1) -> list[Trial]:
    folds = make_folds(np.asarray(graphs.targets), n_splits=3, n_repeats=seeds)
    return run_trials(graphs, folds, records, changes=changes)


def test_a_trial_is_run_once(graphs: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = tmp_path / TRIALS
    first = tried(graphs, records, BASE, "hops=0", "treatment=flip")
    assert [trial.change for trial in first] == [BASE, "hops=0", "treatment=flip"]
    assert all(len(trial.scores) == 3 for trial in first)
    assert "hops=0" in first[1].setting
    assert "hops" not in first[0].setting
    kept = records.read_bytes()

    def no_solver(*arguments: object, **more: object) -> None:
        raise AssertionError("a matrix was solved")

    monkeypatch.setattr("rwk.experiment.methods.discrepancy_matrix", no_solver)
    again = tried(graphs, records, BASE, "hops=0", "treatment=flip")
    assert [trial.scores for trial in again] == [pytest.approx(trial.scores, abs=1e-4) for trial in first]
    assert records.read_bytes() == kept
    with pytest.raises(AssertionError, match="was solved"):  # other folds are another trial
        tried(graphs, records, BASE, seeds=2)


def test_what_changes_nothing_is_left_out(graphs: GraphSet, tmp_path: Path) -> None:
    """The graphs have no attributes and no edge labels, and the base setting already has three rounds of colours."""
    assert grid_of(graphs) == "discrete"
    left_out = ("attribute_rounds=1", "label_weight=0.5", "wl_edge_labels", "wl_rounds=3", "feature_metric=both")
    assert [trial.change for trial in tried(graphs, tmp_path / TRIALS, *left_out)] == [BASE]


@pytest.mark.parametrize("kind", ["discrete", "continuous"])
def test_every_change_has_settings(kind: str, graphs: GraphSet) -> None:
    whole = replace(
        graphs,
        node_attributes=np.ones((int(graphs.sizes.sum()), 1)),
        edge_labels=np.zeros(int(graphs.n_edges.sum()), np.int64),
    )
    for name, change in CHANGES.items():
        settings = settings_of_trial(change, kind, Parameters(), whole)
        assert settings, name
        assert len(settings) == (1 if not change.whole_grid else len(module.SETTINGS[kind])), name


def test_degree_weights_reach_the_solver(graphs: GraphSet, tmp_path: Path) -> None:
    assert with_degree_weights(graphs)[0].node_weights.tolist() == [2.0, 3.0, 3.0, 2.0]
    changed = discrepancy_matrix(with_degree_weights(graphs), Parameters(backend="cpu"))[0]
    assert np.abs(changed - discrepancy_matrix(graphs, Parameters(backend="cpu"))[0]).max() > 1e-3
    folder = tmp_path / "matrices"
    folds = make_folds(np.asarray(graphs.targets), n_splits=3, n_repeats=1)
    changes = (BASE, "node weights by degree")  # a kept matrix is of the graphs as they are
    run_trials(graphs, folds, tmp_path / TRIALS, changes=changes, options=RunOptions(matrices=folder))
    assert len(list(folder.glob("TOY-*.npz"))) == 1


def test_the_table_compares_with_the_base(tmp_path: Path) -> None:
    records = tmp_path / TRIALS
    assert trials_table(records) == ""
    base = [0.8, 0.9, 0.7, 0.8, 0.9, 0.7]
    for change, scores, folds in (
        (BASE, base, "a b"),
        ("hops=0", [score - 0.3 for score in base], "a b"),
        ("debias=True", base, "a b"),
        ("entropy=0.1", base, "other"),
    ):
        append_trial(records, Trial("TOY", change, "@1", folds, 60, 3, tuple(scores)))
    append_trial(records, Trial("LATER", "hops=0", "@1", "a b", 60, 3, tuple(base)))  # its base is not there yet
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in trials_table(records).splitlines()]
    assert lines[0] == ["change", "TOY"]
    assert lines[2] == ["base", "80.0"]
    assert lines[3] == ["hops=0", "**-30.0 (0)**"]
    assert lines[4] == ["debias=True", "+0.0 (1)"]
    assert lines[5] == ["entropy=0.1", ""]
    page = results_page(tmp_path)
    assert page.index("## Effect of single settings") < page.index("| hops=0 ")


def test_rows_keep_the_order_of_the_trials(tmp_path: Path) -> None:
    records = tmp_path / TRIALS
    for dataset, changes in (("A", "bace"), ("B", "bcde")):
        for change in changes:
            words = BASE if change == "b" else change
            score = 0.8 if change == "b" else 0.79999
            append_trial(records, Trial(dataset, words, "@1", "x", 60, 3, (score, 0.8, 0.8)))
    rows = [line.split("|")[1:-1] for line in trials_table(records).splitlines()[2:]]
    assert [row[0].strip() for row in rows] == [BASE, "a", "c", "d", "e"]
    assert rows[1][1].strip().startswith("+0.0 (")


def test_a_later_trial_takes_the_place_of_an_earlier(tmp_path: Path) -> None:
    records = tmp_path / TRIALS
    for share in (0.5, 0.75):
        append_trial(records, Trial("TOY", BASE, "@1", "a", 60, 3, (share, share, share)))
    assert read_trials(records)["TOY", BASE].scores == (0.75, 0.75, 0.75)


def test_reproduce_trials(graphs: GraphSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rwk.experiment.reproduce.load_forms", lambda name, data: (graphs, {"": graphs}))
    options = Options(folder=tmp_path, repeats=1, splits=3, n_jobs=1, backend="cpu")
    table = reproduce("trials", options, datasets=["TOY"], methods=["hops=1"])
    assert [line.split("|")[1].strip() for line in table.splitlines()] == ["change", "-" * 8, BASE, "hops=1"]
    elsewhere = replace(options, folder=tmp_path / "elsewhere")
    with pytest.raises(ValueError, match="there is no trial 'hops=9'; the trials are base, hops=1"):
        reproduce("trials", elsewhere, datasets=["TOY"], methods=["hops=9"])
    assert not elsewhere.folder.exists()
