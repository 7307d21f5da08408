"""The kinds of cases: how each is made, run, and how many of a thousand are of this kind."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Final, NamedTuple

from fuzz.values import Chance


class Kind(NamedTuple):
    """Where the functions of a kind are, and its share of a campaign in thousandths."""

    module: str
    make: str
    run: str
    share: int

    def recipe(self, name: str, number: int) -> Any:
        """The case with this number."""
        return getattr(import_module(f"fuzz.{self.module}"), self.make)(Chance(f"{name} {number}"))

    @property
    def runner(self) -> Callable[[Any], object]:
        """The function that runs a recipe."""
        found: Callable[[Any], object] = getattr(import_module(f"fuzz.{self.module}"), self.run)
        return found


KINDS: Final = {
    "record": Kind("graph_cases", "make_record", "run_record", 250),
    "anything": Kind("graph_cases", "make_anything", "run_anything", 150),
    "parameters": Kind("parameter_cases", "make", "run", 300),
    "file": Kind("file_cases", "make", "run", 140),
    "solver": Kind("solver_cases", "make", "run", 60),
    "arrays": Kind("solver_cases", "make_arrays", "run_arrays", 40),
    "svc": Kind("learner_cases", "make_svc", "run_svc", 20),
    "baseline": Kind("learner_cases", "make_baseline", "run_baseline", 15),
    "learner": Kind("learner_cases", "make_learner", "run_learner", 2),
    "command": Kind("command_cases", "make", "run", 8),
    "request": Kind("request_cases", "make", "run", 15),
    "signal": Kind("signal_cases", "make", "run", 0),
}
