"""Command-line options made of `Parameters`: one option a field, the same name, default and meaning."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import fields
from typing import Annotated, Any, Final

import typer

from rwk.parameters import Parameters

# field -> panel and help; types and defaults come from Parameters
OPTIONS: Final[dict[str, tuple[str, str]]] = {
    "hops": ("Representation", "Reach of the local variation; 0 leaves it out."),
    "wl_rounds": ("Representation", "Weisfeiler-Lehman rounds of the label colours."),
    "wl_edge_labels": ("Representation", "Let edge labels take part in the refinement."),
    "feature_metric": ("Representation", "l2, hamming or both."),
    "hamming_weight": ("Representation", "Share of the Hamming part when the metric is both."),
    "label_weight": ("Representation", "Share of labels where graphs have attributes too."),
    "attribute_rounds": ("Representation", "Rounds of smoothing of the attributes along edges."),
    "embedding": ("Representation", "heat-signature or attention."),
    "embedding_dim": ("Representation", "Columns of the embedding, if not its own default."),
    "walk_length": ("Representation", "Walk length of the attention embedding."),
    "n_walks": ("Representation", "Walks a node of the attention embedding."),
    "structure": ("Representation", "embedding, shortest-path, adjacency, laplacian, heat-kernel or edge-distance."),
    "structure_metric": ("Representation", "auto, euclidean or hamming."),
    "laplacian": ("Representation", "normalized or combinatorial."),
    "scale": ("Representation", "fit (learned on the graphs) or none."),
    "beta_local": ("Model", "Weight of the local term."),
    "beta_global": ("Model", "Weight of the global (Gromov-Wasserstein) term."),
    "laplacian_source": ("Model", "Weight of the source Laplacian."),
    "laplacian_target": ("Model", "Weight of the target Laplacian."),
    "ridge": ("Model", "Weight of the squared coupling."),
    "degree_weight": ("Model", "Weight of the degree prior."),
    "degree_prior": ("Model", "attract or repel (the sign printed in the paper)."),
    "entropy": ("Solver", "Entropy of the Sinkhorn step, in units of the costs."),
    "direction": ("Solver", "sinkhorn or exact (needs POT)."),
    "max_iter": ("Solver", "Conditional-gradient iterations at most."),
    "sinkhorn_iter": ("Solver", "Rounds of each Sinkhorn step."),
    "tol": ("Solver", "Gap at which to stop."),
    "precision": ("Solver", "float64 or float32."),
    "debias": ("Kernel", "Subtract half of each graph's discrepancy to itself."),
    "eta": ("Kernel", "K = exp(-eta RW)."),
    "backend": ("Running", "auto, cpu or gpu."),
    "n_jobs": ("Running", "Threads; all cores if not given."),
    "random_state": ("Running", "Seed of whatever is sampled."),
    "variant": ("Model", "A variant of the paper: RWK, RWK-1, RWK-0, NoRegs, ..."),
}

_TYPES: Final[dict[str, Any]] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": bool,
    "int | None": int | None,
    "str | None": str | None,
    "str | Scale": str,
}


def with_parameters(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command one option for every parameter; it receives them checked, as `parameters`."""
    own = [p for p in inspect.signature(command, eval_str=True).parameters.values() if p.name != "parameters"]
    options = [_option(field) for field in fields(Parameters)]

    @functools.wraps(command)
    def wrapper(**arguments: Any) -> None:
        given = {field.name: arguments.pop(field.name) for field in fields(Parameters)}
        command(parameters=Parameters.of(given), **arguments)

    wrapper.__signature__ = inspect.Signature([*own, *options])  # type: ignore[attr-defined]
    wrapper.__annotations__ = {p.name: p.annotation for p in [*own, *options]}
    return wrapper


def _option(field: Any) -> inspect.Parameter:
    panel, help_text = OPTIONS[field.name]
    option = typer.Option(help=help_text, rich_help_panel=panel)
    return inspect.Parameter(
        field.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=field.default,
        annotation=Annotated[_TYPES[field.type], option],
    )
