"""What a run keeps on disk to continue after a stop: rows, matrices, and the settings that they belong to."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gram_graphs import QUICK, random_graphs, write_tu
from rwk.experiment import Grid, make_folds
from rwk.experiment.baseline_matrices import BaselineMatrices
from rwk.experiment.baseline_runs import BaselineMethod, baseline, kept_setting
from rwk.experiment.methods import RwkMethod
from rwk.experiment.reproduce import Options, reproduce
from rwk.experiment.run import RunOptions, run_experiment
from rwk.experiment.run_folder import classify
from rwk.gram import matrix, symmetric_discrepancy
from rwk.gram.kept import Kept, kept_parts
from rwk.gram.matrices import discrepancy_matrix, matrix_title
from rwk.gram.matrix import block_title, triangle_blocks
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.runtime.files import OutputError
from rwk.runtime.threads import Ticker
from rwk.transport.problem import SOLVER_VERSION
from rwk.transport.work import root_costs

GRAPHS = random_graphs(30)
PARAMETERS = Parameters.of(QUICK)
WRITTEN = ["gram.npz", "predictions.npz", "records.jsonl", "run.json"]  # the folder of a run
N_PAIRS = 30 * 31 // 2


class Stopped(Exception):
    """Interrupt like Ctrl-C, at a given pair."""


@pytest.fixture(autouse=True)
def _many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make blocks of few rows, as for large graphs."""
    monkeypatch.setitem(matrix.COST_PER_KEPT_BLOCK, "cpu", 4e5)


def stop_after(n_pairs: int) -> Ticker:
    done = 0

    def tick(pairs: int) -> None:
        nonlocal done
        done += pairs
        if done > n_pairs:
            raise Stopped

    return tick


