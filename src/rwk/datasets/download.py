"""Downloads a file, with a progress bar in a terminal."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path

from rwk.runtime.log import LOG
from rwk.runtime.progress import ProgressBar, progress_bar


class _PoochBar:
    """A progress bar as pooch wants it: `total` is set, then `update` is called with the bytes of each piece."""

    def __init__(self, bar: ProgressBar) -> None:
        self.total = 0
        self._bar, self._done = bar, 0

    def update(self, size: int) -> None:
        self._done += size
        if self.total:
            self._bar.show(self._done, self.total, f"{min(self._done, self.total) / 1e6:.1f}/{self.total / 1e6:.1f} MB")

    def reset(self) -> None:
        self._done = 0

    def close(self) -> None:
        pass


def fetch(url: str, folder: Path, name: str) -> Path:
    """Download a file to `folder / name`; the log says from where."""
    import pooch

    LOG.info("downloading %s", url)
    pooch.get_logger().setLevel("ERROR")  # it would print the checksum of the zip, which is not the one we compare
    with ExitStack() as stack:
        bar = None
        if sys.stderr.isatty():
            bar = _PoochBar(stack.enter_context(progress_bar(f"downloading {url.rsplit('/', 1)[-1]}", None)))
        downloader = pooch.HTTPDownloader(progressbar=bar) if bar else None
        return Path(pooch.retrieve(url, known_hash=None, fname=name, path=folder, downloader=downloader))
