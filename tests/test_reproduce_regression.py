"""`rwk reproduce regression`: splits, scores, records that are resumed, and tables."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import norm

pytest.importorskip("rdkit")

from rwk.baselines.gauche_process import has_gauche
from rwk.convert.fingerprints import fingerprint_counts, scaffolds
from rwk.datasets import molecule_sets
from rwk.datasets.molecule_sets import TABLES, table_checksum
from rwk.experiment import regression
from rwk.experiment.regression import (
    RegressionOptions,
    known_method,
    read_scores,
    regression_scores,
    reproduce_regression,
    usual_methods,
)
from rwk.experiment.regression_methods import REGRESSION_METHODS
from rwk.experiment.regression_splits import CHOOSING_SEEDS, random_split, scaffold_split
from rwk.learn.count_kernels import min_max_kernel, tanimoto_kernel
from rwk.learn.exact_gp import Prediction
from rwk.learn.term_sources import fingerprint_blocks

SMILES = [tail + "C" * n for n in range(1, 9) for tail in ("", "O", "c1ccccc1")]


@pytest.fixture
def options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RegressionOptions:
    """A small table that counts as FreeSolv."""
    data = tmp_path / "data"
    data.mkdir()
    lines = [f"{smiles},{len(smiles) - 6.0 * smiles.startswith('O')}" for smiles in SMILES]
    text = "smiles,expt\n" + "\n".join(lines)
    (data / "FreeSolv.csv").write_text(text)
    table = molecule_sets._parsed(text, "FreeSolv", "here")
    monkeypatch.setitem(TABLES, "FreeSolv", TABLES["FreeSolv"]._replace(checksum=table_checksum(table)))
    return RegressionOptions(tmp_path / "results", tmp_path / "matrices", data, repeats=2, backend="cpu", n_jobs=1)


def test_splits_are_disjoint_and_whole() -> None:
    for split in (random_split(50, 3), scaffold_split(list("aabbbcddddefgaa") * 3)):
        assert sorted([*split.train, *split.test]) == list(range(len(split.train) + len(split.test)))
        assert len(split.test) >= 0.15 * (len(split.train) + len(split.test))
    assert not np.array_equal(random_split(50, 3).test, random_split(50, 4).test)


def test_no_scaffold_is_on_both_sides() -> None:
    groups = list("aabbbcddddefgaa") * 3
    split = scaffold_split(groups)
    assert not {groups[i] for i in split.train} & {groups[i] for i in split.test}


def test_settings_are_not_chosen_on_reported_splits() -> None:
    assert min(CHOOSING_SEEDS) >= max(regression.USUAL_REPEATS, *regression.REPEATS.values())


def test_scores_are_those_of_the_definition() -> None:
    draw = np.random.default_rng(0)
    targets, mean, std = draw.normal(size=(3, 200))
    std = np.abs(std) + 0.5
    scores = regression_scores(targets, Prediction(mean, std**2))
    assert scores["nlpd"] == pytest.approx(-norm(mean, std).logpdf(targets).mean(), abs=1e-5)
    low, high = norm(mean, std).interval(0.95)
    assert scores["coverage"] == pytest.approx(((low <= targets) & (targets <= high)).mean())
    assert scores["rmse"] == pytest.approx(np.sqrt(((mean - targets) ** 2).mean()), abs=1e-5)


def test_a_run_is_resumed_and_its_table_comes_from_records(options: RegressionOptions, monkeypatch) -> None:
    monkeypatch.setattr(regression, "TREES", 20)
    methods = ["RW", "FP", "WL", "RF"]
    table = reproduce_regression(["FreeSolv"], methods, options)
    assert table.count("| 2 |") == len(methods)
    records = read_scores(options.record_file("FreeSolv", "RW"))
    assert [(line["split"], line["seed"]) for line in records] == [("random", 0), ("random", 1), ("scaffold", 0)]
    terms = {"atoms", "attributes", "colours", "product", "composition", "edge-kinds", "overlap"}
    assert terms > set(records[0]["chosen"]["weights"]) > set()  # small ones are left out of records
    assert not set(records[0]["chosen"]["eta"]) & {"composition", "edge-kinds", "overlap"}  # these are kernels already
    fingerprints = read_scores(options.record_file("FreeSolv", "FP"))
    assert all(set() < set(line["chosen"]["weights"]) <= {"morgan", "fragments", "constant"} for line in fingerprints)
    assert not any(line["chosen"]["eta"] for line in fingerprints)
    monkeypatch.setattr(regression, "_process", lambda *given: pytest.fail("a split was run again"))
    assert reproduce_regression(["FreeSolv"], methods[:3], options) == table.rsplit("\n", 1)[0]


def test_packed_molecules_give_the_same_records(options: RegressionOptions, monkeypatch) -> None:
    """benchmarks/regression_packed.py: without RDKit, from files that hold graphs, fingerprints and scaffolds."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent.parent / "benchmarks"))
    import regression_packed

    folder = options.folder.parent / "packed"
    regression_packed.pack(folder, ["FreeSolv"], options.data)
    other = RegressionOptions(options.folder.parent / "other", options.folder.parent / "m", folder, 1, "cpu", 1)
    for method in ("RW+FP", "FP-Morgan"):
        reproduce_regression(["FreeSolv"], [method], RegressionOptions(**{**vars(options), "repeats": 1}))
        for key in (("random", 0), ("scaffold", 0)):
            regression_packed.one_split("FreeSolv", method, key, other)
        mine, theirs = (read_scores(one.record_file("FreeSolv", method)) for one in (other, options))
        assert [{**line, "seconds": 0} for line in mine] == [{**line, "seconds": 0} for line in theirs]


