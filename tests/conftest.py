"""Before any test: machine code on disk that was compiled from other sources is thrown away.

Numba looks at the file a function stands in, not at the files of the functions it calls, so after an edit of, say,
sinkhorn.py the solver in cpu.py would be loaded as it was.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import rwk

SOURCES = Path(rwk.__file__).parent


def pytest_configure() -> None:
    if os.environ.get("PYTEST_XDIST_WORKER"):
        return  # the process that starts the workers has done it
    code = hashlib.blake2b(digest_size=16)
    for source in sorted(SOURCES.rglob("*.py")):
        if "compiled" in (text := source.read_text()):
            code.update(text.encode())
    place = Path(os.environ.get("NUMBA_CACHE_DIR") or SOURCES / "transport" / "__pycache__")
    stamp = place / "compiled-from"
    if stamp.exists() and stamp.read_text() == code.hexdigest():
        return
    for folder in (place, *SOURCES.rglob("__pycache__")):
        for file in folder.rglob("*.nb[ic]"):
            file.unlink(missing_ok=True)
    place.mkdir(parents=True, exist_ok=True)
    stamp.write_text(code.hexdigest())
