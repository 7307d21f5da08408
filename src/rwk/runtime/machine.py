"""What a figure was made with: versions of the software, the commit, the processor and the command."""

from __future__ import annotations

import functools
import os
import platform
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

from rwk import __version__
from rwk.runtime.threads import thread_count

LIBRARIES: Final = ("numpy", "scipy", "scikit-learn", "numba")
_PACKAGE: Final = Path(__file__).resolve().parent.parent


def versions(solver: object, *, backend: str = "cpu") -> dict[str, str]:
    """Versions of everything that values depend on.

    Parameters
    ----------
    solver
        Version of the solver, `SOLVER_VERSION` of `rwk.transport.problem`; this module lies below it.
    backend
        With "gpu", PyTorch and the device are named too.

    Returns
    -------
    dict of str
        `rwk`, `solver`, `commit` (empty unless rwk runs from a checkout), `python`, the libraries, `platform`, `cpu`.

    Examples
    --------
    >>> found = versions(1)
    >>> found["solver"], found["python"] == platform.python_version()
    ('1', True)
    """
    found = {"rwk": __version__, "solver": str(solver), "commit": commit(), "python": platform.python_version()}
    found |= {name: _installed(name) for name in LIBRARIES}
    if backend == "gpu":
        import torch

        from rwk.runtime.device import device_name

        found |= {"torch": str(torch.__version__), "device": device_name()}
    return {**found, "platform": f"{platform.system()} {platform.machine()}", "cpu": cpu_name()}


def machine_record(solver: object) -> dict[str, Any]:
    """`versions`, the number of usable cores and the command: what is stored beside a figure.

    Of absolute paths in the command only the last part is kept: folders of one computer mean nothing on another.
    """
    named = (Path(given).name if Path(given).is_absolute() else given for given in sys.argv[1:])
    command = [Path(sys.argv[0]).name.replace("__main__.py", "rwk"), *named]
    return {**versions(solver), "cores": thread_count(None), "command": " ".join(command)}


@functools.cache
def commit() -> str:
    """The git commit that rwk runs from, with "+changes" if its sources were edited since; empty if installed.

    A copy of the sources without git (in a container, say) can be told by the environment variable RWK_COMMIT.
    """
    root = _PACKAGE.parent.parent
    if _PACKAGE.parent.name != "src" or not (root / ".git").exists():
        return os.environ.get("RWK_COMMIT", "")
    head = _git(root, "rev-parse", "--short=12", "HEAD")
    return f"{head}+changes" if head and _git(root, "status", "--porcelain", "--", "src/rwk") else head


@functools.cache
def cpu_name() -> str:
    """The model of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def busy_share(seconds: float = 1.0) -> float:
    """The share of all processor time that other programs use, over a moment in which this one sleeps.

    Where the system does not tell, it is the load of the last minute per core.

    >>> 0.0 <= busy_share(0.1) <= 1.0
    True
    """
    before = _processor_times()
    if before is None:
        return min(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)) if hasattr(os, "getloadavg") else 0.0
    time.sleep(seconds)
    idle, total = (after - then for after, then in zip(_processor_times() or before, before, strict=True))
    return 1.0 - min(1.0, idle / total) if total > 0 else 0.0


def _processor_times() -> tuple[int, int] | None:
    """Idle and total time of all cores since the system was started, in ticks; None if it can't be read."""
    try:
        ticks = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    except (OSError, ValueError, IndexError):
        return None
    return ticks[3] + ticks[4], sum(ticks)  # idle, and waiting for a disk


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _git(root: Path, *arguments: str) -> str:
    """What git answers; nothing if it is not installed or can't read the checkout."""
    outside = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", "-C", str(root), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, env=outside)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
