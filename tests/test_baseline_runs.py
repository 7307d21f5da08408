"""Baselines with the protocol of RWK: their grids, notes for missing results, time limits, and which method is best."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from rwk import as_graphs
from rwk.baselines.base import NotApplicable
from rwk.datasets import load_dataset
from rwk.experiment import baseline_runs, make_folds, paper, read_records, run
from rwk.experiment.baseline_runs import BaselineMethod, is_network
from rwk.experiment.comparisons import ahead, differences, ranked_scores, ranks_table
from rwk.experiment.folds import stored_folds
from rwk.experiment.methods import method_of_paper
from rwk.experiment.notes import NOTES, Note, append_note, read_notes
from rwk.experiment.records import append_record
from rwk.experiment.reproduce import Options, all_methods, reproduce
from rwk.experiment.results import by_method
from rwk.experiment.run import RunOptions, run_experiment, run_or_note
from rwk.experiment.run_folder import add_baselines
from rwk.experiment.statistics import average_ranks
from rwk.experiment.tables import Experiment, markdown_table
from rwk.graphs import GraphSet
from rwk.learn.grids import COSTS, SPREAD
from rwk.learn.one_vs_one import encode_classes
from rwk.learn.search import SUM, Grid, Matrices, Task, fit_choice, search
from rwk.parameters import Parameters
from score_records import repeat_of

FOLDS = 2


def graphs_of(*, labels: bool = True, n: int = 16) -> GraphSet:
    """Paths and cycles of two classes."""
    made = []
    for g in range(n):
        size = 4 + g % 4
        matrix = np.zeros((size, size))
        ends = [(i, i + 1) for i in range(size - 1)] + ([(0, size - 1)] if g % 2 else [])
        for i, j in ends:
            matrix[i, j] = matrix[j, i] = 1.0
        made.append(matrix)
    found = replace(as_graphs(made), name="TOY", targets=np.arange(n) % 2)
    return replace(found, node_labels=np.zeros(int(found.sizes.sum()), np.int64)) if labels else found


def scores_of(dataset: str, method: str, values: list[float], **protocol: Any) -> Experiment:
    """An experiment of one repeat with these scores."""
    return Experiment(repeat_of(dataset, method, values, **protocol))


# grids


def test_discrepancies_are_searched_over_their_own_gammas(tmp_path: Path) -> None:
    graphs = graphs_of()
    folds = make_folds(graphs.targets, FOLDS, 1)
    for name in ("WWL", "FGW"):
        run_experiment(BaselineMethod(name), {"": graphs}, folds, RunOptions(tmp_path / f"{name}.jsonl"))
        record = read_records(tmp_path / f"{name}.jsonl")[0]
        assert record.protocol["grid"]["eta"] == sorted(baseline_runs.baseline(name).gammas)
        assert record.chosen["eta"] in baseline_runs.baseline(name).gammas
        assert record.protocol["searched"] == {k: list(v) for k, v in baseline_runs.baseline(name).grid.items()}


def test_records_of_another_grid_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = graphs_of()
    folds = make_folds(graphs.targets, FOLDS, 1)
    run_experiment(BaselineMethod("WL"), {"": graphs}, folds, RunOptions(tmp_path / "r.jsonl"))
    monkeypatch.setattr(type(baseline_runs.baseline("WL")), "grid", {"rounds": (0, 1)})
    with pytest.raises(ValueError, match="made with another searched: rounds"):
        run_experiment(BaselineMethod("WL"), {"": graphs}, folds, RunOptions(tmp_path / "r.jsonl"))


def with_attributes(graphs: GraphSet) -> GraphSet:
    """The same graphs with an attribute of each node."""
    values = np.random.default_rng(0).normal(size=(int(graphs.sizes.sum()), 1))
    return replace(graphs, node_attributes=values)


@pytest.mark.parametrize("name", ["WWL", "HGK-SP", "WL"])
def test_a_fair_run_searches_the_fair_grid_and_sums(name: str, tmp_path: Path) -> None:
    graphs = with_attributes(graphs_of())
    folds = make_folds(graphs.targets, FOLDS, 1)
    found = run_experiment(BaselineMethod(name, fair=True), {"": graphs}, folds, RunOptions(tmp_path / "r.jsonl"))
    protocol = read_records(tmp_path / "r.jsonl")[0].protocol
    estimator = baseline_runs.baseline(name)
    assert protocol["searched"] == {key: list(values) for key, values in estimator.fair_grid().items()}
    assert protocol["estimator"] == repr(estimator)
    assert protocol["fair"] is True
    assert protocol["grid"]["combine"] == "sum"
    assert protocol["grid"].get("unit") == ("mean" if estimator.kind == "discrepancy" else None)
    settings = [*dict(estimator.settings(graphs, fair=True)), SUM]
    assert {score.chosen["setting"] for score in found.scores} <= set(settings)
    again = run_experiment(BaselineMethod(name, fair=True), {"": graphs}, folds, RunOptions(tmp_path / "r.jsonl"))
    assert again.scores == found.scores
    with pytest.raises(ValueError, match="made with another"):
        run_experiment(BaselineMethod(name), {"": graphs}, folds, RunOptions(tmp_path / "r.jsonl"))


def test_all_kernels_are_searched_alike_in_a_fair_run() -> None:
    graphs = {"": with_attributes(graphs_of())}
    kernels = [name for name in baseline_runs.baseline_names() if not is_network(name)]
    grids = [BaselineMethod(name, fair=True).prepare(graphs, RunOptions()).grid for name in kernels]
    assert len(kernels) == 12
    assert set(grids) == {Grid(eta=(0.25, 1.0, 4.0), C=COSTS, combine="sum", unit="mean", spread=SPREAD)}
    method = method_of_paper("WWL", "continuous", Parameters(), fair=True)
    assert method == BaselineMethod("WWL", fair=True)
    assert method_of_paper("WWL", "continuous", Parameters()) == BaselineMethod("WWL")


def test_kernels_choose_between_the_forms_of_a_dataset(tmp_path: Path) -> None:
    """The classes differ in the second form only; the first has no edges at all."""
    graphs = graphs_of()
    sizes = graphs.sizes
    bare = replace(as_graphs([np.zeros((n, n)) for n in np.full(len(sizes), 5)]), name="TOY", targets=graphs.targets)
    bare = replace(bare, node_labels=np.zeros(int(bare.sizes.sum()), np.int64))
    folds = make_folds(graphs.targets, FOLDS, 1)
    experiment = run_experiment(
        BaselineMethod("WL"), {"bare": bare, "whole": graphs}, folds, RunOptions(tmp_path / "r.jsonl")
    )
    assert {score.chosen["setting"].split(":")[0] for score in experiment.scores} == {"whole"}
    assert experiment.mean == 1.0


class Stub:
    """A minimal network: it reports what it chose, and guesses by its seed."""

    kind, extra, accepts, grid = "classifier", "", ("structure",), {"hidden": (1, 2)}
    fair_parameters: ClassVar = {"random_state": 0}

    def __init__(self, random_state: int = 0) -> None:
        self.random_state = random_state

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {"epochs": 9, "random_state": self.random_state}

    def set_params(self, **parameters: Any) -> Stub:
        self.random_state = parameters.get("random_state", self.random_state)
        return self

    def __sklearn_clone__(self) -> Stub:
        return Stub()

    def __repr__(self) -> str:
        return "Stub()"

    def check_applies(self, graphs: GraphSet) -> None: ...

    def grid_for(self, graphs: GraphSet, *, fair: bool) -> dict[str, Any]:
        return dict(self.grid)

    def applies(self, graphs: GraphSet) -> bool:
        return True

    def fit(self, graphs: GraphSet, y: Any) -> Stub:
        self.chosen_ = {"hidden": np.int64(2), "epoch": 7 + self.random_state}
        return self

    def predict(self, graphs: GraphSet) -> Any:
        return np.full(len(graphs), self.random_state)


def test_networks_record_what_they_chose_and_take_the_seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(baseline_runs, "baseline", lambda name: Stub())
    true_cv = run.nested_cv
    monkeypatch.setattr(run, "nested_cv", lambda *a, **k: asked.append(k["n_jobs"]) or true_cv(*a, **k))
    graphs = graphs_of()
    run_experiment(
        BaselineMethod("GIN"),
        {"": graphs},
        make_folds(graphs.targets, FOLDS, 2),
        RunOptions(tmp_path / "r.jsonl", n_jobs=2),
    )
    records = read_records(tmp_path / "r.jsonl")
    assert [record.chosen for record in records] == [{"hidden": 2, "epoch": 7}] * FOLDS + [
        {"hidden": 2, "epoch": 8}
    ] * FOLDS
    assert asked == [2]
    assert records[0].protocol["parameters"] == {"epochs": 9}


@pytest.fixture
def _few_epochs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Networks learn for three epochs: what is tested is what is recorded, not how well they learn."""
    monkeypatch.setattr("rwk.baselines.neural.PatchySan.fair_parameters", {"epochs": 3, "patience": 3})


