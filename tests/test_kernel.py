"""Laws of matrices and estimators: symmetric, bit-identical however they are computed, usable with scikit-learn."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.svm import SVC

import naive
from asserts import assert_close, assert_terms_add_up, tolerance
from generators import all_settings, cycle, dressed, graph_sets, graphs, laws, path, plain, star
from rwk import (
    Graph,
    GraphError,
    GraphSet,
    Parameters,
    RWFeatures,
    RWKernel,
    align,
    as_graphs,
    nearest,
    pairwise_discrepancy,
)
from rwk.graphs.atom_names import element_of
from rwk.parameters import VARIANTS

GIVEN_SCALE = {"feature": 1.5, "neighbourhood": 0.5, "structure": 2.0, "hamming": 0.7, "attributes": 1.2}
SETTINGS: tuple[dict[str, Any], ...] = (
    {"scale": "none"},
    {"scale": GIVEN_SCALE, "debias": True},
    {"scale": "none", "feature_metric": "l2", "structure": "heat-kernel", "laplacian_source": 0.1},
    {"scale": "none", "precision": "float32"},
    {"scale": {"return_distance": 0.3, "feature": 0.8}, "feature_metric": "product", "return_weight": 2.0},
    {"scale": "none", "embedding": "attention", "embedding_dim": 8, "structure": "embedding"},
)


def sample(features: str = "labels", count: int = 9, **extra: bool) -> list[Graph]:
    """Graphs of different sizes, always the same."""
    rng = np.random.default_rng(11)
    made = []
    for seed in range(count):
        n = int(rng.integers(1, 13))
        edges = [(i, j) for i in range(n) for j in range(i + 1, n) if rng.random() < 2.5 / n]
        made.append(dressed(n, edges, features, seed=seed, **extra))
    return made


def kernel(**keywords: Any) -> RWKernel:
    return RWKernel(**{"backend": "cpu"} | keywords)


# ---------------------------------------------------------------- from graphs to a number


@laws(40)
@given(graph_sets(max_nodes=7), all_settings(), st.booleans())
def test_align_agrees_with_the_oracle(pair: list[Graph], keywords: dict[str, Any], debias: bool) -> None:
    """From two graphs to value and terms, with every setting."""
    p = Parameters.of(keywords | {"debias": debias})
    found, wanted = align(*pair, **keywords, debias=debias), naive.align(*pair, p)
    size = max(sum(abs(term) for term in wanted.terms.values()), 1e-3)
    # trained embeddings agree to 1e-6, and so do values made of them
    allowed = tolerance().value if p.embedding == "heat-signature" else 1e-6
    assert_close(found.value, wanted.value, allowed, scale=size, what="value")
    assert found.terms.keys() == wanted.terms.keys()
    assert_terms_add_up(found)


def test_align_keeps_the_order_given() -> None:
    G, H = sample()[:2]
    one, other = align(G, H, backend="cpu"), align(H, G, backend="cpu")
    assert one.coupling.shape == other.coupling.shape[::-1] == (G.n_nodes, H.n_nodes)


def test_align_takes_one_graph_at_a_time() -> None:
    with pytest.raises(ValueError, match="the second argument holds 2"):
        align(plain("path"), [plain("path"), plain("star")])


# ---------------------------------------------------------------- the same bits


@pytest.mark.parametrize("keywords", SETTINGS)
def test_symmetry(keywords: dict[str, Any]) -> None:
    D = pairwise_discrepancy(sample(), backend="cpu", **keywords)
    np.testing.assert_array_equal(D, D.T)
    reverse = pairwise_discrepancy(sample()[::-1], backend="cpu", **keywords)
    np.testing.assert_array_equal(D, reverse[::-1, ::-1])


def test_symmetry_with_unequal_laplacian_weights() -> None:
    """The two orientations are averaged."""
    unequal = {"laplacian_source": 1.0, "laplacian_target": 0.0, "backend": "cpu", "scale": "none"}
    G, H = sample()[1:3]
    D = pairwise_discrepancy([G, H], **unequal)
    np.testing.assert_array_equal(D, D.T)
    there, back = align(G, H, **unequal).value, align(H, G, **unequal).value
    assert there != back
    assert_close(D[0, 1], 0.5 * (there + back), 1e-12)


@pytest.mark.parametrize("keywords", SETTINGS)
def test_a_part_equals_the_whole(keywords: dict[str, Any]) -> None:
    """fit(all) restricted to (test, train) is fit(train).transform(test), to the bit, when nothing is learned."""
    for features in ("labels", "both"):
        chosen = sample(features)
        train, test = chosen[::2], chosen[1::2]
        whole = kernel(**keywords).fit_transform(chosen)
        part = kernel(**keywords).fit(train)
        np.testing.assert_array_equal(part.transform(test), whole[1::2, ::2])
        np.testing.assert_array_equal(part.transform(train), whole[::2, ::2])
        np.testing.assert_array_equal(part.transform(test[:1]), whole[1:2, ::2])


def test_learned_scales_are_those_of_the_fitted_graphs() -> None:
    """With scale="fit", passing the learned scale on gives bit-identical values."""
    chosen = sample("attributes")
    fitted = kernel().fit(chosen[:5])
    given_scale = kernel(scale=fitted.scale_)
    np.testing.assert_array_equal(given_scale.fit(chosen[:5]).transform(chosen[5:]), fitted.transform(chosen[5:]))
    np.testing.assert_array_equal(given_scale.fit_transform(chosen)[5:, :5], fitted.transform(chosen[5:]))


@pytest.mark.parametrize("precision", ["float64", "float32"])
def test_chunk_size_agnostic(monkeypatch: pytest.MonkeyPatch, precision: str) -> None:
    chosen = sample()
    wanted = kernel(precision=precision).fit_transform(chosen)
    for pairs in (1, 7):
        monkeypatch.setattr("rwk.transport.cpu.chunks.PAIRS_PER_CHUNK", pairs)
        np.testing.assert_array_equal(kernel(precision=precision).fit_transform(chosen), wanted)


def test_thread_count_agnostic() -> None:
    chosen = sample()
    wanted = kernel(n_jobs=1).fit_transform(chosen)
    for n_jobs in (2, 3, -1, None):
        np.testing.assert_array_equal(kernel(n_jobs=n_jobs).fit_transform(chosen), wanted)


def test_process_agnostic(tmp_path: Path) -> None:
    code = (
        "import sys, numpy as np\n"
        "from test_kernel import kernel, sample, SETTINGS\n"
        "np.savez(sys.argv[1], *[kernel(n_jobs=1, **s).fit_transform(sample('both')) for s in SETTINGS])\n"
    )
    path = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
    here = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "k.npz")], check=True, env=here)
    found = np.load(tmp_path / "k.npz")
    for i, keywords in enumerate(SETTINGS):
        np.testing.assert_array_equal(found[f"arr_{i}"], kernel(**keywords).fit_transform(sample("both")))


def test_neighbours_in_a_matrix_change_nothing() -> None:
    """A pair has the same value alone and with any other graphs beside it in memory."""
    chosen = sample("both", 12)
    whole = pairwise_discrepancy(chosen, backend="cpu", scale="none")
    for i in range(12):
        for j in range(i, 12, 3):
            alone = pairwise_discrepancy([chosen[i]], [chosen[j]], backend="cpu", scale="none")
            assert alone[0, 0] == whole[i, j]


# ---------------------------------------------------------------- laws of the value


@laws(20)
@given(graph_sets(max_nodes=9), st.integers(0, 999))
def test_node_permutation(pair: list[Graph], seed: int) -> None:
    """Heat signatures, entropy 0.1 for costs near 1, tol 0: the order of the nodes changes values by 1e-6 at most."""
    rng = np.random.default_rng(seed)
    keywords: dict[str, Any] = {"entropy": 0.3, "tol": 0.0, "backend": "cpu", "embedding": "heat-signature"}
    G, H = pair
    other = G.permuted(rng.permutation(G.n_nodes)), H.permuted(rng.permutation(H.n_nodes))
    one, same = align(G, H, **keywords), align(*other, **keywords)
    assert_close(same.value, one.value, 1e-6, scale=max(abs(one.value), 1e-3))


def test_debias() -> None:
    """D(G, G) = 0 exactly, 1e-6 for a renumbered copy; otherwise RW(G, H) - RW(G, G) / 2 - RW(H, H) / 2 (R17)."""
    chosen = sample(count=6)
    settings: dict[str, Any] = {"backend": "cpu", "entropy": 0.3, "tol": 0.0, "scale": "none"}
    plainly, D = (pairwise_discrepancy(chosen, debias=debias, **settings) for debias in (False, True))
    own = np.diag(plainly)
    assert (own > 0).any()
    assert not np.diag(D).any()
    assert_close(D, plainly - 0.5 * own[:, None] - 0.5 * own[None, :], 1e-12)
    rng = np.random.default_rng(1)
    copies = [graph.permuted(rng.permutation(graph.n_nodes)) for graph in chosen]
    cross = pairwise_discrepancy(chosen, copies, debias=True, **settings)
    assert np.abs(np.diag(cross)).max() <= 1e-6
    solution = align(chosen[0], chosen[1], debias=True, **settings)
    assert_close(solution.terms["debias"], -0.5 * (own[0] + own[1]), 1e-13)
    assert_terms_add_up(solution)


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_run_by_name(name: str) -> None:
    chosen = sample("both")
    K = kernel(variant=name).fit_transform(chosen)
    assert np.isfinite(K).all()
    np.testing.assert_array_equal(K, kernel(**VARIANTS[name]).fit_transform(chosen))


def test_the_kernel_is_the_exponential_of_the_discrepancy() -> None:
    fitted = kernel(eta=2.5).fit(sample())
    np.testing.assert_array_equal(fitted.transform(sample()), np.exp(-2.5 * fitted.discrepancy(sample())))
    np.testing.assert_array_equal(fitted.discrepancy(), fitted.discrepancy(sample()))


@pytest.mark.parametrize("features", ["none", "labels", "attributes", "both"])
@pytest.mark.parametrize("extra", [{}, {"edge_weights": True}, {"zero_weights": True}, {"edge_labels": True}])
def test_every_kind_of_graph(features: str, extra: dict[str, bool]) -> None:
    chosen = sample(features, 6, **extra)
    fitted = kernel(wl_edge_labels=True).fit(chosen[:4])
    K = fitted.transform(chosen[4:])
    assert K.shape == (2, 4)
    assert np.isfinite(K).all()
    assert fitted.health_.n_pairs == 8
    if extra.get("edge_weights"):
        heavier = [replace(graph, edge_weights=graph.edge_weights**2) for graph in chosen]
        assert (kernel().fit(heavier[:4]).transform(heavier[4:]) != K).any()


def test_labels_never_seen_in_fit() -> None:
    """A graph with new labels is farther than one with known labels, and finite."""
    chosen = [Graph(4, np.array(path(4)), node_labels=np.array([1, 1, 2, 2])) for _ in range(3)]
    fitted = kernel(scale="none").fit(chosen)
    known, unknown = fitted.transform([chosen[0], replace(chosen[0], node_labels=np.array([7, 8, 9, 7]))])
    assert np.isfinite(unknown).all()
    assert (unknown < known).all()


@pytest.mark.parametrize(("fitted", "new"), [("labels", "none"), ("labels", "both"), ("attributes", "labels")])
def test_graphs_of_another_kind_are_refused(fitted: str, new: str) -> None:
    with pytest.raises(GraphError, match="give the same kinds of features"):
        kernel().fit(sample(fitted)).transform(sample(new))


# ---------------------------------------------------------------- a weight of 0 costs nothing


@pytest.mark.parametrize(
    ("keywords", "unused"),
    [
        ({"beta_global": 0.0}, ["rwk.represent.structure.hop_counts"]),
        ({"beta_global": 0.0, "structure": "laplacian"}, ["rwk.represent.structure.structure_cost"]),
        ({"beta_local": 0.0}, ["rwk.represent.embedding.heat_signature", "rwk.represent.structure.narrow_factors"]),
        ({"beta_local": 0.0, "embedding": "attention"}, ["rwk.represent.embedding.attention_embedding"]),
        ({"laplacian_source": 0.0, "laplacian_target": 0.0}, ["rwk.represent.structure.narrow_factors"]),
        ({"beta_local": 0.0, "hops": 0}, ["rwk.represent.structures.decompose_all"]),
        ({"beta_local": 0.0, "feature_metric": "hamming"}, ["rwk.represent.structures.decompose_all"]),
        ({"beta_local": 0.0, "feature_metric": "product"}, ["rwk.represent.structures.decompose_all"]),
        ({"feature_metric": "product", "return_weight": 0.0}, ["rwk.represent.pipeline.return_probabilities"]),
        ({"feature_metric": "both"}, ["rwk.represent.pipeline.return_probabilities"]),
    ],
)
def test_what_a_zero_weight_switches_off_is_not_even_built(
    monkeypatch: pytest.MonkeyPatch, keywords: dict[str, Any], unused: list[str]
) -> None:
    wanted = kernel(**keywords).fit_transform(sample())
    calls: list[str] = []
    for name in unused:
        monkeypatch.setattr(name, lambda *args, _name=name, **more: calls.append(_name))
    np.testing.assert_array_equal(kernel(**keywords).fit_transform(sample()), wanted)
    assert calls == []


def test_switched_off_matrices_are_empty() -> None:
    local = kernel(beta_local=0.0).fit(sample()).measures_
    assert local.embedding.size == local.signs.size == local.factors.size == 0
    assert not kernel(beta_global=0.0).fit(sample()).measures_.structure.any()
    assert kernel(feature_metric="hamming").fit(sample()).measures_.column_keys.size == 0
    assert kernel(feature_metric="l2").fit(sample()).measures_.colours.size == 0
    product = kernel(feature_metric="product").fit(sample("both")).measures_
    assert product.column_keys.size == 0
    assert product.returns.shape == (len(product.weights), 50)
    assert kernel(feature_metric="product", attribute_weight=0.0).fit(sample("both")).measures_.features.size == 0
    assert kernel().fit(sample("both")).measures_.returns.size == 0


# ---------------------------------------------------------------- scikit-learn's conventions


def two_classes() -> tuple[list[Graph], Any]:
    """Stars and rings, which differ in their shape."""
    stars = [dressed(n, star(n), "none") for n in range(5, 13)]
    rings = [dressed(n, sorted(tuple(sorted(e)) for e in cycle(n)), "none") for n in range(5, 13)]
    return stars + rings, np.repeat([0, 1], 8)


def test_clone_get_and_set_params() -> None:
    one = kernel(beta_local=0.25, scale={"feature": 2.0})
    copy = clone(one)
    assert copy is not one
    assert copy.get_params() == one.get_params()
    assert copy.set_params(eta=3.0, variant="RWK-1").get_params()["eta"] == 3.0
    assert not hasattr(clone(one.fit(sample())), "measures_")
    with pytest.raises(ValueError, match="Invalid parameter"):
        one.set_params(bta=1)


def test_unfitted_kernels_say_so() -> None:
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        kernel().transform(sample())


def test_wrong_parameters_are_found_in_fit() -> None:
    with pytest.raises(ValueError, match="entropy=-1"):
        kernel(entropy=-1).fit(sample())


@pytest.mark.parametrize("debias", [False, True])
def test_pickle(debias: bool) -> None:
    fitted = kernel(debias=debias).fit(sample()[:5])
    wanted = fitted.transform(sample()[5:])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(sample()[5:]), wanted)


def test_pipeline_and_grid_search() -> None:
    X, y = two_classes()
    pipeline = Pipeline([("kernel", kernel(feature_metric="l2")), ("svm", SVC(kernel="precomputed", C=10.0))])
    assert pipeline.fit(X, y).score(X, y) == 1.0
    grid = {"kernel__eta": [0.5, 2.0], "kernel__beta_global": [0.0, 1.0], "kernel__variant": [None, "NoRegs"]}
    search = GridSearchCV(pipeline, grid, cv=4, n_jobs=1, error_score="raise").fit(X, y)
    assert search.best_score_ == 1.0
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_grid_search_over_processes() -> None:
    X, y = two_classes()
    pipeline = Pipeline([("kernel", kernel(n_jobs=1)), ("svm", SVC(kernel="precomputed"))])
    search = GridSearchCV(pipeline, {"kernel__eta": [0.5, 2.0]}, cv=2, n_jobs=2, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.9


def test_graph_sets_and_lists_are_the_same_input() -> None:
    chosen = sample()
    np.testing.assert_array_equal(kernel().fit_transform(GraphSet.from_graphs(chosen)), kernel().fit_transform(chosen))


def test_names_of_columns() -> None:
    assert kernel().fit(sample()[:2]).get_feature_names_out().tolist() == ["graph0", "graph1"]


@laws(10)
@given(st.lists(graphs("labels", 6), min_size=1, max_size=4))
def test_cross_matrices_have_the_shape_of_their_sets(some: list[Graph]) -> None:
    cross = pairwise_discrepancy(some, sample()[:3], backend="cpu")
    assert cross.shape == (len(some), 3)
    assert np.isfinite(cross).all()


def test_labels_of_new_graphs_are_matched_by_name() -> None:
    """A set numbers its elements 0, 1, 2, and SMILES use atomic numbers; the same molecule gets the same values."""
    pytest.importorskip("rdkit", reason="SMILES are in the extra 'molecules'")
    molecules = as_graphs(["c1ccccc1N(=O)=O", "c1ccccc1O", "CCCCCC", "c1ccccc1Br"])
    names = {0: "C", 1: "N", 2: "O", 3: "Br"}
    numbers = {name: number for number, name in names.items()}
    labels = np.array([numbers[element_of(molecules.label_names[c])] for c in molecules.node_labels.tolist()])
    counted = replace(molecules, node_labels=labels, label_names=names)
    kernel = RWKernel().fit(counted)
    np.testing.assert_array_equal(kernel.transform(molecules), kernel.transform(counted))
    np.testing.assert_array_equal(
        nearest(molecules[0:1], kernel, k=4).values, nearest(counted[0:1], kernel, k=4).values
    )
    np.testing.assert_array_equal(pairwise_discrepancy(counted, molecules), pairwise_discrepancy(counted, counted))
    assert align(counted[1], molecules[1]).value == align(counted[1], counted[1]).value
    features = RWFeatures(n_landmarks=3).fit(counted)
    assert (features.transform(molecules) != features.transform(counted)).nnz == 0


def test_a_label_nobody_knows_is_like_no_other() -> None:
    pytest.importorskip("rdkit", reason="SMILES are in the extra 'molecules'")
    oxygen, sulphur = as_graphs(["CCO"]), as_graphs(["CCS"])
    counted = replace(oxygen, node_labels=np.array([0, 0, 16]), label_names={0: "C", 16: "O"})  # 16 is sulphur's number
    kernel = RWKernel(scale="none").fit(counted)
    assert kernel.discrepancy(sulphur)[0, 0] > kernel.discrepancy(oxygen)[0, 0] + 0.01
