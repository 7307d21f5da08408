"""The command line: parse, call, print.

    app.py           the application, made of the commands, and how errors are shown
    *_command.py     one command each: `rwk gram` is in gram_command.py
    options.py       one command-line option for every field of `Parameters`
    help_page.py     the pages of `--help` and `--help-tuning`, and what an interrupted command says
    screen.py        what commands share: consoles, tables, pictures, the loader of graphs, the estimate of cost
    stopping.py      Ctrl-C and SIGTERM: what is kept is said, worker processes end, all within seconds

Heavy modules are imported inside the commands, so that `rwk --help` is instant.
"""

from rwk.cli.app import main

__all__ = ["main"]
