"""The application: its commands, and how errors are shown."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from typing import Annotated

import typer

from rwk import __version__
from rwk.cli.align_command import align
from rwk.cli.baselines_command import baselines
from rwk.cli.bench_command import bench
from rwk.cli.classify_command import classify
from rwk.cli.convert_command import convert
from rwk.cli.demo_command import demo
from rwk.cli.doctor_command import doctor
from rwk.cli.explain_command import explain
from rwk.cli.explore_command import explore
from rwk.cli.gram_command import gram
from rwk.cli.help_page import HelpfulCommand, HelpfulGroup
from rwk.cli.info_command import info
from rwk.cli.match_command import match
from rwk.cli.query_command import query
from rwk.cli.regress_command import predict, regress
from rwk.cli.report_command import report
from rwk.cli.reproduce_command import reproduce
from rwk.cli.screen import INTERRUPTED, errors, note, say, show_log
from rwk.cli.stopping import stopped_by_signals
from rwk.cli.warmup_command import warmup

app = typer.Typer(
    cls=HelpfulGroup,
    help="Regularized Wasserstein graph kernels: how alike two graphs are, and which node goes to which.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """Run a command; a user's mistake gives one sentence and exit code 2."""
    write_any_text()
    with stopped_by_signals(), warnings_in_a_line():
        try:
            app()
        except KeyboardInterrupt:
            note("stopped")
            sys.exit(INTERRUPTED)
        except (ValueError, OSError, RuntimeError, IndexError, ImportError) as error:
            if os.environ.get("RWK_DEBUG"):
                raise
            errors.print(f"rwk: {error}", style="red", soft_wrap=True)
            sys.exit(2)


@contextmanager
def warnings_in_a_line() -> Iterator[None]:
    """Show a warning as a sentence, without the line of our code that it comes from; RWK_DEBUG shows it."""
    with warnings.catch_warnings():
        if not os.environ.get("RWK_DEBUG"):
            warnings.showwarning = lambda message, *origin, **more: note(f"warning: {message}")
        yield


def write_any_text() -> None:
    """Let a terminal that has no Unicode show what it can't write as escapes, in place of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@app.callback(invoke_without_command=True)
def about(
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    show_log()
    if version:
        say(f"rwk {__version__}")
        raise typer.Exit


for command in (
    demo,
    info,
    convert,
    align,
    match,
    gram,
    query,
    classify,
    regress,
    predict,
    report,
    explain,
    explore,
    reproduce,
    bench,
    doctor,
    warmup,
):
    app.command(cls=HelpfulCommand)(command)
app.add_typer(baselines, name="baselines")
