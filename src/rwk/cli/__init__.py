"""The command line: parse, call, print.

    app.py       the commands, each a few lines
    options.py   command-line options made of `Parameters`, so that names are the same everywhere
    screen.py    tables, progress bars, estimates

Heavy modules are imported inside the commands: `rwk --help` is instant.
"""

from rwk.cli.app import main

__all__ = ["main"]
