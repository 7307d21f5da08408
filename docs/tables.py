"""Fill in the tables of the README and of the performance page from records: `make tables`.

The function `name` makes the text between `<!-- name -->` and `<!-- /name -->` from a record under results/. If the
record is missing, the page names the command that writes it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rwk.baselines import get
from rwk.experiment import paper
from rwk.experiment.comparisons import difference
from rwk.experiment.network_protocols import protocol_summary
from rwk.experiment.page import of_the_grid
from rwk.experiment.regression import (
    MOLECULE_SETS,
    REPEATS,
    USUAL_REPEATS,
    RegressionOptions,
    mean_and_error,
    read_scores,
    regression_table,
)
from rwk.experiment.regression_methods import REGRESSION_METHODS
from rwk.experiment.results import extent, is_fair, read_results
from rwk.experiment.statistics import average_ranks, complete_part
from rwk.experiment.tables import accuracy, markdown

ROOT = Path(__file__).parent.parent
PAGES = (
    ROOT / "README.md",
    *(ROOT / "docs" / name for name in ("how-good.md", "evaluation.md", "performance.md", "own-costs.md")),
    *(ROOT / "docs" / name for name in ("matching.md", "find.md")),
    ROOT / "docs" / "clustering.md",
    ROOT / "docs" / "regression.md",
    ROOT / "docs" / "tutorials" / "regression.md",
)
PLACE = re.compile(r"(<!-- (?P<name>\w+) -->\n).*?(<!-- /(?P=name) -->)", re.DOTALL)
Maker = Callable[[Any], str]
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
    return (
        f"The average rank of RWK over the {len(scores)} datasets is {_mean_place(scores):.2f}; the next of the "
        f"methods that have a result on all of them is {after}, with {its_rank:.2f}."
    )


def ranks(root: Path) -> str:
    """The average rank of RWK over all datasets, beside those of the methods that have a result on all of them."""
    scores = accuracies(root)
    found = average_ranks(complete_part(scores))
    named = _named_ranks(found)
    near = [name for name, rank in named.items() if 0 < rank - named["RWK"] < found.critical_difference]
    listed = ", ".join(f"{name} {rank:.2f}" for name, rank in named.items())
    return (
        f"The average of the ranks above is {_mean_place(scores):.2f}. Among the {len(named)} methods that have "
        f"a result on all {found.n_datasets} datasets, average ranks are {listed}. By Nemenyi's test (5 %), ranks must "
        f"differ by {found.critical_difference:.2f} before so few datasets can tell two methods apart: by this test "
        f"alone, RWK can't be told from {', '.join(near[:-1])} and {near[-1]}."
    )


def _mean_place(scores: dict[str, dict[str, float]]) -> float:
    """The mean over datasets of the rank of RWK among the methods that have a result there."""
    return sum(1 + sum(score > row["RWK"] for score in row.values()) for row in scores.values()) / len(scores)


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


def speed(record: Any) -> str:
    """Microseconds per pair of every contender, one thread."""
    sets = record["datasets"]
    contenders = dict.fromkeys(name for row in sets for name in row["microseconds"])
    rows = []
    for name in contenders:
        cells = []
        for row in sets:
            time = row["microseconds"].get(name)
            ratios = [row["faster than"][precision].get(name) for precision in ("float64", "float32")]
            faster = " ({}×, {}×)".format(*(f"{ratio:,.1f}" for ratio in ratios)) if all(ratios) else ""
            cells.append("" if time is None else f"{time:,.0f}{faster}")
        rows.append([name, *cells])
    made = record["made_with"]
    table = markdown(["µs per pair, one thread", *(row["dataset"] for row in sets)], rows)
    note = "In brackets: how many times faster rwk is, in float64 and in float32."
    return f"{table}\n\n{note} {made['cpu']}, numpy {made['numpy']}."


def gpu(record: Any) -> str:
    """Pairs per second of one GPU, by size."""
    classes = record["size classes"]
    head = [f"nodes per graph, at most (one {record['device']})", *(str(row["nodes up to"]) for row in classes)]
    return markdown(head, [["pairs per second", *(_rate(row["pairs/s"]) for row in classes)]])


def bounds(record: Any) -> str:
    """How much of the device's peak rates the kernels reach, by size."""
    classes = record["size classes"]
    rows = [
        ["pairs per second, 10 iterations each", *(_rate(row["pairs/s of 10 iterations"]) for row in classes)],
        ["costs, share of the time", *(f"{row['share of costs']:.0%}" for row in classes)],
        ["float16 operations per pair", *(f"{row['tensor FLOP']:.2g}" for row in classes)],
        ["other operations per pair", *(f"{row['other FLOP']:.2g}" for row in classes)],
        ["bytes per pair", *(f"{row['bytes']:,.0f}" for row in classes)],
        ["share of the float16 peak", *(f"{row['share of float16 peak']:.0%}" for row in classes)],
        ["share of the float32 peak", *(f"{row['share of float32 peak']:.0%}" for row in classes)],
        ["share of the bandwidth", *(f"{row['share of bandwidth']:.0%}" for row in classes)],
    ]
    peaks = (f"{value / 1e12:.3g}·10¹² {name}" for name, value in record["ceilings"].items())
    note = f"Peaks as measured on large arrays: {', '.join(peaks)}."
    return markdown(
        [f"nodes per graph, at most (one {record['device']})", *(str(row["nodes up to"]) for row in classes)], rows
    ) + (f"\n\n{note}")


