"""A campaign: cases are run in a child process, so that a crash of the interpreter or a hang costs one case."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

from fuzz.kinds import KINDS
from fuzz.promise import outcome
from fuzz.shrink import shrunk

ROOT: Final = Path(__file__).resolve().parent.parent
CASES: Final = Path(__file__).resolve().parent / "cases"
PATIENCE: Final = 300.0  # seconds for one case, the compiling of the first one included
MEMORY: Final = 24 * 2**30  # bytes of address space; more is a fault


class Finding(NamedTuple):
    """A case that breaks a promise, and how."""

    kind: str
    number: int
    what: str
    recipe: Any = None


class Tally(NamedTuple):
    """How many cases of one kind had which outcome, and the first finding of each sort."""

    counts: Counter[str]
    findings: dict[str, Finding]


def run_slice(kind: str, numbers: range) -> Tally:
    """Run cases in this process."""
    tally = Tally(Counter(), {})
    for number in numbers:
        _run_one(kind, number, tally)
    return tally


def _run_one(kind: str, number: int, tally: Tally) -> None:
    recipe = KINDS[kind].recipe(kind, number)
    what = outcome(KINDS[kind].runner, recipe)
    tally.counts["broken" if what.startswith("broken") else what] += 1
    if what.startswith("broken") and what not in tally.findings:
        tally.findings[what] = Finding(kind, number, what, recipe)


def small(finding: Finding) -> Finding:
    """The finding with its case made as small as it gets."""
    runner = KINDS[finding.kind].runner
    return finding._replace(recipe=shrunk(finding.recipe, lambda recipe: outcome(runner, recipe) == finding.what))


def written(finding: Finding, folder: Path = CASES) -> Path:
    """Write a finding as a regression case, which `tests/test_fuzz.py` runs; returns the file."""
    folder.mkdir(parents=True, exist_ok=True)
    place = folder / f"{finding.kind}-{finding.number}.json"
    place.write_text(json.dumps({"kind": finding.kind, "was": finding.what, "recipe": finding.recipe}, indent=1) + "\n")
    return place


def child(kind: str, start: int, stop: int, place: Path) -> None:
    """Run cases and write each number before it is run, so that a crash can be told; the tally at the end."""
    _limit_memory()
    tally = Tally(Counter(), {})
    with open(place / "number", "wb", buffering=0) as at:
        for number in range(start, stop):
            at.seek(0)
            at.write(b"%20d" % number)
            _run_one(kind, number, tally)
            if number % 64 == 0 or number == stop - 1:
                _save(tally, number, place)


def _save(tally: Tally, number: int, place: Path) -> None:
    found = {"counts": dict(tally.counts), "until": number + 1}
    found["findings"] = [finding._asdict() for finding in tally.findings.values()]
    beside = place / "tally.new"
    beside.write_text(json.dumps(found))
    beside.replace(place / "tally.json")


def _limit_memory() -> None:
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    except (ImportError, ValueError, OSError):  # not on every system
        return


def run_kind(kind: str, start: int, stop: int, jobs: int = 1) -> Tally:
    """Run cases in child processes, `jobs` at a time, each with numbers of its own in one piece."""
    ends = [start + (stop - start) * i // jobs for i in range(jobs + 1)]
    whole = Tally(Counter(), {})
    with ThreadPoolExecutor(jobs) as threads:
        for part in threads.map(_run_piece, [kind] * jobs, ends[:-1], ends[1:]):
            whole.counts.update(part.counts)
            whole.findings.update({what: found for what, found in part.findings.items() if what not in whole.findings})
    return whole


def _run_piece(kind: str, start: int, stop: int) -> Tally:
    """Run cases one after the other; one that crashed or hung is a finding, and the next child goes on after it."""
    whole = Tally(Counter(), {})
    while start < stop:
        with tempfile.TemporaryDirectory(prefix="rwk-fuzz-") as folder:
            ended, number = _watched(kind, start, stop, Path(folder))
            done = _read(Path(folder))
        whole.counts.update(done["counts"])
        for found in done["findings"]:
            whole.findings.setdefault(found["what"], Finding(**found))
        if not ended:
            return whole
        whole.counts.update({"broken": 1, "uncounted": number - done["until"]})
        recipe = KINDS[kind].recipe(kind, number)
        whole.findings.setdefault(ended, Finding(kind, number, ended, recipe))
        start = number + 1
    return whole


def _read(folder: Path) -> Any:
    place = folder / "tally.json"
    return json.loads(place.read_text()) if place.exists() else {"counts": {}, "findings": [], "until": 0}


def _watched(kind: str, start: int, stop: int, folder: Path) -> tuple[str, int]:
    """Run a child; returns how it failed, empty if it did not, and the number of the case it was at."""
    command = [sys.executable, "-m", "fuzz", "--child", kind, str(start), str(stop), str(folder)]
    process = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": _path()})
    last, since = -1, time.monotonic()
    try:
        while True:
            try:
                code = process.wait(timeout=1.0)
                number = _number(folder, start)
                return ("" if code == 0 else f"broken: the process ended with code {code}"), number
            except subprocess.TimeoutExpired:
                number = _number(folder, start)
                if number != last:
                    last, since = number, time.monotonic()
                elif time.monotonic() - since > PATIENCE:
                    return f"broken: no answer after {PATIENCE:.0f} s", number
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def _number(folder: Path, start: int) -> int:
    try:
        return int((folder / "number").read_bytes())
    except (OSError, ValueError):
        return start


def _path() -> str:
    return os.pathsep.join([str(ROOT), str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
