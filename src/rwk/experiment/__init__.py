"""Accuracy figures nobody can doubt: nested cross-validation on stored folds, kept as records, shown as tables.

    folds     make_folds: who is tested when, the same for every method
    protocol  nested_cv: trains and tests on every fold
    search    the settings searched inside one training fold
    records   one JSON line per fold and repeat; a killed run goes on from them
    tables    means, deviations and Markdown from records
    grids     named settings to choose from
    paper     the published figures and their protocols
    notes     why there is no figure; runtimes: how long matrices took
    statistics, comparisons  paired tests and average ranks, as numbers and as tables
    results   ours and the paper's side by side, from records
    page      docs/results.md

Arrows point down: `protocol` calls `folds`, `search` and `records`, `tables` reads records, `results` reads `tables`
and `paper`. Nothing here sees a graph.
"""

from __future__ import annotations

from rwk.experiment.folds import Folds, load_folds, make_folds, save_folds
from rwk.experiment.protocol import nested_cv
from rwk.experiment.records import Score, read_records
from rwk.experiment.tables import Experiment, markdown_table
from rwk.learn.search import Grid

__all__ = [
    "Experiment",
    "Folds",
    "Grid",
    "Score",
    "load_folds",
    "make_folds",
    "markdown_table",
    "nested_cv",
    "read_records",
    "save_folds",
]
