"""Evaluation: from a method and a dataset to records, and from records to tables and statistics.

Accuracies come from nested cross-validation on stored folds; tuning never sees the test fold. From a method to records:

    reproduce     the paper's tables, run again; trials: single changes of a setting; timing: how long matrices take
    regress_run   what `rwk regress` computes from a table
    run_folder    the folder that `rwk classify` writes; predictions: what it predicts for each graph
    regression    molecules with measured values; regression_methods: their matrices; regression_splits: their splits
    methods       RWK, its variants and settings; baseline_runs: the baselines; baseline_matrices: those of kernels
    run           run_experiment: the one way from a method and a dataset to records; all of the above call it
    folds         make_folds: which fold tests which graph, the same for every method
    protocol      nested_cv: trains and tests on every fold; running: the folds in processes or on a GPU
    records       one line per fold under a header; a stopped run goes on from them

From records to tables:

    json_lines    the files that records, trials, notes and run times are kept in; convert_records: earlier formats
    tables        means, standard deviations and Markdown from records
    statistics    paired tests and average ranks; comparisons: the same as tables
    trial_records accuracy of single changes; notes: why a result is missing; runtimes: how long matrices took
    paper         the published accuracies and their protocols
    results       ours and the paper's side by side, from records
    page          docs/results.md; page_text: its paragraphs; seen_data: what fair runs give each method;
                  network_protocols: networks under two protocols
"""

from __future__ import annotations

from rwk.experiment.folds import Folds, load_folds, make_folds, save_folds
from rwk.experiment.protocol import nested_cv
from rwk.experiment.records import Score, read_records
from rwk.experiment.tables import Experiment, markdown_table
from rwk.learn.search_grid import Grid

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