def grams(record: Any) -> str:
    """Whole Gram matrices on one GPU."""
    head = ["all pairs of", "pairs", "largest graph", "represent, s", "solve, s", "median error", "largest error"]
    rows = [
        [
            row["dataset"],
            f"{row['pairs']:,}",
            str(row["largest"]),
            f"{row['represent s']:.0f}",
            f"{row['solve s']:.0f}",
            f"{row['median error']:.0e}",
            f"{row['largest error']:.0e}",
        ]
        for row in record["grams"]
    ]
    return markdown(head, rows)


def _rate(value: float) -> str:
    """Pairs per second, in millions.

    >>> _rate(467_000)
    '0.47 M'
    """
    return f"{value / 1e6:.2g} M"


def cold(record: Any) -> str:
    """Seconds of the first solves of a fresh environment, by the clock and of all its processes together."""
    clocks, states = {"wall": "by the clock", "CPU": "of CPU time"}, {"": "nothing compiled", ", compiled": "compiled"}
    rows = [
        [name, *(f"{row[f'{clock} seconds{state}']:.1f}" for state in states for clock in clocks)]
        for name, row in record["first"].items()
    ]
    head = [f"{title}, {of}" for title in states.values() for of in clocks.values()]
    made = record["made_with"]
    return f"{markdown(['seconds', *head], rows)}\n\n{made['cpu']}, {made['cores']} cores, numba {made['numba']}."


def steps(record: Any) -> str:
    """Where the time of a pair goes, and how close it is to the machine's limit."""
    sets = record["datasets"]
    rows = [[f"{step}, µs", *(f"{row['steps'][step]:.1f}" for row in sets)] for step in sets[0]["steps"]]
    rows.append(["iterations", *(f"{row['mean iterations']:.1f}" for row in sets)])
    for what, title in (("GFLOP/s", "a pair"), ("GEMM peak GFLOP/s", "a large product")):
        rates = ("{float64:.0f}, {float32:.0f}".format(**row[what]) for row in sets)
        rows.append([f"GFLOP/s of {title}, float64 and float32", *rates])
    rows.append(["float32 differs by at most", *(f"{row['float32 relative difference']:.0e}" for row in sets)])
    table = markdown(["one thread, float64", *(row["dataset"] for row in sets)], rows)
    return f"{table}\n\nTwo threads were {record['threads']['ratio']:.2f} times as fast as one."


def baselines(record: Any) -> str:
    """Seconds for the Gram matrix of every baseline, beside the library that has it."""
    compared, alone, made = record["compared"], record["alone"], record["made_with"]
    names = list(dict.fromkeys([*compared["methods"], *alone["methods"]]))
    rows = []
    for name in names:
        beside, own = compared["methods"].get(name), alone["methods"].get(name)
        cells = ["", "", ""]
        if beside:
            library = f"{beside['library']} {beside['library_s']:,.3g}"
            cells = [f"{beside['rwk_s']:.2g}", library, f"{beside['times_faster']:.0f}×"]
        rows.append([get(name).title, *cells, f"{own['rwk_s']:.2g}" if own else ""])
    sets = [f"{part['dataset']}, {part['n_graphs']} graphs, threads: {part['threads']}" for part in (compared, alone)]
    table = markdown(["seconds", sets[0], "library", "faster", sets[1]], rows)
    return f"{table}\n\n{made['cpu']}, GraKeL {made['grakel']}, POT {made['POT']}."


