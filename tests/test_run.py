"""The one way to records: every method under its own name, represented once, on as many cores as asked for."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rwk.gram.matrices as matrices
from gram_graphs import QUICK, random_graphs, write_tu
from rwk import RWKClassifier, load_dataset
from rwk.experiment import Grid, make_folds, read_records
from rwk.experiment.baseline_runs import BaselineMethod, baseline
from rwk.experiment.methods import METHODS, RwkMethod, method_of_paper, method_of_user, rwk_of_user, settings_of
from rwk.experiment.reproduce import Options
from rwk.experiment.run import RunOptions, run_experiment
from rwk.experiment.run_folder import add_baselines, classify
from rwk.graphs import GraphError
from rwk.learn.grids import search_grid
from rwk.parameters import Parameters
from rwk.report.run_data import read_run

GRAPHS = random_graphs(24)
FOLDS = make_folds(np.asarray(GRAPHS.targets), n_splits=3, n_repeats=1)
FAST = RwkMethod("RWK", {"a": Parameters.of(QUICK)}, Grid(eta=(1.0,), C=(1.0,)))


def invoke(*arguments: str | Path) -> str:
    """Run a command in this process and return what it printed."""
    pytest.importorskip("typer", reason="the command line needs the extra 'cli'")
    from typer.testing import CliRunner

    from rwk.cli.app import app

    done = CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


# names


def test_methods_of_a_user_and_of_the_paper_are_the_same() -> None:
    """Where the user changes no parameter."""
    for name in METHODS:
        ours = method_of_user(name.lower(), "discrete", Parameters(backend="cpu", n_jobs=2))
        theirs = method_of_paper(name, "discrete", Parameters())
        assert isinstance(ours, RwkMethod)
        assert isinstance(theirs, RwkMethod)
        assert (ours.name, ours.grid) == (theirs.name, theirs.grid) == (name, theirs.grid)
        values = [[made.determinants() for made in method.settings.values()] for method in (ours, theirs)]
        assert values[0] == values[1]
    assert method_of_user("wl", "discrete", Parameters()) == method_of_paper("WL", "discrete", Parameters())


def test_plain_rwk_keeps_the_users_parameters() -> None:
    method = method_of_user("rwk", "quick", Parameters(hops=1, feature_metric="hamming"))
    assert isinstance(method, RwkMethod)
    assert method.name == "RWK"
    assert [(made.hops, made.feature_metric) for made in method.settings.values()] == [(1, "hamming")]
    assert method_of_user("rwk", "quick", Parameters(variant="RWK-1")).name == "RWK-1"


@pytest.mark.parametrize(("asked", "recorded"), [((), "RWK"), (("--method", "rwk-1"), "RWK-1")])
def test_classify_records_the_name_of_the_method(asked: tuple[str, ...], recorded: str, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    data, where = write_tu(tmp_path / "TOY", GRAPHS), ("--output", folder, "--n-jobs", "1", "--backend", "cpu")
    printed = invoke("classify", data, *asked, *where, "--repeats", "1", "--splits", "3", "--max-iter", "2")
    assert recorded in printed
    assert {score.method for score in read_records(folder / "records.jsonl")} == {recorded}
    assert json.loads((folder / "run.json").read_text())["method"] == recorded


def test_a_report_is_of_the_run_and_not_of_its_baselines(tmp_path: Path) -> None:
    classify(GRAPHS, FAST, tmp_path, folds=FOLDS)
    add_baselines(GRAPHS, [BaselineMethod("WL")], tmp_path, folds=FOLDS, options=RunOptions())
    assert len(read_records(tmp_path / "records.jsonl")) == 6
    assert [score.method for score in read_run(tmp_path).scores] == ["RWK"] * 3
    text = (tmp_path / "records.jsonl").read_text().replace('"RWK"', '"rwk"')  # as version 0.1 wrote them
    (tmp_path / "records.jsonl").write_text(text)
    record = json.loads((tmp_path / "run.json").read_text())
    del record["method"], record["checksum"]
    (tmp_path / "run.json").write_text(json.dumps(record))
    assert [score.method for score in read_run(tmp_path).scores] == ["rwk"] * 3


def test_without_a_grid_the_settings_are_those_of_the_classifier(tmp_path: Path) -> None:
    data, run = write_tu(tmp_path / "TOY", GRAPHS), tmp_path / "run"
    invoke("classify", data, "--output", run, "--n-jobs", "1", "--repeats", "1", "--splits", "3", "--backend", "cpu")
    classifier = RWKClassifier(backend="cpu", n_jobs=1).fit(load_dataset(data))
    record = json.loads((run / "run.json").read_text())
    assert record["settings"] == {name: made.asdict() for name, made in classifier.settings_.items()}
    assert record["grid"]["eta"] == list(search_grid("discrete").eta)
    method = rwk_of_user("RWK-1", "auto", Parameters(), GRAPHS)
    assert method.name == "RWK-1"
    assert {made.hops for made in method.settings.values()} == {0, 1}


def test_parameters_that_are_given_count_alone() -> None:
    for grid in ("auto", "quick"):
        method = rwk_of_user("RWK", grid, Parameters(hops=1), GRAPHS)
        assert [made.hops for made in method.settings.values()] == [1]
    without = rwk_of_user("RWK", "auto", Parameters(wl_edge_labels=False), GRAPHS).settings
    assert without == settings_of("RWK", "discrete", Parameters())


@pytest.mark.parametrize("asked", [(), ("--published-grids",)])
def test_baselines_have_what_rwk_has_unless_the_published_grids_are_asked_for(asked: Any, tmp_path: Path) -> None:
    data, run = write_tu(tmp_path / "TOY", GRAPHS), tmp_path / "run"
    given = ("--method", "wl", "--repeats", "1", "--splits", "3", "--n-jobs", "1", *asked)
    invoke("classify", data, "--output", run, *given)
    assert ("fair" in read_records(run / "records.jsonl")[0].protocol) == (not asked)


# work


def test_a_set_is_represented_once_per_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The estimate of the cost included."""
    import rwk.represent

    represented: list[Any] = []
    original = rwk.represent.represent

    def counted(graphs: Any, *arguments: Any, **more: Any) -> Any:
        represented.append(len(graphs))
        return original(graphs, *arguments, **more)

    for module in ("rwk.represent", "rwk.gram.matrices", "rwk.gram.estimate"):
        monkeypatch.setattr(f"{module}.represent", counted)
    data = write_tu(tmp_path / "TOY", GRAPHS)
    given = ("--grid", "small", "--repeats", "1", "--splits", "3", "--max-iter", "2", "--backend", "cpu")
    invoke("classify", data, "--output", tmp_path / "run", *given, "--n-jobs", "1")
    assert represented == [len(GRAPHS)] * 3


