"""The results page, `docs/results.md`, and the tables that commands print, made from the records of a folder."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from rwk.experiment import page_text, paper
from rwk.experiment.comparisons import Found, differences, ranked_scores, ranks_table
from rwk.experiment.methods import METHODS, grid_settings
from rwk.experiment.network_protocols import NETWORK_PROTOCOL, protocol_table
from rwk.experiment.notes import NOTES, read_notes
from rwk.experiment.results import (
    HOP_STEPS,
    SIGNS,
    by_method,
    chosen_settings,
    gains,
    is_fair,
    legend,
    read_results,
    side_by_side,
)
from rwk.experiment.runtimes import RUNTIMES, runtime_table
from rwk.experiment.seen_data import longer_training, seen_table
from rwk.experiment.statistics import AverageRanks, average_ranks
from rwk.experiment.tables import Experiment, markdown
from rwk.experiment.trial_records import TRIALS, trials_table
from rwk.gram.kept import described, fingerprint
from rwk.learn.grids import SETTINGS
from rwk.learn.rarity import RARE_BONDS
from rwk.parameters import Parameters
from rwk.transport.problem import SOLVER_VERSION

# name of the table -> title and datasets
KINDS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "discrete": ("Graphs with discrete attributes", paper.DISCRETE),
    "continuous": ("Graphs with continuous attributes", paper.CONTINUOUS),
}
# name of a ranking -> its datasets, and the least share of all methods that a dataset must have to be counted
RANKED_SETS: Final[Mapping[str, tuple[tuple[str, ...], float]]] = {
    **{kind: (sets, 0.5) for kind, (_, sets) in KINDS.items()},
    "all": (paper.DISCRETE + paper.CONTINUOUS, 0.5),
    "complete": (paper.DISCRETE + paper.CONTINUOUS, 1.0),
}
# name of a picture -> its place, relative to the page
PICTURES: Final[Mapping[str, str]] = {name: f"images/ranks-{name}.svg" for name in RANKED_SETS} | {
    "runtime": "images/runtime.svg"
}
RANKED: Final = ("RWK", *paper.BASELINES)
VARIED: Final = (*paper.HOPS, *(name for name in (*SIGNS, *paper.ABLATION) if name not in paper.HOPS))


def results_page(folder: str | os.PathLike[str]) -> str:
    """The results page as Markdown, from the records of a folder."""
    found, notes = read_results(folder), read_notes(Path(folder) / NOTES)
    parts = ["# Results", page_text.INTRODUCTION, legend(), _earlier_solver(found)]
    for kind, (title, sets) in KINDS.items():
        datasets = present(found, sets)
        methods, fairness = (*paper.HOPS, *paper.BASELINES), _fairness(found, datasets)
        parts += [f"## {title}", _command(kind), side_by_side(found, datasets, paper.HOPS), page_text.FROZEN]
        parts += [page_text.DECIDED[kind], _earlier(found, kind, datasets)]
        parts += [page_text.FORMS] if kind == "continuous" else []
        parts += [
            "### All methods",
            page_text.ALL_METHODS,
            by_method(found, datasets, methods, notes),
            page_text.BASELINE_GRIDS,
            page_text.EARLIER_RUNS if False in fairness else "",
            page_text.NETWORKS,
            page_text.FAIR + longer_training() if True in fairness else "",
        ]
        parts += _compared(found, kind, datasets)
        parts += ["### Ablation", _command("ablation", datasets), by_method(found, datasets, (*SIGNS, *paper.ABLATION))]
        parts += _variants(found, datasets)
        parts += ["### Local variation", _command("hops", datasets), gains(found, datasets, HOP_STEPS)]
        if any((dataset, "RWK") in found for dataset in datasets):
            parts += ["### Settings chosen in the training folds", chosen_settings(found, datasets, "RWK")]
            parts += [_settings(found, datasets)]
        parts += [_commands(found, kind, datasets)]
    parts += ["## What each method sees", page_text.SEEN, seen_table()]
    chosen = protocol_table(Path(folder) / NETWORK_PROTOCOL)
    parts += ["## Networks: the share of the protocol", page_text.PROTOCOLS, chosen] if chosen else []
    together, complete = _ranks(found, "all"), _ranks(found, "complete")
    parts += ["## All datasets together", *together] if together else []
    parts += [page_text.COMPLETE, *complete] if complete else []
    tried = trials_table(Path(folder) / TRIALS)
    parts += ["## Effect of single settings", _command("trials"), page_text.TRIED, tried] if tried else []
    timed = runtime_table(Path(folder) / RUNTIMES)
    if timed:
        parts += ["## Run time", _command("runtime"), page_text.TIMED, timed, f"![Run times]({PICTURES['runtime']})"]
    return "\n\n".join(part for part in parts if part) + "\n"


def _fairness(found: Found, datasets: Iterable[str]) -> set[bool]:
    """Whether there are baselines that were given what RWK has, and whether there are others."""
    cells = [(dataset, method) for dataset in datasets for method in paper.BASELINES]
    return {is_fair(found, *cell) for cell in cells if cell in found}


def _earlier_solver(found: Found) -> str:
    """A sentence if records of RWK were made by an earlier version of the solver than this one."""
    known = {
        score.versions.get("solver")
        for (_, method), experiment in found.items()
        if method in VARIED
        for score in experiment.scores
    }
    earlier = sorted(int(version) for version in known if version and int(version) < SOLVER_VERSION)
    versions = ", ".join(map(str, earlier))
    return page_text.EARLIER_SOLVER.format(earlier=versions, present=SOLVER_VERSION) if earlier else ""


def table_of(what: str, folder: Path, datasets: Sequence[str], methods: Sequence[str]) -> str:
    """The table that `rwk reproduce` prints for the datasets and methods it ran, from the records."""
    if what == "runtime":
        return runtime_table(folder / RUNTIMES)
    found, notes = read_results(folder), read_notes(folder / NOTES)
    if set(methods) <= set(paper.HOPS):
        parts = [side_by_side(found, datasets, methods)]
    else:
        parts = [by_method(found, datasets, methods, notes)]
        here = [found[dataset, name] for dataset in datasets for name in ("RWK", *methods) if (dataset, name) in found]
        parts += [differences(here, methods=[name for name in methods if name in paper.BASELINES])]
        ranked = ranked_scores(found, datasets, [name for name in RANKED if name in ("RWK", *methods)])
        parts += [ranks_table(ranked)]
    if what == "hops":
        parts.append(gains(found, datasets, HOP_STEPS))
    codes = dict.fromkeys([paper.OURS, *(paper.PROTOCOL_OF[name] for name in methods if name in paper.PROTOCOL_OF)])
    return "\n\n".join([*(part for part in parts if part), legend(codes)])


def ranks_by_kind(folder: str | os.PathLike[str]) -> dict[str, AverageRanks]:
    """Average ranks by name of the ranking (see `RANKED_SETS`), for those with enough records."""
    return {kind: average_ranks(table) for kind, table in _ranked(read_results(folder)).items()}


def _ranked(found: Found) -> dict[str, dict[str, dict[str, float]]]:
    """Mean accuracies behind each ranking; "complete" is left out if it has the same datasets as "all"."""
    tables = {kind: ranked_scores(found, sets, RANKED, share) for kind, (sets, share) in RANKED_SETS.items()}
    if list(tables["complete"]) == list(tables["all"]):
        del tables["complete"]
    return {kind: table for kind, table in tables.items() if table}


def present(found: Found, datasets: Sequence[str]) -> list[str]:
    """The given datasets, each followed by its other forms that were run."""
    forms = {name for name, _ in found}
    others = {
        name: [form for form, of in paper.OTHER_FORMS.items() if of == name and form in forms] for name in datasets
    }
    return [form for name in datasets for form in (name, *others[name])]


def _variants(found: Found, datasets: Sequence[str]) -> list[str]:
    table = differences(_in_order(found, datasets), methods=(*SIGNS, *paper.ABLATION))
    return [page_text.TESTED_VARIANTS, table] if table else []


def _in_order(found: Found, datasets: Sequence[str]) -> list[Experiment]:
    groups = [group for (dataset, _), group in found.items() if dataset in datasets]
    return sorted(groups, key=lambda group: datasets.index(group.dataset))


def _compared(found: Found, kind: str, datasets: Sequence[str]) -> list[str]:
    table = differences(_in_order(found, datasets), methods=paper.BASELINES)
    parts = ["### Significance tests", page_text.TESTED, table] if table else []
    return parts + _ranks(found, kind)


def _ranks(found: Found, kind: str) -> list[str]:
    table = _ranked(found).get(kind)
    return [ranks_table(table), f"![Critical-difference diagram]({PICTURES[kind]})"] if table else []


def _commands(found: Found, kind: str, datasets: Iterable[str]) -> str:
    """A table with the command behind every row of results."""
    rows = []
    for method in (*paper.HOPS, *paper.BASELINES, "RWK-repel", *paper.ABLATION):
        repeats = {dataset: found[dataset, method].n_repeats for dataset in datasets if (dataset, method) in found}
        groups: dict[tuple[int, bool], list[str]] = {}
        for dataset, count in sorted(repeats.items(), key=lambda one: -one[1]):
            published = method in paper.BASELINES and not is_fair(found, dataset, method)
            groups.setdefault((count, published), []).append(dataset)
        for (count, published), here in groups.items():
            command = f"rwk reproduce {kind} --datasets {','.join(here)} --methods {method} --repeats {count}"
            rows.append([method, f"`{command}{' --published-grids' if published else ''}`"])
    if not rows:
        return ""
    table = markdown(["row", "command"], rows)
    return f"### Commands\n\n{page_text.ONE_COMMAND}\n\n{table}"


def _settings(found: Found, datasets: Iterable[str]) -> str:
    """A table of what the names of the settings stand for, as recorded."""
    meant: dict[str, Any] = {}
    for dataset in datasets:
        if (dataset, "RWK") in found:
            meant |= found[dataset, "RWK"].scores[-1].protocol.get("settings", {})
    return markdown(["setting", "what differs from the defaults"], [[k, v] for k, v in meant.items()]) if meant else ""


def _earlier(found: Found, kind: str, datasets: Iterable[str]) -> str:
    """A sentence that names the results of an earlier grid; empty if there are none."""
    others = []
    for dataset in datasets:
        rows = [method for method in VARIED if (dataset, method) in found]
        old = [method for method in rows if not of_the_grid(found[dataset, method], kind, method)]
        if old:
            others.append(dataset if old == rows else f"{dataset} ({', '.join(old)})")
    return f"**Not yet run with the present grid: {', '.join(others)}.**" if others else ""


def of_the_grid(experiment: Experiment, kind: str, method: str) -> bool:
    """Whether RWK or a variant searched the settings of the present grid, on whatever forms of the dataset."""
    protocol = experiment.scores[-1].protocol
    recorded = protocol.get("settings", {})
    if {name.split(": ")[-1] for name in recorded} != set(SETTINGS[kind]):
        return False
    forms = {name.rpartition(": ")[0] for name in recorded}
    if len(forms) > 1 and RARE_BONDS not in forms:
        return False
    wanted = grid_settings(kind, Parameters(), METHODS[method]).values()
    if "parameters" in protocol:  # all of them: what the defaults were does not matter
        found = {fingerprint(Parameters(**values)) for values in protocol["parameters"].values()}
        return found == {fingerprint(parameters) for parameters in wanted}
    meant = {_differences(described(parameters)) for parameters in wanted}
    return method != "RWK" or {_differences(words) for words in recorded.values()} == meant


def _differences(words: str) -> frozenset[str]:
    """What differs from the defaults, from a description: without form and fingerprint."""
    return frozenset(word for word in words.split() if "=" in word)


def _command(what: str, datasets: Sequence[str] = ()) -> str:
    chosen = f" --datasets {','.join(datasets)}" if datasets else ""
    return f"```\nrwk reproduce {what}{chosen}\n```"
