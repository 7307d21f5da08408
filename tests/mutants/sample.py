"""Mutants drawn at random from six packages, each run by the tests that reach its line.

`python tests/mutants/sample.py --count 20 --record results/mutants.json` draws 20 mutants from each package. A mutant
that no test notices is printed, to be judged by a person: either a test is missing, or `judged.py` says why none could
notice it. `--only-survivors` tries those again that the record names; one whose line is no longer there counts as not
drawn. It is an error if a package has less than nine in ten killed or judged.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from forked import ended, load_libraries, start
from judged import JUDGED
from places import SOURCES, Place, places
from reach import Reach, doctest_files, known_reach, read_reach

# the tests of each package; what needs a network, a device or many processes is left out
TESTS = {
    "gram": "promises files gram kept store executors tiling places named_settings",
    "learn": "promises svm likelihood regression classifier saved_models explain explain_value active experiment "
    "learning_laws named_settings composition graph_forms",
    "experiment": "statistics records files experiment run reproduce trials reproduce_regression baseline_runs "
    "regress_command learning_laws named_settings experiment_laws",
    "datasets": "datasets promises molecule_sets round_trips graph_forms",
    "convert": "convert formats node_names molecules names edge_labels round_trips",
    "retrieval": "promises neighbours landmarks bounds",
}
LEFT_OUT = ("_gpu.py", "cluster.py", "__init__.py")  # need a device or a cluster; or have no code
ENOUGH = 0.9  # share of mutants of a package that are killed, or judged by a person
TIMEOUT = 300.0  # seconds for one mutant: one that loops for ever is noticed too


class Verdict(NamedTuple):
    """What became of a mutant."""

    place: Place
    killed: bool
    n_tests: int


def drawn(package: str, count: int, seed: int) -> list[Place]:
    """Mutants of a package, drawn at random without repetition; a longer draw begins with a shorter one."""
    found = all_mutants(package)
    random.Random(f"{package} {seed}").shuffle(found)
    print(f"{package}: {min(count, len(found))} of {len(found)} mutants", flush=True)
    return found[:count]


def all_mutants(package: str) -> list[Place]:
    """Every mutant of a package, in the order of its files."""
    files = sorted((SOURCES / package).glob("*.py"))
    return [place for file in files if not file.name.endswith(LEFT_OUT) for place in places(file)]


def survivors(package: str, outcome: dict[str, Any]) -> list[Place]:
    """The mutants that an outcome names as survivors, wherever their lines are now; those that are gone are removed."""
    known = {place.key: place for place in all_mutants(package)}
    for key in [key for key in outcome["survived"] if key not in known]:
        print(f"GONE         {key}", flush=True)
        del outcome["survived"][key]
        outcome["drawn"] -= 1
    return [known[key] for key in outcome["survived"]]


def tried(mutants: list[Place], reach: Reach, jobs: int, until: float) -> Iterator[Verdict]:
    """Run the tests of each mutant, as many mutants at a time as there are jobs; none is begun after `until`."""
    waiting, running = mutants[::-1], dict[int, tuple[Place, int, float]]()
    with tempfile.TemporaryDirectory() as folder:
        while waiting or running:
            while waiting and len(running) < jobs and time.monotonic() < until:
                place = waiting.pop()
                tests = reach.tests_of(place)
                if not tests:
                    yield Verdict(place, False, 0)
                    continue
                child = start(tests, place, Path(folder) / f"{len(waiting)}.txt")
                running[child] = place, len(tests), time.monotonic() + TIMEOUT
            if not running and time.monotonic() >= until:
                return
            for child, (place, n_tests, deadline) in list(running.items()):
                if (code := ended(child, deadline)) is not None:
                    del running[child]
                    yield Verdict(place, code != 0, n_tests)
            time.sleep(0.02)


def test_files(packages: list[str]) -> list[str]:
    """All tests of these packages, those in docstrings included."""
    names = dict.fromkeys(name for package in packages for name in TESTS[package].split())
    files = [f"tests/test_{name}.py" for name in names if (SOURCES.parents[1] / f"tests/test_{name}.py").exists()]
    return files + [file for package in packages for file in doctest_files(package)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20, help="mutants per package")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--packages", default=",".join(TESTS))
    parser.add_argument("--jobs", type=int, default=1, help="mutants at a time")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no mutant after this time")
    parser.add_argument("--reach", type=Path, help="file that keeps which tests run which lines, until tests change")
    parser.add_argument("--record", type=Path, help="file to add the outcome to")
    parser.add_argument("--only-survivors", action="store_true", help="try those again that the record names")
    given = parser.parse_args()
    until = time.monotonic() + given.seconds
    packages = given.packages.split(",")
    load_libraries(lower_layers=True)
    if early := [name for name in sys.modules if name.startswith(tuple(f"rwk.{package}" for package in TESTS))]:
        sys.exit(f"the lower layers import {early[0]}, which mutants change; correct forked.LOWER")
    known = read_reach(given.reach) if given.reach and given.reach.exists() else None
    with tempfile.TemporaryDirectory() as folder:
        reach = known_reach(test_files(packages), known, Path(folder), given.jobs)
    if given.reach:
        reach.saved(given.reach)
    record = json.loads(given.record.read_text(encoding="utf-8")) if given.record and given.record.exists() else {}
    sys.exit(0 if trial(packages, record, reach, given, until) else 1)


def trial(packages: list[str], record: dict[str, Any], reach: Reach, given: argparse.Namespace, until: float) -> bool:
    """Draw, try and record, and say whether every package has `ENOUGH` killed or judged.

    Mutants of all packages come in turn, so that a run that ends early has some of each.
    """
    outcomes = record.setdefault("drawn", {})
    if given.only_survivors:
        mutants = {package: survivors(package, outcomes[package]) for package in packages if package in outcomes}
    else:
        mutants = {package: drawn(package, given.count, given.seed) for package in packages}
        outcomes |= {p: {"seed": given.seed, "drawn": 0, "killed": 0, "survived": {}} for p in packages}
    in_turn = [of[i] for i in range(given.count) for of in mutants.values() if i < len(of)]
    for place, killed, n_tests in tried(in_turn, reach, given.jobs, until):
        print(f"{'killed  ' if killed else 'SURVIVED'} {n_tests:3} {place.line}: {place.key}", flush=True)
        outcome = outcomes[place.file.split("/")[0]]
        outcome["survived"].pop(place.key, None)
        outcome["drawn"] += not given.only_survivors
        if killed:
            outcome["killed"] += 1
        else:
            outcome["survived"][place.key] = JUDGED.get(place.key, "")
        if given.record:
            given.record.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    enough = True
    for package in mutants:
        outcome = outcomes[package]
        n_judged = sum(bool(verdict) for verdict in outcome["survived"].values())
        print(f"{package}: {outcome['killed']} of {outcome['drawn']} killed, {n_judged} judged", flush=True)
        enough &= outcome["killed"] + n_judged >= ENOUGH * outcome["drawn"]
    return enough


if __name__ == "__main__":
    main()