def test_the_cost_is_announced_once_and_only_if_pairs_are_solved(tmp_path: Path) -> None:
    told: list[int] = []
    options = RunOptions(matrices=tmp_path, announce=lambda graphs, setting, measures, n: told.append(n))
    settings = {"a": Parameters.of(QUICK), "b": replace(Parameters.of(QUICK), ridge=0.7)}
    method = replace(FAST, settings=settings)
    matrices.discrepancy_matrix(GRAPHS, settings["a"], folder=tmp_path)
    for n_solved in (1, 0):
        told.clear()
        run_experiment(method, {"": GRAPHS}, FOLDS, options)
        assert told == [1] * n_solved
    told.clear()
    run_experiment(method, {"": GRAPHS}, FOLDS, replace(options, matrices=tmp_path / "new"))
    assert told == [2]


def test_graphs_without_classes_are_one_sentence() -> None:
    with pytest.raises(GraphError, match="has no class labels, so there is nothing to classify"):
        run_experiment(FAST, {"": replace(GRAPHS, targets=None)}, FOLDS)


# cores


@pytest.mark.parametrize(("n_jobs", "cores"), [(1, 1), (3, 3), (9, 9), (-1, 4), (-2, 3), (None, 4)])
def test_n_jobs_counts_usable_cores_for_every_method(
    n_jobs: int | None, cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For RWK's pairs, for folds, for baselines and for networks; of 64 cores, the process may use four."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: range(4), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 64)
    options = Options(n_jobs=n_jobs, backend="cpu").run_options(None)
    assert FAST.hardware(options) == ("cpu", cores)
    assert [one.parameters.n_jobs for one in FAST.matrices({"": GRAPHS}, options).values()] == [n_jobs]
    for name in ("WL", "GIN"):
        assert BaselineMethod(name).hardware(options) == ("cpu", cores)
    estimator = baseline("WWL")
    monkeypatch.setattr("rwk.experiment.baseline_runs.baseline", lambda name: estimator)
    assert BaselineMethod("WWL").prepare({"": GRAPHS}, options).hardware.n_jobs == cores
    assert estimator.n_jobs == cores


def test_no_jobs_are_rejected_everywhere() -> None:
    with pytest.raises(ValueError, match="n_jobs=0"):
        Options(n_jobs=0)
    for method in (FAST, BaselineMethod("WL")):
        with pytest.raises(ValueError, match="n_jobs=0"):
            run_experiment(method, {"": GRAPHS}, FOLDS, RunOptions(n_jobs=0))
