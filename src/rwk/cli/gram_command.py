"""`rwk gram` and `rwk query`: matrices in memory or in a store, and the graphs most like one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rwk.cli.options import with_parameters
from rwk.cli.screen import Data, console, errors, load_graphs, say_cost
from rwk.parameters import Parameters
from rwk.runtime.progress import progress_bar
from rwk.runtime.words import duration

KEEPING = "Keeping and sharing the work"
Store = Annotated[
    str | None, typer.Option(help="Folder or address that keeps finished tiles.", rich_help_panel=KEEPING)
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with an existing store.", rich_help_panel=KEEPING)]
Extend = Annotated[bool, typer.Option("--extend", help="Add new graphs to a store.", rich_help_panel=KEEPING)]
Memory = Annotated[
    str | None, typer.Option(help="Memory for tiles in work, such as 500MB; 2GB if not given.", rich_help_panel=KEEPING)
]
Dask = Annotated[str | None, typer.Option(help="A Dask scheduler's address, or local:N.", rich_help_panel=KEEPING)]
Processes = Annotated[int | None, typer.Option(help="Worker processes.", min=1, rich_help_panel=KEEPING)]
Part = Annotated[str | None, typer.Option(help="k/n: this job's part of the tiles.", rich_help_panel=KEEPING)]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what it would take, and stop.", rich_help_panel=KEEPING)]


@with_parameters
def gram(
    data: Data,
    parameters: Parameters,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write, .npz or .npy.")] = None,
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
    tiled = resume or extend or any(given is not None for given in (store, memory, dask, processes, part))
    if not tiled and not dry_run:
        _in_memory(data, parameters, output or Path("gram.npz"))
        return
    from rwk.cli.gram_runs import GramOptions, dry_run_gram, run_gram

    options = GramOptions(store, resume, extend, memory or "2GB", dask, processes, part, output)
    run = dry_run_gram if dry_run else run_gram
    raise typer.Exit(run(data, options, parameters.asdict(), console))


def _in_memory(data: str, parameters: Parameters, output: Path) -> None:
    from rwk.gram import symmetric_discrepancy
    from rwk.gram.matrix_file import check_matrix_file, save_gram
    from rwk.gram.rows import KeptRows
    from rwk.represent import represent

    check_matrix_file(output)
    graphs = load_graphs(data)
    n_pairs = len(graphs) * (len(graphs) + 1) // 2
    measures, _ = represent(graphs, parameters)
    say_cost(measures, parameters, n_pairs)
    kept = KeptRows.at(output.with_suffix(".rows"), graphs, parameters)
    try:
        with progress_bar("Gram matrix", n_pairs) as tick:
            matrix, health = symmetric_discrepancy(measures, parameters, tick=tick, kept=kept)
    except KeyboardInterrupt:
        errors.print(
            f"stopped; rows that were solved are kept in {kept.folder}, and the same command goes on with the others"
            if kept.folder.exists()
            else "stopped before the first rows were solved; the same command begins again"
        )
        raise typer.Exit(130) from None
    save_gram(output, matrix, parameters, targets=graphs.targets, name=graphs.name)
    kept.remove()
    console.print(
        f"{output}: {len(graphs)} graphs, {health.n_pairs:,} pairs in {duration(health.seconds)} "
        f"({health.pairs_per_second:,.0f} a second), {health.n_not_converged:,} not converged",
        highlight=False,
        soft_wrap=True,
    )


@with_parameters
def query(
    data: Data,
    graph: Annotated[str, typer.Argument(help="Number of a graph of the set, a file, or SMILES.")],
    parameters: Parameters,
    k: Annotated[int, typer.Option("-k", help="How many graphs to find.", min=1)] = 10,
) -> None:
    """Find the graphs of a set most like one graph, solving only pairs that a bound can't rule out."""
    from rwk.cli.gram_runs import run_query

    raise typer.Exit(run_query(data, graph, k, parameters.asdict(), console))
