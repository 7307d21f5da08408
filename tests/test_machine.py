"""The record of the versions, the commit and the processor that a result was made with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rwk
from rwk.runtime import machine


def test_versions_name_everything_that_values_depend_on() -> None:
    found = machine.versions(7)
    assert list(found) == [
        *("rwk", "solver", "commit", "python", "numpy", "scipy", "scikit-learn", "numba", "platform", "cpu")
    ]
    assert (found["rwk"], found["solver"], found["numpy"]) == (rwk.__version__, "7", np.__version__)
    assert all(found[name] for name in found if name != "commit")


def test_a_machine_record_adds_cores_and_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["/somewhere/rwk/__main__.py", "bench", "--graphs", "9"])
    found = machine.machine_record(7)
    assert found["command"] == "rwk bench --graphs 9"
    monkeypatch.setattr(sys, "argv", ["/home/x/bin/rwk", "bench", "-o", "/home/x/out.json"])
    assert machine.machine_record(7)["command"] == "rwk bench -o out.json"
    assert 1 <= found["cores"] <= (os.cpu_count() or 1)
    assert found.items() >= machine.versions(7).items()


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a package under src/, which `commit` takes for its own."""
    package = tmp_path / "src" / "rwk"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    monkeypatch.setattr(machine, "_PACKAGE", package)
    identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "."], [*identity, "commit", "-q", "-m", "first"]):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    machine.commit.cache_clear()
    return tmp_path


def test_the_commit_of_a_checkout(checkout: Path) -> None:
    head = subprocess.run(["git", "-C", str(checkout), "rev-parse", "HEAD"], capture_output=True, text=True).stdout
    assert machine.commit() == head[:12]
    machine.commit.cache_clear()
    (checkout / "src" / "rwk" / "__init__.py").write_text("edited = True\n")
    assert machine.commit() == f"{head[:12]}+changes"
    machine.commit.cache_clear()


def test_an_installed_package_has_no_commit(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even if it is installed somewhere inside another project's checkout."""
    monkeypatch.setattr(machine, "_PACKAGE", checkout / "venv" / "site-packages" / "rwk")
    assert machine.commit() == ""
    machine.commit.cache_clear()
