"""Places where stores are kept: one contract for folders and for what fsspec opens."""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gram_graphs import QUICK, SMALL, random_graphs
from rwk import compute_gram
from rwk.gram.budget import Workload, parse_memory
from rwk.gram.errors import GramError
from rwk.gram.opening import Request, open_store
from rwk.gram.places import OLD, LocalPlace, RemotePlace, place_at
from rwk.parameters import Parameters


@pytest.fixture(params=["folder", "memory"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    if request.param == "folder":
        return place_at(tmp_path / "one" / "store")
    pytest.importorskip("fsspec", reason="fsspec is not installed (extra: distributed)")
    return place_at(f"memory://{uuid.uuid4().hex}/store")


def test_what_is_written_is_read(place: Any) -> None:
    assert not place.exists("a/b.txt")
    assert place.names() == place.names("a") == set()
    with pytest.raises(KeyError):
        place.read("a/b.txt")
    place.write("a/b.txt", b"one")
    place.write("a/b.txt", b"two")
    place.write("c.txt", b"")
    assert place.read("a/b.txt") == b"two"
    assert place.read("c.txt") == b""
    assert place.exists("a/b.txt")
    assert (place.names(), place.names("a")) == ({"a", "c.txt"}, {"b.txt"})


def test_what_is_created_is_created_once(place: Any) -> None:
    assert place.create("deep/er/manifest.json", b"first") is True
    assert place.create("deep/er/manifest.json", b"second") is False
    assert place.read("deep/er/manifest.json") == b"first"
    assert place.names("deep/er") == {"manifest.json"}


def test_of_two_that_create_at_once_one_succeeds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The other one is created between the look and the write."""
    pytest.importorskip("fsspec", reason="fsspec is not installed (extra: distributed)")
    place: Any = place_at(f"memory://{uuid.uuid4().hex}/store")
    assert place.create("manifest.json", b"first")
    looks, truly = iter([False]), place._fs.exists
    monkeypatch.setattr(place._fs, "exists", lambda path: next(looks, truly(path)))
    assert place.create("manifest.json", b"second") is False
    assert place.read("manifest.json") == b"first"


def test_a_store_keeps_the_measures_of_its_blocks(tmp_path: Path) -> None:
    """They are there when the store is made, and again after one was lost."""
    pytest.importorskip("zarr", reason="zarr is not installed (extra: distributed)")
    graphs = random_graphs(12)
    wanted = compute_gram(graphs, store=tmp_path, memory=SMALL, **QUICK).discrepancy()
    files = sorted(tmp_path.glob("measures-*/*.npz"))
    assert len(files) > 1
    assert len({file.parent for file in files}) == 1
    contents = {file: file.read_bytes() for file in files}
    files[0].unlink()
    for tile in tmp_path.glob("discrepancy-0/0.*"):
        tile.unlink()
    np.testing.assert_array_equal(compute_gram(graphs, store=tmp_path, memory=SMALL, **QUICK).discrepancy(), wanted)
    assert {file: file.read_bytes() for file in files} == contents


def test_a_new_store_has_its_measures_before_a_block_is_asked_for(tmp_path: Path) -> None:
    """A second process that makes the store at the same time uses those of the first, and leaves none of its own."""
    pytest.importorskip("zarr", reason="zarr is not installed (extra: distributed)")
    place: Any = place_at(tmp_path)
    request = Request(random_graphs(12), Parameters.of(QUICK), "cpu", parse_memory(SMALL), Workload(1, 1))
    store = open_store(place, request, "resume", lambda: "cpu")
    kept = place.names(store.segments[0].measures)
    assert kept == {f"{block:06d}.npz" for block in range(store.tiling.n_blocks)}

    class Late(LocalPlace):
        """Looks twice whether there is a store, and both times it is not there yet."""

        looks = 2

        def names(self, folder: str = "") -> set[str]:
            self.looks -= 1
            return super().names(folder) if self.looks < 0 else set()

    open_store(Late(str(tmp_path)), request, "resume", lambda: "cpu")
    assert [name for name in place.names() if name.startswith("measures-")] == [store.segments[0].measures]


def test_a_folder_is_removed_with_all_that_is_in_it(place: Any) -> None:
    place.write("measures/0.npz", b"0")
    place.write("measures/1.npz", b"1")
    place.write("other/1.npz", b"1")
    place.remove("measures")
    place.remove("never there")
    assert place.names("measures") == set()
    assert place.read("other/1.npz") == b"1"


def test_only_old_half_written_files_are_swept(tmp_path: Path) -> None:
    place = place_at(tmp_path)
    for name, age in (("old.partial", OLD + 60), ("young.partial", OLD - 60), ("old.npz", OLD + 60)):
        place.write(name, b"x")
        os.utime(tmp_path / name, (time.time() - age, time.time() - age))
    place.sweep("")
    assert place.names() == {"young.partial", "old.npz"}


def test_an_address_is_told_from_a_folder(tmp_path: Path) -> None:
    assert isinstance(place_at("a/b"), LocalPlace)
    assert isinstance(place_at(f"file://{tmp_path}"), LocalPlace)
    assert place_at(f"file://{tmp_path}").name == str(tmp_path)
    with pytest.raises(GramError, match="the store has no name"):
        place_at("  ")
    pytest.importorskip("fsspec", reason="fsspec is not installed (extra: distributed)")
    assert isinstance(place_at("memory://x"), RemotePlace)
    with pytest.raises(GramError, match="can't be opened by fsspec"):
        place_at("nobody-knows://x")
