"""`rwk gram`: the Gram matrix of a set, in memory or tile by tile, and what it would take."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

import typer

from rwk.cli.options import with_columns, with_parameters
from rwk.cli.screen import (
    Data,
    DataSource,
    console,
    figures_of,
    load_graphs,
    note_complete,
    said_if_stopped,
    say,
    say_cost,
)
from rwk.parameters import Parameters
from rwk.runtime.progress import progress_bar
from rwk.runtime.words import counted, duration, size

if TYPE_CHECKING:
    from rwk.gram.health import GramHealth

KEEPING: Final = "Keeping and sharing the work"
Store = Annotated[
    str | None, typer.Option(help="Folder or address (s3://...) to keep finished tiles in.", rich_help_panel=KEEPING)
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Compute what is missing in an existing store.", rich_help_panel=KEEPING)
]
Extend = Annotated[
    bool, typer.Option("--extend", help="Add the graphs that a store does not hold yet.", rich_help_panel=KEEPING)
]
Memory = Annotated[
    str | None,
    typer.Option(help="Memory for the tiles being solved, such as 500MB; 2GB if not given.", rich_help_panel=KEEPING),
]
Dask = Annotated[
    str | None, typer.Option(help="Address of a Dask scheduler, or local:N for N workers.", rich_help_panel=KEEPING)
]
Processes = Annotated[
    int | None, typer.Option(help="Worker processes, in place of threads.", min=1, rich_help_panel=KEEPING)
]
Part = Annotated[
    str | None, typer.Option(help="k/n: compute part k of n of the tiles, for job arrays.", rich_help_panel=KEEPING)
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print an estimate of time and memory, and stop.", rich_help_panel=KEEPING)
]


@dataclass(frozen=True, slots=True)
class GramOptions:
    """Where a matrix is kept and who computes it: the options of the same names."""

    store: str | None
    resume: bool
    extend: bool
    memory: str | None
    dask: str | None
    processes: int | None
    part: str | None

    @property
    def tiled(self) -> bool:
        """Whether any option asks for tiles; without one the matrix is solved in memory."""
        given = (self.store, self.memory, self.dask, self.processes, self.part)
        return self.resume or self.extend or any(option is not None for option in given)

    @property
    def existing(self) -> Literal["resume", "refuse", "extend"]:
        return "extend" if self.extend else "resume" if self.resume else "refuse"

    @property
    def budget(self) -> str:
        return self.memory or "2GB"


@with_parameters
@with_columns
def gram(
    data: Data,
    parameters: Parameters,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write: .npz, .npy, .csv or .parquet.")
    ] = None,
    store: Store = None,
    resume: Resume = False,
    extend: Extend = False,
    memory: Memory = None,
    dask: Dask = None,
    processes: Processes = None,
    part: Part = None,
    dry_run: DryRun = False,
) -> None:
    """Compute the Gram matrix of a set of graphs, and save it with its parameters, targets and version."""
    options = GramOptions(store, resume, extend, memory, dask, processes, part)
    if dry_run:
        _dry_run(data, parameters, options)
    elif options.tiled:
        _tiled(data, parameters, options, output)
    else:
        _in_memory(data, parameters, output or Path("gram.npz"))


def _in_memory(data: str | DataSource, parameters: Parameters, output: Path) -> None:
    from rwk.gram import symmetric_discrepancy
    from rwk.gram.kept import kept_parts
    from rwk.gram.matrix_file import check_matrix_file, save_gram
    from rwk.represent import represent

    check_matrix_file(output)
    graphs = load_graphs(data)
    note_complete(graphs, parameters.structure)
    measures, _ = represent(graphs, parameters)
    say_cost(graphs, parameters, measures=measures)
    kept = kept_parts(output.with_suffix(".parts"), graphs, parameters)
    n_pairs = len(graphs) * (len(graphs) + 1) // 2
    with said_if_stopped(lambda: _parts_kept(kept.folder)), progress_bar("Gram matrix", n_pairs) as tick:
        matrix, health = symmetric_discrepancy(measures, parameters, tick=tick, kept=kept)
    save_gram(output, matrix, parameters, targets=graphs.targets, name=graphs.name, names=graphs.names)
    kept.remove()
    time = f" in {duration(health.seconds)} ({health.pairs_per_second:,.0f} pairs/s)"
    _say_health(f"{output}: {len(graphs):,} graphs", health, time)


def _tiled(data: str | DataSource, parameters: Parameters, options: GramOptions, output: Path | None) -> None:
    """Compute the tiles that are missing."""
    from rwk.gram.compute import compute_gram, show_on
    from rwk.gram.matrix_file import check_matrix_file, save_gram

    _check(options, output)
    if output is not None:
        check_matrix_file(output)
    graphs = load_graphs(data)
    note_complete(graphs, parameters.structure)
    with (
        said_if_stopped(lambda: _tiles_kept(options)),
        _executor(options) as executor,
        progress_bar(f"Gram matrix of {graphs.name}", None) as bar,
    ):
        found = compute_gram(
            graphs,
            store=options.store,
            memory=options.budget,
            executor=executor,
            existing=options.existing,
            part=options.part,
            report=lambda progress: show_on(bar, progress),
            **parameters.asdict(),
        )
    if output is not None and not found.n_missing:
        if output.suffix.lower() == ".npy":
            found.memmap(output)
        else:
            save_gram(
                output, found.discrepancy(), parameters, targets=graphs.targets, name=graphs.name, names=graphs.names
            )
        say(f"matrix: {output}")
    _say_health(repr(found), found.health)


def _check(options: GramOptions, output: Path | None) -> None:
    from rwk.gram.errors import GramError

    if options.store is None and output is None:
        raise GramError("nowhere to put the matrix; give --store DIR, or --output FILE for a matrix that fits memory")
    for name in ("part", "resume", "extend"):
        if getattr(options, name) and options.store is None:
            raise GramError(f"--{name} needs --store: that is where finished tiles are kept")


def _dry_run(data: str | DataSource, parameters: Parameters, options: GramOptions) -> None:
    """Print pairs, tiles, time and memory, from a measured sample."""
    from rwk.gram.estimate import estimate_gram

    graphs = load_graphs(data)
    with _executor(options) as executor:
        cost = estimate_gram(graphs, memory=options.budget, executor=executor, **parameters.asdict())
    workers = "the GPU" if cost.backend == "gpu" else counted(cost.n_workers, "thread")
    rate = f"{cost.pairs_per_core_second:,.0f} pairs/s per core ({cost.sampled_pairs:,} pairs measured)"
    figures = {
        "graphs": f"{cost.n_graphs:,}",
        "pairs": f"{cost.n_pairs:,}",
        "tiles": f"{cost.n_tiles:,}",
        "rate": rate,
        "time": f"{duration(cost.seconds)} on {workers}",
        "work": f"{cost.core_seconds / 3600:.3g} core-hours",
        "memory": f"{size(cost.tile_bytes)} for the tiles being solved, {size(cost.matrix_bytes)} for the matrix",
        "storage": f"at most {size(cost.store_bytes)}",
    }
    console.print(figures_of(f"{graphs.name}: an estimate, nothing is computed yet", figures))


@contextmanager
def _executor(options: GramOptions) -> Iterator[Any]:
    """The workers that the options ask for; a Dask cluster is left, or stopped, at the end."""
    from rwk.gram.errors import GramError

    if options.dask is not None and options.processes is not None:
        raise GramError("--dask and --processes exclude each other; give one")
    if options.dask is not None:
        from rwk.gram.cluster import Dask

        cluster = Dask.connect(options.dask)
        _silence_dask()
        try:
            yield cluster
        finally:
            cluster.close()
    elif options.processes is not None:
        from rwk.gram.executors import Processes

        yield Processes(options.processes)
    else:
        yield None


def _silence_dask() -> None:
    """Keep Dask from logging tracebacks when its scheduler is lost; what matters of that is our error."""
    for name in ["distributed", *logging.root.manager.loggerDict]:
        if name.partition(".")[0] in ("distributed", "tornado"):
            logging.getLogger(name).setLevel(logging.CRITICAL)


def _say_health(what: str, health: GramHealth, time: str = "") -> None:
    say(
        f"{what}, {health.n_pairs:,} pairs{time}, {health.n_not_converged:,} not converged, "
        f"{health.mean_iterations:.1f} iterations on average"
    )


def _parts_kept(folder: Path) -> str:
    if not folder.exists():
        return "no part was finished yet, so nothing is kept and the same command begins again"
    return f"parts that were solved are kept in {folder}, and the same command goes on with the others"


def _tiles_kept(options: GramOptions) -> str:
    if options.store is None:
        return "nothing is kept without --store"
    return f"finished tiles are kept in {options.store}, and the same command with --resume goes on from there"
