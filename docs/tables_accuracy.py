"""Accuracies, ranks and what is said of them, from the records of folds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from rwk.experiment import paper
from rwk.experiment.comparisons import difference
from rwk.experiment.network_protocols import protocol_summary
from rwk.experiment.page import of_the_grid
from rwk.experiment.results import extent, is_fair, read_results
from rwk.experiment.statistics import average_ranks, complete_part
from rwk.experiment.tables import accuracy, markdown

NETWORKS = ("PATCHY-SAN", "DGCNN", "CapsGNN", "GIN")


def standing(root: Path) -> str:
    """RWK and the best baseline on every dataset, with the rank of RWK."""
    rows = []
    for name, scores in accuracies(root).items():
        others = {method: score for method, score in scores.items() if method != "RWK"}
        best = max(others, key=others.__getitem__)
        rank = f"{1 + sum(score > scores['RWK'] for score in others.values())} of {len(scores)}"
        rows.append([name, f"{100 * scores['RWK']:.1f}", f"{best} {100 * others[best]:.1f}", rank])
    return markdown(["dataset", "RWK", "best baseline", "rank of RWK"], rows)


def losses(root: Path) -> str:
    """The datasets on which a baseline is ahead of RWK by more than 0.3 points."""
    behind = []
    for name, scores in accuracies(root).items():
        ahead = [method for method, score in scores.items() if score > scores["RWK"] + 0.003]
        if ahead:
            behind.append(f"{name} ({', '.join(sorted(ahead, key=lambda method: -scores[method]))})")
    n_sets = len(accuracies(root))
    first = f"RWK is first, or within 0.3 points of the first, on {n_sets - len(behind)} of {n_sets} datasets."
    return f"{first} Ahead of it by more are: {'; '.join(behind)}." if behind else first


def rank(root: Path) -> str:
    """The average rank of RWK over all datasets, and of the next of the methods that have a result on all of them."""
    scores = accuracies(root)
    named = _named_ranks(average_ranks(complete_part(scores)))
    after, its_rank = min((pair for pair in named.items() if pair[0] != "RWK"), key=lambda pair: pair[1])
    others = "" if _is_complete(scores) else " of the methods that have a result on all of them"
    return (
        f"The average rank of RWK over the {len(scores)} datasets is {_mean_place(scores):.2f}; the next{others} is "
        f"{after}, with {its_rank:.2f}."
    )


def ranks(root: Path) -> str:
    """The average rank of RWK over all datasets, beside those of the methods that have a result on all of them."""
    scores = accuracies(root)
    found = average_ranks(complete_part(scores))
    named = _named_ranks(found)
    near = [name for name, rank in named.items() if 0 < rank - named["RWK"] < found.critical_difference]
    listed = ", ".join(f"{name} {rank:.2f}" for name, rank in named.items())
    among = (
        f"All {len(named)} methods have a result on all {found.n_datasets} datasets. Average ranks are {listed}."
        if _is_complete(scores)
        else f"The average of the ranks above is {_mean_place(scores):.2f}. Among the {len(named)} methods that have a "
        f"result on all {found.n_datasets} datasets, average ranks are {listed}."
    )
    return (
        f"{among} By Nemenyi's test (5 %), ranks must differ by {found.critical_difference:.2f} before so few datasets "
        f"can tell two methods apart: by this test alone, RWK can't be told from {', '.join(near[:-1])} and {near[-1]}."
    )


def _mean_place(scores: dict[str, dict[str, float]]) -> float:
    """The mean over datasets of the rank of RWK among the methods that have a result there."""
    return sum(1 + sum(score > row["RWK"] for score in row.values()) for row in scores.values()) / len(scores)


def _is_complete(scores: dict[str, dict[str, float]]) -> bool:
    """Whether all methods have a result on all datasets."""
    return len({frozenset(row) for row in scores.values()}) == 1


def _named_ranks(found: Any) -> dict[str, float]:
    return dict(zip(found.methods, found.ranks.tolist(), strict=True))


def daggers(root: Path) -> str:
    """The results of baselines that were not made under the rules of a fair comparison."""
    found = read_results(root / "results")
    left = {
        name: [method for method in paper.BASELINES if (name, method) in found and not is_fair(found, name, method)]
        for name in (*paper.DISCRETE, *paper.CONTINUOUS)
    }
    listed = "; ".join(f"{name} ({', '.join(methods)})" for name, methods in left.items() if methods)
    if not listed:
        return "All results were made under these rules."
    return f"Not repeated under these rules yet, and marked † in the long tables: {listed}."


def further(found: dict[str, Any]) -> str:
    """The accuracy on repeats that neither a decision nor a table is of, beside that of the tables."""
    tables = accuracies(Path(__file__).parent.parent)
    means = {row["dataset"]: sum(row["accuracies"].values()) / len(row["accuracies"]) for row in found["rows"]}
    shown = {name: 100 * tables[name]["RWK"] for name in means}
    seeds = list(found["rows"][0]["accuracies"])
    listed = ", ".join(f"{name} {mean:.1f} ({shown[name]:.1f})" for name, mean in means.items())
    gain = (sum(means.values()) - sum(shown.values())) / len(means)
    return (
        f"On repeats {seeds[0]} to {seeds[-1]}, on which nothing was decided, RWK has (in brackets: repeats 0 to 9): "
        f"{listed}. In the mean over these {len(means)} datasets this is {abs(gain):.1f} points "
        f"{'more' if gain > 0 else 'less'}."
    )


def published(root: Path) -> str:
    """How far RWK here is from the accuracies that its paper reports."""
    gaps = {}
    for name, scores in accuracies(root).items():
        printed = paper.published(name, "RWK")
        if printed is not None:
            gaps[name] = 100 * scores["RWK"] - printed.mean
    below = {name: gap for name, gap in gaps.items() if gap < 0}
    worst = min(below, key=below.__getitem__)
    return (
        f"The paper of RWK reports more on {len(below)} of {len(gaps)} datasets, {-below[worst]:.1f} points at most "
        f"({worst}), by a protocol that [the long tables](results.md) describe; under ours its figures are not reached."
    )


def ablated(root: Path) -> str:
    """How many variants of RWK differ from it by more than chance."""
    found = read_results(root / "results")
    tests = [
        difference(found[dataset, "RWK"], group)
        for (dataset, method), group in found.items()
        if method in (*paper.ABLATION, *paper.HOPS[1:])
        and (dataset, "RWK") in found
        and of_the_grid(group, "discrete" if dataset in paper.DISCRETE else "continuous", method)
    ]
    apart = [test for test in tests if test.p_value < 0.05]
    worse = sum(test.difference > 0 for test in apart)
    count = f"{len(apart)} of them differ from RWK ({worse} are worse)" if apart else "none of them differs from RWK"
    lead = round(100 * sum(test.difference for test in tests) / len(tests), 1)
    mean = f"RWK is {'ahead' if lead > 0 else 'behind'} by {abs(lead):.1f} points" if lead else "RWK is level with them"
    return (
        "Variants that leave out the regularisers, the local variation, the local part or the global part were run on "
        f"the same folds, {len(tests)} comparisons in all. At p < 0.05, not corrected for their number, {count}; in "
        f"the mean {mean}."
    )


def networks(root: Path) -> str:
    """How far the networks stay below the accuracies that their papers report."""
    found = read_results(root / "results")
    short = [
        printed.mean - 100 * group.mean
        for (dataset, method), group in found.items()
        if method in NETWORKS and (printed := paper.published(dataset, method)) is not None
    ]
    below = [points for points in short if points > 0]
    return (
        f"On {len(below)} of {len(short)} datasets and networks with a published accuracy ours is lower, by "
        f"{sum(below) / len(below):.1f} points in the mean and {max(below):.1f} at most."
    )


def protocols(record: Any) -> str:
    """How much of the published accuracies of networks is the protocol."""
    return protocol_summary(record["rows"])


def classifier(record: Any) -> str:
    """The accuracy of RWKClassifier() beside that of the harness, on the same folds."""
    parts = [f"{row['dataset']} {100 * row['classifier']:.1f} ({100 * row['harness']:.1f})" for row in record["rows"]]
    return (
        "The figures above come from matrices over all graphs of a dataset, whose scales are learned without labels, "
        "but on test graphs too. `RWKClassifier()` has the same settings, learns all scales on the training graphs "
        "alone, and uses edge labels. On the same folds of the first repeat, or of the first two, it has (in brackets: "
        f"the figures above on these folds): {', '.join(parts)}."
    )


def repeated(record: Any) -> str:
    """How many folds differ between two kernels of linear algebra, and from the stored records."""
    rows = record["rows"]
    total = {key: sum(row[key] for row in rows) for key in rows[0] if key.startswith(("folds", "differ"))}
    return (
        f"RWK was run again on two repeats of {', '.join(row['dataset'] for row in rows)}, matrices included, with the "
        f"kernels {' and '.join(rows[0]['kernels'])} of OpenBLAS. {total['differ_between_kernels']} of "
        f"{total['folds']} folds differ between the two, and {total['differ_from_record']} of "
        f"{total['folds_on_record']} from the records above, some of which were made on another computer."
    )


def accuracies(root: Path) -> dict[str, dict[str, float]]:
    """Mean accuracy by dataset and method, RWK first, for the datasets that RWK was run on."""
    found = read_results(root / "results")
    names = (*paper.DISCRETE, *paper.CONTINUOUS)
    methods = ("RWK", *paper.BASELINES)
    return {
        name: {method: found[name, method].mean for method in methods if (name, method) in found}
        for name in names
        if (name, "RWK") in found
    }


def results(root: Path) -> str:
    """Accuracies of RWK beside the paper's, one row per dataset."""
    found = read_results(root / "results")
    rows = []
    for name in (*paper.DISCRETE, *paper.CONTINUOUS):
        if (name, "RWK") in found:
            group, printed = found[name, "RWK"], paper.published(name, "RWK")
            rows.append([name, f"{100 * group.majority:.1f}", extent(group), accuracy(group), str(printed or "")])
    if not rows:
        return "*No record yet: `rwk reproduce discrete` and `rwk reproduce continuous` write them under results/.*"
    head = ["dataset", "majority class", "repeats × folds", "rwk", "the paper"]
    left = [name for name in (*paper.DISCRETE, *paper.CONTINUOUS) if (name, "RWK") not in found]
    note = f"\n\nNot run yet: {', '.join(left)}." if left else ""
    return markdown(head, rows) + note
