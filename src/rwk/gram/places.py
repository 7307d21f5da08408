"""Where a store is kept: a folder of this machine, or any address that fsspec opens (s3://, gs://, memory:// ...).

Small files are written under a temporary name and renamed, so a file is never half written; `create` succeeds only in
the first of several processes.
"""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from pathlib import Path
from typing import Any, Final, Protocol

from rwk.gram.errors import GramError, need, storage_errors
from rwk.runtime.files import user_path

OLD: Final = 3600.0  # seconds after which a half-written file is taken to be abandoned


class Place(Protocol):
    """A folder of files, local or remote."""

    name: str

    def read(self, key: str) -> bytes: ...

    def write(self, key: str, content: bytes) -> None: ...

    def create(self, key: str, content: bytes) -> bool:
        """Write a new file; returns False, and writes nothing, if it exists."""

    def exists(self, key: str) -> bool: ...

    def names(self, folder: str = "") -> set[str]:
        """Names inside a folder; an empty set if there is no such folder."""

    def remove(self, folder: str) -> None: ...

    def sweep(self, folder: str) -> None:
        """Remove abandoned half-written files."""

    def zarr_store(self) -> Any: ...


def place_at(where: str | os.PathLike[str] | Place) -> Place:
    """The place that a user means by a path or URL.

    >>> place_at("matrices/nci1").name
    'matrices/nci1'
    """
    if not isinstance(where, str | os.PathLike):
        return where
    text = os.fspath(where)
    if not text.strip():
        raise GramError("the store has no name; give a folder or an address")
    if text.startswith("file://"):
        return LocalPlace(text.removeprefix("file://"))
    return RemotePlace(text) if "://" in text or "::" in text else LocalPlace(text)


class LocalPlace:
    """A folder of this machine, or of a network file system."""

    def __init__(self, path: str) -> None:
        self.name = path
        self._root = user_path(path)

    def read(self, key: str) -> bytes:
        with storage_errors(self.name):
            try:
                return (self._root / key).read_bytes()
            except FileNotFoundError as error:
                raise KeyError(key) from error

    def write(self, key: str, content: bytes) -> None:
        with storage_errors(self.name):
            beside = self._beside(key, content)
            os.replace(beside, self._root / key)

    def create(self, key: str, content: bytes) -> bool:
        with storage_errors(self.name):
            beside = self._beside(key, content)
            try:
                os.link(beside, self._root / key)  # unlike a rename, it fails if the name is taken
            except FileExistsError:
                return False
            finally:
                beside.unlink(missing_ok=True)
            return True

    def exists(self, key: str) -> bool:
        return (self._root / key).exists()

    def names(self, folder: str = "") -> set[str]:
        with storage_errors(self.name):
            try:
                return set(os.listdir(self._root / folder))
            except FileNotFoundError:
                return set()

    def remove(self, folder: str) -> None:
        import shutil

        shutil.rmtree(self._root / folder, ignore_errors=True)

    def sweep(self, folder: str) -> None:
        for partial in (self._root / folder).glob("*.partial"):
            with contextlib.suppress(OSError):
                if time.time() - partial.stat().st_mtime > OLD:
                    partial.unlink()

    def zarr_store(self) -> Any:
        return need("zarr.storage", "a store").LocalStore(self._root)

    def _beside(self, key: str, content: bytes) -> Path:
        final = self._root / key
        final.parent.mkdir(parents=True, exist_ok=True)
        beside = final.with_name(f"{final.name}.{uuid.uuid4().hex}.partial")
        try:
            beside.write_bytes(content)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise
        return beside


class RemotePlace:
    """A place that fsspec opens; most are object stores, which write whole objects anyway."""

    def __init__(self, url: str) -> None:
        self.name = url
        core = need("fsspec.core", f"the store {url}")
        try:
            self._fs, self._root = core.url_to_fs(url)
        except (ValueError, ImportError) as error:
            raise GramError(f"{url} can't be opened by fsspec ({error}); check the address") from error

    def read(self, key: str) -> bytes:
        with storage_errors(self.name):
            try:
                return bytes(self._fs.cat_file(self._path(key)))
            except FileNotFoundError as error:
                raise KeyError(key) from error

    def write(self, key: str, content: bytes) -> None:
        beside = self._path(f"{key}.{uuid.uuid4().hex}.partial")
        with storage_errors(self.name):
            self._fs.makedirs(self._fs._parent(beside), exist_ok=True)
            self._fs.pipe_file(beside, content)
            self._fs.mv(beside, self._path(key))

    def create(self, key: str, content: bytes) -> bool:
        with storage_errors(self.name):
            self._fs.makedirs(self._fs._parent(self._path(key)), exist_ok=True)
            if self._fs.exists(self._path(key)):
                return False
            try:
                self._fs.pipe_file(self._path(key), content, mode="create")
            except FileExistsError:
                return False
            return True

    def exists(self, key: str) -> bool:
        self._fs.invalidate_cache()
        return bool(self._fs.exists(self._path(key)))

    def names(self, folder: str = "") -> set[str]:
        with storage_errors(self.name):
            self._fs.invalidate_cache()
            try:
                names = self._fs.ls(self._path(folder), detail=False)
            except FileNotFoundError:
                return set()
        return {str(name).rstrip("/").rsplit("/", 1)[-1] for name in names}

    def remove(self, folder: str) -> None:
        if self._fs.exists(self._path(folder)):
            self._fs.rm(self._path(folder), recursive=True)

    def sweep(self, folder: str) -> None:
        """Do nothing, since objects are written whole."""

    def zarr_store(self) -> Any:
        return need("zarr.storage", "a store").FsspecStore.from_url(self.name)

    def _path(self, key: str) -> str:
        return f"{self._root}/{key}".rstrip("/")
