"""Everything that solves pairs: discrepancies, alignments, matchings, neighbours, landmarks, arrays for graphs."""

from __future__ import annotations

from typing import Any

import numpy as np

import rwk
from fuzz.parameter_cases import solver_keywords
from fuzz.promise import finite, holds
from fuzz.values import Chance, built
from rwk.spaces.models import SOLVER_NAMES

CALLS = ("pairwise", "align", "kernel", "nearest", "features", "match", "certified")


def make(chance: Chance) -> Any:
    """Three small graphs with numbers at the ends of their ranges, a call, and its parameters."""
    return {
        "call": chance.choice(CALLS),
        "graphs": extreme_graphs(chance, chance.of(2, 3)),
        "parameters": solver_keywords(chance),
        "more": _more(chance),
    }


def _more(chance: Chance) -> dict[str, Any]:
    if chance.happens(0.7):
        return {}
    return {chance.of("k", "n_landmarks", "n_starts", "random_state", "max_share", "tol", "leave_out"): chance.scalar()}


def extreme_graphs(chance: Chance, count: int) -> list[Any]:
    """Fields of graphs that are well-formed, most of them; all graphs have the same fields."""
    named = [
        name for name in ("node_labels", "node_attributes", "node_weights", "edge_weights") if chance.happens(0.35)
    ]
    if chance.happens(0.1):
        named.append(chance.of("edge_labels", "edge_attributes", "node_distances"))
    factor = 10.0 ** chance.uniform(-320, 308) if chance.happens(0.3) else 1.0
    share, width = chance.of(0.0, 0.1, 0.5), chance.of(1, 1, 2)
    graphs = []
    for _ in range(count):
        n = chance.of(1, 2, 3, 4, 5, 9)
        edges = [[i, j] for i in range(n) for j in range(i + 1, n) if chance.happens(0.5)]
        fields: dict[str, Any] = {"n_nodes": n, "edges": edges}
        for name in named:
            rows = n * n if name == "node_distances" else n if name.startswith("node") else len(edges)
            rows *= width if name.endswith("attributes") else 1
            values: list[Any] = [_extreme(chance, share) * factor for _ in range(rows)]
            if name.endswith("labels"):
                values = [chance.of(0, 1, 2, chance.integer()) for _ in range(rows)]
            elif name == "node_distances":
                values = [values[min(i, j) * n + max(i, j)] if i != j else 0.0 for i in range(n) for j in range(n)]
            shape = [n, n] if name == "node_distances" else [-1, width] if name.endswith("attributes") else [rows]
            if name.endswith("labels"):
                fields[name] = values
            else:
                fields[name] = {"$array": values, "shape": shape, "dtype": "float64"}
        graphs.append(fields)
    return graphs


def _extreme(chance: Chance, share: float) -> float:
    value = abs(chance.number()) if chance.happens(share) else chance.random()
    return value if np.isfinite(value) else 1e308


def run(recipe: Any) -> None:
    """Make the call, and check what it returns."""
    graphs = [rwk.Graph(**{name: built(value) for name, value in fields.items()}) for fields in recipe["graphs"]]
    parameters = {name: built(value) for name, value in recipe.get("parameters", {}).items()}
    parameters.setdefault("n_jobs", 1)
    parameters.setdefault("backend", "cpu")
    more = {name: built(value) for name, value in recipe.get("more", {}).items()}
    _RUN[recipe["call"]](graphs, parameters, more)


def _pairwise(graphs: Any, parameters: Any, more: Any) -> None:
    matrix = finite(rwk.pairwise_discrepancy(graphs, **parameters), "D")
    holds((matrix == matrix.T).all(), "D is not symmetric")


def _align(graphs: Any, parameters: Any, more: Any) -> None:
    more = {"n_starts": more["n_starts"]} if "n_starts" in more else {}
    _solution(rwk.align(graphs[0], graphs[1], **more, **parameters), parameters)


def _certified(graphs: Any, parameters: Any, more: Any) -> None:
    _solution(rwk.align(graphs[0], graphs[1], certify=True, trace=True, **parameters), parameters)