@pytest.mark.usefixtures("_few_epochs")
def test_a_network_records_the_device_it_learned_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setenv("RWK_GPU_DEVICE", "cpu")
    graphs = graphs_of(n=8)
    folds = make_folds(graphs.targets, FOLDS, 1)
    for backend, device in (("gpu", "processor"), ("cpu", None)):
        place = RunOptions(tmp_path / f"{backend}.jsonl", backend=backend)
        experiment = run_experiment(BaselineMethod("PATCHY-SAN"), {"": graphs}, folds, place)
        assert [score.versions.get("device") for score in experiment.scores] == [device] * FOLDS


@pytest.mark.usefixtures("_few_epochs")
def test_all_folds_of_a_network_are_trained_together_on_a_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from rwk.baselines import neural_stacks

    monkeypatch.setenv("RWK_GPU_DEVICE", "cpu")
    asked, true_fit = [], neural_stacks.fit_folds
    monkeypatch.setattr(neural_stacks, "fit_folds", lambda *given: asked.append(len(given[3])) or true_fit(*given))
    graphs = graphs_of(n=8)
    folds = make_folds(graphs.targets, FOLDS, 2)
    place = RunOptions(tmp_path / "gpu.jsonl", backend="gpu")
    experiment = run_experiment(BaselineMethod("PATCHY-SAN"), {"": graphs}, folds, place)
    assert asked == [2 * FOLDS]
    assert [(score.seed, score.fold) for score in experiment.scores] == list(folds)
    assert all(
        score.chosen["epoch"] >= 1 and score.n_test == len(folds.split(*score.key[2:])[1])
        for score in experiment.scores
    )
    assert run_experiment(BaselineMethod("PATCHY-SAN"), {"": graphs}, folds, place).scores == experiment.scores
    assert len(asked) == 1, "recorded folds are not run again"


