"""Tables that compare methods: paired tests on the folds they share, and average ranks over datasets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rwk.experiment.statistics import (
    PairedTest,
    average_ranks,
    compare_methods,
    complete_part,
)
from rwk.experiment.tables import Experiment, markdown

Found = Mapping[tuple[str, str], Experiment]


def difference(first: Experiment, second: Experiment) -> PairedTest:
    """The corrected resampled t-test of two methods on the folds that both have."""
    return compare_methods([*first.scores, *second.scores], first.dataset, first.method, second.method)


def differences(groups: Iterable[Experiment], *, reference: str = "RWK", methods: Sequence[str] = ()) -> str:
    """A table of reference − method in percentage points, with the p-value of the corrected resampled t-test.

    It has a row per method (those given, or all) and a column per dataset; differences are bold if the method is
    ahead. Empty if there is nothing to compare.
    """
    found = {(group.dataset, group.method): group for group in groups}
    datasets = list(dict.fromkeys(dataset for dataset, method in found if method == reference))
    others = [name for name in methods or dict.fromkeys(method for _, method in found) if name != reference]
    rows = []
    for method in others:
        cells = [_cell(found, dataset, reference, method) for dataset in datasets]
        if any(cells):
            rows.append([f"{reference} − {method}", *cells])
    return markdown(["points (p)", *datasets], rows) if rows else ""


def ahead(found: Found, dataset: str, method: str, reference: str = "RWK") -> bool:
    """Whether a method's mean is above the reference's, on the folds that both have."""
    test = _test(found, dataset, reference, method)
    return test is not None and test.difference < 0


def ranked_scores(
    found: Found, datasets: Sequence[str], methods: Sequence[str], least_share: float = 0.5
) -> dict[str, dict[str, float]]:
    """Mean accuracies by dataset and method, for the methods that every dataset has.

    Runs that are not finished are left out, and so are datasets with fewer than `least_share` times as many methods as
    the dataset that has most. Empty if fewer than two datasets or two methods are left.
    """
    rows: dict[str, dict[str, float]] = {}
    for dataset in datasets:
        groups = [found[dataset, method] for method in methods if (dataset, method) in found]
        rows[dataset] = {group.method: group.mean for group in groups if not group.n_missing}
    most = max((len(row) for row in rows.values()), default=0)
    table = complete_part({dataset: row for dataset, row in rows.items() if row and len(row) >= least_share * most})
    enough = len(table) > 1 and len(next(iter(table.values()))) > 1
    return table if enough else {}


def ranks_table(table: Mapping[str, Mapping[str, float]]) -> str:
    """Average ranks of `ranked_scores`, best first, below a sentence with the tests; empty if there are no scores."""
    if not table:
        return ""
    ranks = average_ranks(table)
    sentence = (
        f"Average ranks over {ranks.n_datasets} datasets ({', '.join(table)}); 1 is best. Methods without a result on "
        f"one of them are left out. Friedman's test that all methods are equally good: p = {ranks.p_value:.2g}. "
        f"Methods whose ranks differ by less than {ranks.critical_difference:.2f} can't be told apart (Nemenyi's test, "
        f"{100 * ranks.alpha:g} %)."
    )
    rows = [[method, f"{rank:.2f}"] for method, rank in zip(ranks.methods, ranks.ranks, strict=True)]
    return f"{sentence}\n\n{markdown(['method', 'average rank'], rows)}"


def _cell(found: Found, dataset: str, reference: str, method: str) -> str:
    test = _test(found, dataset, reference, method)
    if test is None:
        return ""
    text = f"{100 * test.difference:+.1f} ({test.p_value:.2g})"
    return f"**{text}**" if test.difference < 0 else text


def _test(found: Found, dataset: str, reference: str, method: str) -> PairedTest | None:
    first, second = found.get((dataset, reference)), found.get((dataset, method))
    if first is None or second is None:
        return None
    try:
        return difference(first, second)
    except ValueError:  # fewer than two folds in common so far
        return None
