"""What is installed here, what each extra would add, and where things are kept."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, NamedTuple


class Finding(NamedTuple):
    """One line: what was looked at, what was found, and what to do about it (empty when nothing)."""

    what: str
    found: str
    advice: str = ""


# extra -> packages it brings, and what for
EXTRAS: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "plot": (("matplotlib",), "pictures and reports"),
    "molecules": (("rdkit",), "SMILES and molecule layouts"),
    "gpu": (("torch",), "the GPU backend"),
    "distributed": (("zarr", "fsspec", "joblib", "dask", "distributed"), "matrices on disk and clusters"),
    "baselines": (("POT", "grakel", "torch", "torch_geometric"), "the exact direction, and methods to compare with"),
    "explore": (("dash", "dash-cytoscape"), "the page to explore a set"),
}


def doctor() -> list[Finding]:
    """Look at versions, threads, GPU, caches and extras; nothing heavy is imported.

    >>> [finding.found for finding in doctor() if finding.what == "rwk"] == [installed("rwk")]
    True
    """
    core = ["rwk", "numpy", "scipy", "scikit-learn", "numba", "networkx"]
    findings = [Finding("python", platform.python_version())]
    findings += [Finding(name, installed(name) or "missing") for name in core]
    findings += [_threads(), _gpu(), _data(), *_caches()]
    for extra, (packages, purpose) in EXTRAS.items():
        present = {name: installed(name) for name in packages}
        missing = [name for name, found in present.items() if not found]
        found = ", ".join(f"{name} {found}" for name, found in present.items() if found) or "not installed"
        advice = f"pip install 'rwk[{extra}]' adds {', '.join(missing)}: {purpose}" if missing else ""
        findings.append(Finding(f"extra {extra}", f"{purpose}: {found}", advice))
    return findings


def installed(package: str) -> str:
    """The version of a package, or nothing.

    >>> installed("no-such-package")
    ''
    """
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _threads() -> Finding:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    limits = [f"{name}={os.environ[name]}" for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS") if name in os.environ]
    found = f"{usable} of {os.cpu_count()} cores usable" + (f"; {', '.join(limits)}" if limits else "")
    return Finding("threads", found)


def _gpu() -> Finding:
    from rwk.runtime.backends import device_present

    driver = Path("/proc/driver/nvidia/version").exists()
    if not driver:
        return Finding("gpu", "no NVIDIA driver; the CPU is used")
    if device_present():
        import torch

        return Finding("gpu", torch.cuda.get_device_name())
    return Finding("gpu", "a driver, but no torch that can use it", "pip install 'rwk[gpu]'")


def _data() -> Finding:
    place = os.environ.get("RWK_DATA")
    if not place:
        return Finding("$RWK_DATA", "not set; sets are looked for in the cache, then downloaded")
    there = Path(place).expanduser().is_dir()
    return Finding("$RWK_DATA", place, "" if there else "it is not a folder; correct or unset it")


def _caches() -> list[Finding]:
    from rwk.datasets.parsed_cache import cache_folder

    compiled = os.environ.get("NUMBA_CACHE_DIR", "beside the package, in __pycache__")
    return [_folder("cache of datasets", cache_folder()), Finding("compiled code", compiled)]


def _folder(what: str, path: Path) -> Finding:
    if not path.exists():
        return Finding(what, f"{path} (empty)")
    size = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    writable = os.access(path, os.W_OK)
    return Finding(what, f"{path}, {size / 2**20:.1f} MB", "" if writable else "it can't be written to; set $RWK_CACHE")
