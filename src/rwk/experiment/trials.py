"""What changes the accuracy and what does not: single changes of one setting, scored on the folds of all other runs.

The base is one setting of the dataset's grid; a change is a parameter, a weight of the nodes, or how the indefinite
kernel is treated. Only η and C are chosen inside the training folds, not the setting.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from rwk.datasets.forms import grid_of
from rwk.experiment.folds import Folds
from rwk.experiment.methods import RwkMethod
from rwk.experiment.run import RunOptions, run_experiment
from rwk.experiment.trial_records import BASE, Trial, append_trial, read_trials
from rwk.gram.kept import described
from rwk.graphs import GraphSet
from rwk.learn.grids import COLOURS, COSTS, ETAS, SETTINGS, search_grid
from rwk.learn.search_grid import Grid
from rwk.parameters import Parameters

# kind of dataset -> the setting that changes are made to
BASES: Final[Mapping[str, Mapping[str, Any]]] = {
    "discrete": COLOURS,
    "continuous": {**COLOURS, "feature_metric": "l2", "wl_rounds": 1, "label_weight": 0.2},
}


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is different."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Any] = field(default_factory=dict)  # of what is searched
    needs: tuple[str, ...] = ()  # fields of the graphs without which nothing changes
    degree_weights: bool = False  # the weight of a node is its degree plus one
    whole_grid: bool = False  # all settings of the dataset's grid and their sum
    n_starts: int = 1  # couplings to begin from; the best found counts


def _each(name: str, *values: Any, needs: tuple[str, ...] = ()) -> dict[str, Change]:
    return {f"{name}={value}": Change({name: value}, needs=needs) for value in values}


LABELS: Final = ("node_labels",)
ATTRIBUTES: Final = ("node_attributes",)
CHANGES: Final[Mapping[str, Change]] = {
    BASE: Change(),
    **_each("hops", 1, 0),
    **_each("wl_rounds", 0, 1, 3, 5, needs=LABELS),
    "wl_edge_labels": Change({"wl_edge_labels": True}, needs=("edge_labels",)),
    **_each("feature_metric", "l2", "hamming", "both", needs=LABELS),
    **_each("label_weight", 0.5, 0.8, needs=LABELS + ATTRIBUTES),
    **_each("attribute_rounds", 1, needs=ATTRIBUTES),
    **_each("scale", "none"),
    **_each("beta_local", 0.0, 0.5),
    **_each("beta_global", 0.0, 0.5, 1.0),
    **_each("structure", "embedding", "adjacency", "heat-kernel"),
    "attention embedding": Change({"embedding": "attention", "structure": "embedding"}),
    **_each("laplacian", "combinatorial"),
    **_each("degree_prior", "repel"),
    **_each("degree_weight", 0.1),
    **_each("entropy", 0.01, 0.1),
    "solved further": Change({"max_iter": 50, "tol": 1e-6}),
    **_each("debias", True),
    "best of five starts": Change(n_starts=5),
    "node weights by degree": Change(degree_weights=True),
    **{f"treatment={name}": Change(grid={"treatments": (name,)}) for name in ("flip", "shift", "none")},
    "treatment=clip or proxy": Change(grid={"kappas": (1.0,)}),
    "all settings and their sum": Change(whole_grid=True),
}


def run_trials(
    graphs: GraphSet,
    folds: Folds,
    records: Path,
    *,
    changes: Sequence[str] = (),
    options: RunOptions | None = None,
) -> list[Trial]:
    """Score the base and every change, or those named, on one dataset; what is on record for these folds is kept."""
    options = replace(options or RunOptions(), records=None)
    kind = grid_of(graphs)
    stamp = " ".join(folds.fingerprint(seed) for seed in folds.test_fold)
    known, done = read_trials(records), []
    for name in known_changes(changes):
        change = CHANGES[name]
        method = method_of_trial(name, kind, graphs)
        if method is None:
            continue
        words = " + ".join(described(parameters) for parameters in method.settings.values())
        words += f" {change.n_starts} starts" * (change.n_starts > 1)
        recorded = known.get((graphs.name, name))
        if recorded and recorded.folds == stamp and recorded.setting == words:
            done.append(recorded)
            continue
        if change.degree_weights:  # other graphs of the same name: their matrix is not kept with the dataset's
            weighted = {"": with_degree_weights(graphs)}
            found = run_experiment(method, weighted, folds, replace(options, matrices=None))
        else:
            found = run_experiment(method, {"": graphs}, folds, options)
        scores = tuple(score.score for score in sorted(found.scores, key=lambda one: (one.seed, one.fold)))
        trial = Trial(graphs.name, name, words, stamp, len(graphs), folds.n_splits, scores, found.scores[0].versions)
        append_trial(records, trial)
        done.append(trial)
    return done


def method_of_trial(name: str, kind: str, graphs: GraphSet) -> RwkMethod | None:
    """RWK with one change, on a grid of one setting; None if the change makes no difference to these graphs."""
    change = CHANGES[name]
    settings = settings_of_trial(change, kind, Parameters(), graphs)
    before = Parameters(**BASES[kind]).checked()
    if not settings or (name != BASE and not _differs(change, settings, before)):
        return None
    grid = search_grid(kind) if change.whole_grid else Grid(eta=ETAS, C=COSTS, **change.grid)
    return RwkMethod(name, settings, grid, change.n_starts)


def known_changes(names: Sequence[str] = ()) -> list[str]:
    """The base and the changes named, or all.

    >>> known_changes(["hops=0"])
    ['base', 'hops=0']
    """
    unknown = [name for name in names if name not in CHANGES]
    if unknown:
        raise ValueError(f"there is no trial {unknown[0]!r}; the trials are {', '.join(CHANGES)}")
    return list(dict.fromkeys([BASE, *names])) if names else list(CHANGES)


def settings_of_trial(change: Change, kind: str, base: Parameters, graphs: GraphSet) -> dict[str, Parameters]:
    """The settings that a change is scored with, by name; none if the graphs lack what it needs."""
    if any(getattr(graphs, name) is None for name in change.needs):
        return {}
    settings = SETTINGS[kind] if change.whole_grid else {BASE: BASES[kind]}
    return {name: replace(base, **{**values, **change.parameters}).checked() for name, values in settings.items()}


def with_degree_weights(graphs: GraphSet) -> GraphSet:
    """The same graphs with the weight of each node set to its degree plus one.

    >>> from rwk import as_graphs
    >>> path = np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1)
    >>> with_degree_weights(as_graphs([path])).node_weights.tolist()
    [2.0, 3.0, 2.0]
    """
    return replace(graphs, node_weights=np.concatenate([graph.degrees for graph in graphs]) + 1.0)


def _differs(change: Change, settings: Mapping[str, Parameters], before: Parameters) -> bool:
    """Whether a change of parameters changes any; the base may have the value already."""
    return not change.parameters or any(made != before for made in settings.values())
