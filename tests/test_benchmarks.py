"""The benchmark scripts run, on less than a minute's worth of data, and their records contain what they should."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rwk.runtime.backends import device_present

ROOT = Path(__file__).parent.parent


def run(script: str, *arguments: object) -> str:
    command = [sys.executable, str(ROOT / "benchmarks" / script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_benchmark_is_tested() -> None:
    scripts = {path.stem for path in (ROOT / "benchmarks").glob("*.py")}
    assert scripts == {
        "active_learning", "atom_maps", "averages", "baselines", "classifier", "contributions", "few_molecules",
        "fgw_directions", "install_sizes", "landmarks", "later_states", "matching", "matching_gpu", "middle_sizes",
        "molecule_gram", "neighbours", "network_protocol", "other_repeats", "point_clouds", "regression_packed",
        "regression_times", "same_folds", "scaling", "starts", "substructures", "workers",
    }  # fmt: skip


def test_install_sizes(tmp_path: Path) -> None:
    """Core packages are in this environment whatever its extras; the stored table is made of the stored record."""
    pytest.importorskip("torch", reason="the table names the build of PyTorch")
    run("install_sizes.py", "--output", tmp_path / "sizes.json")
    plain = json.loads((tmp_path / "sizes.json").read_text())["rows"][0]
    assert {"numpy", "numba", "networkx"} <= set(plain["direct"])
    assert plain["megabytes"] > 100
    rows = json.loads((ROOT / "results" / "install-sizes.json").read_text())["rows"]
    table = (ROOT / "results" / "install-sizes.md").read_text()
    assert all(f"{row['megabytes']:,.0f} MB |" in table for row in rows)


def test_classifier(tmp_path: Path) -> None:
    pytest.importorskip("grakel", reason="GraKeL carries MUTAG")
    run("classifier.py", "MUTAG", "--folds", 1, "--output", tmp_path / "record.json")
    (row,) = json.loads((tmp_path / "record.json").read_text())["rows"]
    assert row["folds"] == 1
    assert abs(row["classifier"] - row["harness"]) <= 3 / 19  # graphs of the fold


def test_active_learning() -> None:
    """Curves rise to all ten, and the stored record says that half of the measurements of chance are enough."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        from active_learning import by_chance, summary
    finally:
        sys.path.pop(0)
    values = np.random.default_rng(0).normal(size=60)
    row = summary("random", [by_chance(values, 10, seed) for seed in range(50)], 10)
    assert row["curve"] == sorted(row["curve"])
    assert row["curve"][-1] == 10
    assert 45 <= row["measurements"] <= 60
    rows = json.loads((ROOT / "results" / "active-learning.json").read_text())["rows"]
    needed = {row["acquisition"]: row["measurements"] for row in rows}
    assert needed["improvement"] <= 0.5 * needed["random"]
    assert needed["thompson"] <= 0.5 * needed["random"]


@pytest.fixture
def esol(monkeypatch: pytest.MonkeyPatch) -> None:
    """ESOL can be loaded by scripts."""
    pytest.importorskip("rdkit", reason="RDKit is in the extra 'molecules'")
    data = Path(os.environ.get("RWK_DATA") or ROOT.parent / "shared" / "datasets")
    if not list(data.glob("**/ESOL.csv")):
        pytest.skip("ESOL.csv is not in $RWK_DATA or ../shared/datasets")
    monkeypatch.setenv("RWK_DATA", str(data))


@pytest.mark.usefixtures("esol")
def test_contributions(tmp_path: Path) -> None:
    """The script on a few molecules, and what its stored record says."""
    arguments = ("--train", 30, "--test", 5, "--settings", "quick", "--targets", "element")
    run("contributions.py", *arguments, "--output", tmp_path / "record.json")
    (row,) = json.loads((tmp_path / "record.json").read_text())["rows"]
    assert row["rank_correlation"] > 0.5
    rows = json.loads((ROOT / "results" / "contributions.json").read_text())["rows"]
    assert next(row for row in rows if row["target"] == "element")["rank_correlation"] >= 0.9