def test_a_network_is_run_on_the_same_splits(options: RegressionOptions, monkeypatch) -> None:
    pytest.importorskip("torch", reason="torch is not installed (extra: baselines)")
    from rwk.baselines import neural_regressor

    monkeypatch.setattr("rwk.baselines.neural_regressor.WIDTHS", (8,))
    short = functools.partial(neural_regressor.GINRegressor, epochs=3)  # the splits are the point
    monkeypatch.setattr(neural_regressor, "GINRegressor", short)
    reproduce_regression(["FreeSolv"], ["GIN"], options)
    records = read_scores(options.record_file("FreeSolv", "GIN"))
    assert [(line["split"], line["seed"]) for line in records] == [("random", 0), ("random", 1), ("scaffold", 0)]
    assert records[0]["chosen"]["hidden"] == 8


def test_gauche_is_run_on_the_same_splits(options: RegressionOptions) -> None:
    pytest.importorskip("gauche", reason="GAUCHE is not installed")
    reproduce_regression(["FreeSolv"], ["GAUCHE"], options)
    records = read_scores(options.record_file("FreeSolv", "GAUCHE"))
    assert [(line["split"], line["seed"]) for line in records] == [("random", 0), ("random", 1), ("scaffold", 0)]
    assert records[0]["r2"] > 0.5


@pytest.mark.skipif(has_gauche(), reason="GAUCHE is installed")
def test_without_gauche_the_others_are_run(options: RegressionOptions) -> None:
    assert usual_methods() == list(REGRESSION_METHODS)[:-1]
    with pytest.raises(ImportError, match="GAUCHE is not installed: pip install gauche"):
        reproduce_regression(["FreeSolv"], ["GAUCHE"], options)


def test_matrices_can_be_solved_first(options: RegressionOptions) -> None:
    only = RegressionOptions(**{**vars(options), "solve_only": True})
    assert reproduce_regression(["FreeSolv"], ["RW"], only) == ""
    assert len(list(options.matrices.glob("FreeSolv-*.npz"))) == 4
    assert not options.folder.exists()


def test_an_unknown_method_is_one_sentence() -> None:
    with pytest.raises(ValueError, match="no method 'svr' for regression; the methods are RW, RW\\+FP"):
        known_method("svr")


def test_min_max_is_the_share_that_multisets_have_in_common() -> None:
    counts = np.random.default_rng(0).integers(0, 4, (6, 9)).astype(float)
    expected = [[np.minimum(a, b).sum() / np.maximum(a, b).sum() for b in counts] for a in counts]
    np.testing.assert_allclose(min_max_kernel(counts, counts), expected)


def test_tanimoto_is_what_its_definition_says() -> None:
    counts = np.random.default_rng(0).integers(0, 3, (6, 9)).astype(float)
    counts[5] = 0.0
    expected = [[1.0 if not (a.any() or b.any()) else a @ b / (a @ a + b @ b - a @ b) for b in counts] for a in counts]
    np.testing.assert_allclose(tanimoto_kernel(counts, counts), expected)
    assert np.linalg.eigvalsh(tanimoto_kernel(counts, counts))[0] > 0


def test_morgan_counts_and_functional_groups_are_two_terms() -> None:
    """In one kernel on all counts the many Morgan counts would drown the few groups."""
    both = fingerprint_counts(["CCO", "CC(=O)N", "c1ccccc1"])
    terms = fingerprint_blocks(both, both[:2], "both")
    for kind in ("morgan", "fragments"):
        counts = fingerprint_counts(["CCO", "CC(=O)N", "c1ccccc1"], kind)
        np.testing.assert_allclose(terms[kind].matrix, tanimoto_kernel(counts, counts[:2]))


def test_fingerprints_count_substructures() -> None:
    both = fingerprint_counts(["CCO", "c1ccccc1"])
    assert both.shape == (2, 2048 + 85)
    np.testing.assert_array_equal(both, fingerprint_counts(["OCC", "c1ccccc1"]))
    assert scaffolds(["OCCc1ccccc1"]) == ["c1ccccc1"]
