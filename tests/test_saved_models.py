"""Saved regression models: the same predictions after reading, no pickle, and another version is refused."""

from __future__ import annotations

import json
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from rwk import RWKGaussianProcess, as_graphs
from rwk.learn.saved_models import load_model, save_model
from rwk.runtime.files import load_arrays, write_arrays

SETTING = {"one": {"max_iter": 3, "sinkhorn_iter": 5, "debias": True}}
GRAPHS = as_graphs([nx.path_graph(n) for n in range(2, 9)] + [nx.cycle_graph(n) for n in range(3, 9)])
VALUES = np.array([float(n) for n in range(2, 9)] + [-float(n) for n in range(3, 9)])


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[RWKGaussianProcess, Path]:
    process = RWKGaussianProcess(settings=SETTING).fit(GRAPHS, VALUES)
    return process, save_model(process, tmp_path_factory.mktemp("model") / "model.npz")


def changed(path: Path, target: Path, **entries: object) -> Path:
    arrays = load_arrays(path)
    head = json.loads(str(arrays.pop("head")))
    return write_arrays(target, head=np.array(json.dumps({**head, **entries})), **arrays)


def test_the_same_predictions(saved: tuple[RWKGaussianProcess, Path]) -> None:
    process, path = saved
    again = load_model(path)
    new = [nx.star_graph(4), nx.path_graph(12)]
    for ours, theirs in zip(process.predict(new, return_std=True), again.predict(new, return_std=True), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert again.log_marginal_likelihood() == process.log_marginal_likelihood()


def test_another_version_is_refused(saved: tuple[RWKGaussianProcess, Path], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"was made by version 9\.9 of rwk and this is"):
        load_model(changed(saved[1], tmp_path / "new.npz", version="9.9"))
    with pytest.raises(ValueError, match="was made by solver 0 of rwk"):
        load_model(changed(saved[1], tmp_path / "old.npz", solver=0))


def test_other_files_are_no_models(saved: tuple[RWKGaussianProcess, Path], tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("hello")
    np.savez(tmp_path / "arrays.npz", values=np.ones(3))
    for place in (tmp_path / "text.npz", tmp_path / "arrays.npz"):
        with pytest.raises(ValueError, match="is not a saved regression model"):
            load_model(place)
    with pytest.raises(ValueError, match=r"there is no file .*missing\.npz; make a model with rwk regress"):
        load_model(tmp_path / "missing.npz")


def test_a_damaged_model_is_one_sentence(saved: tuple[RWKGaussianProcess, Path], tmp_path: Path) -> None:
    whole = saved[1].read_bytes()
    for content in (whole[: len(whole) // 2], whole[:-400] + bytes([whole[-400] ^ 255]) + whole[-399:]):
        (tmp_path / "damaged.npz").write_bytes(content)
        with pytest.raises(ValueError, match=r"damaged.npz is damaged, or is not a saved regression model"):
            load_model(tmp_path / "damaged.npz")
    with pytest.raises(ValueError, match="is damaged, or is not a saved"):
        load_model(changed(saved[1], tmp_path / "less.npz", model={}))


def test_molecules_with_fingerprints(tmp_path: Path) -> None:
    pytest.importorskip("rdkit")
    smiles = ["C" * n for n in range(1, 8)] + ["C" * n + "O" for n in range(1, 8)]
    process = RWKGaussianProcess(settings=SETTING, fingerprints="morgan").fit(smiles, np.arange(14.0))
    again = load_model(save_model(process, tmp_path / "model.npz"))
    np.testing.assert_allclose(again.predict(["CCCCN"[:4], "OCCO"]), process.predict(["CCCC", "OCCO"]), rtol=1e-6)


def test_landmarks_are_saved(tmp_path: Path) -> None:
    process = RWKGaussianProcess(settings=SETTING, method="landmarks", n_landmarks=6).fit(GRAPHS, VALUES)
    again = load_model(save_model(process, tmp_path / "model.npz"))
    new = [nx.star_graph(4), nx.path_graph(12)]
    for ours, theirs in zip(process.predict(new, return_std=True), again.predict(new, return_std=True), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert (again.method_, again.n_graphs_) == ("landmarks", len(GRAPHS))
    assert again.log_marginal_likelihood() == process.log_marginal_likelihood()
    np.testing.assert_array_equal(again.landmarks_, process.landmarks_)


def test_features_are_not_saved(tmp_path: Path) -> None:
    process = RWKGaussianProcess(settings=SETTING, method="features", n_landmarks=6).fit(GRAPHS, VALUES)
    with pytest.raises(ValueError, match="method='features' can't be saved"):
        save_model(process, tmp_path / "model.npz")
    assert not list(tmp_path.iterdir())
