"""Which tests run which lines, and how long each takes: a mutant is tried by the tests that reach it, quick ones first.

The tests run once under coverage, each with a context of its own. Compiled files are reached in runs without numba.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from forked import COMPILED, ended, start
from places import ROOT, SOURCES, Place

PATIENCE = 60.0  # seconds of tests, as they were measured, that a mutant must survive
QUICK = 15.0  # seconds of quick tests that a constant must survive besides
SLOWEST = 25.0  # seconds: slower tests are not run on mutants
ANY = "*"  # of what was joined before
PLAIN = {"learn/smo.py": ("tests/test_svm.py",)}  # tests that are quick enough without numba


class Reach(NamedTuple):
    """The seconds that each passing test took, per file and line the tests that run it, and digests of test files."""

    seconds: dict[str, float]
    lines: dict[str, dict[int, list[str]]]
    digests: dict[str, str]

    def without(self, files: list[str]) -> Reach:
        """What is known from other test files than these."""
        of_others = {test: took for test, took in self.seconds.items() if test.split("::")[0] not in files}
        lines = {
            name: {line: [test for test in tests if test in of_others] for line, tests in of_file.items()}
            for name, of_file in self.lines.items()
        }
        return Reach(of_others, lines, {file: known for file, known in self.digests.items() if file not in files})

    def tests_of(self, place: Place) -> list[str]:
        """Tests that run the line, the quickest first; then those that run other lines of the file.

        A line that is run when its module is imported, such as a constant, is tried by the quickest of all tests too.
        """
        of_file = self.lines.get(place.file, {})
        at_line = set(of_file.get(place.line, ()))
        others = {test for tests in of_file.values() for test in tests} - at_line
        chosen = self._within(PATIENCE, at_line) or self._within(PATIENCE, others)
        chosen += self._within(PATIENCE - sum(map(self.seconds.__getitem__, chosen)), others - set(chosen))
        return chosen if at_line else chosen + self._within(QUICK, set(self.seconds) - set(chosen))

    def _within(self, seconds: float, tests: set[str]) -> list[str]:
        """The quickest of some tests, as many as take so long together; the first in any case."""
        ordered = sorted(tests, key=self._order)
        total = np.cumsum([self.seconds[test] for test in ordered])
        return ordered[: max(1, int(np.searchsorted(total, seconds, side="right")))] if seconds > 0 else []

    def _order(self, test: str) -> tuple[float, str]:
        return self.seconds[test], test

    def saved(self, file: Path) -> None:
        """Write to a file."""
        file.write_text(json.dumps(self._asdict()), encoding="utf-8")


def read_reach(file: Path) -> Reach:
    """Read what `saved` wrote."""
    found = json.loads(file.read_text(encoding="utf-8"))
    lines = {name: {int(line): tests for line, tests in of.items()} for name, of in found["lines"].items()}
    return Reach(found["seconds"], lines, found.get("digests", {}))


class Watching:
    """A plugin of pytest: coverage with one context per test, its seconds, and whether it passed."""

    def __init__(self, place: Path) -> None:
        import coverage

        self.place, self.seconds, self.failed = place, dict[str, float](), set[str]()
        self.coverage = coverage.Coverage(data_file=None, source=[str(SOURCES)], config_file=False)
        self.began = 0.0

    def pytest_sessionstart(self) -> None:
        """Begin before the tests are imported."""
        self.coverage.start()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test begins, with its fixtures."""
        self.coverage.switch_context(nodeid)
        self.began = time.monotonic()

    def pytest_runtest_logreport(self, report: Any) -> None:
        """A test that failed or was skipped says nothing about a mutant."""
        if report.failed or report.skipped:
            self.failed.add(report.nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """A test has ended."""
        self.seconds[nodeid] = time.monotonic() - self.began
        self.coverage.switch_context("")

    def pytest_sessionfinish(self) -> None:
        """Write down what was seen."""
        self.coverage.stop()
        data = self.coverage.get_data()
        lines = dict[str, dict[int, list[str]]]()
        for file in data.measured_files():
            name = Path(file).relative_to(SOURCES).as_posix()
            known = {line: [t for t in tests if t] for line, tests in data.contexts_by_lineno(file).items()}
            lines[name] = {line: tests for line, tests in known.items() if tests}
        passed = {test: round(took, 3) for test, took in self.seconds.items() if test not in self.failed}
        Reach(passed, lines, {}).saved(self.place)


def known_reach(test_files: list[str], known: Reach | None, folder: Path, jobs: int) -> Reach:
    """What test files reach; of those that have not changed, what is known already."""
    before = known or Reach({}, {}, {})
    changed = [file for file in test_files if before.digests.get(file) != _digest(file)]
    if not changed:
        return before
    return _joined([(ANY, before.without(changed)), *_measured(changed, folder, jobs)], changed)


def _digest(file: str) -> str:
    return hashlib.sha256((ROOT / file).read_bytes()).hexdigest()[:16]


def _measured(test_files: Iterable[str], folder: Path, jobs: int) -> list[tuple[str | None, Reach]]:
    """Run test files, as many at a time as there are jobs; those of compiled files a second time without numba."""
    waiting: list[tuple[str, str | None]] = [(tests, None) for tests in test_files]
    waiting += [(tests, file) for file, of in PLAIN.items() for tests in of if tests in test_files]
    running, parts = dict[int, tuple[str, Path]](), list[tuple[str | None, Reach]]()
    plain = dict[Path, str | None]()
    while waiting or running:
        while waiting and len(running) < jobs:
            tests, file = waiting.pop(0)
            place = folder / f"reach-{len(plain)}.json"
            plain[place] = file
            running[_start_watched(tests, place, file is not None)] = tests, place
        for child in list(running):
            if (code := ended(child, float("inf"))) is not None:
                tests, place = running.pop(child)
                print(f"{'passed' if code == 0 else 'FAILED'} {tests}", flush=True)
                if place.exists():
                    parts.append((plain[place], read_reach(place)))
                else:
                    print(place.with_suffix(".txt").read_text(encoding="utf-8")[-1000:])
        time.sleep(0.02)
    return parts


def _start_watched(tests: str, place: Path, plain: bool) -> int:
    options = ("-p", "reach_plugin", f"--reach={place}", *(["plain"] if plain else []))
    return start([tests], None, place.with_suffix(".txt"), options)


def _joined(parts: list[tuple[str | None, Reach]], measured: list[str]) -> Reach:
    seconds = {test: took for file, part in parts if file in (None, ANY) for test, took in part.seconds.items()}
    whole: dict[str, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for file, part in parts:
        for name, lines in part.lines.items():
            if file != ANY and (name in COMPILED) != (file is not None and name == file):
                continue
            for line, tests in lines.items():
                kept = [test for test in tests if test in part.seconds and part.seconds[test] < SLOWEST]
                whole[name][line] += kept
                seconds.update({test: part.seconds[test] for test in kept})
    digests = {**parts[0][1].digests, **{file: _digest(file) for file in measured}}
    return Reach(seconds, {name: dict(lines) for name, lines in whole.items()}, digests)


def doctest_files(package: str) -> list[str]:
    """The files of a package, whose examples are tests too."""
    files = sorted((SOURCES / package).glob("*.py"))
    return [file.relative_to(ROOT).as_posix() for file in files if ">>>" in file.read_text(encoding="utf-8")]
