"""Wasserstein, GW, FGW and RW by name: which settings of the one objective each of them is.

    model        objective                                                        in POT
    wasserstein  <gamma, M>                                                       emd2(a, b, M)
    gw           sum |C1(i,j) - C2(k,l)|^2 gamma(i,k) gamma(j,l)                  gromov_wasserstein2(C1, C2, a, b)
    fgw          (1 - alpha) <gamma, M> + alpha (the sum above)                   fused_gromov_wasserstein2(..., alpha)
    rw           H of transport.problem, with its own weights and its half (R10)  none

H has |a - b|^2 / 2 in place of |a - b|^2, so beta_global = 2 alpha gives POT's values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from rwk.parameters import Parameters
from rwk.runtime.arrays import FloatArray
from rwk.runtime.parameter_checks import ParameterError, check_choice, check_range, shown
from rwk.spaces.space import Space

MODELS: Final = ("wasserstein", "gw", "fgw", "rw")
SAMPLED: Final = 64  # items whose features set the unit of the costs

# what a user of wasserstein, gw and fgw may set; the other parameters belong to terms that these do not have
SOLVER_NAMES: Final = (
    "mass",
    "entropy",
    "direction",
    "max_iter",
    "sinkhorn_iter",
    "tol",
    "precision",
    "debias",
    "backend",
    "n_jobs",
    "random_state",
)
# sharper, and solved further, than a kernel needs: values are compared with those of other solvers
SOLVER_DEFAULTS: Final = {"entropy": 0.02, "max_iter": 50, "sinkhorn_iter": 50, "tol": 1e-4}
OWN: Final = {"feature_metric": "l2", "structure": "edge-distance", "scale": "none"}


class Model(NamedTuple):
    """A model and the weight of its Gromov-Wasserstein part."""

    name: str
    alpha: float

    @property
    def feature_factor(self) -> float:
        """What the feature cost is multiplied by."""
        return {"wasserstein": 1.0, "gw": 0.0, "fgw": 1.0 - self.alpha, "rw": 1.0}[self.name]


def model_of(name: str | None, alpha: float, spaces: Sequence[Space], *, own_cost: bool) -> Model:
    """The model that a name means, or that fits what is given if the name is None; raises if something is missing.

    >>> model_of(None, 0.5, [Space(structure=np.zeros((2, 2)))], own_cost=False).name
    'gw'
    """
    linear = own_cost or spaces[0].features is not None
    quadratic, edges = spaces[0].structure is not None, spaces[0].adjacency is not None
    if name is None:
        name = "rw" if edges else "fgw" if linear and quadratic else "gw" if quadratic else "wasserstein"
    check_choice("model", name, MODELS)
    check_range("alpha", alpha, low=0, high=1, strict=False, whole=False)
    needed = {"wasserstein": (linear,), "gw": (quadratic,), "fgw": (linear, quadratic), "rw": (quadratic, edges)}
    if not all(needed[name]):
        what = {
            "wasserstein": "a cost matrix or features",
            "gw": "structure matrices",
            "fgw": "a cost matrix or features, and structure matrices",
            "rw": "structure matrices and adjacency matrices (Space(structure=..., adjacency=...))",
        }
        raise ParameterError(f"model={name!r} needs {what[name]}; give them or choose another model")
    if name == "gw" and own_cost:
        raise ParameterError("model='gw' has no feature cost; leave out the cost or use model='fgw'")
    return Model(name, float(alpha))


def settings_of(model: Model, unit: float, keywords: Mapping[str, Any]) -> Parameters:
    """Checked settings; for all models but "rw", entropy and tolerance become multiples of `unit`."""
    given = dict(keywords)
    loss = given.pop("loss_fun", "square_loss")
    if not isinstance(loss, str) or loss != "square_loss":
        raise ParameterError(f"loss_fun={shown(loss)} can't be solved: the structure term has the square loss only")
    for name in OWN:
        if name in given and (model.name != "rw" or name == "structure"):
            raise ParameterError(f"{name} can't be set here: the arrays that you give take its place")
    if model.name == "rw":
        return Parameters.of({"hops": 0, **OWN, **given})
    for name in given:
        if name not in SOLVER_NAMES:
            raise ParameterError(
                f"{name} is no parameter of model={model.name!r}, which has {', '.join(SOLVER_NAMES)}; "
                "model='rw' has all terms"
            )
    Parameters.of(given)  # the values as the user wrote them, for errors that show them
    solver = {**SOLVER_DEFAULTS, **given}
    solver |= {name: float(solver[name]) * unit for name in ("entropy", "tol")}
    weight = {"wasserstein": 0.0, "gw": 2.0, "fgw": 2.0 * model.alpha}[model.name]
    terms = {"hops": 0, "beta_local": 0.0, "beta_global": weight, "degree_weight": 0.0}
    return Parameters.of({**OWN, **terms, **solver})


def unit_of(model: Model, spaces: Sequence[Space], costs: Sequence[FloatArray] = ()) -> float:
    """The typical size of the costs: `entropy` and `tol` are multiples of it.

    It is (1 - alpha) m + alpha s^2, m the mean feature cost and s the mean structure entry off the diagonal, each the
    median over items, or over some of them.
    """
    linear, quadratic = model.feature_factor, {"wasserstein": 0.0, "gw": 1.0, "fgw": model.alpha, "rw": 0.0}[model.name]
    unit = 0.0
    if linear and (len(costs) or spaces[0].features is not None):
        means = [np.abs(cost).mean() for cost in costs] or _mean_distances(spaces)
        unit += linear * float(np.median(means))
    if quadratic:
        unit += quadratic * float(np.median([_mean_entry(space.structure) for space in spaces])) ** 2
    return unit if unit > 0 else 1.0


def _mean_entry(structure: FloatArray) -> float:
    """Mean of |C| off the diagonal."""
    n = len(structure)
    return float((np.abs(structure).sum() - np.abs(np.diag(structure)).sum()) / max(n * (n - 1), 1))


def _mean_distances(spaces: Sequence[Space]) -> list[float]:
    """Mean distance of the features of neighbours in the list, over at most `SAMPLED` pairs."""
    from scipy.spatial.distance import cdist

    chosen = np.unique(np.linspace(0, len(spaces) - 1, SAMPLED).astype(int))
    return [float(cdist(spaces[i].features, spaces[(i + 1) % len(spaces)].features).mean()) for i in chosen]
