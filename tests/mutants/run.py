"""Run the tests of each hand-made mutant: `make mutants`; `--record FILE` writes the outcome.

Each mutant is killed if its tests fail. Before that, the same tests must pass without it.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path

from forked import load_libraries, run_tests
from named import NAMED, Mutant
from places import SOURCES, Place

NO_TESTS = 5  # pytest's exit code


def place_of(mutant: Mutant) -> Place:
    """Where the mutant changes its file."""
    raw, old = (SOURCES / mutant.file).read_bytes(), mutant.old.encode()
    if raw.count(old) != 1:
        raise RuntimeError(f"{mutant.name}: {mutant.file} does not have its text once; correct the list")
    start = raw.index(old)
    return Place(mutant.file, raw.count(b"\n", 0, start) + 1, start, start + len(old), mutant.old, mutant.new)


def passes(tests: str, place: Place | None) -> bool:
    """Whether these tests pass with a mutant; that there are none is an error."""
    code = run_tests(shlex.split(tests), place)
    if code == NO_TESTS:
        raise RuntimeError(f"pytest {tests} finds no test; correct the list")
    return code == 0


def outcomes(mutants: list[Mutant]) -> dict[str, str]:
    """ "killed" or "survived" for every mutant."""
    found = {}
    for tests in dict.fromkeys(mutant.tests for mutant in mutants):
        if not passes(tests, None):
            raise RuntimeError(f"pytest {tests} fails without any mutant; mend that first")
    for mutant in mutants:
        found[mutant.name] = "survived" if passes(mutant.tests, place_of(mutant)) else "killed"
        print(f"{found[mutant.name]:9} {mutant.name}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only mutants whose name contains this")
    parser.add_argument("--record", type=Path, help="file to write the outcome to")
    given = parser.parse_args()
    load_libraries()
    found = outcomes([mutant for mutant in NAMED if given.only in mutant.name])
    n_killed = list(found.values()).count("killed")
    print(f"{n_killed} of {len(found)} killed")
    if given.record:
        known = json.loads(given.record.read_text(encoding="utf-8")) if given.record.exists() else {}
        known["named"] = {"killed": n_killed, "of": len(found), "mutants": found}
        given.record.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    sys.exit(0 if n_killed == len(found) else 1)


if __name__ == "__main__":
    main()
