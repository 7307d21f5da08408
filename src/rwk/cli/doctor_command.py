"""`rwk doctor`: what is installed here, which extras work, what is missing, and where files are kept."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final, NamedTuple

from rwk.cli.screen import console, errors, figures_of, say
from rwk.runtime.threads import thread_count
from rwk.runtime.words import size


class Finding(NamedTuple):
    """One line of the answer: what was looked at, what was found, and advice (empty if there is nothing to do)."""

    what: str
    found: str
    advice: str = ""


# extra -> what each of its packages is for, and what the extra is for
EXTRAS: Final[dict[str, tuple[dict[str, str], str]]] = {
    "plot": ({"matplotlib": "pictures"}, "pictures and reports"),
    "molecules": ({"rdkit": "SMILES, SDF files, layouts of molecules"}, "molecules"),
    "parquet": ({"pyarrow": "parquet files"}, "parquet tables"),
    "gpu": ({"torch": "the GPU backend"}, "the GPU backend"),
    "distributed": (
        {
            "zarr": "stores",
            "fsspec": "stores at an address",
            "dask": "clusters",
            "distributed": "clusters",
        },
        "stores on disk, processes and clusters",
    ),
    "baselines": (
        {
            "POT": "the exact direction, certificates",
            "grakel": "a copy of MUTAG, checks against GraKeL",
            "torch": "neural baselines",
            "torch_geometric": "graphs of PyG",
        },
        "the exact direction, and methods to compare with",
    ),
    "explore": (
        {"dash": "the page", "dash-cytoscape": "graphs on the page", "flask": "its server", "werkzeug": "its server"},
        "the page of `rwk explore`",
    ),
}
_MODULES: Final = {"POT": "ot", "dash-cytoscape": "dash_cytoscape"}  # imported by another name than installed by
PATIENCE: Final = 120.0  # seconds that an import may take


def doctor() -> None:
    """Print versions, threads, GPU and caches, which extras work, and how to install what is missing."""
    with errors.status("importing the packages of the extras to see which work"):
        found = findings()
    console.print(figures_of("rwk on this machine", {finding.what: finding.found for finding in found}))
    for finding in found:
        if finding.advice:
            say(f"{finding.what}: {finding.advice}")


def findings(extras: Iterable[str] = EXTRAS) -> list[Finding]:
    """What there is to say about this installation; the packages of extras are imported in processes of their own.

    >>> [finding.found for finding in findings(["plot"]) if finding.what == "rwk"] == [installed("rwk")]
    True
    """
    extras = list(extras)
    core = ["rwk", "numpy", "scipy", "scikit-learn", "numba", "networkx"]
    found = [Finding("python", platform.python_version())]
    found += [Finding(name, installed(name) or "missing") for name in core]
    found += [_threads(), _gpu(), _data(), *_caches()]
    broken = import_errors({name for extra in extras for name in EXTRAS[extra][0] if installed(name)})
    return found + [_extra(extra, broken) for extra in extras]


def _extra(extra: str, broken: dict[str, str]) -> Finding:
    """What of an extra works and what is missing; `broken` has the packages that can't be imported, with the error."""
    from rwk.runtime.backends import device_present

    packages, purpose = EXTRAS[extra]
    present = {name: installed(name) for name in packages}
    missing = [name for name in packages if not present[name]]
    bad = [name for name in packages if name in broken]
    good = [f"{name} {present[name]} ({packages[name]})" for name in packages if name not in (*missing, *bad)]
    parts = {
        "works": good,
        "missing": [f"{name} ({packages[name]})" for name in missing],
        "installed, but can't be imported": [f"{name} ({broken[name]})" for name in bad],
    }
    if extra == "gpu" and good and not device_present():
        parts = {"installed, but there is no GPU to use": good}
    advice = f"pip install 'rwk[{extra}]' adds {', '.join(missing)}: {purpose}" if missing else ""
    if bad and not missing:
        advice = f"pip install --force-reinstall {' '.join(bad)} may mend what can't be imported"
    return Finding(
        f"extra {extra}", "\n".join(f"{what}: {', '.join(some)}" for what, some in parts.items() if some), advice
    )


def import_errors(packages: Iterable[str]) -> dict[str, str]:
    """The packages that can't be imported, with the last line of the error; each is tried in a process of its own.

    >>> import_errors(["numpy"])
    {}
    """

    def error_of(package: str) -> str:
        try:
            done = subprocess.run(
                [sys.executable, "-c", f"import {_MODULES.get(package, package)}"],
                capture_output=True,
                text=True,
                timeout=PATIENCE,
            )
        except subprocess.TimeoutExpired:
            return f"the import took more than {PATIENCE:.0f} s"
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return lines[-1] if done.returncode else ""

    names = sorted(packages)
    with ThreadPoolExecutor(max_workers=thread_count(None)) as pool:
        return {name: error for name, error in zip(names, pool.map(error_of, names), strict=True) if error}


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