@pytest.mark.usefixtures("_few_epochs")
def test_networks_that_were_stopped_on_a_gpu_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    from rwk.baselines.networks import stack_checkpoint, stacked_training

    monkeypatch.setenv("RWK_GPU_DEVICE", "cpu")
    monkeypatch.setattr(stack_checkpoint, "SECONDS_BETWEEN", 0.0)
    graphs = graphs_of(n=8)
    folds = make_folds(graphs.targets, FOLDS, 1)

    begun: list[int] = []
    stop_in = 0
    true_learn = stacked_training._Stack.learn

    def learn_or_stop(stack: Any, plan: Any) -> None:
        begun.append(len(stack.rows))
        if len(begun) == stop_in:
            raise KeyboardInterrupt
        true_learn(stack, plan)

    def outcome(name: str) -> list[Any]:
        place = RunOptions(tmp_path / name / "r.jsonl", backend="gpu")
        found = run_experiment(BaselineMethod("PATCHY-SAN", fair=True), {"": graphs}, folds, place).scores
        return [(score.key, score.n_correct, score.chosen) for score in found]

    monkeypatch.setattr(stacked_training._Stack, "learn", learn_or_stop)
    wanted = outcome("whole")
    whole = len(begun)
    stop_in = whole + 2
    with pytest.raises(KeyboardInterrupt):
        outcome("stopped")
    kept = tmp_path / "stopped" / "unfinished"
    assert [place.name.rpartition("-")[0] for place in kept.iterdir()] == ["TOY-PATCHY-SAN.stack"]
    assert outcome("stopped") == wanted
    assert len(begun) == 2 * whole + 1, "only the epoch that was stopped is trained twice"
    assert not kept.exists(), "what was kept is removed when all folds are recorded"


