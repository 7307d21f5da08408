"""Apply each mutant to a copy of the sources and run its tests: `make mutants`; `--record FILE` writes the outcome.

Each mutant is killed if its tests fail. Before that, the same tests must pass without it.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from forked import load_libraries, run_tests
from named import NAMED, Mutant

ROOT = Path(__file__).resolve().parents[2]
NO_TESTS = 5  # pytest's exit code


@contextmanager
def copy_of_project(in_place: bool = False) -> Iterator[Path]:
    """A folder with the sources and tests, which may be changed; in place, this project, whose code is compiled."""
    if in_place:
        yield ROOT
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("src", "tests"):
            shutil.copytree(ROOT / name, place / name, ignore=shutil.ignore_patterns("__pycache__"))
        for other in ROOT.iterdir():  # read by tests, changed by none
            if not other.name.startswith(".") and not (place / other.name).exists():
                (place / other.name).symlink_to(other)
        yield place


def passes(folder: Path, tests: str) -> bool:
    """Whether these tests pass on the sources of a folder; that there are none is an error."""
    code = run_tests(folder, tests)
    if code == NO_TESTS:
        raise RuntimeError(f"pytest {tests} finds no test; correct the list")
    return code == 0


@contextmanager
def applied(mutant: Mutant, folder: Path) -> Iterator[None]:
    """The mutant in the copy, taken back afterwards."""
    file = folder / "src" / "rwk" / mutant.file
    text = file.read_text(encoding="utf-8")
    if text.count(mutant.old) != 1:
        raise RuntimeError(f"{mutant.name}: {mutant.file} does not have its text once; correct the list")
    file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
    try:
        yield
    finally:
        file.write_text(text, encoding="utf-8")


def outcomes(mutants: list[Mutant], in_place: bool) -> dict[str, str]:
    """ "killed" or "survived" for every mutant."""
    found = {}
    with copy_of_project(in_place) as folder:
        for tests in dict.fromkeys(mutant.tests for mutant in mutants):
            if not passes(folder, tests):
                raise RuntimeError(f"pytest {tests} fails without any mutant; mend that first")
        for mutant in mutants:
            with applied(mutant, folder):
                found[mutant.name] = "survived" if passes(folder, mutant.tests) else "killed"
            print(f"{found[mutant.name]:9} {mutant.name}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only mutants whose name contains this")
    parser.add_argument("--in-place", action="store_true", help="change these sources, and change them back")
    parser.add_argument("--record", type=Path, help="file to write the outcome to")
    given = parser.parse_args()
    load_libraries()
    found = outcomes([mutant for mutant in NAMED if given.only in mutant.name], given.in_place)
    n_killed = list(found.values()).count("killed")
    print(f"{n_killed} of {len(found)} killed")
    if given.record:
        known = json.loads(given.record.read_text(encoding="utf-8")) if given.record.exists() else {}
        known["named"] = {"killed": n_killed, "of": len(found), "mutants": found}
        given.record.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
    sys.exit(0 if n_killed == len(found) else 1)


if __name__ == "__main__":
    main()
