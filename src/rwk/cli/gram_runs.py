"""What the commands `rwk gram` and `rwk query` do, apart from reading the command line.

Each takes plain arguments, prints to the console it is given and returns the exit code; a `GramError`, `GraphError`
or `ParameterError` goes to the caller, who prints its one sentence and exits with 2.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from rwk.gram.compute import GramProgress, compute_gram
from rwk.gram.errors import GramError
from rwk.gram.estimate import estimate_gram
from rwk.gram.matrix_file import check_matrix_file, save_gram
from rwk.gram.reading import Gram
from rwk.graphs import GraphSet
from rwk.parameters import Parameters
from rwk.runtime.words import duration, size

if TYPE_CHECKING:
    from rich.console import Console

INTERRUPTED: Final = 130  # the exit code of a process that Ctrl-C ended


@dataclass(frozen=True, slots=True)
class GramOptions:
    """How a Gram matrix is computed and kept; the command line's options of the same names.

    `dask` is the address of a scheduler or "local:N", `processes` a number of worker processes, `part` "k/n" for job
    arrays, `output` a file for the finished matrix: .npz with parameters and targets, or a plain .npy to be mapped.
    """

    store: str | None = None
    resume: bool = False
    extend: bool = False
    memory: str = "2GB"
    dask: str | None = None
    processes: int | None = None
    part: str | None = None
    output: str | os.PathLike[str] | None = None

    def existing(self) -> Literal["resume", "refuse", "extend"]:
        return "extend" if self.extend else "resume" if self.resume else "refuse"


def run_gram(data: str, options: GramOptions, parameters: Mapping[str, Any], console: Console) -> int:
    """`rwk gram DATA --store DIR --resume`: compute what is missing, with progress, rate and time to go."""
    if options.store is None and options.output is None:
        raise GramError("nowhere to put the matrix; give --store DIR, or --output FILE for a matrix that fits memory")
    if options.part is not None and options.store is None:
        raise GramError("--part needs --store: the parts meet there")
    for name in ("resume", "extend"):
        if getattr(options, name) and options.store is None:
            raise GramError(f"--{name} needs --store: that is where finished tiles are")
    if options.output is not None:
        check_matrix_file(options.output)
    graphs = _load(data)
    with _executor(options) as executor, _progress(console, str(data)) as report:
        try:
            gram = compute_gram(
                graphs,
                store=options.store,
                memory=options.memory,
                executor=executor,
                existing=options.existing(),
                part=options.part,
                report=report,
                **parameters,
            )
        except KeyboardInterrupt:
            console.print(_how_to_go_on(options))
            return INTERRUPTED
    if options.output is not None and not gram.n_missing:
        _write(gram, graphs, options.output, Parameters.of(parameters))
    health = gram.health
    console.print(
        f"{gram!r}: {health.n_pairs:,} pairs, {health.n_not_converged:,} not converged, "
        f"{health.mean_iterations:.1f} iterations on average"
    )
    return 0


def dry_run_gram(data: str, options: GramOptions, parameters: Mapping[str, Any], console: Console) -> int:
    """`rwk gram DATA --dry-run`: pairs, tiles, time and memory, from a measured sample."""
    from rich.table import Table

    graphs = _load(data)
    with _executor(options) as executor:
        estimate = estimate_gram(graphs, memory=options.memory, executor=executor, **parameters)
    table = Table(title=f"{graphs.name}: nothing computed yet", show_header=False)
    for name, value in (
        ("graphs", f"{estimate.n_graphs:,}"),
        ("pairs", f"{estimate.n_pairs:,}"),
        ("tiles", f"{estimate.n_tiles:,}"),
        ("rate", f"{estimate.pairs_per_core_second:,.0f} pairs/s a core ({estimate.sampled_pairs} pairs measured)"),
        ("time", f"{duration(estimate.seconds)} on {estimate.n_workers} thread(s)"),
        ("work", f"{estimate.core_seconds / 3600:.3g} core-hours"),
        ("memory", f"{size(estimate.tile_bytes)} for tiles in work, {size(estimate.matrix_bytes)} for the matrix"),
        ("storage", f"at most {size(estimate.store_bytes)}"),
    ):
        table.add_row(name, value)
    console.print(table)
    return 0


def run_query(data: str, graph: str, k: int, parameters: Mapping[str, Any], console: Console) -> int:
    """`rwk query DATA GRAPH -k 10`: the graphs of DATA most like one of its graphs (a number) or another (a file)."""
    from rich.table import Table

    from rwk.retrieval.neighbours import nearest

    graphs = _load(data)
    found = nearest(_query_graph(graphs, graph), graphs, k=k, **parameters)
    table = Table("rank", "graph", "nodes", "class", "discrepancy", title=f"{graphs.name}: most like {graph}")
    for rank, (number, value) in enumerate(zip(found.indices, found.values, strict=True), start=1):
        target = "" if graphs.targets is None else str(graphs.targets[number])
        table.add_row(str(rank), str(number), str(graphs.sizes[number]), target, f"{value:.6g}")
    console.print(table)
    console.print(f"{found.n_solved} of {found.n_candidates} pairs solved; the bound ruled out the others")
    return 0


def _write(gram: Gram, graphs: GraphSet, output: str | os.PathLike[str], settings: Parameters) -> None:
    if Path(output).suffix.lower() == ".npy":
        gram.memmap(output)
    else:
        save_gram(output, gram.discrepancy(), settings, targets=graphs.targets, name=graphs.name)


def _load(data: str) -> GraphSet:
    from rwk.convert import as_graphs
    from rwk.datasets import load_dataset

    path = Path(data)
    return as_graphs(path) if path.is_file() and path.suffix.lower() != ".zip" else load_dataset(data)


def _query_graph(graphs: GraphSet, graph: str) -> Any:
    if graph.isdigit():
        if int(graph) >= len(graphs):
            raise GramError(f"there is no graph {graph}: {graphs.name} has graphs 0 to {len(graphs) - 1}")
        return graphs[[int(graph)]]
    from rwk.convert import as_graphs

    return as_graphs(Path(graph) if Path(graph).exists() else [graph])


@contextmanager
def _executor(options: GramOptions) -> Iterator[Any]:
    if options.dask is not None and options.processes is not None:
        raise GramError("--dask and --processes exclude each other; give one")
    if options.dask is not None:
        from rwk.gram.cluster import Dask

        dask = Dask.connect(options.dask)
        try:
            yield dask
        finally:
            dask.close()
    elif options.processes is not None:
        from rwk.gram.executors import Processes

        yield Processes(options.processes)
    else:
        yield None


@contextmanager
def _progress(console: Console, title: str) -> Iterator[Any]:
    """A bar that counts cost, so that it moves evenly, with tiles, rate and time to go."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[state]}"), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=not console.is_terminal) as bar:
        task = bar.add_task(f"gram of {title}", total=None, state="representing graphs")

        def report(progress: GramProgress) -> None:
            share = progress.pairs_under_way * progress.cost / max(progress.n_pairs, 1)
            eta = progress.eta_seconds
            state = f"{progress.tiles_found + progress.tiles_done}/{progress.n_tiles} tiles"
            state += f", {progress.pairs_per_second:,.0f} pairs/s"
            state += f", {duration(eta)} to go" if eta is not None else ""
            done = progress.cost_found + progress.cost_done + share
            bar.update(task, total=progress.cost, completed=min(done, progress.cost), state=state)
            if progress.tiles_damaged and not progress.tiles_done and not progress.pairs_under_way:
                console.print(f"{progress.tiles_damaged} damaged tile(s) found; they are computed again")

        yield report


def _how_to_go_on(options: GramOptions) -> str:
    if options.store is None:
        return "stopped; nothing is kept without --store"
    return f"stopped; finished tiles are kept in {options.store}: the same command with --resume goes on from there"
