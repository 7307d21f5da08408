"""The command line: parse, call, print.

    app.py       the commands, each a few lines
    gram.py      matrices, in memory or in a store, and queries
    reproduce.py the paper's tables; bench.py: timings
    look.py      commands to look at things: report, explain, explore, doctor
    options.py   command-line options made of `Parameters`, so that names are the same everywhere
    screen.py    tables, progress bars, estimates

Heavy modules are imported inside the commands: `rwk --help` is instant.
"""

from rwk.cli.app import app, main
from rwk.cli.look import COMMANDS

__all__ = ["main"]

for command in COMMANDS:
    app.command()(command)
