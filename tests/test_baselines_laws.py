"""Laws that every baseline kernel obeys, and scikit-learn's conventions."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from baseline_graphs import permuted, random_set, without
from rwk import Graph, GraphError, GraphSet, baselines
from rwk.baselines import NotApplicable
from rwk.baselines.parameter_ranges import check_parameters

ALL = baselines.names()
KERNELS = [row.name for row in baselines.describe() if row.kind != "classifier"]
GRAPHS = random_set(0, 14)
DATA = {
    "labels and attributes": GRAPHS,
    "labels": without(GRAPHS, "node_attributes"),
    "attributes": without(GRAPHS, "node_labels"),
    "structure": without(GRAPHS, "node_labels", "node_attributes"),
}
# kernels that theory does not make positive semidefinite
INDEFINITE = {"fgw"}
CASES = [(name, data) for name in KERNELS for data in DATA if baselines.get(name).applies(DATA[data])]


@pytest.mark.parametrize(("name", "data"), CASES)
def test_symmetry_and_unit_diagonal(name: str, data: str) -> None:
    gram = baselines.get(name).fit_transform(DATA[data])
    assert np.isfinite(gram).all()
    np.testing.assert_allclose(gram, gram.T, rtol=0, atol=1e-12)
    np.testing.assert_allclose(gram.diagonal(), 1.0, atol=1e-9)
    assert (gram <= 1 + 1e-9).all()


@pytest.mark.parametrize(("name", "data"), CASES)
def test_positive_semidefinite(name: str, data: str) -> None:
    if name in INDEFINITE or (name == "wwl" and "attributes" in data):
        pytest.skip("theory promises nothing")
    gram = baselines.get(name).fit_transform(DATA[data])
    assert np.linalg.eigvalsh(gram)[0] > -1e-8


@pytest.mark.parametrize(("name", "data"), CASES)
def test_node_permutation(name: str, data: str) -> None:
    if name == "fgw" and "attributes" not in data:
        pytest.skip("equal costs let conditional gradients end in different local minima")
    graphs = DATA[data]
    kernel = baselines.get(name).fit(graphs)
    tolerance = 2e-3 if name == "fgw" else 1e-7
    np.testing.assert_allclose(kernel.transform(permuted(graphs)), kernel.transform(graphs), atol=tolerance)


@pytest.mark.parametrize(("name", "data"), CASES)
def test_new_graphs_are_compared_as_fitted_ones(name: str, data: str) -> None:
    graphs = DATA[data]
    kernel = baselines.get(name)
    gram = kernel.fit_transform(graphs)
    again = kernel.transform(graphs)
    assert again.shape == (len(graphs), len(graphs))
    apart = ~np.eye(len(graphs), dtype=bool) if name == "fgw" else np.ones_like(gram, dtype=bool)
    np.testing.assert_allclose(again[apart], gram[apart], atol=1e-7)
    assert kernel.transform(graphs[:3]).shape == (3, len(graphs))


@pytest.mark.parametrize("name", ["wl", "wl-oa", "p-wl", "wl-pm", "gntk", "ghk", "pk"])
def test_fitting_a_part_gives_a_block_of_the_whole(name: str) -> None:
    graphs = DATA["labels"]
    whole = baselines.get(name).fit_transform(graphs)
    part = baselines.get(name).fit(graphs[:8])
    np.testing.assert_allclose(part.transform(graphs[8:]), whole[8:, :8], atol=1e-9)


@pytest.mark.parametrize(("name", "data"), CASES)
def test_labels_never_seen_and_lonely_nodes(name: str, data: str) -> None:
    fields = {"labels": "node_labels", "attributes": "node_attributes"}
    has = [field for key, field in fields.items() if key in data]
    values: dict[str, Any] = {"node_labels": np.array([77, 78]), "node_attributes": np.array([[9.0, 9.0], [1.0, 0.0]])}
    alone = Graph(2, np.empty((0, 2), np.int64), **{field: values[field] for field in has})
    single = Graph(1, np.empty((0, 2), np.int64), **{field: values[field][:1] for field in has})
    new = GraphSet.from_graphs([alone, single])
    kernel = baselines.get(name).fit(DATA[data])
    assert np.isfinite(kernel.transform(new)).all()
    joined = GraphSet.from_graphs([*DATA[data], *new])
    assert np.isfinite(baselines.get(name).fit_transform(joined)).all()


@pytest.mark.parametrize("name", KERNELS)
def test_settings_are_those_of_the_grid(name: str) -> None:
    kernel = baselines.get(name)
    graphs = DATA["labels and attributes"][:6]
    found = dict(kernel.settings(graphs))
    sizes = [len(values) for values in kernel.grid.values()]
    assert len(found) == int(np.prod(sizes))
    for setting, matrix in list(found.items())[:: max(1, len(found) // 4)]:
        parameters = dict(part.split("=") for part in setting.split(", ")) if setting != "default" else {}
        typed = {key: _typed(value) for key, value in parameters.items()}
        one = clone(kernel).set_params(**typed).fit(graphs)
        wanted = one.discrepancy() if kernel.kind == "discrepancy" else one.fit_transform(graphs)
        np.testing.assert_allclose(matrix, wanted, atol=1e-9)


@pytest.mark.parametrize("name", ALL)
def test_scikit_learn_parameters(name: str) -> None:
    method = baselines.get(name)
    again = clone(method)
    assert again.get_params() == method.get_params()
    for key in method.grid:
        assert key in method.get_params()


@pytest.mark.parametrize("name", ALL)
def test_every_number_has_a_range_and_the_default_is_in_it(name: str) -> None:
    method = baselines.get(name)
    check_parameters(method.get_params(), method.ranges)
    numbers = {key for key, value in method.get_params().items() if type(value) in (int, float, type(None))}
    assert numbers - {"n_jobs", "random_state"} <= set(method.ranges)


@pytest.mark.parametrize("name", ALL)
def test_parameters_outside_their_range_are_refused(name: str) -> None:
    targets = np.arange(len(GRAPHS)) % 2
    for parameter in set(baselines.get(name).ranges) & set(baselines.get(name).get_params()):
        for value in (-1, float("nan"), "many", True):
            with pytest.raises(ValueError, match=f"{parameter}=.* is outside its range: it must be "):
                baselines.get(name, **{parameter: value}).fit(GRAPHS, targets)


@pytest.mark.parametrize("name", ALL)
def test_methods_describe_themselves(name: str) -> None:
    method = baselines.get(name)
    assert method.kind in ("kernel", "discrepancy", "classifier")
    assert set(method.accepts) <= {"labels", "attributes", "structure"}
    assert "20" in method.reference


@pytest.mark.parametrize("name", ALL)
def test_every_method_applies_to_bare_graphs(name: str) -> None:
    assert name in baselines.applicable(DATA["structure"])


# retgk has return probabilities in their place; p-wl breaks ties by an order of colours, which is free
@pytest.mark.parametrize("name", [name for name in KERNELS if name not in ("retgk", "p-wl")])
def test_degrees_stand_for_missing_labels(name: str) -> None:
    bare = DATA["structure"]
    degrees = np.bincount(bare.packed_edges.ravel(), minlength=int(bare.node_offsets[-1])).astype(np.int64)
    labelled = replace(bare, node_labels=degrees)
    np.testing.assert_allclose(
        baselines.get(name).fit_transform(bare), baselines.get(name).fit_transform(labelled), atol=1e-12
    )


def test_a_method_that_does_not_apply_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = baselines.get("hgk-wl")
    monkeypatch.setattr(type(kernel), "accepts", ("attributes", "labels"))
    with pytest.raises(NotApplicable, match=r"does not apply to .* needs node attributes or labels"):
        kernel.fit(DATA["structure"])


def test_the_package_is_reached_by_its_name() -> None:
    code = "import rwk, sys; print(rwk.baselines.get('wwl').title, 'torch' in sys.modules, 'ot' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["WWL", "False", "False"]


def test_names_are_forgiving_and_hints_given() -> None:
    assert type(baselines.get("WL_OA")) is type(baselines.get("wl-oa"))
    with pytest.raises(ValueError, match="did you mean 'retgk'"):
        baselines.get("retkg")
    assert len(ALL) == 16


@pytest.mark.parametrize("name", ["ghk", "pk", "hgk-wl", "retgk", "fgw", "wwl"])
def test_attributes_must_stay_alike(name: str) -> None:
    kernel = baselines.get(name).fit(DATA["labels and attributes"])
    with pytest.raises(GraphError, match="attributes"):
        kernel.transform(DATA["labels"])


@pytest.mark.parametrize("name", ["gntk", "wwl", "fgw"])
def test_n_jobs_agnostic(name: str) -> None:
    graphs = DATA["labels and attributes"]
    one, two = (baselines.get(name, n_jobs=n).fit_transform(graphs) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("name", ["pk", "hgk-wl", "hgk-sp", "retgk"])
def test_same_seed_same_matrix(name: str) -> None:
    graphs = DATA["labels and attributes"]
    first, second = (baselines.get(name, random_state=3).fit_transform(graphs) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def _typed(value: str) -> Any:
    if value in ("True", "False"):
        return value == "True"
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value