@pytest.mark.usefixtures("esol")
def test_regression_times(tmp_path: Path) -> None:
    run("regression_times.py", "ESOL", "--most", 30, "--jobs", 1, "--output", tmp_path / "record.json")
    (row,) = json.loads((tmp_path / "record.json").read_text())["rows"]
    assert row["pairs"] == 4 * 30 * 31 // 2
    assert sum(row["seconds"].values()) == pytest.approx(60 * row["minutes"], abs=1.0)


@pytest.mark.usefixtures("esol")
def test_few_molecules(tmp_path: Path) -> None:
    """The script on a few molecules; and with many, the record says that intervals hold."""
    arguments = ("--datasets", "ESOL", "--numbers", 8, "--draws", 2, "--test", 10)
    run("few_molecules.py", *arguments, "--output", tmp_path / "record.json")
    (row,) = json.loads((tmp_path / "record.json").read_text())["rows"]
    assert (row["molecules"], row["draws"]) == (8, 2)
    assert 0 < row["coverage"] <= 1
    assert row["rmse"] > 0
    rows = json.loads((ROOT / "results" / "few-molecules.json").read_text())["rows"]
    assert all(0.9 <= row["coverage"] <= 0.99 for row in rows if row["molecules"] >= 100)


def test_other_repeats(tmp_path: Path) -> None:
    """A dataset on record is not run again; the stored record has repeats on which nothing was decided."""
    pytest.importorskip("grakel", reason="GraKeL carries MUTAG")
    given = ("other_repeats.py", "MUTAG", "--repeats", 1, "--first-seed", 60, "--output", tmp_path / "record.json")
    run(*given)
    (row,) = json.loads((tmp_path / "record.json").read_text())["rows"]
    assert list(row["accuracies"]) == ["60"]
    assert 80 < row["accuracies"]["60"] < 100
    assert run(*given) == ""
    stored = json.loads((ROOT / "results" / "other-repeats.json").read_text())["rows"]
    assert all(min(map(int, row["accuracies"])) > 44 and len(row["accuracies"]) == 10 for row in stored)


def test_same_folds(tmp_path: Path) -> None:
    pytest.importorskip("grakel", reason="GraKeL carries MUTAG")
    run("same_folds.py", "MUTAG", "--repeats", 1, "--output", tmp_path / "record.json")
    (row,) = json.loads((tmp_path / "record.json").read_text())["rows"]
    assert (row["folds"], row["folds_on_record"]) == (10, 10)
    assert row["differ_between_kernels"] == 0
    assert row["differ_from_record"] <= 1


def test_baselines(tmp_path: Path) -> None:
    pytest.importorskip("grakel", reason="GraKeL is in the extra 'baselines'")
    pytest.importorskip("ot", reason="POT is in the extra 'baselines'")
    run("baselines.py", "--graphs", 6, "--alone", "", "--json", tmp_path / "record.json")
    record = json.loads((tmp_path / "record.json").read_text())
    assert record["compared"]["n_graphs"] == 6
    assert set(record["compared"]["methods"]) == {"wl", "wl-oa", "ghk", "wl-pm", "wwl", "fgw"}
    assert {"grakel", "POT", "command"} <= set(record["made_with"])


def test_fgw_directions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch", reason="the GPU backend needs PyTorch")
    monkeypatch.setenv("RWK_GPU_DEVICE", "cpu")
    run("fgw_directions.py", "MUTAG", "--graphs", 6, "--alpha", 0.5, "--output", tmp_path / "record.json")
    (row,) = json.loads((tmp_path / "record.json").read_text())["rows"]
    assert row["least"] <= row["mean"] <= row["largest"]
    assert row["correlation"] > 0.9