def growth(record: Any) -> str:
    """How time grows with nodes and with graphs."""
    nodes, graphs = record["nodes"], record["graphs"]
    pair = [f"{1e3 * seconds:,.3g}" for seconds in nodes["seconds per pair"]]
    matrix = [f"{seconds:,.2f}" for seconds in graphs["seconds"]]
    return "\n\n".join(
        [
            markdown(["nodes of each graph", *map(str, nodes["nodes"])], [["ms per pair, one thread", *pair]]),
            markdown(["graphs of ten nodes", *map(str, graphs["graphs"])], [["s per matrix, two threads", *matrix]]),
            f"Fitted to the larger half: time grows as n^{nodes['exponent']:.2f} with n nodes per graph, and as N^"
            f"{graphs['exponent']:.2f} with N graphs.",
        ]
    )


def middle(record: Any) -> str:
    """Both bodies of larger pairs in turn, and their products against the peak."""
    rows = []
    for precision_name in ("float64", "float32"):
        row = record[precision_name]
        now, before = row["median ms"]["rows"], row["median ms"]["scalar"]
        rows.append([precision_name, f"{row['pairs']:,}", f"{before:.1f}", f"{now:.1f}", f"{before / now:.1f}×"])
    table = markdown(["one thread", "pairs", "before, ms per pair", "now, ms per pair", "faster"], rows)
    rates = record["GFLOP/s"]
    return (
        f"{table}\n\nGFLOP/s of one core in float64: products {rates['products']:.0f}, products by BLAS "
        f"{rates['products by BLAS']:.0f}, nothing but fused multiply-adds {rates['fused multiply-adds']:.0f}. "
        f"{record['made_with']['cpu']}."
    )


def whole(record: Any) -> str:
    """Whole datasets on two cores."""
    rows = [[f"{name}, represented", f"{took:,.0f} s"] for name, took in record.get("representation", {}).items()]
    if gram := record.get("NCI1"):
        rows += [
            [f"NCI1, {gram['pairs solved']:,} pairs solved", f"{gram['seconds']:,.0f} s"],
            ["NCI1, all 8.4 million pairs, from those", f"{gram['estimated seconds of all'] / 60:,.0f} min"],
            ["NCI1, all 8.4 million pairs, peak memory", f"{gram['peak MB of all']:,.0f} MB"],
        ]
    if pair := record.get("largest pair of DD"):
        rows += [
            [
                f"DD, {pair['nodes']:,.0f} × {pair['nodes of the other']:,.0f} nodes",
                f"{pair['seconds to solve']:,.0f} s",
            ],
            ["DD, the same, peak memory", f"{pair['peak MB']:,.0f} MB"],
        ]
    return markdown(["two cores", "measured"], rows)


def generated_molecules(record: Any) -> str:
    """A matrix of generated molecules."""
    made, minutes = record["made_with"], [record[f"{clock}econds to solve"] / 60 for clock in ("s", "CPU s")]
    return (
        f"{record['pairs']:,} pairs took {minutes[0]:.1f} minutes by the clock on {made['cores']} cores, "
        f"{minutes[1]:.1f} minutes of CPU time ({record['CPU microseconds per pair']:.0f} µs per pair), and "
        f"{record['peak MB']:,.0f} MB. Other programs used {made['used by other programs']:.0%} of the computer when "
        f"it began. {made['cpu']}."
    )


def precision(record: Any) -> str:
    """Float32 against float64."""
    rows = [
        [
            row["dataset"],
            f"{row['pairs']:,}",
            f"{row['largest relative difference']:.0e}",
            f"{row['median relative difference']:.0e}",
            str(row["pairs above 1e-4"]),
            str(row["not finite"]),
        ]
        for row in record["datasets"]
    ]
    return markdown(["float32 against float64", "pairs", "largest", "median", "above 1e-4", "not finite"], rows)


