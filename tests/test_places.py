"""Places where stores are kept: one contract for folders and for what fsspec opens."""

from __future__ import annotations

import os
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from rwk.gram.errors import GramError
from rwk.gram.places import OLD, LocalPlace, RemotePlace, place_at


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
