"""`rwk bench`: timings of the solver and of others, as a table and a record."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from rwk.cli.screen import console, note, say

MOST_BUSY = 0.1  # share of the processor time that other programs may use while a record is made


def bench(
    datasets: Annotated[
        str | None,
        typer.Option(help="Datasets, separated by commas.", show_default="by backend"),
    ] = None,
    graphs: Annotated[int, typer.Option(help="Number of graphs per dataset; all their pairs are timed.", min=8)] = 64,
    backend: Annotated[str, typer.Option(help="cpu or gpu.")] = "cpu",
    scaling: Annotated[bool, typer.Option("--scaling", help="Time how cost grows with nodes and graphs.")] = False,
    whole: Annotated[bool, typer.Option("--whole", help="Time whole sets: NCI1 and DD.")] = False,
    cold: Annotated[bool, typer.Option("--cold", help="Time the first solves of a fresh environment.")] = False,
    precision: Annotated[bool, typer.Option("--precision", help="Compare float32 with float64 on every pair.")] = False,
    matrices: Annotated[Path | None, typer.Option(help="With gpu: folder to keep the matrices in.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Record to write.")] = None,
    busy: Annotated[bool, typer.Option("--busy", help="Write a record even if other programs are running.")] = False,
) -> None:
    """Time the solver, POT, WWL and NumPy on the same pairs, with one thread each."""
    from rwk.runtime.files import check_writable, write_json
    from rwk.runtime.machine import busy_share, machine_record
    from rwk.transport.problem import SOLVER_VERSION

    if backend not in ("cpu", "gpu"):
        raise ValueError(f"backend={backend!r} can't be timed; use cpu or gpu")
    parts = {"scaling": scaling, "whole": whole, "cold": cold, "precision": precision, f"bench-{backend}": True}
    name = f"bench-{backend}" if backend == "gpu" else next(part for part, wanted in parts.items() if wanted)
    output = output or Path("out") / f"{name}.json"
    check_writable(output)
    used = busy_share()
    if used > MOST_BUSY and not busy:
        raise ValueError(
            f"other programs use {used:.0%} of this computer, so its timings would mislead; stop them, or pass --busy"
        )

    def save(found: dict[str, Any]) -> None:
        made = {**machine_record(SOLVER_VERSION), "used by other programs": round(used, 3)}
        write_json(output, {"kind": f"rwk {name}", **found, "made_with": made})

    if backend == "gpu":
        found = _gpu(datasets.split(",") if datasets else None, matrices, save)
    elif scaling:
        found = _scaling()
    elif whole:
        found = _whole(save)
    elif cold:
        found = _cold()
    elif precision:
        found = _precision()
    else:
        found = _cpu((datasets or "MUTAG,ENZYMES,COX2").split(","), graphs)
    save(found)
    say(f"record: {output}")


def _cpu(datasets: list[str], n_graphs: int) -> dict[str, Any]:
    from rwk.bench.cpu_times import compare, threads
    from rwk.bench.growth import startup

    rows = []
    for name in datasets:
        note(f"{name} …")
        rows.append(compare(name, n_graphs=n_graphs))
    console.print(_times(rows))
    console.print(_steps(rows))
    larger = "ENZYMES" if "ENZYMES" in datasets else datasets[-1]  # a matrix that takes a second or more
    found: dict[str, Any] = {"datasets": rows, "start-up": startup(), "threads": threads(larger)}
    times = ", ".join(f"{what} {seconds:.2f} s" for what, seconds in found["start-up"].items())
    say(f"two threads are {found['threads']['ratio']:.2f} times as fast as one; {times}")
    return found


def _times(rows: list[dict[str, Any]]) -> Table:
    table = Table(
        title="microseconds per pair (how many times faster rwk is, in float64 and in float32)", title_justify="left"
    )
    table.add_column("")
    for row in rows:
        table.add_column(row["dataset"], justify="right")
    for contender in rows[0]["microseconds"]:
        cells = []
        for row in rows:
            ratios = [row["faster than"][precision].get(contender) for precision in ("float64", "float32")]
            faster = " ({:.1f}x, {:.1f}x)".format(*ratios) if ratios[0] else ""
            cells.append(f"{row['microseconds'][contender]:,.0f}{faster}")
        table.add_row(contender, *cells)
    table.add_row("spread of the rounds, rwk float64", *(f"{row['spread']['rwk float64']:.0%}" for row in rows))
    table.add_row("noise: two identical runs", *(f"{row['noise']:.0%}" for row in rows))
    table.add_row("iterations", *(f"{row['mean iterations']:.1f}" for row in rows))
    for title in ("GFLOP/s", "GEMM peak GFLOP/s"):
        table.add_row(
            f"{title}, float64 and float32", *("{float64:.1f}, {float32:.1f}".format(**row[title]) for row in rows)
        )
    table.add_row("float32 off by", *(f"{row['float32 relative difference']:.1e}" for row in rows))
    return table


def _steps(rows: list[dict[str, Any]]) -> Table:
    table = Table(title="microseconds per step", title_justify="left")
    table.add_column("")
    for row in rows:
        table.add_column(row["dataset"], justify="right")
    for step in rows[0]["steps"]:
        table.add_row(step, *(f"{row['steps'][step]:.2f}" for row in rows))
    return table


def _scaling() -> dict[str, Any]:
    from rwk.bench.growth import by_graphs, by_nodes

    nodes, graphs = by_nodes(), by_graphs()
    say(f"time per pair grows as n^{nodes['exponent']:.2f}, time per matrix as N^{graphs['exponent']:.2f}")
    return {"nodes": nodes, "graphs": graphs}


def _whole(save: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    from rwk.bench.dataset_times import large_pair_apart, nci1, representation

    found: dict[str, Any] = {"representation": {}}

    def keep(where: dict[str, Any], part: str, measured: Any) -> None:
        where[part] = measured
        say(f"{part}: {measured}")
        save(found)

    # first, because Linux counts the memory of the process that starts another towards the other's peak
    keep(found, "NCI1", nci1())
    keep(found, "largest pair of DD", large_pair_apart())
    for name in ("NCI1", "DD"):
        keep(found["representation"], f"{name} heat-signature", representation(name, "heat-signature"))
    keep(found["representation"], "NCI1 attention", representation("NCI1", "attention"))
    return found


def _cold() -> dict[str, Any]:
    from rwk.bench.cold_start import cold_start

    found = cold_start()
    for name, row in found.items():
        say(f"{name}: " + ", ".join(f"{what} {seconds:.1f}" for what, seconds in row.items()))
    return {"first": found}


def _precision() -> dict[str, Any]:
    from rwk.bench.float32_errors import DATASETS, agreement

    rows = []
    for name in DATASETS:
        rows.append(agreement(name))
        largest, count = rows[-1]["largest relative difference"], rows[-1]["pairs"]
        say(f"{name}: float32 differs by at most {largest:.1e} on {count:,} pairs")
    return {"datasets": rows}


def _gpu(datasets: list[str] | None, matrices: Path | None, save: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    from rwk.bench.gpu_times import DATASETS, run

    def keep(found: dict[str, Any]) -> None:
        if not found["grams"]:
            console.print(_size_classes(found["size classes"], found["ceilings"]))
        save(found)

    found: dict[str, Any] = run(datasets or DATASETS, matrices=matrices, save=keep)
    return found


def _size_classes(classes: list[dict[str, Any]], limits: dict[str, float]) -> Table:
    from rwk.bench.gpu_times import short

    title = "one size class, all terms on (" + ", ".join(f"{what} {short(top)}" for what, top in limits.items()) + ")"
    table = Table(title=title, title_justify="left")
    for key in classes[0]:
        table.add_column(key, justify="right", overflow="fold")
    for row in classes:
        table.add_row(*(short(value) for value in row.values()))
    return table