def test_network_protocol(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="networks need PyTorch")
    given = ("--networks", "PATCHY-SAN", "--epochs", 2, "--output", tmp_path / "record.json")
    earlier = [{"network": "GIN", "dataset": "MUTAG"}, {"network": "PATCHY-SAN", "dataset": "MUTAG"}]
    (tmp_path / "record.json").write_text(json.dumps({"rows": earlier}))
    run("network_protocol.py", "MUTAG", *given)
    kept, row = json.loads((tmp_path / "record.json").read_text())["rows"]
    assert kept == earlier[0]  # what is not run again stays
    assert row["last_epoch"]["mean"] <= row["on_test_folds"]["mean"]
    assert (row["network"], row["dataset"], row["epochs"]) == ("PATCHY-SAN", "MUTAG", 2)
    assert row["on_test_folds"]["epoch"] in (1, 2)
    assert 0 < row["ours"]["mean"] <= 100


def test_neighbours(tmp_path: Path) -> None:
    run("neighbours.py", "MUTAG", "--graphs", 40, "--queries", 3, "-k", 2, "--output", tmp_path / "record.json")
    rows = json.loads((tmp_path / "record.json").read_text())["rows"]
    assert [row["max_share"] for row in rows] == [None, 0.1, 0.05, 0.02]
    assert rows[0]["recall"] == 1.0  # without a limit the bounds must not exclude a true neighbour
    assert all(0 < row["share_solved"] <= 1 for row in rows)


def test_atom_maps(tmp_path: Path) -> None:
    pytest.importorskip("rdkit", reason="molecules need the extra 'molecules'")
    from rdkit.Chem import MolFromSmiles
    from rdkit.Chem.rdChemReactions import ReactionFromSmarts

    ((joined,),) = ReactionFromSmarts("[C:1].[O:2]>>[C:1][O:2]").RunReactants(list(map(MolFromSmiles, ("C", "O"))))
    if not joined.GetAtomWithIdx(0).HasProp("react_idx"):
        pytest.skip("this RDKit does not say which reactant an atom comes from")
    run("atom_maps.py", "--output", tmp_path / "record.json")
    kinds = json.loads((tmp_path / "record.json").read_text())["kinds"]
    assert sum(row["reactions"] for row in kinds.values()) >= 50
    assert kinds["amide"]["whole"] >= 0.9 * kinds["amide"]["reactions"]
    assert sum(row["right"] for row in kinds.values()) >= 0.9 * sum(row["atoms"] for row in kinds.values())


def test_substructures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("rdkit", reason="molecules need the extra 'molecules'")
    data = Path(os.environ.get("RWK_DATA") or ROOT.parent / "shared" / "datasets")
    if not any((data / place / "Lipophilicity.csv").exists() for place in ("", "molecules")):
        pytest.skip(f"Lipophilicity.csv is not in {data}; it is not part of the project")
    monkeypatch.setenv("RWK_DATA", str(data))
    run("substructures.py", "--molecules", 15, "--pairs", 4, "--output", tmp_path / "record.json")
    record = json.loads((tmp_path / "record.json").read_text())
    patterns = record["find"]["patterns"].values()
    assert all(row["exact"] == row["holding"] for row in patterns)
    assert record["find"]["mean_average_precision"] >= 0.95
    assert record["common"]["all"]["overlap"] >= 0.85


def test_averages(tmp_path: Path) -> None:
    """The stored record says how often the floors are reached; a mixture that is easy to take apart is taken apart."""
    record = json.loads((ROOT / "results" / "averages.json").read_text())
    ours = [f1 for row in record["averages"] if row["method"] == "rwk.barycenter" for f1 in row["f1"]]
    assert len(ours) == 36
    assert sum(f1 >= 0.9 for f1 in ours) >= 35
    run("averages.py", "--parts", "mixtures", "--mixtures", "shapes", "--seeds", 1, 1, "--output", tmp_path / "a.json")
    found = {row["method"]: row["ari"] for row in json.loads((tmp_path / "a.json").read_text())["mixtures"]}
    assert min(found["RWKMedoids"] + found["RWKMeans"]) >= 0.9