def point_clouds(record: Any) -> str:
    """Gromov-Wasserstein of point clouds: pairs per second of rwk and of POT."""
    rows = [
        [name, f"{row['n_pairs']:,}", f"{row['pairs_per_second']:,.0f}", f"{row['value_by_pot']['median']:.3f}"]
        for name, row in record["solvers"].items()
    ]
    made = record["made_with"]
    head = ["one thread", "pairs", "pairs per second", "value, by that of `gromov_wasserstein2`"]
    cajal = f", CAJAL {made['cajal']}" if "cajal" in made else ""
    return f"{markdown(head, rows)}\n\n{made['cpu']}, POT {made['POT']}{cajal}."


def _matching_cells(record: Any) -> dict[tuple[Any, ...], dict[str, dict[str, float]]]:
    """The figures of every method by cell: family, nodes, deleted, rewired, labels."""
    fields, makers = record[0]["fields"], ("rwk", "POT", "SciPy", "pygmtools")
    return {
        tuple(line["cell"]): {
            name: dict(zip(fields, row, strict=True))
            for maker in makers
            for name, row in line["methods"].items()
            if name.startswith(maker)
        }
        for line in record[1:]
    }


def matching_seeds(record: Any) -> str:
    """How many pairs every cell has, by size, and what of the record is older."""
    seeds = {line["cell"][1]: line["seeds"] for line in record[1:]}
    sizes = [f"{count} of {size} nodes" for size, count in sorted(seeds.items())]
    kept = f" {record[0]['kept']}." if "kept" in record[0] else ""
    return f"Pairs per cell: {', '.join(sizes)}.{kept}"


def starts(record: Any) -> str:
    """What starts of transport cost and bring, by size."""
    rows = []
    for size in record["sizes"]:
        two = size["starts"]["2"]["milliseconds"]
        for kind, row in size["starts"].items():
            took = row["milliseconds"]
            figures = [f"{row['value']:.4f}", f"{row['recovered']:.3f}", f"{took:,.1f}", f"{took / two:.1f}"]
            rows.append([str(size["nodes"]), kind, *figures])
    return markdown(["nodes", "starts", "value", "recovered", "ms", "times two starts"], rows)


def matching_recovery(record: Any) -> str:
    """Share of true pairs recovered: one row per family, size, deletion and rewiring, without labels."""
    cells = _matching_cells(record)
    methods = [name for name in cells[tuple(record[1]["cell"])] if name not in ("SciPy 2-opt", "pygmtools IPFP")]
    rows = []
    for (family, nodes, deleted, rewired, labels), found in cells.items():
        if not labels and deleted in (0.0, 0.1, 0.2):
            shown = [
                f"{found[name]['recovered']:.2f} ({_milliseconds(found[name])})" if name in found else ""
                for name in methods
            ]
            rows.append([str(nodes), family, f"{deleted:.0%}", f"{rewired:.0%}", *shown])
    head = ["nodes", "family", "deleted", "rewired", *methods]
    return f"Recovered, and the median time per pair in ms; without labels.\n\n{markdown(head, rows)}"


def _milliseconds(row: dict[str, float]) -> str:
    time = 1000 * row["seconds"]
    return f"{time:.2f}" if time < 1 else f"{time:.1f}" if time < 10 else f"{time:,.0f}"


