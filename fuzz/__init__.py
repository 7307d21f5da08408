"""Hostile inputs by the thousand: every answer is finite and valid, or one clear error.

    __main__        the command: `python -m fuzz --cases 10000`, or `make fuzz N=10000`
    campaign        runs cases in a child process, so that a crash or a hang costs one case
    record          the record of all campaigns, results/fuzz.json
    promise         what a case must do, and the name of what it did instead
    shrink          a case made smaller while it still fails the same way
    kinds           the list of kinds of cases; each is made by one of the files below
    values          numbers, texts and arrays at the ends of what there is; how a case writes them down
    graph_cases     single graphs, and things that `as_graphs` is given
    parameter_cases parameters of everything that has some
    solver_cases    discrepancies, alignments, neighbours and arrays in place of graphs
    learner_cases   classifiers, regressors and baselines
    file_cases      files that this package wrote, damaged
    command_cases   command lines
    request_cases   what a browser could send to the explorer
    memory          memory of the explorer over thousands of callbacks
    signal_cases    commands that are stopped by a signal

A case is a recipe of plain values that JSON can hold. It is made from its kind and its number alone, so a failure can
be had again anywhere. What a campaign finds is made small and written to `cases/`; `tests/test_fuzz.py` runs
all of these, and a short slice of every kind.
"""
