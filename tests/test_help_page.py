"""The pages of --help, what an interrupted command says, and what is said at once if an extra is missing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any, NoReturn

import pytest
import typer
from typer.testing import CliRunner

from rwk.cli import app as application
from rwk.cli import classify_command, demo_command, doctor_command
from rwk.runtime.parameter_checks import range_in_words

COMMANDS = typer.main.get_command(application.app).commands  # type: ignore[attr-defined]
TUNED = ["align", "classify", "demo", "explain", "explore", "gram", "query"]


def run(*words: object) -> Any:
    return CliRunner().invoke(application.app, [str(word) for word in words], env={"COLUMNS": "200"})


def options_of(page: str) -> list[str]:
    """The options that a page of help lists."""
    return re.findall(r"^ +(?:-\w, )?(--?[\w-]+)", page, flags=re.MULTILINE)


def stop(*_: object, **__: object) -> NoReturn:
    raise KeyboardInterrupt


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_no_types_in_brackets_and_few_options(command: str) -> None:
    done = run(command, "--help")
    assert done.exit_code == 0, done.output
    assert not re.search(r"<\w|\[x|BOOLEAN|RANGE", done.output)
    if command in TUNED:
        assert "--help-tuning" in options_of(done.output)
        assert len(options_of(done.output)) <= 15  # gram; the others have 12 at most


@pytest.mark.parametrize("command", TUNED)
def test_tuning_options_are_on_a_page_of_their_own(command: str) -> None:
    done = run(command, "--help-tuning")
    assert done.exit_code == 0, done.output
    assert len(options_of(done.output)) == 35
    assert "35 more options" in run(command, "--help").output
    assert not set(options_of(done.output)) & set(options_of(run(command, "--help").output))


def test_ranges_and_defaults_are_in_words() -> None:
    tuning = " ".join(run("gram", "--help-tuning").output.split())  # lines end where the terminal does
    assert "in units of the costs (greater than 0; default 0.1)." in tuning
    assert "How many graphs to find (at least 1; default 10)." in " ".join(run("query", "--help").output.split())
    assert "(at least 1 and at most 65535; default 8050)" in " ".join(run("explore", "--help").output.split())
    assert range_in_words(0, 1) == "at least 0 and at most 1"


def test_an_interrupted_command_says_that_nothing_was_written(monkeypatch: pytest.MonkeyPatch) -> None:
    from rwk.retrieval import neighbours

    monkeypatch.setattr(neighbours, "nearest", stop)
    done = run("query", "MUTAG", "0")
    assert done.exit_code == 130
    assert "stopped; nothing was written" in done.output


def test_an_interrupted_run_says_what_was_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The folds of the records are counted, and the matrices are named."""
    from rwk.experiment import run_folder

    monkeypatch.setattr(run_folder, "classify", stop)
    before = run("classify", "MUTAG", "-o", tmp_path / "run")
    assert before.exit_code == 130
    assert "nothing is kept yet" in before.output
    monkeypatch.undo()

    done = run("classify", "MUTAG", "-o", tmp_path / "run", "--method", "wl", "--repeats", "1", "--splits", "3")
    assert done.exit_code == 0, done.output
    (tmp_path / "run" / "unfinished").mkdir()
    (tmp_path / "run" / "unfinished" / "rows.npz").touch()
    kept = classify_command.folds_kept(tmp_path / "run")
    assert kept.startswith(f"kept: 3 folds in {tmp_path / 'run' / 'records.jsonl'} and solved pairs in ")
    assert kept.endswith("the same command goes on from there")


def test_demo_says_at_once_that_matplotlib_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr(demo_command, "load_graphs", lambda name: pytest.fail("work began"))
    done = run("demo", "-o", tmp_path / "out")
    assert isinstance(done.exception, ImportError)
    assert "pip install 'rwk[plot]'" in str(done.exception)


def test_doctor_says_what_cannot_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor_command, "installed", lambda package: "" if package == "grakel" else "1.0")
    assert doctor_command.import_errors(["numpy", "no_such_package"]) == {
        "no_such_package": "ModuleNotFoundError: No module named 'no_such_package'"
    }
    monkeypatch.setattr(doctor_command, "import_errors", lambda packages: {"POT": "ImportError: no library"})
    found = {finding.what: finding for finding in doctor_command.findings()}
    assert found["extra plot"].found == "works: matplotlib 1.0 (pictures)"
    lines = found["extra baselines"].found.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["works", "missing", "installed, but can't be imported"]
    assert lines[2].endswith("POT (ImportError: no library)")
    assert found["extra baselines"].advice.startswith("pip install 'rwk[baselines]' adds grakel")


def test_sigterm_acts_as_ctrl_c(tmp_path: Path) -> None:
    """A command that is told to end says what was kept, ends its clean-up and has the exit code of Ctrl-C."""
    code = (
        "import os, signal, sys, time\n"
        "from rwk.cli import app, info_command\n"
        "import rwk.cli.screen as screen\n"
        "def slow(*_):\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGTERM)\n"
        "        time.sleep(60)\n"
        "    finally:\n"
        "        open(sys.argv[2] + '/kept', 'w').close()\n"
        "screen.load_graphs = info_command.load_graphs = slow\n"
        "app.main()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", code, "info", str(tmp_path)], capture_output=True, text=True, timeout=50, check=False
    )
    assert ended.returncode == 130, ended.stderr
    assert ended.stderr == "stopped\n"
    assert (tmp_path / "kept").exists()
