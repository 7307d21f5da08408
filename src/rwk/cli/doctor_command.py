"""`rwk doctor`: what is installed here, what each extra would add, and where files are kept."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, NamedTuple

from rwk.cli.screen import console, figures_of, say
from rwk.runtime.threads import thread_count
from rwk.runtime.words import size


class Finding(NamedTuple):
    """One line of the answer: what was looked at, what was found, and advice (empty if there is nothing to do)."""

    what: str
    found: str
    advice: str = ""


# extra -> packages it brings, and what for
EXTRAS: Final[dict[str, tuple[tuple[str, ...], str]]] = {
    "plot": (("matplotlib",), "pictures and reports"),
    "molecules": (("rdkit",), "SMILES and molecule layouts"),
    "parquet": (("pyarrow",), "parquet tables"),
    "gpu": (("torch",), "the GPU backend"),
    "distributed": (("zarr", "fsspec", "joblib", "dask", "distributed"), "stores on disk, processes and clusters"),
    "baselines": (("POT", "grakel", "torch", "torch_geometric"), "the exact direction, and methods to compare with"),
    "explore": (("dash", "dash-cytoscape"), "the page of `rwk explore`"),
}


def doctor() -> None:
    """Print versions, threads, GPU and caches, and what each extra would add."""
    found = findings()
    console.print(figures_of("rwk on this machine", {finding.what: finding.found for finding in found}))
    for finding in found:
        if finding.advice:
            say(f"{finding.what}: {finding.advice}")


def findings() -> list[Finding]:
    """What there is to say about this installation; nothing heavy is imported.

    >>> [finding.found for finding in findings() if finding.what == "rwk"] == [installed("rwk")]
    True
    """
    core = ["rwk", "numpy", "scipy", "scikit-learn", "numba", "networkx"]
    found = [Finding("python", platform.python_version())]
    found += [Finding(name, installed(name) or "missing") for name in core]
    found += [_threads(), _gpu(), _data(), *_caches()]
    for extra, (packages, purpose) in EXTRAS.items():
        present = {name: installed(name) for name in packages}
        missing = [name for name, number in present.items() if not number]
        versions = ", ".join(f"{name} {number}" for name, number in present.items() if number) or "not installed"
        advice = f"pip install 'rwk[{extra}]' adds {', '.join(missing)}: {purpose}" if missing else ""
        found.append(Finding(f"extra {extra}", f"{purpose}: {versions}", advice))
    return found


def installed(package: str) -> str:
    """The version of a package; an empty string if it is not installed.

    >>> installed("no-such-package")
    ''
    """
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _threads() -> Finding:
    usable = thread_count(None)
    limits = [f"{name}={os.environ[name]}" for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS") if name in os.environ]
    found = f"{usable} of {os.cpu_count()} cores usable" + (f"; {', '.join(limits)}" if limits else "")
    return Finding("threads", found)


def _gpu() -> Finding:
    from rwk.runtime.backends import device_present

    driver = Path("/proc/driver/nvidia/version").exists()
    if not driver:
        return Finding("gpu", "none (no NVIDIA driver); the CPU is used")
    if device_present():
        import torch

        return Finding("gpu", torch.cuda.get_device_name())
    return Finding("gpu", "an NVIDIA driver, but no PyTorch that can use it", "pip install 'rwk[gpu]'")


def _data() -> Finding:
    place = os.environ.get("RWK_DATA")
    if not place:
        return Finding("$RWK_DATA", "not set; datasets are looked for in the cache, then downloaded")
    there = Path(place).expanduser().is_dir()
    return Finding("$RWK_DATA", place, "" if there else "this is not a folder; correct or unset it")


def _caches() -> list[Finding]:
    from rwk.datasets.parsed_cache import cache_folder

    compiled = os.environ.get("NUMBA_CACHE_DIR", "beside the package, in __pycache__")
    return [_folder("cache of datasets", cache_folder()), Finding("compiled code", compiled)]


def _folder(what: str, path: Path) -> Finding:
    if not path.exists():
        return Finding(what, f"{path} (empty)")
    used = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    advice = "" if os.access(path, os.W_OK) else "this folder can't be written to; set $RWK_CACHE"
    return Finding(what, f"{path}, {size(used)}", advice)