def _solution(solved: Any, parameters: Any) -> None:
    finite([solved.value, solved.gap, *solved.terms.values()], "an alignment")
    coupling = finite(solved.coupling, "a coupling")
    mass = float(parameters.get("mass", 1.0))
    holds(coupling.min() >= 0 and abs(coupling.sum() - mass) < 1e-3 * mass, "a coupling does not have its mass")


def _kernel(graphs: Any, parameters: Any, more: Any) -> None:
    kernel = rwk.RWKernel(**parameters)
    finite(kernel.fit_transform(graphs), "K")
    finite(kernel.transform(graphs[:1]), "K")


def _nearest(graphs: Any, parameters: Any, more: Any) -> None:
    more = {name: value for name, value in more.items() if name in ("k", "max_share", "leave_out")}
    found = rwk.nearest(graphs[0], graphs, **{"k": 1, **more}, **parameters)
    finite(found.values, "the discrepancy of a neighbour")


def _features(graphs: Any, parameters: Any, more: Any) -> None:
    more = {name: value for name, value in more.items() if name in ("n_landmarks", "tol", "random_state")}
    finite(rwk.RWFeatures(kernel=rwk.RWKernel(**parameters), **more).fit_transform(graphs), "features")


def _match(graphs: Any, parameters: Any, more: Any) -> None:
    more = {"n_starts": more["n_starts"]} if "n_starts" in more else {"n_starts": 2}
    found = rwk.match(graphs[0], graphs[1], kicks=2, **more, **parameters)
    finite(found.confidence, "a confidence")
    finite([found.misfit, found.solution.value, *found.solution.terms.values()], "a matching")
    holds(len(found.interchangeable) == 2, "a matching does not know who is alike in both graphs")


_RUN = {
    "pairwise": _pairwise,
    "align": _align,
    "certified": _certified,
    "kernel": _kernel,
    "nearest": _nearest,
    "features": _features,
    "match": _match,
}


def make_arrays(chance: Chance) -> Any:
    """Problems given as arrays."""
    n, m = chance.of(1, 2, 3, 5), chance.of(1, 2, 4)
    known = solver_keywords(chance)
    if chance.happens(0.8):  # the others are refused at once
        known = {name: value for name, value in known.items() if name in SOLVER_NAMES}
    recipe: dict[str, Any] = {"parameters": {**known, **_array_keywords(chance)}}
    if chance.happens(0.5):
        recipe["cost"] = chance.array(n, m)
    if chance.happens(0.7):
        recipe["structures"] = [_symmetric(chance, n), _symmetric(chance, m)]
    if chance.happens(0.4):
        recipe["weights"] = [chance.array(n), chance.array(m)]
    if chance.happens(0.3):
        recipe["call"] = "pairwise_gw"
    return recipe


def _array_keywords(chance: Chance) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if chance.happens(0.2):
        found["model"] = chance.of("wasserstein", "gw", "fgw", "rw", chance.scalar())
    if chance.happens(0.2):
        found["alpha"] = chance.of(chance.random(), chance.scalar())
    return found


def _symmetric(chance: Chance, n: int) -> Any:
    made = chance.array(n, n)
    if made["shape"] == [n, n] and chance.happens(0.9):
        values = made["$array"]
        made["$array"] = [values[min(i, j) * n + max(i, j)] for i in range(n) for j in range(n)]
    return made


def run_arrays(recipe: Any) -> None:
    """Solve them."""
    parameters = {name: built(value) for name, value in recipe["parameters"].items()}
    parameters.setdefault("n_jobs", 1)
    given = {name: built(recipe[name]) for name in ("cost", "structures", "weights") if name in recipe}
    if recipe.get("call") == "pairwise_gw":
        matrix = finite(rwk.pairwise_gw(given.get("structures", []), **parameters), "GW")
        holds((matrix == matrix.T).all(), "GW is not symmetric")
        return
    _solution(rwk.solve(given.get("cost"), given.get("structures"), given.get("weights"), **parameters), parameters)
