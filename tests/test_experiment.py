"""The protocol: same folds, no leak, any number of jobs, and a killed run that continues."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from math import inf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from rwk.experiment import Grid, load_folds, make_folds, markdown_table, nested_cv, protocol, read_records, save_folds
from rwk.experiment.folds import fingerprint_of
from rwk.experiment.records import append_record, protocol_difference, repair_records
from rwk.experiment.tables import experiments
from rwk.learn.inner_folds import best_of
from rwk.learn.search import SUM, Matrices

SMALL = Grid(eta=(0.2, 1.0), C=(0.1, 1.0, 10.0), n_inner=3)


def problem(n=48, n_classes=2, seed=0, shift=2.0):
    """Discrepancies of two settings, one of them noise, and targets."""
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    points = rng.normal(size=(n, 3))
    points[:, 0] += shift * codes
    good = np.sqrt(((points[:, None] - points) ** 2).sum(-1))
    noise = np.abs(rng.normal(size=(n, n)))
    return {"good": good, "noise": (noise + noise.T) * (1 - np.eye(n))}, codes


def outcome(experiment):
    """Everything in the records of an experiment except times."""
    return [replace(score, seconds=0.0) for score in experiment.scores]


# folds


def test_folds_are_those_of_scikit_learn():
    _, codes = problem()
    folds = make_folds(codes, n_splits=4, n_repeats=3)
    assert [seed for seed, _ in folds] == [0] * 4 + [1] * 4 + [2] * 4
    for seed in range(3):
        expected = StratifiedKFold(4, shuffle=True, random_state=seed).split(codes, codes)
        for fold, (train, test) in enumerate(expected):
            np.testing.assert_array_equal(folds.split(seed, fold)[0], train)
            np.testing.assert_array_equal(folds.split(seed, fold)[1], test)


def test_folds_do_not_depend_on_the_names_of_classes():
    _, codes = problem()
    assert make_folds(codes).fingerprint(3) == make_folds(np.array(["no", "yes"])[codes]).fingerprint(3)


def test_folds_are_stored(tmp_path):
    _, codes = problem()
    folds = make_folds(codes, 4, 2, seeds=[3, 11])
    save_folds(folds, tmp_path / "some" / "folds.json")
    loaded = load_folds(tmp_path / "some" / "folds.json")
    assert loaded.fingerprint(11) == folds.fingerprint(11)
    assert list(loaded) == list(folds) == [(3, 0), (3, 1), (3, 2), (3, 3), (11, 0), (11, 1), (11, 2), (11, 3)]
    with pytest.raises(ValueError, match="made for other targets"):
        nested_cv({"D": np.zeros((48, 48))}, np.arange(48) % 3, folds=loaded)
    for text in ("{", "[]", '{"n_splits": 4}'):
        (tmp_path / "other.json").write_text(text)
        with pytest.raises(ValueError, match=r"other\.json is not a file of folds"):
            load_folds(tmp_path / "other.json")


@pytest.mark.parametrize("n_splits", [2, 10, 11, 14])
def test_folds_are_stored_whatever_their_number(tmp_path, n_splits):
    folds = make_folds(np.arange(60) % 3, n_splits, 2)
    save_folds(folds, tmp_path / "folds.json")
    loaded = load_folds(tmp_path / "folds.json")
    assert loaded.n_splits == n_splits
    assert all((loaded.test_fold[seed] == at).all() for seed, at in folds.test_fold.items())


def test_every_method_meets_the_same_folds():
    matrices, codes = problem()
    met = []

    def fit_predict(train, test, seed):
        met.append((seed, train.tolist(), test.tolist()))
        return codes[test], {"depth": 3}

    folds = make_folds(codes, 4, 2)
    by_function = nested_cv(fit_predict, codes, folds=folds, method="function")
    by_matrix = nested_cv(matrices, codes, folds=folds, grid=SMALL)
    assert [(s.seed, s.fold, s.n_test) for s in by_function.scores] == [
        (s.seed, s.fold, s.n_test) for s in by_matrix.scores
    ]
    assert met == [(seed, *(part.tolist() for part in folds.split(seed, fold))) for seed, fold in folds]
    assert by_function.mean == 1.0
    assert by_function.scores[0].chosen == {"depth": 3}
    assert by_function.scores[0].protocol["folds"] == by_matrix.scores[0].protocol["folds"]


# no leak


def test_shuffled_labels_score_like_guessing():
    matrices, codes = problem(n=120, shift=3.0)
    shuffled = np.random.default_rng(1).permutation(codes)
    result = nested_cv(matrices, shuffled, folds=make_folds(shuffled, 5, 3), grid=SMALL)
    assert abs(result.mean - 0.5) < 0.12
    assert nested_cv(matrices, codes, folds=make_folds(codes, 5, 1), grid=SMALL).mean > 0.75


@pytest.mark.parametrize("kind", ["discrepancy", "kernel"])
@pytest.mark.parametrize("grid", [SMALL, replace(SMALL, combine="sum", unit="mean", kappas=(1.0, inf))])
def test_test_labels_do_not_change_what_is_chosen(kind, grid):
    matrices, codes = problem()
    if kind == "kernel":
        matrices = {name: np.exp(-matrix) for name, matrix in matrices.items()}
    folds = make_folds(codes, 4, 1)
    poisoned = codes.copy()
    poisoned[folds.split(0, 2)[1]] ^= 1
    same_folds = replace(folds, classes=fingerprint_of(poisoned))
    honest = nested_cv(matrices, codes, folds=folds, grid=grid, kind=kind).scores[2]
    misled = nested_cv(matrices, poisoned, folds=same_folds, grid=grid, kind=kind).scores[2]
    assert honest.chosen == misled.chosen
    assert honest.inner_score == misled.inner_score
    # the same predictions, judged by opposite labels
    assert honest.n_correct + misled.n_correct == honest.n_test


def test_test_rows_do_not_change_what_is_chosen():
    matrices, codes = problem()
    folds = make_folds(codes, 4, 1)
    grid = replace(SMALL, unit="mean", combine="sum")
    test = folds.split(0, 1)[1]
    poisoned = {name: matrix.copy() for name, matrix in matrices.items()}
    for matrix in poisoned.values():
        matrix[test] = 7.0
        matrix[:, test] = 7.0
    honest = nested_cv(matrices, codes, folds=folds, grid=grid).scores[1]
    misled = nested_cv(poisoned, codes, folds=folds, grid=grid).scores[1]
    assert (honest.chosen, honest.inner_score) == (misled.chosen, misled.inner_score)


# the search


def test_the_better_setting_is_chosen():
    matrices, codes = problem(n=80)
    result = nested_cv(matrices, codes, folds=make_folds(codes, 5, 1), grid=SMALL)
    assert {score.chosen["setting"] for score in result.scores} == {"good"}


def test_a_single_candidate_is_plain_cross_validation():
    matrices, codes = problem(n=60, n_classes=3)
    grid = Grid(eta=(0.5,), C=(2.0,), n_inner=2)
    folds = make_folds(codes, 5, 1)
    result = nested_cv({"good": matrices["good"]}, codes, folds=folds, grid=grid)
    kernel = np.exp(-0.5 * matrices["good"])  # positive: the exponential of a Euclidean distance
    for score in result.scores:
        train, test = folds.split(0, score.fold)
        fitted = SVC(C=2.0, kernel="precomputed", break_ties=True).fit(kernel[np.ix_(train, train)], codes[train])
        right = (fitted.predict(kernel[np.ix_(test, train)]) == codes[test]).sum()
        assert abs(int(right) - score.n_correct) <= 1


def test_kernels_and_discrepancies_agree():
    matrices, codes = problem()
    folds = make_folds(codes, 4, 1)
    one_eta = replace(SMALL, eta=(0.5,))
    by_discrepancy = nested_cv(matrices, codes, folds=folds, grid=one_eta)
    kernels = {name: 3 * np.exp(-0.5 * matrix) for name, matrix in matrices.items()}
    by_kernel = nested_cv(kernels, codes, folds=folds, grid=one_eta, kind="kernel")
    assert [s.n_correct for s in by_discrepancy.scores] == [s.n_correct for s in by_kernel.scores]


def test_sum_is_the_mean_of_kernels():
    matrices, _ = problem()
    rows = np.arange(48)
    combined = Matrices(matrices, "discrepancy", replace(SMALL, combine="sum"))
    assert combined.settings == ["good", "noise", SUM]
    parts = [combined.kernel(name, 0.5, rows, rows) for name in matrices]
    np.testing.assert_allclose(combined.kernel(SUM, 0.5, rows, rows), np.mean(parts, axis=0))


@pytest.mark.parametrize("kappas", [(inf,), (0.1, 10.0)])
@pytest.mark.parametrize("inner", ["treated", "raw"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_kind_of_search_learns(kappas, inner, n_classes):
    matrices, codes = problem(n=60, n_classes=n_classes, shift=3.0)
    grid = replace(SMALL, kappas=kappas, inner=inner, treatments=("clip", "flip", "none"), combine="sum")
    result = nested_cv(matrices, codes, folds=make_folds(codes, 3, 1), grid=grid)
    assert result.mean > 1.2 * result.majority


def test_large_discrepancies_do_not_underflow():
    matrices, codes = problem()
    far = {"far": 1e4 * (1 + matrices["good"] / 1e4)}
    result = nested_cv(far, codes, folds=make_folds(codes, 4, 1), grid=SMALL)
    assert result.mean > 0.7


@given(arrays(np.int64, (2, 1, 3, 4), elements=st.integers(0, 3)))
def test_ties_are_broken_by_rank_alone(right):
    s, t, e, c = best_of(right.astype(float))
    assert right[s, t, e, c] == right.max()
    # constant counts: the smallest C, then the smallest η, of the first setting
    assert best_of(np.ones((2, 2, 3, 4))) == (0, 0, 0, 0)


# any number of jobs


def test_jobs_do_not_change_scores(tmp_path):
    matrices, codes = problem(n=60, n_classes=3)
    grid = replace(SMALL, combine="sum", kappas=(1.0,))
    folds = make_folds(codes, 4, 2)
    alone = nested_cv(matrices, codes, folds=folds, grid=grid, n_jobs=1)
    path = tmp_path / "records.jsonl"
    together = nested_cv(matrices, codes, folds=folds, grid=grid, n_jobs=2, records=path, verbose=True)
    assert outcome(alone) == outcome(together)
    assert [replace(score, seconds=0.0) for score in read_records(path)] == outcome(alone)


def test_any_bar_can_show_the_folds(tmp_path):
    """It is called like `progress_bar`, with the folds that are recorded already counted as done."""
    _, codes = problem()
    shown = []

    @contextmanager
    def bar(title, total, unit="pairs", *, done=0):
        shown.append((title, total, unit, done))
        yield shown.append

    path = tmp_path / "records.jsonl"
    for n_repeats in (1, 2):
        folds = make_folds(codes, 4, n_repeats)
        nested_cv(lambda train, test, seed: codes[test], codes, folds=folds, method="m", records=path, verbose=bar)
    assert shown == [("m on data", 4, "folds", 0), 1, 1, 1, 1, ("m on data", 8, "folds", 4), 1, 1, 1, 1]


@pytest.mark.parametrize(("n_jobs", "processes"), [(3, 3), (-1, 4), (-2, 3), (-9, 1), (None, 4)])
def test_jobs_are_counted_as_everywhere(n_jobs, processes, monkeypatch):
    """None: all usable cores by CPU affinity; negative numbers as scikit-learn counts them; 0 is rejected."""
    _, codes = problem()
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: range(4), raising=False)
    asked = []
    original = protocol.outcomes
    monkeypatch.setattr(
        protocol, "outcomes", lambda run, todo, n, backend: asked.append(n) or original(run, todo, 1, backend)
    )
    folds = make_folds(codes, 4, 1)
    nested_cv(lambda train, test, seed: codes[test], codes, folds=folds, n_jobs=n_jobs)
    assert asked == [processes]
    with pytest.raises(ValueError, match="n_jobs=0"):
        nested_cv(lambda train, test, seed: codes[test], codes, folds=folds, n_jobs=0)


# records


def test_records_hold_what_is_needed(tmp_path):
    matrices, codes = problem()
    path = tmp_path / "deep" / "records.jsonl"
    lazy = {name: (lambda matrix=matrix: matrix) for name, matrix in matrices.items()}
    nested_cv(lazy, codes, folds=make_folds(codes, 4, 1), grid=SMALL, dataset="toy", method="m", records=path)
    header, *lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert (header["rwk"], header["format"], header["h"]) == ("records", 2, 0)
    assert (header["dataset"], header["method"], header["majority"]) == ("toy", "m", 0.5)
    assert {"rwk", "solver", "commit", "cpu", "numpy", "scikit-learn", "python"} <= set(header["versions"])
    assert header["protocol"]["grid"]["C"] == [0.1, 1.0, 10.0]
    assert header["folds"] == {"0": make_folds(codes, 4, 1).fingerprint(0)}
    assert len(lines) == 4
    for line in lines:
        assert (line["h"], line["seed"], line["train"], line["of"]) == (0, 0, 36, 12)
        assert set(line["chosen"]) == {"setting", "treatment", "C", "eta"}
        assert len(json.dumps(line)) < 200
    for score in read_records(path):
        assert (score.dataset, score.method, score.seed) == ("toy", "m", 0)
        assert (score.n_train, score.n_test) == (36, 12)
        assert score.score == score.n_correct / 12
        assert {"rwk", "solver", "commit", "cpu", "numpy", "scikit-learn", "python"} <= set(score.versions)
        assert score.protocol["grid"]["C"] == [0.1, 1.0, 10.0]


def test_finished_folds_are_not_run_again(tmp_path):
    _, codes = problem()
    calls = []

    def fit_predict(train, test, seed):
        calls.append(seed)
        return codes[test]

    path = tmp_path / "records.jsonl"
    first = nested_cv(fit_predict, codes, folds=make_folds(codes, 4, 1, seeds=[0]), records=path)
    # a torn last line is run again; the rest is not
    whole = path.read_text()
    path.write_text(whole[:-40])
    again = nested_cv(fit_predict, codes, folds=make_folds(codes, 4, 1, seeds=[0]), records=path)
    assert len(calls) == 5
    assert outcome(first) == outcome(again)
    assert len(path.read_text().splitlines()) == 5  # a header, and a line per fold
    assert nested_cv(fit_predict, codes, folds=make_folds(codes, 4, 1), records=path).mean == 1.0
    assert len(calls) == 5


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (
            {"grid": replace(SMALL, C=(1.0, 10.0))},
            r"another grid: C \(recorded: \[0.1, 1.0, 10.0\], now: \[1.0, 10.0\]",
        ),
        ({"folds": 5}, "another folds"),
        ({"matrices": 2.0}, "another matrix means: good"),
        ({"names": "other"}, "another matrix means"),
        ({"kind": "kernel"}, "another kind"),
    ],
)
def test_records_of_another_protocol_are_refused(tmp_path, change, sentence):
    matrices, codes = problem()
    path = tmp_path / "records.jsonl"
    nested_cv(matrices, codes, folds=make_folds(codes, 4, 1), grid=SMALL, records=path)
    if "matrices" in change:
        matrices = {name: change["matrices"] * matrix for name, matrix in matrices.items()}
    if "names" in change:
        matrices = {change["names"]: matrices["good"]}
    with pytest.raises(ValueError, match=sentence):
        nested_cv(
            matrices,
            codes,
            folds=make_folds(codes, change.get("folds", 4), 1),
            grid=change.get("grid", SMALL),
            kind=change.get("kind", "discrepancy"),
            records=path,
        )


def test_rounding_of_matrices_is_no_other_protocol():
    assert protocol_difference({"means": {"a": 1.0}}, {"means": {"a": 1.0 + 1e-7}}) == ""
    assert "recorded: 1" in protocol_difference({"means": {"a": 1.0}}, {"means": {"a": 1.1}})


def test_more_methods_and_repeats_share_a_file(tmp_path):
    matrices, codes = problem()
    path = tmp_path / "records.jsonl"
    for n_repeats in (1, 2):
        folds = make_folds(codes, 4, n_repeats)
        nested_cv(matrices, codes, folds=folds, grid=SMALL, records=path)
        nested_cv(lambda train, test, seed: codes[test], codes, folds=folds, method="oracle", records=path)
    assert [(e.method, len(e.scores)) for e in experiments(read_records(path))] == [("oracle", 8), ("rwk", 8)]


def test_a_broken_line_inside_is_named(tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text('{"dataset": 1}\n{"torn')
    with pytest.raises(ValueError, match="line 1: not a record"):
        read_records(path)
    path.write_text('{"torn')
    assert read_records(path) == []
    repair_records(path)
    assert path.read_text() == ""


SLOW_RUN = """
import sys, time
sys.path.insert(0, sys.argv[1])
import rwk.experiment.protocol as protocol
from test_experiment import SMALL, make_folds, nested_cv, problem