def test_matching(tmp_path: Path) -> None:
    pytest.importorskip("ot", reason="POT is in the extra 'baselines'")
    record = tmp_path / "record.jsonl"
    options = ("--sizes", 10, "--families", "blocks", "--seeds", 1, "--methods", "rwk.match", "SciPy FAQ")
    run("matching.py", *options, "--output", record)
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert len(lines) == 1 + 16
    rows = [row for line in lines[1:] for row in line["methods"].values()]
    assert len(rows) == 16 * 2
    assert all(0 <= recovered <= up_to_symmetry <= 1 for recovered, up_to_symmetry, _, _ in rows)
    assert run("matching.py", *options, "--output", record) == ""  # what is in the record is not computed again


def test_starts(tmp_path: Path) -> None:
    """More starts that go on find values that are no worse, here and in the stored record."""
    run("starts.py", "--sizes", 12, "--seeds", 1, "--output", tmp_path / "record.json")
    for place in (tmp_path / "record.json", ROOT / "results" / "starts.json"):
        for size in json.loads(place.read_text())["sizes"]:
            values = [size["starts"][kind]["value"] for kind in ("1", "2", "10", "10, all go on")]
            assert values == sorted(values, reverse=True)


def test_again(tmp_path: Path) -> None:
    """Cells of another commit are computed again if asked; the header then has both."""
    record = tmp_path / "record.jsonl"
    options = ("--sizes", 10, "--families", "blocks", "--seeds", 1, "--methods", "rwk.match, quick", "--output", record)
    run("matching.py", *options)
    header, *lines = [json.loads(line) for line in record.read_text().splitlines()]
    header["made_with"]["commit"] = "another"
    for line in lines[3:]:
        line["commit"] = "another"
    record.write_text("\n".join(map(json.dumps, [header, *lines])) + "\n")
    assert run("matching.py", *options) == ""
    assert len(run("matching.py", "--again", *options).splitlines()) == 13
    again = [json.loads(line) for line in record.read_text().splitlines()]
    assert len(again) == 17
    assert len(again[0]["went_on_with"]) == 1
    assert len({line["commit"] for line in again[1:]}) == 1


def test_later_states(tmp_path: Path) -> None:
    """What is stored is found again: everybody of the karate club, up to members with the same ties."""
    pytest.importorskip("ot", reason="POT is in the extra 'baselines'")
    run("later_states.py", "--output", tmp_path / "record.json")
    places = tmp_path / "record.json", ROOT / "results" / "later-states.json"
    found, stored = (json.loads(place.read_text())["networks"] for place in places)
    assert {name: one["sizes"] for name, one in found.items()} == {name: one["sizes"] for name, one in stored.items()}
    networks = found.values()
    assert all(0 <= row["right"] <= row["alike"] <= 1 for one in networks for row in one["methods"].values())
    assert next(iter(networks))["methods"]["rwk.match"]["alike"] == 1.0


@pytest.mark.gpu
@pytest.mark.skipif(not device_present(), reason="there is no GPU here")
def test_matching_gpu(tmp_path: Path) -> None:
    run("matching_gpu.py", "--sizes", 20, "--graphs", 10, "--sample", 20, "--output", tmp_path / "record.json")
    record = json.loads((tmp_path / "record.json").read_text())
    assert all(part["largest_difference"] < 1e-6 for part in record["starts"] + record["mass"])


def test_point_clouds(tmp_path: Path) -> None:
    pytest.importorskip("ot", reason="POT is in the extra 'baselines'")
    run("point_clouds.py", "--clouds", 3, "--pot-pairs", 2, "--output", tmp_path / "record.json")
    record = json.loads((tmp_path / "record.json").read_text())
    assert record["solvers"]["rwk"]["n_pairs"] == 3
    assert all(row["pairs_per_second"] > 0 for row in record["solvers"].values())
    assert 0.5 < record["solvers"]["rwk"]["value_by_pot"]["median"] < 2.0


