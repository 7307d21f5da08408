"""Timings of solves, matrices and baselines."""

from __future__ import annotations

from typing import Any

from rwk.baselines import get
from rwk.experiment.tables import markdown


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