append = protocol.append_record

def append_slowly(path, score, **more):
    append(path, score, **more)
    time.sleep(0 if score.seed == 0 else 600)

if __name__ == "__main__":
    protocol.append_record = append_slowly
    matrices, codes = problem()
    nested_cv(matrices, codes, folds=make_folds(codes, 4, 2), grid=SMALL, n_jobs=2, records=sys.argv[2])
"""


def test_a_killed_run_goes_on(tmp_path):
    script, path = tmp_path / "run.py", tmp_path / "records.jsonl"
    script.write_text(SLOW_RUN)
    process = subprocess.Popen(
        [sys.executable, str(script), os.path.dirname(__file__), str(path)],
        start_new_session=True,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 300
    while len(read_records(path)) < 2 and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    kept = read_records(path)
    assert 2 <= len(kept) < 8
    with path.open("a") as file:
        file.write('{"dataset":"data","met')  # the line it was killed in
    matrices, codes = problem()
    folds = make_folds(codes, 4, 2)
    resumed = nested_cv(matrices, codes, folds=folds, grid=SMALL, records=path)
    assert {score.seconds for score in kept} <= {score.seconds for score in resumed.scores}
    assert outcome(resumed) == outcome(nested_cv(matrices, codes, folds=folds, grid=SMALL))
    assert read_records(path) == list(resumed.scores)
    assert len(path.read_text().splitlines()) == 9  # a header, and a line per fold


# tables


def test_figures_by_hand(tmp_path):
    _, codes = problem()
    folds = make_folds(codes, 4, 2)
    wrong = {0: 0, 1: 3}  # predictions got wrong per fold, by seed

    def fit_predict(train, test, seed):
        predicted = codes[test].copy()
        predicted[: wrong[seed]] ^= 1
        return predicted

    result = nested_cv(fit_predict, codes, folds=folds, dataset="toy", method="almost")
    assert result.by_repeat == {0: 1.0, 1: 0.75}
    assert result.mean == 0.875
    assert result.std_repeats == pytest.approx(np.std([1.0, 0.75], ddof=1))
    assert result.std_folds == pytest.approx(np.std([1.0] * 4 + [0.75] * 4, ddof=1))
    assert result.majority == 0.5
    table = markdown_table(result.scores)
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()]
    assert rows[0] == ["dataset", "repeats × folds", "majority", "almost"]
    assert rows[2] == ["toy", "2 × 4", "50.0", "87.5 ± 17.7 (13.4)"]
    append_record(tmp_path / "r.jsonl", result.scores[0])
    assert read_records(tmp_path / "r.jsonl") == [result.scores[0]]


# bad input


@pytest.mark.parametrize(
    ("targets", "sentence"),
    [
        (None, "no labels"),
        ([1] * 12, "of one class, 1"),
        ([], "no targets"),
        ([0.0, np.nan] * 6, "target 1 is missing"),
        ([0] * 11 + [1] * 3, "class 1 has 3 members, fewer than the 10 folds"),
        (np.zeros((3, 2)), "one label per graph"),
    ],
)
def test_bad_targets(targets, sentence):
    with pytest.raises(ValueError, match=sentence) as caught:
        make_folds(targets)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("matrices", "sentence"),
    [
        ({}, "no discrepancy matrix"),
        ({"D": np.zeros((48, 47))}, r"'D' has shape \(48, 47\), but 48 targets need \(48, 48\)"),
        ({"D": np.full((48, 48), np.nan)}, r"'D' has 2304 entries NaN or infinite, the first at \(0, 0\)"),
        ({"D": np.triu(np.ones((48, 48)))}, "'D' is not symmetric"),
    ],
)
def test_bad_matrices(matrices, sentence):
    _, codes = problem()
    with pytest.raises(ValueError, match=sentence):
        nested_cv(matrices, codes, folds=make_folds(codes, 4, 1))


@pytest.mark.parametrize(
    ("grid", "sentence"),
    [
        (Grid(eta=()), "eta must be a list of positive numbers"),
        (Grid(C=(0.0, 1.0)), "C must be a list of positive numbers"),
        (Grid(treatments=("clap",)), "treatments are clip, flip, shift, none"),
        (Grid(treatments=("flip",), kappas=(1.0,)), "finite kappas refine clip"),
        (Grid(n_inner=1), "at least two inner folds"),
    ],
)
def test_bad_grids(grid, sentence):
    matrices, codes = problem()
    with pytest.raises(ValueError, match=sentence):
        nested_cv(matrices, codes, folds=make_folds(codes, 4, 1), grid=grid)


def test_bad_predictions():
    _, codes = problem()
    with pytest.raises(ValueError, match="12 test graphs"):
        nested_cv(lambda train, test, seed: codes[test][:3], codes, folds=make_folds(codes, 4, 1))


@settings(max_examples=20, deadline=None)
@given(st.integers(2, 6), st.lists(st.sampled_from("abc"), min_size=12, max_size=60))
def test_every_graph_is_tested_once_per_repeat(n_splits, labels):
    if len(set(labels)) < 2 or min(labels.count(name) for name in set(labels)) < n_splits:
        return
    folds = make_folds(labels, n_splits, 2)
    for seed in (0, 1):
        tested = np.concatenate([folds.split(seed, fold)[1] for fold in range(n_splits)])
        np.testing.assert_array_equal(np.sort(tested), np.arange(len(labels)))
