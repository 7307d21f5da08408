"""What moves the figures and what does not: single changes of one setting, scored on the folds of all other figures.

The base is one setting of the dataset's grid; a change is a parameter, a weight of the nodes, or how the indefinite
kernel is treated. Settings are not chosen here, only η and C are, inside the training folds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from rwk.datasets.forms import grid_of
from rwk.experiment import Folds, nested_cv
from rwk.experiment.trial_records import BASE, Trial, append_trial, read_trials
from rwk.gram.matrices import SingleMatrix, described, discrepancy_matrix
from rwk.graphs import GraphSet
from rwk.learn.grids import COSTS, ETAS, SETTINGS, search_grid
from rwk.learn.search import Grid
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.transport.starts import best_values

# grid -> the setting that changes are made to
BASES: Final[Mapping[str, str]] = {"discrete": "weak", "continuous": "attributes"}


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that is different."""

    parameters: Mapping[str, Any] = field(default_factory=dict)
    grid: Mapping[str, Any] = field(default_factory=dict)  # of what is searched
    needs: tuple[str, ...] = ()  # fields of the graphs without which nothing changes
    degree_weights: bool = False  # nodes weigh as much as they have neighbours, and one
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
    matrices: Path | None = None,
    base: Parameters | None = None,
    n_jobs: int = 1,
    say: Callable[[str], None] = print,
) -> list[Trial]:
    """Score the base and every change, or those named, on one dataset; what these folds have on record is kept."""
    names = known_changes(changes)
    kind, running = grid_of(graphs), base or Parameters()
    stamp = " ".join(folds.fingerprint(seed) for seed in folds.test_fold)
    known, done = read_trials(records), []
    before = replace(running, **SETTINGS[kind][BASES[kind]]).checked()
    for name in names:
        change = CHANGES[name]
        settings = settings_of_trial(change, kind, running, graphs)
        if not settings or (name != BASE and not _differs(change, settings, before)):
            continue
        words = " + ".join(described(parameters) for parameters in settings.values())
        words += f" {change.n_starts} starts" * (change.n_starts > 1)
        recorded = known.get((graphs.name, name))
        if recorded and recorded.folds == stamp and recorded.setting == words:
            done.append(recorded)
            continue
        seen = with_degree_weights(graphs) if change.degree_weights else graphs
        folder = None if change.degree_weights else matrices
        if change.n_starts > 1:
            source = {title: matrix_of_starts(seen, made, change.n_starts) for title, made in settings.items()}
        else:
            source = {title: discrepancy_matrix(seen, made, folder=folder)[0] for title, made in settings.items()}
        searched = search_grid(kind) if change.whole_grid else Grid(eta=ETAS, C=COSTS, **change.grid)
        found = nested_cv(
            source, np.asarray(graphs.targets), folds=folds, grid=searched, n_jobs=n_jobs, backend=running.backend
        )
        scores = tuple(score.score for score in sorted(found.scores, key=lambda one: (one.seed, one.fold)))
        trial = Trial(graphs.name, name, words, stamp, len(graphs), folds.n_splits, scores, found.scores[0].versions)
        append_trial(records, trial)
        say(f"{graphs.name} {name}: {100 * found.mean:.2f} %")
        done.append(trial)
    return done


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
    """The settings that a change is scored with, by name; none where the graphs lack what it needs."""
    if any(getattr(graphs, name) is None for name in change.needs):
        return {}
    names = tuple(SETTINGS[kind]) if change.whole_grid else (BASES[kind],)
    return {name: replace(base, **{**SETTINGS[kind][name], **change.parameters}).checked() for name in names}


def matrix_of_starts(graphs: GraphSet, parameters: Parameters, n_starts: int) -> SingleMatrix:
    """The least discrepancy of all pairs over several starts, on the CPU.

    >>> from rwk import as_graphs
    >>> triangle = np.ones((3, 3)) - np.eye(3)
    >>> matrix_of_starts(as_graphs([triangle, triangle]), Parameters(), 2).shape
    (2, 2)
    """
    rows, columns = np.triu_indices(len(graphs))
    measures, _ = represent(graphs, parameters)
    values = best_values(
        measures,
        np.stack([rows, columns], axis=1),
        parameters.cost_weights(),
        parameters.scg_options(),
        n_starts=n_starts,
        n_jobs=parameters.n_jobs,
    )
    matrix = np.empty((len(graphs), len(graphs)), np.float32)
    matrix[rows, columns] = matrix[columns, rows] = values
    return matrix


def with_degree_weights(graphs: GraphSet) -> GraphSet:
    """The same graphs with nodes that weigh as much as they have neighbours, and one.

    >>> from rwk import as_graphs
    >>> path = np.diag([1.0, 1.0], 1) + np.diag([1.0, 1.0], -1)
    >>> with_degree_weights(as_graphs([path])).node_weights.tolist()
    [2.0, 3.0, 2.0]
    """
    return replace(graphs, node_weights=np.concatenate([graph.degrees for graph in graphs]) + 1.0)


def _differs(change: Change, settings: Mapping[str, Parameters], before: Parameters) -> bool:
    """Whether a change of parameters changes any; the base may have the value already."""
    return not change.parameters or any(made != before for made in settings.values())
