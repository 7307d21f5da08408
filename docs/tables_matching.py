"""Matchings, patterns, averages and clusters, from what the scripts of benchmarks/ record."""

from __future__ import annotations

from typing import Any

from rwk.experiment.tables import markdown


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
