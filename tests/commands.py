"""Commands of `rwk` run in this process: a new one would spend seconds on importing what is imported already."""

from __future__ import annotations

import contextlib
import io
import sys
from subprocess import CompletedProcess
from unittest.mock import patch

import pytest


def run_here(*arguments: object) -> CompletedProcess[str]:
    """What `rwk` with these arguments prints, and its exit code."""
    pytest.importorskip("typer")
    from rwk.cli import main

    words = ["rwk", *map(str, arguments)]
    out, err, code = io.StringIO(), io.StringIO(), 0
    with patch.object(sys, "argv", words), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as ended:
            code = int(ended.code or 0)
    return CompletedProcess(words, code, out.getvalue(), err.getvalue())
