"""Classifiers, regressors and baselines with hostile matrices, targets, graphs and parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

import rwk
from fuzz.promise import finite, holds
from fuzz.solver_cases import extreme_graphs
from fuzz.values import Chance, built

KERNELS = ("wl", "wl-oa", "ghk", "pk", "hgk-wl", "hgk-sp", "retgk", "gntk", "p-wl", "wl-pm", "wwl", "fgw")
PARAMETERS = (
    "rounds", "levels", "dimension", "n_hashes", "steps", "blocks", "layers", "width", "power", "gamma", "alpha",
    "label_weight", "features", "random_state", "share",
)  # fmt: skip
SVC = ("C", "kappa", "tol", "max_iter", "treatment", "class_weight", "random_state", "decision_function_shape")


def make_svc(chance: Chance) -> Any:
    """A kernel matrix, classes, and parameters of the SVM."""
    n = chance.of(2, 4, 6, 9)
    matrix = chance.array(n, n)
    if matrix["shape"] == [n, n] and chance.happens(0.9):
        values = matrix["$array"]
        matrix["$array"] = [values[min(i, j) * n + max(i, j)] for i in range(n) for j in range(n)]
    given = {chance.choice(SVC): chance.of(chance.scalar(), abs(chance.number())) for _ in range(chance.of(0, 1, 2))}
    if isinstance(given.get("max_iter"), int | float) and not abs(given["max_iter"]) < 50:
        given["max_iter"] = 50
    if chance.happens(0.3):
        given["treatment"] = chance.of("clip", "proxy", "flip", "shift", "none")
    if chance.happens(0.3):
        given["probability"] = True
    return {"K": matrix, "y": _classes(chance, n), "parameters": given}


def _classes(chance: Chance, n: int) -> Any:
    if chance.happens(0.8):
        return [i % chance.of(1, 2, 2, 3) for i in range(n)]
    return chance.of(chance.array(n), [chance.scalar() for _ in range(n)], chance.scalar())


def run_svc(recipe: Any) -> None:
    """Train and predict."""
    kernel, classes = built(recipe["K"]), built(recipe["y"])
    svc = rwk.IndefiniteSVC(**{name: built(value) for name, value in recipe["parameters"].items()})
    svc.fit(kernel, classes)
    finite(svc.decision_function(kernel), "a decision")
    holds(set(np.unique(svc.predict(kernel))) <= set(svc.classes_), "a class that was not learned")
    if svc.probability is True:
        shares = finite(svc.predict_proba(kernel), "a probability")
        holds(abs(shares.sum(axis=1) - 1).max() < 1e-6 and shares.min() >= 0, "probabilities do not add up to 1")


def make_baseline(chance: Chance) -> Any:
    """A kernel baseline with parameters, and graphs."""
    given: dict[str, Any] = {}
    if chance.happens(0.4):
        given[chance.choice(PARAMETERS)] = chance.of(chance.scalar(), chance.randint(0, 3), abs(chance.number()))
    for name, value in given.items():  # what is allowed to take long, and would
        if isinstance(value, int | float) and not isinstance(value, bool) and value > 30:
            given[name] = 10**400 if value == 10**400 else 30
    return {"name": chance.choice(KERNELS), "parameters": given, "graphs": extreme_graphs(chance, chance.of(2, 3))}


def run_baseline(recipe: Any) -> None:
    """The Gram matrix, and the row of a graph that was not fitted; parameters that the method lacks are left out."""
    method = rwk.baselines.get(recipe["name"])
    known = method.get_params()
    method.set_params(**{name: built(value) for name, value in recipe["parameters"].items() if name in known})
    graphs = [rwk.Graph(**{name: built(value) for name, value in fields.items()}) for fields in recipe["graphs"]]
    matrix = finite(method.fit_transform(graphs), "the kernel of a baseline")
    holds(np.allclose(matrix, matrix.T), "the kernel of a baseline is not symmetric")
    finite(method.transform(graphs[:1]), "the kernel of a baseline")


def make_learner(chance: Chance) -> Any:
    """A classifier, regressor or Gaussian process on a few graphs."""
    n = chance.of(4, 6, 8)
    name = chance.of("RWKClassifier", "RWKRegressor", "RWKGaussianProcess")
    targets: Any = _classes(chance, n)
    if name != "RWKClassifier" and chance.happens(0.8):
        targets = [chance.number() if chance.happens(0.2) else chance.random() for _ in range(n)]
    given: dict[str, Any] = {}
    options = ("eta", "C", "treatment", "kappa", "n_inner", "random_state", "ridge", "alpha", "criterion", "n_starts",
               "method", "n_landmarks", "probability", "grid", "settings", "fingerprints", "n_jobs")  # fmt: skip
    if chance.happens(0.6):
        given[chance.choice(options)] = chance.of(chance.scalar(), abs(chance.number()), [chance.number()])
    return {"name": name, "parameters": given, "graphs": extreme_graphs(chance, n), "y": targets}


def run_learner(recipe: Any) -> None:
    """Train, predict."""
    learner = getattr(rwk, recipe["name"])()
    known = learner.get_params(deep=False)
    learner.set_params(**_cheap(known))
    learner.set_params(**{name: built(value) for name, value in recipe["parameters"].items() if name in known})
    graphs = [rwk.Graph(**{name: built(value) for name, value in fields.items()}) for fields in recipe["graphs"]]
    found = learner.fit(graphs, built(recipe["y"])).predict(graphs[:2])
    if recipe["name"] != "RWKClassifier":
        finite(found, "a prediction")


def _cheap(known: Any) -> dict[str, Any]:
    """Settings that take no time."""
    wanted = {"grid": "quick", "settings": {"plain": {"max_iter": 2}}, "n_jobs": 1, "n_starts": 1, "n_inner": 2}
    return {name: value for name, value in {**wanted, "backend": "cpu"}.items() if name in known}
