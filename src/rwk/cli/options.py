"""Command-line options for `Parameters`: one per field, with the same name, default and meaning."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Annotated, Any, Final

import typer

from rwk.cli.help_page import help_tuning
from rwk.cli.screen import DataSource
from rwk.parameters import Parameters

# field -> panel and help; types and defaults come from Parameters
OPTIONS: Final[dict[str, tuple[str, str]]] = {
    "hops": ("Representation", "Reach of the local variation of the features; 0 leaves it out."),
    "wl_rounds": ("Representation", "Weisfeiler-Lehman rounds on the node labels."),
    "wl_edge_labels": ("Representation", "Use edge labels in the rounds; by default if the graphs have them."),
    "feature_metric": ("Representation", "How features are compared: l2, hamming, both or product."),
    "hamming_weight": ("Representation", "Share of the Hamming part, if the metric is both."),
    "label_weight": ("Representation", "Share of labels, if graphs have labels and attributes."),
    "return_weight": ("Representation", "Power of the return probabilities, if the metric is product."),
    "attribute_weight": ("Representation", "Power of the attributes, if the metric is product."),
    "attribute_rounds": ("Representation", "Rounds of smoothing the attributes along edges."),
    "embedding": ("Representation", "Structure embedding: heat-signature or attention."),
    "embedding_dim": ("Representation", "Columns of the embedding; by default 8 (heat-signature) or 64 (attention)."),
    "walk_length": ("Representation", "Length of the walks of the attention embedding."),
    "n_walks": ("Representation", "Number of walks of the attention embedding."),
    "structure": ("Representation", "embedding, shortest-path, adjacency, laplacian, heat-kernel or edge-distance."),
    "structure_metric": ("Representation", "Distance of embedded nodes: auto, euclidean or hamming."),
    "laplacian": ("Representation", "normalized or combinatorial."),
    "scale": ("Representation", "fit divides costs by their typical size on the graphs; none leaves them."),
    "beta_local": ("Model", "Weight of the local part."),
    "beta_global": ("Model", "Weight of the global (Gromov-Wasserstein) part."),
    "laplacian_source": ("Model", "Weight of the Laplacian term of the first graph."),
    "laplacian_target": ("Model", "Weight of the Laplacian term of the second graph."),
    "ridge": ("Model", "Weight of the squared norm of the coupling."),
    "degree_weight": ("Model", "Weight of the degree prior."),
    "degree_prior": ("Model", "attract, or repel (the sign that the paper prints)."),
    "mass": ("Model", "Share of the mass that moves; the rest stays."),
    "entropy": ("Solver", "Entropy of the Sinkhorn step, in units of the costs."),
    "direction": ("Solver", "sinkhorn, or exact (slower; needs POT)."),
    "max_iter": ("Solver", "Largest number of conditional gradient iterations."),
    "sinkhorn_iter": ("Solver", "Sinkhorn rounds per iteration."),
    "tol": ("Solver", "Gap at which the solver stops."),
    "precision": ("Solver", "float64 or float32."),
    "debias": ("Kernel", "Subtract half of each graph's discrepancy with itself."),
    "eta": ("Kernel", "Width of the kernel: K = exp(-eta RW)."),
    "backend": ("Running", "auto (the GPU if there is one), cpu or gpu."),
    "n_jobs": ("Running", "Threads, or folds at a time; by default and with -1 all cores, with -2 all but one."),
    "random_state": ("Running", "Seed of everything drawn at random."),
    "variant": ("Model", "A variant of the paper: RWK, RWK-1, RWK-0, NoRegs, ..."),
}

# for `rwk reproduce`, which takes these two without the other parameters; --jobs is their old name
Backend = Annotated[str, typer.Option("--backend", help=OPTIONS["backend"][1])]
Jobs = Annotated[int | None, typer.Option("--n-jobs", "--jobs", help=OPTIONS["n_jobs"][1])]

_TYPES: Final[dict[str, Any]] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": bool,
    "bool | str": bool | None,  # None: the default, a word
    "int | None": int | None,
    "str | None": str | None,
    "str | Scale": str,
}


HelpTuning = Annotated[
    bool,
    typer.Option("--help-tuning", help="List the options that tune the method.", is_eager=True, callback=help_tuning),
]

_TABLES: Final = "Reading tables"
SmilesColumn = Annotated[
    str | None,
    typer.Option(help="Column of SMILES in a table; by default the one called smiles.", rich_help_panel=_TABLES),
]
Target = Annotated[
    str | None,
    typer.Option(help="Column of targets in a table or targets.csv, or a property in an SDF.", rich_help_panel=_TABLES),
]
_COLUMNS: Final = {"smiles_column": SmilesColumn, "target": Target}


def with_columns(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options --smiles-column and --target; its `data` becomes a `DataSource` that has them."""
    own = list(inspect.signature(command, eval_str=True).parameters.values())
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation)
        for name, annotation in _COLUMNS.items()
    ]

    @functools.wraps(command)
    def wrapper(**arguments: Any) -> None:
        columns = {name: arguments.pop(name) for name in _COLUMNS}
        command(**{**arguments, "data": DataSource(arguments["data"], **columns)})

    wrapper.__signature__ = inspect.Signature([*own, *options])  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in [*own, *options]}
    return wrapper


def with_parameters(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command one option per field of `Parameters`; it gets them, checked, as its argument `parameters`."""
    return with_defaults()(command)


def with_defaults(**defaults: Any) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """`with_parameters`, for a command that has other defaults than `Parameters`."""
    return functools.partial(_with_options, defaults)


def _with_options(defaults: Mapping[str, Any], command: Callable[..., None]) -> Callable[..., None]:
    own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.name != "parameters"]
    options = [_option(field, defaults) for field in fields(Parameters)]
    options.append(
        inspect.Parameter("help_tuning", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=HelpTuning)
    )

    @functools.wraps(command)
    def wrapper(**arguments: Any) -> None:
        del arguments["help_tuning"]  # its callback has printed the page
        given = {field.name: arguments.pop(field.name) for field in fields(Parameters)}
        given = {name: value for name, value in given.items() if value is not None}
        command(parameters=Parameters.of(given), **arguments)

    wrapper.__signature__ = inspect.Signature([*own, *options])  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in [*own, *options]}
    return wrapper


def _option(field: Any, defaults: Mapping[str, Any]) -> inspect.Parameter:
    panel, help_text = OPTIONS[field.name]
    option = typer.Option(help=help_text, rich_help_panel=panel)
    return inspect.Parameter(
        field.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None if field.type == "bool | str" else defaults.get(field.name, field.default),
        annotation=Annotated[_TYPES[field.type], option],
    )
