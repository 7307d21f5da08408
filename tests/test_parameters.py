"""One set of parameters, each with a range; the error for an invalid one says what is valid."""

from __future__ import annotations

import inspect
from dataclasses import fields
from typing import Any

import networkx as nx
import pytest

import rwk
from rwk import Parameters, RWKernel
from rwk.parameters import VARIANTS, ParameterError

FIELDS = {field.name: field.default for field in fields(Parameters)}

# a seed may be None
NUMBERS = {name for name, default in FIELDS.items() if type(default) in (int, float)} - {"random_state"}

# every name that users, estimators and the command line share
NAMES = {
    "hops", "wl_rounds", "feature_metric", "embedding", "embedding_dim", "structure", "structure_metric", "beta_local",
    "beta_global", "laplacian_source", "laplacian_target", "ridge", "degree_weight", "degree_prior", "entropy",
    "direction", "scale", "max_iter", "sinkhorn_iter", "tol", "debias", "eta", "backend", "n_jobs", "random_state",
}  # fmt: skip


def test_names() -> None:
    assert set(FIELDS) >= NAMES


def test_estimator_signature_is_the_parameters() -> None:
    signature = inspect.signature(RWKernel.__init__).parameters
    found = {name: parameter.default for name, parameter in signature.items() if name != "self"}
    assert found == {**FIELDS, "verbose": None}
    assert list(found) == [*FIELDS, "verbose"]
    assert RWKernel().get_params() == {**FIELDS, "verbose": None}
    assert RWKernel(hops=1, verbose=False).parameters() == Parameters(hops=1)


def test_defaults_are_in_range() -> None:
    assert Parameters().checked() == Parameters()


@pytest.mark.parametrize(
    "name", [n for n, default in FIELDS.items() if type(default) in (int, float) and n != "random_state"]
)
@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), "many", "2", None])
def test_numbers_outside_their_range(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=name):
        Parameters.of({name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("entropy", 0), ("eta", 0.0), ("max_iter", 0), ("sinkhorn_iter", 0), ("hamming_weight", 1.01),
     ("label_weight", 2), ("hops", 1.5), ("wl_rounds", 0.5), ("embedding_dim", 1), ("walk_length", 0),
     ("random_state", -1), ("random_state", 0.5), ("random_state", "many"), ("random_state", float("nan"))],
)  # fmt: skip
def test_edges_of_ranges_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ParameterError, match=f"{name}="):
        Parameters.of({name: value})


@pytest.mark.parametrize(
    "name",
    ["feature_metric", "embedding", "structure", "structure_metric", "laplacian", "scale", "degree_prior", "direction",
     "precision", "backend", "variant"],
)  # fmt: skip
def test_unknown_choices_are_refused(name: str) -> None:
    with pytest.raises(ParameterError, match=f"{name}='nonsense' is not known: it must be one of"):
        Parameters.of({name: "nonsense"})


def test_suggestions() -> None:
    with pytest.raises(ParameterError, match="did you mean 'beta_local'"):
        Parameters.of({"beta_locla": 1.0})
    with pytest.raises(ParameterError, match="did you mean 'heat-signature'"):
        Parameters.of({"embedding": "heat_signature"})


def test_hamming_of_a_heat_signature_is_refused() -> None:
    with pytest.raises(ParameterError, match="always positive"):
        Parameters.of({"structure_metric": "hamming"})
    assert Parameters.of({"structure_metric": "hamming", "embedding": "attention"}).structure_metric == "hamming"


def test_repel_is_the_negative_weight() -> None:
    assert Parameters.of({"degree_weight": 0.2, "degree_prior": "repel"}).cost_weights().degree_weight == -0.2
    assert Parameters.of({"degree_weight": 0.2}).cost_weights().degree_weight == 0.2


def test_variants() -> None:
    """The paper's names of the variants, and what each switches off."""
    assert set(VARIANTS) == {
        "RWK", "RWK-1", "RWK-0", "NoLaplacianReg", "NoEntropyReg", "NoRegs", "RWK-LW", "RWK-GW"
    }  # fmt: skip
    hops = {name: Parameters.of({"variant": name}).hops for name in ("RWK", "RWK-1", "RWK-0")}
    assert hops == {"RWK": 2, "RWK-1": 1, "RWK-0": 0}

    def off(name: str) -> set[str]:
        weights = Parameters.of({"variant": name}).cost_weights()._asdict()
        return {term for term, weight in weights.items() if weight == 0}

    regularisers = {"laplacian_source", "laplacian_target", "ridge"}
    assert off("RWK") == set()
    assert off("NoLaplacianReg") == regularisers
    assert off("NoEntropyReg") == {"degree_weight"}
    assert off("NoRegs") == regularisers | {"degree_weight"}
    assert off("RWK-LW") == {"beta_global"}
    assert off("RWK-GW") == {"beta_local"}


@pytest.mark.parametrize("n_jobs", [0, 1.5, "two", True])
def test_no_number_of_threads(n_jobs: Any) -> None:
    graphs = [nx.path_graph(3), nx.star_graph(3)]
    for work in (
        lambda: rwk.pairwise_discrepancy(graphs, n_jobs=n_jobs),
        lambda: rwk.compute_gram(graphs, n_jobs=n_jobs),
        lambda: rwk.RWKernel(n_jobs=n_jobs).fit(graphs),
        lambda: rwk.RWFeatures(2, kernel=RWKernel(n_jobs=n_jobs)).fit(graphs),
        lambda: rwk.nearest(graphs[0], graphs, k=1, n_jobs=n_jobs),
    ):
        with pytest.raises(ValueError, match=rf"n_jobs={n_jobs!r} is not valid: give 1 or more threads"):
            work()


def test_no_worker_processes() -> None:
    from rwk.gram.executors import Processes

    with pytest.raises(ValueError, match="n_jobs=0 is not valid"):
        Processes(0)
