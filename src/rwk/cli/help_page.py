"""The pages of `--help`: about ten options in plain sight, ranges in words, tuning options behind `--help-tuning`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import typer
from rich.table import Table
from rich.text import Text
from typer.core import TyperCommand, TyperGroup

from rwk.cli.screen import console, said_if_stopped, say
from rwk.runtime.allowed_values import RANGES
from rwk.runtime.parameter_checks import range_in_words

IN_SIGHT: Final = ("backend", "n_jobs")  # the parameters that `--help` lists; `--help-tuning` lists the others
_PANEL: Final = "Options"
_METAVARS: Final = {"int": "N", "integer": "N", "float": "NUMBER", "path": "PATH", "str": "TEXT", "text": "TEXT"}
NOTHING_KEPT: Final = "nothing was written, and the same command begins again"
# what other commands say after Ctrl-C; `gram` and `classify` look at what they have kept
_KEPT: Final = {
    "reproduce": "finished folds are in the records, and the same command goes on with the others",
    "bench": "the same command begins again",
    "explore": "",
    "info": "",
    "doctor": "",
    "warmup": "what is compiled is kept, and the same command goes on with the rest",
}


class HelpfulCommand(TyperCommand):
    """A command with our help page; a command that is interrupted says what was kept."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        options = [param for param in shown(self, ctx) if not is_tuning(param, self.params)]
        _print_head(ctx, self)
        _print_panels([param for param in self.params if _is_argument(param)], "Arguments")
        _print_panels(options)
        n_tuning = sum(is_tuning(param, self.params) for param in self.params)
        if n_tuning:
            say(f" {n_tuning} more options tune the method: {ctx.command_path} --help-tuning\n")

    def invoke(self, ctx: Any) -> Any:
        with said_if_stopped(lambda: _KEPT.get(self.name or "", NOTHING_KEPT)):
            return super().invoke(ctx)


class HelpfulGroup(TyperGroup):
    """A group of commands with our help page."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        _print_head(ctx, self)
        table = _table("Commands")
        for name in self.list_commands(ctx):
            command = self.get_command(ctx, name)
            if command is not None:
                table.add_row(name, Text(command.get_short_help_str(200)))
        console.print(table)
        _print_panels(shown(self, ctx))


def help_tuning(ctx: typer.Context, wanted: bool) -> None:
    """Print the tuning options of a command and stop: the callback of `--help-tuning`."""
    if wanted:
        say(f"\n Options of {ctx.command_path} that tune the method; rwk.Parameters describes them.\n")
        _print_panels([param for param in ctx.command.params if is_tuning(param, ctx.command.params)])
        raise typer.Exit


def shown(command: Any, ctx: Any) -> list[Any]:
    """The options of a command that are not hidden, `--help` last."""
    return [param for param in command.get_params(ctx) if not _is_argument(param) and not param.hidden]


def is_tuning(param: Any, among: Iterable[Any]) -> bool:
    """Whether an option is one that `--help-tuning` lists, for a command that has `--help-tuning`."""
    from dataclasses import fields

    from rwk.parameters import Parameters

    names = {field.name for field in fields(Parameters)} - set(IN_SIGHT)
    return param.name in names and any(other.name == "help_tuning" for other in among)


def _print_head(ctx: Any, command: Any) -> None:
    say(f"\n Usage: {' '.join([ctx.command_path, *_usage(command)])}\n")
    for paragraph in (command.help or "").split("\n\n"):
        console.print(Text(" ".join(paragraph.split())), highlight=False)
        console.print()


def _usage(command: Any) -> list[str]:
    names = []
    for param in command.params:
        if _is_argument(param):
            name = _argument_name(param) + ("..." if param.nargs != 1 else "")
            names.append(name if param.required else f"[{name}]")
    return ["[OPTIONS]", *names, *(["COMMAND"] if isinstance(command, TyperGroup) else [])]


def _print_panels(params: Iterable[Any], panel: str = _PANEL) -> None:
    """Print options, or arguments, one table per panel, in the order of their first option."""
    panels: dict[str, Table] = {}
    for param in params:
        title = getattr(param, "rich_help_panel", None) or panel
        table = panels.setdefault(title, _table(title))
        table.add_row(_names(param), Text(_description(param)))
    for table in panels.values():
        console.print(table)
        console.print()


def _table(title: str) -> Table:
    table = Table(box=None, show_header=False, title=Text(title, style="bold"), title_justify="left", padding=(0, 2))
    table.add_column(no_wrap=True, style="cyan")
    table.add_column()
    return table


def _names(param: Any) -> str:
    """An option as it is typed: `-o, --output PATH`."""
    if _is_argument(param):
        return _argument_name(param)
    short_first = sorted(param.opts, key=lambda name: name.startswith("--"))
    text = ", ".join(short_first)
    if param.secondary_opts:
        text += " / " + ", ".join(param.secondary_opts)
    return text if param.is_flag else f"{text} {_metavar(param)}"


def _metavar(param: Any) -> str:
    return str(param.metavar or _METAVARS.get(_kind(param), "TEXT"))


def _kind(param: Any) -> str:
    """The type of an option in one word; new versions of typer keep it in `type_descriptor`, others in `type`."""
    described = getattr(param, "type_descriptor", None)
    word = param.type.name if described is None else getattr(described.annotation, "__name__", "")
    return str(word).split()[0].lower()


def _bounds(param: Any) -> tuple[float | None, float | None]:
    """The smallest and the largest value that typer lets pass."""
    owner = param if hasattr(param, "min") else getattr(param, "type", None)
    return getattr(owner, "min", None), getattr(owner, "max", None)


def _description(param: Any) -> str:
    """The help of an option, with its range and its default in words."""
    text = " ".join((getattr(param, "help", None) or "").split())
    low, high = _bounds(param)
    if low is not None:
        facts = [range_in_words(low, high)]
    elif param.name in RANGES:
        facts = [range_in_words(*RANGES[param.name][:3])]
    else:
        facts = []
    default = _default(param)
    facts += [f"default {default}"] if default else []
    return f"{text.removesuffix('.')} ({'; '.join(facts)})." if facts else text


def _default(param: Any) -> str:
    if isinstance(getattr(param, "show_default", None), str):
        return str(param.show_default)
    if _is_argument(param) or param.default is None or param.default == "" or callable(param.default):
        return ""
    if param.is_flag:
        return str(param.opts[0] if param.default else param.secondary_opts[0]) if param.secondary_opts else ""
    return f"{param.default:g}" if isinstance(param.default, float) else str(param.default)


def _is_argument(param: Any) -> bool:
    return str(param.param_type_name) == "argument"


def _argument_name(param: Any) -> str:
    return str(param.metavar or param.name.upper())