def solved_pairs(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Counts the pairs that reach the solver from now on."""
    counts: list[int] = []
    original = matrix._solve

    def counted(measures, pairs, *more):  # type: ignore[no-untyped-def]
        counts.append(len(pairs))
        return original(measures, pairs, *more)

    monkeypatch.setattr(matrix, "_solve", counted)
    return counts


def files_in(folder: Path) -> list[Path]:
    return sorted(place for place in folder.rglob("*") if place.is_file())


# blocks of pairs


@pytest.mark.parametrize("most", [np.inf, 2e5, 1.0])
@pytest.mark.parametrize("size", [1, 12, 21])
def test_blocks_hold_every_pair_once_and_cost_no_more(size: int, most: float) -> None:
    roots = root_costs(np.array([3, 9, 1, 40, 7, 7]))
    seen, titles = np.zeros((6, 6), int), set()
    for rows, columns in triangle_blocks(6, size, roots, most):
        seen[rows, columns] += 1
        titles.add(block_title("cpu", rows, columns))
        assert len(rows) == 1 or (len(rows) <= size and (roots[rows] * roots[columns]).sum() <= most)
    assert (seen == np.triu(np.ones((6, 6), int))).all()
    assert len(titles) == len(list(triangle_blocks(6, size, roots, most)))


def test_a_list_that_fits_is_one_block() -> None:
    assert [len(rows) for rows, _ in triangle_blocks(6, 21)] == [21]
    assert list(triangle_blocks(0, 21)) == []


# a matrix


def test_a_stopped_matrix_goes_on_to_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measures, _ = represent(GRAPHS, PARAMETERS)
    whole, health = symmetric_discrepancy(measures, PARAMETERS)
    kept = kept_parts(tmp_path / "rows", GRAPHS, PARAMETERS)
    with pytest.raises(Stopped):
        symmetric_discrepancy(measures, PARAMETERS, tick=stop_after(300), kept=kept)
    before = files_in(tmp_path)
    assert len(before) > 1
    counts, told = solved_pairs(monkeypatch), []
    again, resumed = symmetric_discrepancy(measures, PARAMETERS, tick=told.append, kept=kept)
    assert (again == whole).all()
    assert sum(told) == N_PAIRS
    assert 0 < sum(counts) < N_PAIRS - 100
    assert resumed[:3] == health[:3]
    counts.clear()
    symmetric_discrepancy(measures, PARAMETERS, kept=kept)
    assert counts == []


def test_debiasing_is_not_kept(tmp_path: Path) -> None:
    """Rows contain the values as they were solved, so the same rows are used by both."""
    measures, _ = represent(GRAPHS, PARAMETERS)
    debiased = replace(PARAMETERS, debias=True)
    symmetric_discrepancy(measures, PARAMETERS, kept=kept_parts(tmp_path, GRAPHS, PARAMETERS))
    found, _ = symmetric_discrepancy(measures, debiased, kept=kept_parts(tmp_path, GRAPHS, debiased))
    assert (found == symmetric_discrepancy(measures, debiased)[0]).all()


@pytest.mark.parametrize("harm", ["cut", "empty", "text", "other graphs", "other parameters"])
def test_rows_of_no_use_are_solved_again(harm: str, tmp_path: Path) -> None:
    graphs, parameters = GRAPHS, PARAMETERS
    measures, _ = represent(graphs, parameters)
    symmetric_discrepancy(measures, parameters, kept=kept_parts(tmp_path, graphs, parameters))
    for place in files_in(tmp_path):
        content = place.read_bytes()
        place.write_bytes({"cut": content[:-40], "empty": b"", "text": b"no archive"}.get(harm, content))
    if harm == "other graphs":
        graphs = random_graphs(30, seed=1)
        measures, _ = represent(graphs, parameters)
    if harm == "other parameters":
        parameters = replace(parameters, ridge=0.7)
    found, _ = symmetric_discrepancy(measures, parameters, kept=kept_parts(tmp_path, graphs, parameters))
    assert (found == symmetric_discrepancy(measures, parameters)[0]).all()


def test_removing_takes_nothing_else(tmp_path: Path) -> None:
    kept = kept_parts(tmp_path / "mine", GRAPHS, PARAMETERS)
    kept.remove()  # nothing is there yet
    symmetric_discrepancy(represent(GRAPHS, PARAMETERS)[0], PARAMETERS, kept=kept)
    other = kept.folder / "notes.txt"
    other.write_text("mine")
    kept.remove()
    assert files_in(tmp_path) == [other]
    other.unlink()
    kept.remove()
    assert not kept.folder.exists()


def test_a_place_that_is_a_file_is_said_before_anything_is_solved(tmp_path: Path) -> None:
    (tmp_path / "rows").write_text("")
    with pytest.raises(OutputError, match="rows is a file, but results would be kept in a folder of that name"):
        kept_parts(tmp_path / "rows", GRAPHS, PARAMETERS)


# what is built on matrices


def test_a_kept_matrix_leaves_no_rows(tmp_path: Path) -> None:
    with pytest.raises(Stopped):
        discrepancy_matrix(GRAPHS, PARAMETERS, folder=tmp_path, solving=lambda measures: nullcontext(stop_after(300)))
    assert files_in(tmp_path)
    found, health = discrepancy_matrix(GRAPHS, PARAMETERS, folder=tmp_path)
    assert (found == discrepancy_matrix(GRAPHS, PARAMETERS)[0]).all()
    assert health.n_pairs == N_PAIRS
    assert list(tmp_path.iterdir()) == [tmp_path / f"{matrix_title(GRAPHS.name, PARAMETERS)}.npz"]


def test_a_matrix_of_other_graphs_is_refused(tmp_path: Path) -> None:
    discrepancy_matrix(GRAPHS, PARAMETERS, folder=tmp_path)
    with pytest.raises(ValueError, match="belongs to other graphs of the same name; remove it"):
        discrepancy_matrix(random_graphs(30, seed=1), PARAMETERS, folder=tmp_path)


def test_a_matrix_of_another_solver_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    discrepancy_matrix(GRAPHS, PARAMETERS, folder=tmp_path)
    (place,) = tmp_path.iterdir()
    with np.load(place) as file:
        arrays = dict(file)
    assert arrays.pop("solver") == SOLVER_VERSION
    del arrays["checksum"]
    np.savez(place, **arrays)  # as the first solver wrote it
    with pytest.raises(ValueError, match=rf"made by solver version 1 \(now {SOLVER_VERSION}\); remove it"):
        discrepancy_matrix(GRAPHS, PARAMETERS, folder=tmp_path)
    title = matrix_title(GRAPHS.name, PARAMETERS)
    monkeypatch.setattr("rwk.gram.kept.SOLVER_VERSION", 99)
    assert matrix_title(GRAPHS.name, PARAMETERS) != title


def test_rows_of_another_solver_are_solved_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measures, _ = represent(GRAPHS, PARAMETERS)
    symmetric_discrepancy(measures, PARAMETERS, kept=kept_parts(tmp_path, GRAPHS, PARAMETERS))
    monkeypatch.setattr("rwk.gram.kept.SOLVER_VERSION", 1)
    counts = solved_pairs(monkeypatch)
    symmetric_discrepancy(measures, PARAMETERS, kept=kept_parts(tmp_path, GRAPHS, PARAMETERS))
    assert sum(counts) == N_PAIRS


@contextmanager
def stopping_bar(title: str, total: int, unit: str = "pairs", *, done: int = 0) -> Iterator[Ticker]:
    yield stop_after(total // 2)


def test_a_stopped_run_keeps_its_rows_and_takes_them_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"a": PARAMETERS, "b": replace(PARAMETERS, ridge=0.7)}
    folds = make_folds(GRAPHS.targets, n_splits=3, n_repeats=1)
    method = RwkMethod("RWK", settings, Grid(eta=(1.0,), C=(1.0,)))
    with pytest.raises(Stopped):
        classify(GRAPHS, method, tmp_path / "run", folds=folds, options=RunOptions(bar=stopping_bar))
    assert files_in(tmp_path / "run" / "unfinished")
    counts = solved_pairs(monkeypatch)
    run = classify(GRAPHS, method, tmp_path / "run", folds=folds)
    assert sum(counts) < 2 * N_PAIRS - 100
    assert sorted(place.name for place in files_in(tmp_path / "run")) == WRITTEN
    assert not (tmp_path / "run" / "unfinished").exists()
    other = classify(GRAPHS, method, tmp_path / "other", folds=folds)
    assert run.experiment.mean == other.experiment.mean


def test_reproduce_goes_on_within_a_matrix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a folder of matrices they are kept until the folds are run."""
    monkeypatch.setenv("RWK_CACHE", str(tmp_path / "cache"))
    data = write_tu(tmp_path / "TOY", GRAPHS)
    options = Options(folder=tmp_path / "results", repeats=1, splits=3, grid="quick", n_jobs=1, backend="cpu")
    arguments = {"datasets": [str(data)], "methods": ["RWK"]}
    with pytest.raises(Stopped):
        reproduce("discrete", replace(options, bar=stopping_bar), **arguments)
    assert files_in(options.folder / "unfinished")
    counts = solved_pairs(monkeypatch)
    reproduce("discrete", options, **arguments)
    assert 0 < sum(counts) < N_PAIRS - 100
    assert not (options.folder / "unfinished").exists()


# baselines


def test_a_stopped_baseline_reads_its_matrices_again(tmp_path: Path) -> None:
    forms, folds = {"": GRAPHS}, make_folds(GRAPHS.targets, n_splits=3, n_repeats=1)
    method, place = BaselineMethod("WL"), RunOptions(tmp_path / "TOY-WL.jsonl")

    def stop(*given: object, **more: object) -> None:
        raise Stopped

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rwk.experiment.protocol.append_record", stop)
        with pytest.raises(Stopped):
            run_experiment(method, forms, folds, place)
    assert [file.name for file in files_in(tmp_path)] == [f"{GRAPHS.name}-WL.000.npz"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(baseline("WL")), "settings_of", stop)
        found = run_experiment(method, forms, folds, place)
    assert files_in(tmp_path) == [place.records]
    assert not (tmp_path / "unfinished").exists()
    assert [score.score for score in found.scores] == [
        score.score for score in run_experiment(method, forms, folds).scores
    ]


def test_a_baseline_stopped_among_its_matrices_makes_the_missing_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GNTK makes a matrix per number of layers and scale; the second half is missing."""
    estimator = baseline("GNTK").set_params(n_jobs=1)
    wanted = dict(estimator.settings(GRAPHS[:6]))
    groups = estimator.groups(GRAPHS[:6])
    made, shown = [], []
    true_settings = type(estimator).settings_of

    def counted(self: object, graphs: object, shared: dict[str, object], **more: object) -> object:
        made.append(shared)
        if len(made) == stop_at:
            raise Stopped
        return true_settings(self, graphs, shared, **more)

    @contextmanager
    def bar(title: str, total: int, unit: str = "pairs", *, done: int = 0) -> Iterator[Ticker]:
        told: list[int] = []
        yield told.append
        shown.append((sum(told), total, min(told)))

    monkeypatch.setattr(type(estimator), "settings_of", counted)
    stop_at = len(groups) // 2 + 1
    making = BaselineMatrices("GNTK", estimator, {"": GRAPHS[:6]}, False, "GNTK @1", tmp_path, bar)
    with pytest.raises(Stopped):
        making.all()
    assert len(files_in(tmp_path)) == stop_at - 1
    made.clear()
    stop_at = -1
    found = making.all()
    assert made == groups[len(groups) // 2 :]
    assert list(found) == [name for name in wanted if name in found]
    for name, values in found.items():
        np.testing.assert_array_equal(values, wanted[name])
    n_pairs = 21 * len(groups)
    assert shown == [(n_pairs, n_pairs, 0)]
    (tmp_path / f"{GRAPHS.name}-GNTK-X.000.npz").touch()
    making.forget()
    assert [file.name for file in files_in(tmp_path)] == [f"{GRAPHS.name}-GNTK-X.000.npz"]


@pytest.mark.parametrize("harm", ["none", "cut", "other graphs", "other estimator"])
def test_matrices_of_no_use_are_made_again(harm: str, tmp_path: Path) -> None:
    estimator, place = baseline("WL"), tmp_path / "kept.npz"
    made = dict(estimator.settings(GRAPHS))
    Kept.at(tmp_path, {"": GRAPHS}, kept_setting(estimator)).write("kept", **made)
    if harm == "cut":
        place.write_bytes(place.read_bytes()[:-100])
    graphs = random_graphs(30, seed=1) if harm == "other graphs" else GRAPHS
    estimator = baseline("WL-OA") if harm == "other estimator" else estimator
    found = Kept.at(tmp_path, {"": graphs}, kept_setting(estimator)).read("kept")
    if harm == "none":
        assert found is not None
        assert list(found) == list(made)
        assert all((found[name] == made[name]).all() for name in made)
    else:
        assert found is None


# the command


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_the_gram_command_goes_on(how: signal.Signals, tmp_path: Path) -> None:
    data, place = write_tu(tmp_path / "TOY", GRAPHS), tmp_path / "gram.npz"
    options = ["--backend", "cpu", "--max-iter", "2", "--sinkhorn-iter", "5", "--n-jobs", "1"]
    command = [sys.executable, "-m", "rwk", "gram", str(data), "-o", str(place), *options]
    program = (
        "import signal, sys, time\n"
        "import rwk.gram.kept as kept\n"
        "from rwk.gram import matrix\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "matrix.COST_PER_KEPT_BLOCK['cpu'] = 4e5\n"
        "write = kept.Kept.write\n"
        "def slow(self, *given, **arrays):\n"
        "    write(self, *given, **arrays)\n"
        "    print('kept', flush=True)\n"
        "    time.sleep(60)\n"  # until it is stopped
        "kept.Kept.write = slow\n"
        "from rwk.cli.app import main\n"
        f"sys.argv = ['rwk', *{command[3:]!r}]\n"
        "main()\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    ) as child:
        assert child.stdout is not None
        assert any("kept" in line for line in child.stdout)
        child.send_signal(how)
        _, said = child.communicate(timeout=60)
    assert not place.exists()
    assert files_in(tmp_path / "gram.parts")
    if how == signal.SIGINT:
        assert child.returncode == 130
        assert "the same command goes on" in " ".join(said.split())
    subprocess.run(command, check=True, capture_output=True)
    with np.load(place) as found:
        whole, _ = symmetric_discrepancy(represent(GRAPHS, PARAMETERS)[0], PARAMETERS)
        assert (found["discrepancy"] == whole).all()
    assert not (tmp_path / "gram.parts").exists()
