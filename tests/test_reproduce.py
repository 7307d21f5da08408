"""Reproducing the paper's tables: published values, the same folds for all, runs that continue, pages from records."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from commands import run_here
from rwk.cli.reproduce_command import draw
from rwk.datasets.forms import load_forms
from rwk.experiment import paper, read_records
from rwk.experiment.folds import stored_folds
from rwk.experiment.methods import METHODS, known_method, settings_of
from rwk.experiment.notes import NOTES, Note, append_note
from rwk.experiment.page import results_page
from rwk.experiment.records import append_record
from rwk.experiment.reproduce import Options, reproduce
from rwk.experiment.results import read_results
from rwk.experiment.runtimes import RUNTIMES, Runtime, append_runtime
from rwk.gram.kept import described, fingerprint
from rwk.gram.matrices import discrepancy_matrix
from rwk.learn.grids import SETTINGS
from rwk.learn.search import SUM
from rwk.parameters import Parameters
from rwk.report.writing import write_report
from rwk.transport.problem import SOLVER_VERSION
from score_records import repeat_of


def write_tu(place: Path, parts: dict[str, list[object]]) -> Path:
    place.mkdir()
    for part, lines in parts.items():
        (place / f"{place.name}_{part}.txt").write_text("\n".join(map(str, lines)) + "\n")
    return place


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """20 labelled paths and cycles, two classes."""
    parts: dict[str, list[object]] = {"A": [], "graph_indicator": [], "node_labels": [], "graph_labels": []}
    first = 1
    for g in range(20):
        n = 4 + g % 5
        ends = [(i, i + 1) for i in range(n - 1)] + ([(0, n - 1)] if g % 2 else [])
        parts["A"] += [f"{first + a}, {first + b}" for i, j in ends for a, b in ((i, j), (j, i))]
        parts["graph_indicator"] += [g + 1] * n
        parts["node_labels"] += [i % 2 for i in range(n)]
        parts["graph_labels"].append(g % 2)
        first += n
    return write_tu(tmp_path_factory.mktemp("data") / "TOY", parts)


@pytest.fixture(scope="session")
def lengths(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """12 complete graphs whose edges have a length and a label (1: no bond), like a small BZR_MD."""
    names = ("A", "graph_indicator", "node_labels", "graph_labels", "edge_labels", "edge_attributes")
    parts: dict[str, list[object]] = {name: [] for name in names}
    first = 1
    for g in range(12):
        n = 4 + g % 3
        for i in range(n):
            for j in range(n):
                if i != j:
                    parts["A"].append(f"{first + i}, {first + j}")
                    bond = abs(i - j) == 1 or (g % 2 == 1 and abs(i - j) == n - 1)
                    parts["edge_labels"].append(0 if bond else 1)
                    parts["edge_attributes"].append(1.4 * abs(i - j))
        parts["graph_indicator"] += [g + 1] * n
        parts["node_labels"] += [i % 2 for i in range(n)]
        parts["graph_labels"].append(g % 2)
        first += n
    return write_tu(tmp_path_factory.mktemp("data") / "TOY_MD", parts)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RWK_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture
def options(tmp_path: Path) -> Options:
    return Options(
        folder=tmp_path / "results",
        page=tmp_path / "results.md",
        repeats=1,
        splits=3,
        grid="quick",
        n_jobs=1,
        backend="cpu",
    )


def run(what: str, options: Options, data: Path, methods: tuple[str, ...] = ("RWK",)) -> str:
    return reproduce(what, options, datasets=[str(data)], methods=methods)


def no_solver(*arguments: object, **more: object) -> None:
    raise AssertionError("a matrix was solved")


# the paper


def test_published_figures_are_the_printed_ones() -> None:
    assert len(paper.BASELINES) == 16
    assert len(paper.PUBLISHED) == 190
    assert str(paper.published("MUTAG", "RWK")) == "93.6 ± 3.7"
    assert str(paper.published("BZR", "NoRegs")) == "83.7 ± 5.6"
    assert str(paper.published("ENZYMES", "NoRegs")) == "75.4 ± 3.6"
    assert str(paper.published("COLLAB", "GNTK")) == "83.6 ± 1.0"
    assert paper.published("PROTEINS_full", "FGW") == paper.published("PROTEINS", "FGW")
    assert paper.published("COX2_MD", "PK") is None
    for dataset in (*paper.DISCRETE, *paper.CONTINUOUS):
        best = paper.PUBLISHED[dataset, "RWK"].mean
        assert all(figure.mean <= best for (name, _), figure in paper.PUBLISHED.items() if name == dataset)


def test_every_published_figure_has_a_protocol_in_words() -> None:
    assert {figure.protocol for figure in paper.PUBLISHED.values()} | {paper.OURS} == set(paper.PROTOCOLS)


# settings


def test_every_variant_differs_from_the_method() -> None:
    base = settings_of("RWK", "continuous", Parameters())
    for name in METHODS:
        if name != "RWK":
            assert list(settings_of(name, "continuous", Parameters()).values()) != list(base.values()), name


@pytest.mark.parametrize("grid", ["discrete", "continuous"])
def test_fewer_hops_change_the_settings_that_have_hops(grid: str) -> None:
    whole, one, none = (settings_of(name, grid, Parameters()) for name in paper.HOPS)
    assert list(whole) == list(one) == list(none)
    assert {made.hops for made in whole.values()} == {0, 2}
    for name, made in whole.items():
        assert (one[name].hops, none[name].hops) == (min(made.hops, 1), 0)
        assert (fingerprint(one[name]) == fingerprint(made)) == (made.hops == 0)


def test_hops_need_distances_of_colours() -> None:
    with pytest.raises(ValueError, match="Hamming alone, on which hops do not act"):
        settings_of("RWK", "full", Parameters())


def test_settings_that_a_variant_makes_equal_are_solved_once() -> None:
    weak, strong = {"beta_global": 0.1}, {"beta_global": 1.0}
    assert len({fingerprint(Parameters(**change, variant="RWK-LW").checked()) for change in (weak, strong)}) == 1
    assert len(settings_of("RWK-LW", "small", Parameters())) == len(SETTINGS["small"]) - 1


def test_names_of_methods_are_forgiving() -> None:
    assert [known_method(name) for name in ("rwk", "noregs", "wl-oa")] == ["RWK", "NoRegs", "WL-OA"]


# matrices


def test_fingerprints_leave_out_how_a_matrix_is_computed() -> None:
    same = [Parameters(), Parameters(n_jobs=3, backend="cpu", eta=9.0), Parameters(variant="RWK").checked()]
    assert len({fingerprint(parameters) for parameters in same}) == 1
    assert fingerprint(Parameters(ridge=0.5)) != fingerprint(Parameters())
    assert fingerprint(Parameters(), "bonds") != fingerprint(Parameters())
    assert described(Parameters(wl_edge_labels=False, debias=True), "bonds").startswith("bonds debias=True @")


def test_fingerprints_change_only_with_the_solver() -> None:
    """Matrices and records of this version of the solver hold them: with others they would not be found again."""
    assert SOLVER_VERSION == 2
    words = {name: described(made) for name, made in settings_of("RWK-0", "discrete", Parameters()).items()}
    alone = "beta_local=0.0 beta_global=0.0 entropy=0.03 sinkhorn_iter=30"
    blurred = alone.replace("0.03", "1.0")
    assert words == {
        "colours": "hops=0 beta_local=0.1 beta_global=0.0 entropy=0.03 @05901a0d72",
        "walks": f"hops=0 wl_rounds=0 feature_metric=product return_weight=0.5 {blurred} debias=True @ffac6006e9",
        "colours-and-walks": f"hops=0 feature_metric=product {alone} @32a8db8fac",
    }
    attributes = settings_of("RWK", "continuous", Parameters(backend="gpu", n_jobs=3))["attributes"]
    assert fingerprint(attributes, "bonds") == "d10974cb1f"


def test_a_kept_matrix_is_the_solved_one(toy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graphs, _ = load_forms(str(toy))
    solved, health = discrepancy_matrix(graphs, Parameters(), folder=tmp_path)
    monkeypatch.setattr("rwk.gram.matrices.symmetric_discrepancy", no_solver)
    kept, again = discrepancy_matrix(graphs, Parameters(), folder=tmp_path)
    assert kept.dtype == np.float32
    assert (kept == solved).all()
    assert health == again
    with pytest.raises(ValueError, match="belongs to other graphs of the same name; remove it"):
        discrepancy_matrix(graphs[:3], Parameters(), folder=tmp_path)


def test_complete_graphs_with_lengths_are_seen_twice(lengths: Path, options: Options) -> None:
    graphs, forms = load_forms(str(lengths))
    assert list(forms) == ["bonds", "distance"]
    assert forms["bonds"].n_edges.sum() < graphs.n_edges.sum() == forms["distance"].n_edges.sum()
    run("continuous", options, lengths)
    assert set(read_records(options.folder / "TOY_MD-RWK.jsonl")[0].protocol["settings"]) == {
        "bonds: default",
        "bonds: rare nodes: default",
        "distance: default",
    }


# runs


def test_a_finished_run_solves_nothing(toy: Path, options: Options, monkeypatch: pytest.MonkeyPatch) -> None:
    table = run("discrete", options, toy)
    assert "RWK, ours [N]" in table
    assert "RWK, paper [S]" in table
    assert "| TOY     | 50.0     | 1 × 3 " in table
    monkeypatch.setattr("rwk.experiment.methods.discrepancy_matrix", no_solver)
    assert run("discrete", options, toy) == table


def test_a_stopped_run_goes_on(toy: Path, options: Options) -> None:
    whole = run("discrete", options, toy)
    path = options.folder / "TOY-RWK.jsonl"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text(lines[0] + lines[1] + lines[2][:40])  # the header, a fold, and a part of one
    assert run("discrete", options, toy) == whole
    assert path.read_text().startswith(lines[0] + lines[1])
    assert len(path.read_text().splitlines()) == 4


def test_records_hold_the_settings_in_full(toy: Path, options: Options) -> None:
    run("discrete", options, toy)
    protocol = read_records(options.folder / "TOY-RWK.jsonl")[0].protocol
    assert list(protocol["parameters"]) == list(protocol["settings"])
    for name, values in protocol["parameters"].items():
        assert described(Parameters.of(values)) == protocol["settings"][name]


def test_records_of_other_settings_are_refused(toy: Path, options: Options) -> None:
    run("discrete", options, toy)
    with pytest.raises(ValueError, match="made with another grid"):
        run("discrete", replace(options, grid="paper"), toy)


def test_every_method_meets_the_same_folds(toy: Path, options: Options) -> None:
    run("discrete", options, toy, ("RWK", "RWK-0", "WL"))
    found = read_results(options.folder)
    assert {method for _, method in found} == {"RWK", "RWK-0", "WL"}
    assert len({score.protocol["folds"] for group in found.values() for score in group.scores}) == 1
    stored = json.loads((options.folder / "folds" / "TOY.json").read_text())
    assert list(stored["test_fold"]) == ["0"]
    assert stored["n_splits"] == 3


def test_solving_and_scoring_in_two_places(
    toy: Path, options: Options, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = run("discrete", options, toy)
    apart = replace(options, folder=tmp_path / "apart", matrices=tmp_path / "matrices")
    assert run("discrete", replace(apart, solve_only=True), toy) == ""
    assert not apart.folder.exists()
    monkeypatch.setattr("rwk.gram.matrices.symmetric_discrepancy", no_solver)
    assert run("discrete", apart, toy) == alone


def test_ablation_shows_both_signs(toy: Path, options: Options) -> None:
    table = run("ablation", options, toy, ())
    for method in ("RWK", "RWK-repel", *paper.ABLATION):
        assert f"| {method}, ours" in table


def test_more_seeds_extend_stored_folds(tmp_path: Path) -> None:
    targets = [0, 1] * 10
    path = tmp_path / "folds.json"
    first = stored_folds(path, targets, 5, range(2))
    more = stored_folds(path, targets, 5, range(1, 4))
    assert list(more.test_fold) == [1, 2, 3]
    assert (more.test_fold[1] == first.test_fold[1]).all()
    assert list(json.loads(path.read_text())["test_fold"]) == ["0", "1", "2", "3"]
    with pytest.raises(ValueError, match="made for other targets"):
        stored_folds(path, [0, 0, 1, 1] * 5, 5, range(2))
    with pytest.raises(ValueError, match="holds 5 folds per repeat, not 4"):
        stored_folds(path, targets, 4, range(2))


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"repeats": 0}, "repeats=0 is outside its range: it must be 1 or more"),
        ({"first_seed": -1}, "first_seed=-1 is outside its range: it must be 0 or more"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"budget": 0.0}, "budget=0.0 is outside its range: it must be positive"),
    ],
)
def test_options_outside_their_range(given: dict[str, float], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        Options(**given)


def test_runtimes_are_recorded(toy: Path, options: Options) -> None:
    table = run("runtime", options, toy)
    assert "| TOY     | RWK    | 20     | 210   | 1    |" in table


# pages


def test_the_page_is_made_of_records_alone(toy: Path, options: Options, tmp_path: Path) -> None:
    run("hops", options, toy, paper.HOPS)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    for method in paper.HOPS:  # as if they were records of MUTAG
        text = (options.folder / f"TOY-{method}.jsonl").read_text().replace('"TOY"', '"MUTAG"')
        (elsewhere / f"MUTAG-{method}.jsonl").write_text(text)
    shutil.rmtree(options.folder)
    page = results_page(elsewhere)
    row = next(line for line in page.splitlines() if line.startswith("| MUTAG "))
    assert "| 50.0     | 1 × 3 " in row
    assert row.count("93.6 ± 3.7") == 1
    assert "rwk reproduce discrete" in page
    assert page.count("* [") == len(paper.PROTOCOLS)
    said = reproduce("tables", replace(options, folder=elsewhere))
    assert options.page.read_text() == page
    assert str(options.page) in said


def test_the_page_in_the_documentation_is_what_the_records_give() -> None:
    root = Path(__file__).parents[1]
    if not (root / "results" / "folds").exists():
        pytest.skip("no records here")
    assert (root / "docs" / "results.md").read_text(encoding="utf-8") == results_page(root / "results")


def test_the_page_names_sets_with_figures_of_another_grid(tmp_path: Path) -> None:
    present = {name: described(Parameters.of(values)) for name, values in SETTINGS["discrete"].items()}
    for dataset, settings in (("MUTAG", present), ("PTC_MR", {"old": described(Parameters(beta_local=0.3))})):
        for score in repeat_of(dataset, "RWK", [0.8, 0.9], settings=settings):
            append_record(tmp_path / f"{dataset}-RWK.jsonl", score)
    for score in repeat_of("MUTAG", "RWK-0", [0.8, 0.9], settings=dict(list(present.items())[1:])):
        append_record(tmp_path / "MUTAG-RWK-0.jsonl", score)
    for score in repeat_of("MUTAG", "RWK-1", [0.8, 0.9], settings={f"bonds: {name}": "" for name in present}):
        append_record(tmp_path / "MUTAG-RWK-1.jsonl", score)
    both = {f"{form}: {name}": words for form in ("bonds", "distance") for name, words in present.items()}
    for score in repeat_of("MUTAG", "RWK-GW", [0.8, 0.9], settings=both):  # rare nodes are missing
        append_record(tmp_path / "MUTAG-RWK-GW.jsonl", score)
    assert "Not yet run with the present grid: MUTAG (RWK-0, RWK-GW), PTC_MR." in results_page(tmp_path)


def test_records_with_all_parameters_tell_their_grid_by_them(tmp_path: Path) -> None:
    """Whatever the defaults were when the settings were recorded."""
    full = {name: Parameters.of(values).asdict() for name, values in SETTINGS["discrete"].items()}
    words = dict.fromkeys(full, "hops=7 @0123456789")
    other = {**full, "walks": {**full["walks"], "entropy": 0.5}}
    for dataset, parameters in (("MUTAG", full), ("PTC_MR", other)):
        for score in repeat_of(dataset, "RWK", [0.8, 0.9], settings=words, parameters=parameters):
            append_record(tmp_path / f"{dataset}-RWK.jsonl", score)
    varied = {name: made.asdict() for name, made in settings_of("RWK-0", "discrete", Parameters()).items()}
    for method, parameters in (("RWK-0", varied), ("RWK-1", varied)):
        for score in repeat_of("MUTAG", method, [0.8, 0.9], settings=words, parameters=parameters):
            append_record(tmp_path / f"MUTAG-{method}.jsonl", score)
    assert "Not yet run with the present grid: MUTAG (RWK-1), PTC_MR." in results_page(tmp_path)


def test_the_page_says_what_is_not_blind(tmp_path: Path) -> None:
    """Next to the results of RWK and next to those of the baselines, in both tables."""
    page = results_page(tmp_path)
    for sentence, heading in (
        ("decided on repeats 20, 21 and 22 of these datasets", "### All methods"),
        ("the product cost had been tried before on repeats 0 to 2", "### All methods"),
        ("PK and GHK: `normalize` was added to their grids after their scores on MUTAG had been seen", "### Ablation"),
    ):
        assert page.count(sentence) == 2
        assert page.index(sentence) < page.index(heading)


@pytest.mark.parametrize(("fair", "told"), [(["WL"], False), ([], True), (["WL", "PK"], False)])
def test_the_page_tells_of_earlier_runs_while_there_are_some(tmp_path: Path, fair: list[str], told: bool) -> None:
    for method in {"WL", *fair}:
        for score in repeat_of("MUTAG", method, [0.8, 0.9], fair=method in fair):
            append_record(tmp_path / f"MUTAG-{method}.jsonl", score)
    assert ("† marks results of an earlier run" in results_page(tmp_path)) == told


def test_the_page_says_what_fair_runs_give_each_method(tmp_path: Path) -> None:
    page = results_page(tmp_path)
    rows = {line.split("|")[1].strip(): line for line in page.splitlines() if line.count("|") == 7}
    assert set(rows) >= {"RWK", *paper.BASELINES}
    assert "its paper has no way to use attributes" in rows["WL"]
    assert [cell.strip() for cell in rows["WWL"].split("|")[2:-1]] == ["yes", "yes", "no", "yes", "yes"]
    assert [cell.strip() for cell in rows["GIN"].split("|")[2:-1]] == ["yes", "yes", "no", "-", "-"]
    assert "**Fair runs**" not in page
    for score in repeat_of("MUTAG", "WL", [0.8, 0.9], fair=True):
        append_record(tmp_path / "MUTAG-WL.jsonl", score)
    assert results_page(tmp_path).count("**Fair runs**") == 1


def test_the_page_shows_networks_under_two_protocols(tmp_path: Path) -> None:
    title = "## Networks: the share of the protocol"
    assert title not in results_page(tmp_path)
    ours, last = {"mean": 84.0, "std": 5.0}, {"mean": 85.0, "std": 6.0}
    best = {"mean": 88.0, "std": 4.0, "epoch": 120}
    rows = [{"network": "GIN", "dataset": "MUTAG", "ours": ours, "last_epoch": last, "on_test_folds": best}]
    (tmp_path / "network-protocol.json").write_text(json.dumps({"rows": rows}))
    page = results_page(tmp_path)
    assert title in page
    assert "| GIN     | MUTAG   | 84.0 ± 5.0 | 85.0 ± 6.0 | 88.0 ± 4.0        | 120       | 89.4 ± 5.6 |" in page
    assert "4.0 points more than our protocol in the mean, 4.0 at most (GIN on MUTAG), and 3.0 more" in page
    assert "it is missed for GIN on MUTAG by 1.4 points" in page


def test_the_page_compares_and_ranks(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the picture needs the extra 'plot'")
    folder = tmp_path / "results"
    folder.mkdir()
    for place, dataset in enumerate(("MUTAG", "PTC_MR")):
        for method, level in (("RWK", 0.7), ("WL", 0.8), ("NoRegs", 0.6)):
            for score in repeat_of(dataset, method, [level] * 4):
                append_record(folder / f"{dataset}-{method}.jsonl", score)
        append_note(folder / NOTES, Note(dataset, "FGW", "not finished", f"did not finish in {place + 1} h", 3600.0))
    page = results_page(folder)
    assert "| RWK − WL   | **-10.0 (0)** | **-10.0 (0)** |" in page
    assert "| RWK − NoRegs | +10.0 (0) | +10.0 (0) |" in page
    assert "did not finish in 1 h" in page
    assert page.count("Average ranks over 2 datasets") == 2  # of its kind, and of all
    assert "(images/ranks-discrete.svg)" in page
    assert "(images/ranks-continuous.svg)" not in page
    assert "| `rwk reproduce discrete --datasets MUTAG,PTC_MR --methods WL --repeats 1 --published-grids` " in page
    append_runtime(folder / RUNTIMES, Runtime("MUTAG", "RWK", 188, 17766, (0.1,), (1.5,), "some machine"))
    options = Options(folder=folder, page=tmp_path / "docs" / "results.md")
    drawn, names = [], ["ranks-discrete.svg", "ranks-all.svg", "runtime.svg"]
    for _ in range(2):
        said: list[str] = []
        reproduce("tables", options)
        draw(options.folder, options.page.parent, said.append)
        assert [Path(line.removesuffix(" drawn")).name for line in said] == names
        places = sorted((options.page.parent / "images").iterdir())
        drawn.append([place.read_bytes() for place in places])
    assert drawn[0] == drawn[1]
    assert "(images/runtime.svg)" in options.page.read_text()


def test_commands_name_the_repeats_that_were_run(tmp_path: Path) -> None:
    """A set with fewer repeats than the others has a row of its own."""
    for dataset, seeds in (("MUTAG", (0, 1)), ("PTC_MR", (0, 1)), ("COLLAB", (0,))):
        for seed in seeds:
            for score in repeat_of(dataset, "WL", [0.8, 0.7], seed=seed, fair=dataset == "COLLAB"):
                append_record(tmp_path / f"{dataset}-WL.jsonl", score)
    page = results_page(tmp_path)
    assert "`rwk reproduce discrete --datasets MUTAG,PTC_MR --methods WL --repeats 2 --published-grids`" in page
    assert "`rwk reproduce discrete --datasets COLLAB --methods WL --repeats 1`" in page


# without the command line's libraries

_BLOCKED = """
import sys
import warnings
from pathlib import Path
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"typer", "rich", "pooch", "ot", "zarr", "dask", "matplotlib", "grakel", "fsspec"}:
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Block())
from rwk.experiment.reproduce import Options, reproduce
options = Options(folder=Path(sys.argv[2]), repeats=1, splits=2, grid="quick", n_jobs=1, backend="cpu")
print(reproduce("hops", options, datasets=[sys.argv[1]], methods=["RWK"]))
"""


def test_a_bare_computer_suffices(toy: Path, tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", _BLOCKED, str(toy), str(tmp_path / "results")]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert "| TOY " in done.stdout


# the commands


def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    pytest.importorskip("typer", reason="the command line needs the extra 'cli'")
    told = [sys.executable, "-m", "rwk", *map(str, arguments)]
    return subprocess.run(told, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["hops", "--datasets", "NOPE"], "there is no dataset 'NOPE'"),
        (["hops", "--methods", "nope"], "there is no method 'nope'"),
        (["hops", "--datasets", "TOY", "--grid", "nope"], "there is no grid 'nope'"),
        (["hops", "--datasets", "TOY", "--jobs", "0"], "n_jobs=0"),
    ],
)
def test_mistakes_are_one_sentence(arguments: list[str], sentence: str, toy: Path, tmp_path: Path) -> None:
    done = run_here("reproduce", *arguments, "--folder", tmp_path / "results", "--data", toy.parent)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_classify_takes_any_method(toy: Path, tmp_path: Path) -> None:
    given = ("--method", "wl", "--repeats", "1", "--splits", "2", "--output", tmp_path / "run", "--n-jobs", "1")
    done = command("classify", toy, *given)
    assert done.returncode == 0, done.stderr
    assert re.search(r"\| TOY +\| 1 × 2 +\| 50.0 +\|", done.stdout)


def test_classify_sees_complete_graphs_with_lengths_in_both_forms(lengths: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    given = ("--repeats", "1", "--splits", "3", "--n-jobs", "1", "--backend", "cpu", "--max-iter", "2")
    done = command("classify", lengths, *given, "--output", run)
    assert done.returncode == 0, done.stderr
    assert "seen as bonds and as distance" in done.stderr
    assert json.loads((run / "run.json").read_text())["forms"] == ["bonds", "distance"]
    assert {score.chosen["setting"] for score in read_records(run / "records.jsonl")} <= {"bonds", "distance", SUM}
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="every two nodes")  # alignments are of the bonds
        write_report(run, tmp_path / "report.html", graphs=load_forms(str(lengths))[0])
    done = command("classify", lengths, *given, "--output", tmp_path / "given", "--forms", "given")
    assert done.returncode == 0, done.stderr
    assert "every two nodes of each graph are joined" in done.stderr
    assert json.loads((tmp_path / "given" / "run.json").read_text())["forms"] == [""]


def test_other_commands_warn_of_complete_graphs_or_see_their_bonds(lengths: Path, tmp_path: Path) -> None:
    quick = ("--n-jobs", "1", "--backend", "cpu", "--max-iter", "1")
    done = command("gram", lengths, "-o", tmp_path / "K.npz", *quick)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("every two nodes of each graph are joined") == 1
    done = command("gram", lengths, "-o", tmp_path / "K.npz", *quick, "--structure", "edge-distance")
    assert "every two nodes" not in done.stderr
    done = command("explain", lengths, "0", "-o", tmp_path / "why.png", *quick)
    assert done.returncode == 0, done.stderr
    assert "every two nodes" not in done.stderr


def test_classify_and_reproduce_get_the_same_folds_right(toy: Path, tmp_path: Path) -> None:
    """The same method under the same name, with the same settings, on the same folds, in the same precision."""
    both = ("--grid", "small", "--repeats", "1", "--splits", "3", "--n-jobs", "1", "--backend", "cpu")
    classified = command("classify", toy, "--method", "rwk-1", *both, "--output", tmp_path / "run")
    assert classified.returncode == 0, classified.stderr
    done = command(
        "reproduce", "hops", "--datasets", toy, "--methods", "RWK-1", *both, "--folder", tmp_path / "results"
    )
    assert done.returncode == 0, done.stderr
    ours = read_records(tmp_path / "run" / "records.jsonl")
    theirs = read_records(tmp_path / "results" / "TOY-RWK-1.jsonl")
    assert {score.method for score in ours} == {"RWK-1"}
    same = ("key", "n_correct", "chosen", "inner_score", "protocol")
    assert [[getattr(score, name) for name in same] for score in ours] == [
        [getattr(score, name) for name in same] for score in theirs
    ]
    with np.load(tmp_path / "run" / "gram.npz") as file:
        assert file["discrepancy"].dtype == np.float32