def test_workers(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="Dask is in the extra 'distributed'")
    run("workers.py", "MUTAG", "--graphs", 30, "--repeats", 1, "--output", tmp_path / "record.json")
    record = json.loads((tmp_path / "record.json").read_text())
    assert record["n_pairs"] == 30 * 31 // 2
    assert set(record["speedup"]) == {"1", "2"}


def test_molecule_gram(tmp_path: Path) -> None:
    for more, graphs in (("--sample=8", 8), ("--graphs=40", 40)):
        run("molecule_gram.py", "--graphs=60", more, "--output", tmp_path / "record.json")
        record = json.loads((tmp_path / "record.json").read_text())
        assert record["pairs"] == graphs * (graphs + 1) // 2
        assert 15 < record["nodes on average"] < 30
        assert ("estimated minutes of all, two cores" in record) == (graphs == 8)


def test_middle_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both bodies solve all pairs of the graphs that are not among the largest."""
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    import middle_sizes

    from rwk import Graph, GraphSet

    paths = [Graph(n, np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)) for n in range(111, 135)]
    monkeypatch.setattr(middle_sizes, "load_dataset", lambda name: GraphSet.from_graphs(paths))
    record = middle_sizes.compare(3, 1, "float64")
    assert record["nodes on average"] < 115
    assert record["pairs"] == 6
    assert record["largest relative difference"] < 1e-9


def test_landmarks(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the plot needs the extra 'plot'")
    record = tmp_path / "record.json"
    run(
        "landmarks.py",
        "MUTAG",
        "--graphs",
        60,
        "--landmarks",
        5,
        10,
        "--treatments",
        "clip",
        "--jobs",
        1,
        "--output",
        record,
    )
    curve = json.loads(record.read_text())["curve"]
    assert [row["n_landmarks"] for row in curve] == [0, 5, 10, 5, 10, 5, 10]
    assert curve[2]["share_of_solves"] == pytest.approx(60 * 10 / (60 * 61 / 2), abs=1e-4)
    assert "majority class" in record.with_suffix(".md").read_text()
    run("landmarks.py", "MUTAG", "--output", record, "--plot", tmp_path / "curve.png")
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")


def test_scaling(tmp_path: Path) -> None:
    """Rates are read from the records that they come from, and rows are computed from rates alone."""
    pytest.importorskip("zarr", reason="stores are in the extra 'distributed'")
    record = tmp_path / "record.json"
    run("scaling.py", "MUTAG", "--repeats", 1, "--stored", 20, "--output", record)
    found = json.loads(record.read_text())
    assert found["rates"]["gpu"]["classes"]["32 x 32"] == pytest.approx(4.19e6)
    whole = next(row for row in found["rows"] if row["path"] == "full Gram" and row["n_graphs"] == 100_000)
    assert whole["pairs"] == 5_000_050_000
    assert whole["core_hours"] == pytest.approx(5_000_050_000 / found["rates"]["cpu"]["best"] / 3600)
    assert "| 1,000,000 | full Gram" in record.with_suffix(".md").read_text()


def test_the_stored_scaling_is_what_its_rates_give() -> None:
    """The record in the repository, computed again from the rates in it."""
    sys.path.insert(0, str(ROOT / "benchmarks"))
    try:
        from scaling import calculate, gpu_rate, table
    finally:
        sys.path.pop(0)
    record = json.loads((ROOT / "results" / "scaling.json").read_text())
    assert calculate(record["rates"], 200) == record["rows"]
    assert (ROOT / "results" / "scaling.md").read_text() == table(record) + "\n"
    assert gpu_rate.__defaults__[0].name == Path(record["rates"]["gpu"]["record"]).name


def test_float32_agrees_on_every_pair() -> None:
    from rwk.bench.float32_errors import agreement

    found = agreement("MUTAG")
    assert found["pairs"] == 188 * 189 // 2
    assert found["not finite"] == 0
    assert found["largest relative difference"] < 1e-4