def test_baselines_are_told_where_to_run(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr("rwk.runtime.device.open_device", lambda: "cuda:1")
    monkeypatch.setattr("rwk.runtime.backends.device_present", lambda: True)
    graphs, original = graphs_of(), baseline_runs.baseline
    for name, backend, parameters, folds in (
        ("GIN", "gpu", {"device": "cuda:1"}, ("gpu", 1)),
        ("GIN", "auto", {"device": "cpu"}, ("cpu", 9)),
        ("GNTK", "auto", {"backend": "gpu", "n_jobs": 9}, ("gpu", 9)),
        ("GNTK", "cpu", {"backend": "cpu", "n_jobs": 9}, ("cpu", 9)),
        ("WL", "gpu", {}, ("gpu", 9)),
    ):
        estimator = baseline_runs.baseline(name)
        monkeypatch.setattr(baseline_runs, "baseline", lambda name, made=estimator: made)
        options = RunOptions(n_jobs=9, backend=backend)
        prepared = BaselineMethod(name).prepare({"": graphs}, options)
        assert parameters.items() <= estimator.get_params().items()
        assert prepared.hardware == BaselineMethod(name).hardware(options) == folds
        monkeypatch.setattr(baseline_runs, "baseline", original)


def test_a_fair_run_trains_networks_for_longer() -> None:
    graphs = {"": graphs_of()}
    for name in ("GIN", "DGCNN", "CapsGNN", "PATCHY-SAN"):
        short, fair = (BaselineMethod(name, fair=fair).prepare(graphs, RunOptions()).about for fair in (False, True))
        assert fair["parameters"]["epochs"] > short["parameters"]["epochs"]
        assert fair["parameters"]["patience"] >= short["parameters"]["patience"]
        assert fair["estimator"] == short["estimator"]
        assert (fair["fair"], "fair" in short) == (True, False)


def test_networks_are_repeated_less_unless_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = graphs_of()
    monkeypatch.setattr(baseline_runs, "baseline", lambda name: Stub())
    monkeypatch.setattr("rwk.experiment.reproduce.load_forms", lambda name, data: (graphs, {"": graphs}))
    for repeats, n in ((None, 3), (5, 5)):
        options = Options(folder=tmp_path / str(n), splits=FOLDS, repeats=repeats, n_jobs=1)
        reproduce("discrete", options, datasets=["TOY"], methods=["GIN"])
        assert len(read_records(options.folder / "TOY-GIN.jsonl")) == n * FOLDS


def test_networks_are_told_from_kernels() -> None:
    assert [name for name in paper.BASELINES if is_network(name)] == ["PATCHY-SAN", "DGCNN", "CapsGNN", "GIN"]


def test_all_stands_for_every_method() -> None:
    assert all_methods(["all"]) == [*paper.HOPS, *paper.BASELINES]
    assert all_methods(["wl", "ALL"])[:2] == ["WL", "RWK"]
    assert len(all_methods(["wl", "all"])) == 19


@pytest.fixture
def _needy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash kernels that don't apply to graphs without labels and attributes."""
    monkeypatch.setattr("rwk.baselines.hashing.HashKernel.accepts", ("attributes", "labels"))


@pytest.mark.usefixtures("_needy")
@pytest.mark.parametrize("ours", ["RWK", "rwk", "RWK-1"])
def test_all_methods_stand_beside_rwk(ours: str, tmp_path: Path) -> None:
    """Under the name of its records: runs of version 0.1 called it rwk."""
    graphs = graphs_of(labels=False)
    folds = make_folds(graphs.targets, FOLDS, 1)
    for score in scores_of("TOY", ours, [0.1, 0.2], folds=folds.fingerprint(0)).scores:
        append_record(tmp_path / "records.jsonl", score)
    methods = [BaselineMethod(name) for name in ("WL", "HGK-WL", "WL-OA")]
    shown = add_baselines(graphs, methods, tmp_path, folds=folds, options=RunOptions())
    columns = " +\\| ".join(sorted(["WL", "WL-OA", ours]))
    assert re.search(rf"\| dataset \| repeats × folds \| majority \| {columns} +\|", shown)
    assert "* HGK-WL: needs node attributes or labels" in shown
    assert f"{ours} − WL-OA" in shown
    assert shown.count("**") == 8  # both are ahead, in both tables


# notes


@pytest.mark.usefixtures("_needy")
def test_what_does_not_apply_leaves_a_note(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "rwk")
    graphs = graphs_of(labels=False)
    folds = make_folds(graphs.targets, FOLDS, 1)
    place = RunOptions(tmp_path / "TOY-HGK-WL.jsonl")
    for _ in range(2):
        assert run_or_note(BaselineMethod("HGK-WL"), {"": graphs}, folds, place) is None
    assert caplog.messages == ["HGK-WL on TOY: needs node attributes or labels"] * 2
    assert len((tmp_path / NOTES).read_text().splitlines()) == 1
    note = read_notes(tmp_path / NOTES)["TOY", "HGK-WL"]
    assert note.kind == "not applicable"
    assert "| needs node attributes or labels |" in by_method(
        {("TOY", "RWK"): scores_of("TOY", "RWK", [0.5, 0.6])}, ["TOY"], ["RWK", "HGK-WL"], {("TOY", "HGK-WL"): note}
    )
    with pytest.raises(NotApplicable, match="HGK-WL does not apply to TOY"):
        run_experiment(BaselineMethod("HGK-WL"), {"": graphs}, folds)


def test_a_figure_takes_the_place_of_a_note() -> None:
    notes = {("TOY", "WL"): Note("TOY", "WL", "not finished", "did not finish in 1 h", 3600.0)}
    half = scores_of("TOY", "WL", [0.5, 0.6], n_splits=3)
    whole = scores_of("TOY", "WL", [0.5, 0.6])
    assert "did not finish in 1 h" in by_method({("TOY", "WL"): half}, ["TOY"], ["WL"], notes)
    assert "55.0" in by_method({("TOY", "WL"): whole}, ["TOY"], ["WL"], notes)


# budgets


def test_a_budget_that_is_spent_is_stated(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "rwk")
    graphs = graphs_of()
    folds = make_folds(graphs.targets, FOLDS, 1)
    place = RunOptions(tmp_path / "TOY-WL.jsonl")
    assert run_or_note(BaselineMethod("WL"), {"": graphs}, folds, place, budget=0.01) is None
    assert caplog.messages == ["WL on TOY: did not finish in 0.01 s on 1 core"]
    assert read_notes(tmp_path / NOTES)["TOY", "WL"].seconds == 0.01
    assert run_or_note(BaselineMethod("WL"), {"": graphs}, folds, place, budget=0.01) is None
    assert caplog.messages[-1] == "WL on TOY: did not finish in 0.01 s on 1 core; give it a larger budget"
    found = run_or_note(BaselineMethod("WL"), {"": graphs}, folds, place, budget=300.0)
    assert found is not None
    assert [s.score for s in found.scores] == [
        s.score for s in run_experiment(BaselineMethod("WL"), {"": graphs}, folds).scores
    ]


def test_notes_keep_the_last_word(tmp_path: Path) -> None:
    for hours in (1, 2):
        append_note(tmp_path / NOTES, Note("A", "WL", "not finished", f"did not finish in {hours} h", 3600.0 * hours))
    assert read_notes(tmp_path / NOTES)["A", "WL"].words == "did not finish in 2 h"
    assert json.loads((tmp_path / NOTES).read_text().splitlines()[0])["seconds"] == 3600.0


# who is ahead

LOW, HIGH = [0.6, 0.7, 0.65, 0.7], [0.8, 0.9, 0.75, 0.9]


def test_a_baseline_ahead_of_rwk_is_bold() -> None:
    found = {
        ("TOY", "RWK"): scores_of("TOY", "RWK", LOW),
        ("TOY", "RWK-0"): scores_of("TOY", "RWK-0", HIGH),
        ("TOY", "WL"): scores_of("TOY", "WL", HIGH),
        ("TOY", "PK"): scores_of("TOY", "PK", [0.1] * 4),
    }
    table = by_method(found, ["TOY"], ["RWK", "RWK-0", "WL", "PK"])
    assert [line.split("|")[1].strip() for line in table.splitlines() if "**" in line] == ["WL, ours"]
    assert "**83.8 (7.5), 1 × 4 †**" in table
    assert ahead(found, "TOY", "WL")
    assert not ahead(found, "TOY", "PK")
    assert not ahead(found, "TOY", "GIN")
    scores = [score for group in found.values() for score in group.scores]
    assert markdown_table(scores, highlight="RWK").count("**") == 4
    assert "**" not in markdown_table(scores)


def test_ahead_counts_shared_folds_only() -> None:
    """WL's mean is above that of RWK, but on the two folds it has, RWK is better."""
    found = {
        ("TOY", "RWK"): scores_of("TOY", "RWK", [0.9, 0.95, 0.1, 0.1]),
        ("TOY", "WL"): scores_of("TOY", "WL", [0.8, 0.9], n_splits=4),
    }
    assert found["TOY", "WL"].mean > found["TOY", "RWK"].mean
    assert not ahead(found, "TOY", "WL")


def test_differences_come_with_a_p_value() -> None:
    groups = [scores_of("TOY", "RWK", LOW), scores_of("TOY", "WL", HIGH), scores_of("OTHER", "WL", HIGH)]
    table = differences(groups)
    assert table.splitlines()[0].replace(" ", "") == "|points(p)|TOY|"
    assert "RWK − WL" in table
    assert "**-17.5 (0.01)**" in table
    assert differences(groups[:1]) == ""


def test_ranks_are_of_finished_runs_that_all_datasets_have() -> None:
    found = {}
    for dataset, order in (("A", "RWK WL PK"), ("B", "WL RWK PK"), ("C", "RWK WL PK")):
        for place, method in enumerate(order.split()):
            found[dataset, method] = scores_of(dataset, method, [0.9 - 0.1 * place] * 4)
    found["D", "RWK"] = scores_of("D", "RWK", LOW)  # too few methods
    found["A", "GHK"] = scores_of("A", "GHK", HIGH)  # too few datasets
    found["A", "PK"] = scores_of("A", "PK", [1.0, 1.0], n_splits=4)  # not finished
    table = ranked_scores(found, ["A", "B", "C", "D"], ["RWK", "WL", "PK", "GHK"])
    ranks = average_ranks(table)
    assert ranks.methods == ("RWK", "WL")
    assert ranks.n_datasets == 3
    assert ranks.ranks.round(2).tolist() == [1.33, 1.67]
    shown = ranks_table(table)
    assert "| RWK    | 1.33         |" in shown
    assert "over 3 datasets (A, B, C)" in shown
    assert ranked_scores(found, ["D"], ["RWK"]) == {}
    assert ranks_table({}) == ""
    assert ranked_scores(found, ["A", "B", "C"], ["RWK", "WL", "PK"], least_share=1.0) == {
        name: {"RWK": found[name, "RWK"].mean, "WL": found[name, "WL"].mean, "PK": found[name, "PK"].mean}
        for name in ("B", "C")
    }


# records


@pytest.mark.parametrize("method", ["WL", "WWL"])
def test_recorded_folds_can_be_had_again(method: str) -> None:
    """The first two folds of MUTAG have the choices and the scores of the committed records."""
    root = Path(__file__).parents[1]
    recorded = [score for score in read_records(root / "results" / f"MUTAG-{method}.jsonl") if score.key[2:] < (0, 2)]
    place = Path(os.environ.get("RWK_DATA") or root.parent / "shared" / "datasets")
    if not recorded or not (place / "MUTAG.zip").exists():
        pytest.skip("no records, or MUTAG.zip is not in $RWK_DATA or ../shared/datasets")
    graphs = load_dataset("MUTAG", root=place)
    folds = stored_folds(root / "results" / "folds" / "MUTAG.json", graphs.targets, seeds=[0])
    estimator = baseline_runs.baseline(method)
    named = dict(estimator.settings(graphs, fair=True))
    matrices = Matrices(named, estimator.kind, baseline_runs.fair_search().checked())
    _, codes = encode_classes(graphs.targets)
    for score in recorded:
        task = Task(*folds.split(0, score.fold), codes=codes, seed=0, fold=score.fold)
        choice = search(matrices, task)
        assert choice.as_record() == dict(score.chosen)
        assert float((fit_choice(matrices, task, choice) == codes[task.test]).mean()) == score.score
