"""Parameters with hostile values: checked before anything is computed."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any, Final

import rwk
from fuzz.promise import holds
from fuzz.values import Chance, built
from rwk.parameters import RANGES, VARIANTS

NAMES: Final = tuple(field.name for field in fields(rwk.Parameters))
CHOICES: Final = (
    "l2", "hamming", "both", "product", "heat-signature", "attention", "embedding", "shortest-path", "adjacency",
    "laplacian", "heat-kernel", "edge-distance", "auto", "euclidean", "normalized", "combinatorial", "fit", "none",
    "attract", "repel", "sinkhorn", "exact", "float32", "float64", "cpu", *VARIANTS,
)  # fmt: skip


def make(chance: Chance) -> Any:
    """A few parameters by name, some of them misspelt."""
    given = {}
    for _ in range(chance.of(1, 1, 2, 5)):
        name = chance.choice(NAMES)
        if chance.happens(0.03):
            name = chance.of(name[:-1], name.upper(), name + "s", chance.text())
        given[name] = chance.of(chance.scalar, chance.number, chance.integer, lambda: chance.choice(CHOICES))()
        if chance.happens(0.05):
            given["scale"] = {chance.of("feature", "structure", "odd"): chance.scalar()}
    return given


def run(recipe: Any) -> None:
    """Check them; what passes must be in its range, and usable as weights and options."""
    settings = rwk.Parameters.of({name: built(value) for name, value in recipe.items()})
    for name, (low, high, strict, whole) in RANGES.items():
        value = getattr(settings, name)
        if value is None:
            continue
        holds(
            math.isfinite(value) and low <= value <= high and not (strict and value == low), f"{name} is out of range"
        )
        holds(not whole or type(value) is int, f"{name} is not a whole number")
    holds(all(math.isfinite(weight) for weight in settings.cost_weights()), "a weight is not finite")
    holds(all(math.isfinite(option) for option in settings.scg_options()), "an option is not finite")
    settings.determinants()


def solver_keywords(chance: Chance) -> dict[str, Any]:
    """Parameters of which many are valid, and none takes long."""
    found: dict[str, Any] = {}
    for _ in range(chance.of(0, 1, 2, 4)):
        name = chance.choice(NAMES)
        if name in RANGES:
            whole = RANGES[name][3]
            found[name] = chance.randint(0, 4) if whole else abs(chance.number())
            if chance.happens(0.1):
                found[name] = chance.scalar()
        elif name in ("backend", "n_jobs", "embedding"):
            continue
        else:
            found[name] = chance.choice(CHOICES) if chance.happens(0.3) else _valid(chance, name)
    for slow in ("max_iter", "sinkhorn_iter", "n_walks", "embedding_dim", "attribute_rounds", "wl_rounds", "hops"):
        if isinstance(found.get(slow), int | float) and not abs(found[slow]) < 50:
            found[slow] = 50
    return found


def _valid(chance: Chance, name: str) -> Any:
    known: dict[str, tuple[Any, ...]] = {
        "feature_metric": ("l2", "hamming", "both", "product"),
        "structure": ("embedding", "shortest-path", "adjacency", "laplacian", "heat-kernel", "edge-distance"),
        "laplacian": ("normalized", "combinatorial"),
        "degree_prior": ("attract", "repel"),
        "direction": ("sinkhorn", "exact"),
        "precision": ("float64", "float32"),
        "debias": (True, False),
        "scale": ("fit", "none"),
        "wl_edge_labels": ("auto", True, False),
        "variant": (*VARIANTS, None),
        "structure_metric": ("auto", "euclidean"),
    }
    return chance.of(*known[name])