def matching_speed(record: Any) -> str:
    """On how many cells an effort is so many times faster than POT and recovers no less, and the median factor."""
    cells, rows = _matching_cells(record), []
    for size in sorted({key[1] for key in cells}):
        for effort in ("rwk.match, quick", "rwk.match, fast"):
            for peer in ("POT GW", "POT FGW"):
                mine = [found for key, found in cells.items() if key[1] == size and {effort, peer} <= found.keys()]
                good = [one[effort]["recovered"] >= one[peer]["recovered"] - 0.005 for one in mine]
                factors = [one[peer]["seconds"] / one[effort]["seconds"] for one in mine]
                fast = [sum(g and f >= least for g, f in zip(good, factors, strict=True)) for least in (1, 3, 5)]
                middle = sorted(factors)[len(factors) // 2]
                counts = [f"{count} of {len(mine)}" for count in (sum(good), *fast)]
                rows.append([str(size), effort, peer, f"{middle:.1f}", *counts])
    head = ["nodes", "effort", "beside", "times faster", "recovers as much", "and is faster", "3 times", "5 times"]
    return markdown(head, rows)


def matching_summary(record: Any) -> str:
    """On how many cells each method is first, and means over all cells that every method has solved."""
    found, rows = _matching_cells(record), []
    for size in sorted({key[1] for key in found}):
        mine = [lines for key, lines in found.items() if key[1] == size]
        methods = [method for method in mine[0] if 2 * sum(method in lines for lines in mine) > len(mine)]
        whole = [lines for lines in mine if all(method in lines for method in methods)]
        for method in methods:
            own = method if method.startswith("rwk") else "rwk.match"
            others = [name for name in methods if name == own or not name.startswith("rwk")]
            best = [max(lines[other]["recovered"] for other in others) for lines in whole]
            first = [lines[method]["recovered"] >= top - 0.005 for lines, top in zip(whole, best, strict=True)]
            kinds = ("recovered", "recovered_up_to_symmetry", "edges_preserved")
            means = [f"{sum(lines[method][kind] for lines in whole) / len(whole):.3f}" for kind in kinds]
            times = sorted(1000 * lines[method]["seconds"] for lines in whole)
            rows.append([str(size), method, f"{sum(first)} of {len(whole)}", *means, f"{times[len(times) // 2]:,.1f}"])
    head = ["nodes", "method", "first", "recovered", "up to symmetry", "edges preserved", "ms per pair"]
    note = (
        "Means over all cells of a size, with and without labels. A method is first if no other one recovers more by\n"
        "over .005; other methods are compared with `rwk.match` as it is by default, efforts not with each other."
    )
    return f"{note}\n\n{markdown(head, rows)}"


def later_states(record: Any) -> str:
    """Real networks matched with their later state."""
    rows = []
    for name, network in record["networks"].items():
        for method, row in network["methods"].items():
            rows.append([name, method, *(f"{row[key]:.2f}" for key in ("right", "alike", "milliseconds"))])
    return markdown(["network", "method", "right", "right up to symmetry", "ms"], rows)


def atom_maps(record: Any) -> str:
    """Atom maps of reactions that are right, by kind of reaction."""
    rows = [
        [name, str(row["reactions"]), str(row["whole"]), f"{row['right']} of {row['atoms']}"]
        for name, row in record["kinds"].items()
    ]
    return markdown(["reaction", "number", "whole map right", "atoms right"], rows)


def patterns_found(record: Any) -> str:
    """How well the rankings of `find` agree with RDKit's substructure search."""
    found = record["find"]
    text = (
        f"Ten patterns in {found['molecules']} molecules of Lipophilicity, beside RDKit's substructure search.\n"
        f"Average precision of the ranking, {found['mean_average_precision']:.3f} in the mean, is 1 if every molecule\n"
        "that holds the pattern comes before all others; the next column ranks by the transport value alone, without\n"
        "rounding. Then the rank correlation, over the molecules that do not hold the pattern, of `share` and the\n"
        "size of the maximum common substructure by RDKit's FMCS, and the time of `find` on one thread."
    )
    keys = ("average_precision", "by_value_alone", "near_correlation", "milliseconds_per_molecule")
    rows = [
        [name, str(row["holding"]), str(row["exact"]), *(f"{row[key]:.2f}" for key in keys)]
        for name, row in found["patterns"].items()
    ]
    head = ["pattern", "hold it (RDKit)", "exact (rwk)", "average precision", "by value", "near matches", "ms each"]
    return f"{text}\n\n{markdown(head, rows)}"


def common_parts(record: Any) -> str:
    """Size and time of common parts beside RDKit's FMCS."""
    rows = []
    for name, row in record["common"].items():
        times = [f"{1000 * row[one][key]:,.0f}" for key in ("median", "worst") for one in ("rwk", "fmcs")]
        counts = str(row["pairs"]), f"{row['overlap']:.3f}", str(row["as_large"])
        rows.append([name, *counts, *times, str(row["canceled"])])
    text = (
        "Common parts of pairs of molecules beside FMCS. Overlap is the number of common bonds divided by that of\n"
        "FMCS, at most 1, in the mean. The difficult pairs are terpenes, oligomers and peptides, where an exhaustive\n"
        f"search takes long: FMCS was stopped after {record['timeout']} s on the clock. On usual pairs it is faster\n"
        "than rwk. Times are ms of one thread's own time, on a computer that had other work to do."
    )
    head = [
        "pairs",
        "number",
        "overlap",
        "as large",
        "median, rwk",
        "median, FMCS",
        "worst, rwk",
        "worst, FMCS",
        "stopped",
    ]
    return f"{text}\n\n{markdown(head, rows)}"


# record -> the command that writes it, and what is made of it
def planted_averages(record: Any) -> str:
    """F1 of the edges of averages of noisy copies, by method."""
    found: dict[str, list[float]] = {}
    for row in record["averages"]:
        found.setdefault(row["method"], []).extend(row["f1"])
    rows = [
        [name, f"{sum(f1) / len(f1):.2f}", f"{min(f1):.2f}", f"{sum(one >= 0.9 for one in f1)} of {len(f1)}"]
        for name, f1 in found.items()
    ]
    return markdown(["average of 20 copies", "F1 of edges, mean", "lowest", "at least 0.9"], rows)


def planted_mixtures(record: Any) -> str:
    """Adjusted Rand index of clusterings of noisy copies, by mixture and method."""
    mixtures = list(dict.fromkeys(row["mixture"] for row in record["mixtures"]))
    found: dict[str, dict[str, list[float]]] = {}
    for row in record["mixtures"]:
        found.setdefault(row["method"], {})[row["mixture"]] = row["ari"]
    cells = [
        [name, *(f"{sum(by[mixture]) / len(by[mixture]):.2f} (lowest {min(by[mixture]):.2f})" for mixture in mixtures)]
        for name, by in found.items()
    ]
    return markdown(["method", *mixtures], cells)


def few_molecules(record: Any) -> str:
    """The share of values inside their 95 % intervals, after few measurements."""
    numbers = list(dict.fromkeys(row["molecules"] for row in record["rows"]))
    rows = []
    for name in dict.fromkeys(row["dataset"] for row in record["rows"]):
        found = {row["molecules"]: row["coverage"] for row in record["rows"] if row["dataset"] == name}
        rows.append([name, *(f"{100 * found[number]:.0f} %" for number in numbers)])
    return markdown(["molecules measured", *map(str, numbers)], rows)


def fit_times(record: Any) -> str:
    """Minutes of a fit of a Gaussian process, seconds of its parts, and minutes of CPU time of all threads."""
    rows = []
    for row in record["rows"]:
        parts = ", ".join(f"{name} {seconds:.0f}" for name, seconds in row["seconds"].items())
        used = f"{row['cpu_seconds'] / 60:.1f}"
        rows.append([f"{row['n_molecules']:,}", str(row["threads"]), f"{row['minutes']:.1f}", parts, used])
    return markdown(["molecules", "threads", "minutes", "seconds of the parts", "minutes of CPU time"], rows)


RECORDS: dict[str, tuple[str, tuple[Maker, ...]]] = {
    "bench-cpu.json": ("rwk bench --output", (speed, steps)),
    "growth.json": ("rwk bench --scaling --output", (growth,)),
    "whole.json": ("rwk bench --whole --output", (whole,)),
    "middle-sizes.json": ("python benchmarks/middle_sizes.py --output", (middle,)),
    "cold-start.json": ("rwk bench --cold --output", (cold,)),
    "precision.json": ("rwk bench --precision --output", (precision,)),
    "bench-baselines.json": ("python benchmarks/baselines.py --json", (baselines,)),
    "point-clouds.json": ("python benchmarks/point_clouds.py --output", (point_clouds,)),
    "matching/cells.jsonl": (
        "python benchmarks/matching.py --output",
        (matching_seeds, matching_speed, matching_recovery, matching_summary),
    ),
    "starts.json": ("python benchmarks/starts.py --output", (starts,)),
    "molecule-gram.json": ("python benchmarks/molecule_gram.py --output", (generated_molecules,)),
    "later-states.json": ("python benchmarks/later_states.py --output", (later_states,)),
    "same-folds.json": ("python benchmarks/same_folds.py MUTAG PTC_MR BZR COX2 --output", (repeated,)),
    "classifier.json": ("python benchmarks/classifier.py MUTAG PTC_MR BZR_MD BZR COX2 --output", (classifier,)),
    "network-protocol.json": ("python benchmarks/network_protocol.py MUTAG PTC_MR --output", (protocols,)),
    "atom-maps.json": ("python benchmarks/atom_maps.py --output", (atom_maps,)),
    "substructures.json": ("python benchmarks/substructures.py --output", (patterns_found, common_parts)),
    "averages.json": ("python benchmarks/averages.py --output", (planted_averages, planted_mixtures)),
    "regression-times.json": (
        "python benchmarks/regression_times.py Lipophilicity --jobs 2 --output",
        (fit_times,),
    ),
    "few-molecules.json": ("python benchmarks/few_molecules.py --output", (few_molecules,)),
    "bench-gpu.json": ("rwk bench --backend gpu --output", (gpu, bounds, grams)),
}
MAKERS = {
    maker.__name__: (f"results/{name}", command, maker)
    for name, (command, makers) in RECORDS.items()
    for maker in makers
}


def molecules(root: Path) -> str:
    """All methods on every set of molecules with measured values that has records."""
    tables = [
        regression_table(name, root / "results", REGRESSION_METHODS)
        for name in MOLECULE_SETS
        if list((root / "results" / "regression").glob(f"{name}-*.jsonl"))
    ]
    return "\n\n".join(tables) if tables else "*No record yet: `rwk reproduce regression` writes it.*"


def molecule_errors(root: Path) -> str:
    """RMSE of every method on every set of molecules, mean ± standard error over random splits."""
    rows = []
    for method in REGRESSION_METHODS:
        cells = [method]
        for name in MOLECULE_SETS:
            errors = random_errors(root, name, method)
            words = "" if len(errors) in (0, planned(name)) else f" ({len(errors)} splits)"
            cells.append(mean_and_error(errors) + words if errors else "")
        rows.append(cells)
    return markdown(["method", *MOLECULE_SETS], rows)


def molecules_missing(root: Path) -> str:
    """Which methods have not been run on all random splits of a set."""
    found = []
    for name in MOLECULE_SETS:
        known = {method: len(random_errors(root, name, method)) for method in REGRESSION_METHODS}
        short = [f"{method} ({n} of {planned(name)})" for method, n in known.items() if 0 < n < planned(name)]
        lacking = [method for method, n in known.items() if not n] + short
        if lacking:
            found.append(f"{name}: {', '.join(lacking)}")
    return f"Not run, or not on all splits: {'; '.join(found)}." if found else "Every method was run on every split."


def random_errors(root: Path, name: str, method: str) -> list[float]:
    """The RMSE of every random split on record."""
    scores = read_scores(RegressionOptions(root / "results").record_file(name, method))
    return [line["rmse"] for line in scores if line["split"] == "random"]


def planned(name: str) -> int:
    """The number of random splits of a set."""
    return REPEATS.get(name, USUAL_REPEATS)


OF_FOLDS = (
    results,
    standing,
    rank,
    ranks,
    daggers,
    published,
    ablated,
    networks,
    losses,
    molecules,
    molecule_errors,
    molecules_missing,
)
FROM_FOLDS = {maker.__name__: maker for maker in OF_FOLDS}


def content(name: str, root: Path) -> str:
    """The text for one place: a table made from its record, or the command that writes the record."""
    if name in FROM_FOLDS:
        return FROM_FOLDS[name](root)
    record, command, maker = MAKERS[name]
    if not (root / record).exists():
        return f"*No record yet: `{command} {record}` writes it.*"
    text = (root / record).read_text(encoding="utf-8")
    return maker([json.loads(line) for line in text.splitlines()] if record.endswith("l") else json.loads(text))


def filled(text: str, root: Path = ROOT) -> str:
    """A page with all its places filled."""
    return PLACE.sub(lambda place: f"{place[1]}{content(place['name'], root)}\n{place[3]}", text)


def main() -> None:
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
        print(page)


if __name__ == "__main__":
    main()
