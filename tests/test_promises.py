"""Small promises that hand-made mutants broke while all other tests passed (tests/mutants lists them)."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from gram_graphs import QUICK, SMALL, random_graphs, write_tu
from rwk import Graph, GraphSet, as_graphs, compute_gram, load_dataset
from rwk.datasets import distance_graph
from rwk.datasets.forms import load_forms
from rwk.datasets.synthetic import MOTIF, MOTIF_SIZE, planted_motif
from rwk.gram import cross_discrepancy, symmetric_discrepancy
from rwk.gram.health import GramHealth
from rwk.gram.manifest import graph_digests
from rwk.graphs import GraphError
from rwk.learn.inner_folds import inner_splits
from rwk.learn.platt import fit_sigmoids
from rwk.learn.proxy import Proxy, ProxyPoint, _curvature, _evaluate
from rwk.learn.treatment import spectrum
from rwk.parameters import Parameters
from rwk.represent import represent
from rwk.retrieval import neighbours
from rwk.retrieval.bounds import lower_bounds, quadratic_bounds, signatures
from rwk.runtime.files import OutputError, write_whole
from rwk.runtime.threads import in_threads
from rwk.transport.measures import cut
from rwk.transport.pairs import solve_pairs

# ---------------------------------------------------------------- threads and files


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("bad", [0, 3, 4])
def test_an_error_in_any_chunk_is_raised(n_jobs: int, bad: int) -> None:
    def work(chunk: int) -> int:
        if chunk == bad:
            raise ValueError(f"chunk {chunk}")
        return 1

    with pytest.raises(ValueError, match=f"chunk {bad}"):
        in_threads(work, 5, n_jobs=n_jobs, tick=None)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("count", [0, 1, 2, 5, 9])
def test_every_chunk_is_counted_before_the_loop_returns(n_jobs: int, count: int) -> None:
    ticks: list[int] = []
    in_threads(lambda chunk: 10 + chunk, count, n_jobs=n_jobs, tick=ticks.append)
    assert sorted(ticks) == [10 + chunk for chunk in range(count)]


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path) -> None:
    place = tmp_path / "record.txt"
    place.write_text("old")

    def fail_halfway(beside: Path) -> None:
        beside.write_text("ne")
        assert beside.parent == place.parent  # a rename across file systems is a copy
        assert beside.suffix == place.suffix
        assert place.read_text() == "old"
        raise OSError(28, "No space left on device")

    with pytest.raises(OutputError, match="could not be written"):
        write_whole(place, fail_halfway)
    assert place.read_text() == "old"
    assert list(tmp_path.iterdir()) == [place]
    write_whole(place, lambda beside: beside.write_text("new"))
    assert place.read_text() == "new"
    assert list(tmp_path.iterdir()) == [place]


# ---------------------------------------------------------------- retrieval


class Given(neighbours._Scan):
    """A scan of candidates whose bounds and values are given, to test what is pruned."""

    def _debiased(self, q: int, values: Any, chosen: Any = None) -> Any:
        return values

    def _tight_bounds(self, q: int, chosen: Any) -> Any:
        return BOUNDS[chosen]

    def _solve(self, q: int, chosen: Any) -> Any:
        return VALUES[chosen]


# 16 candidates per batch: the first batch has the best one (value 1) and fifteen of value 9; the second and third best
# (4 and 5) are in the second batch, and only bounds above 5 may be left out
BOUNDS = np.concatenate([np.full(16, 0.5), [3.0, 3.5], np.full(14, 4.5), np.full(20, 5.5)])
VALUES = np.concatenate([[1.0], np.full(15, 9.0), [4.0, 5.0], np.full(14, 7.0), np.full(20, 8.0)])


@pytest.mark.parametrize(("k", "found", "n_solved"), [(1, [0], 16), (2, [0, 16], 32), (3, [0, 16, 17], 32)])
def test_what_is_pruned_is_worse_than_the_kth_best(
    k: int, found: list[int], n_solved: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(neighbours, "lower_bounds", lambda *_: BOUNDS.copy())
    settings: Any = SimpleNamespace(cost_weights=lambda: SimpleNamespace(mass=1.0), precision="float64")
    scan: Any = Given(None, [None], None, settings, None)  # type: ignore[list-item, arg-type]
    indices, values, solved = scan.nearest(0, k, len(BOUNDS), None)
    assert indices.tolist() == found
    assert values.tolist() == VALUES[found].tolist()
    assert solved == n_solved


def test_a_bound_that_is_reached_is_not_exceeded() -> None:
    """Two segments of lengths 1 and 3: the bound of the structure term is its value, so 1 % more is too much."""
    labels = np.array([0, 1])
    segments = [
        Graph(2, np.array([[0, 1]]), node_labels=labels, node_distances=length * (1.0 - np.eye(2)))
        for length in (1.0, 3.0)
    ]
    settings = Parameters(
        beta_local=0.0, beta_global=1.0, degree_weight=0.0, structure="edge-distance", direction="exact"
    )
    measures, _ = represent(GraphSet.from_graphs(segments), settings)
    query, marks = cut(measures, np.array([0])), signatures(measures)
    value = cross_discrepancy(query, measures, settings)[0][0]
    weights = settings.cost_weights()
    for bound in (
        lower_bounds(signatures(query), marks, weights),
        quadratic_bounds(signatures(query), marks, weights),
    ):
        assert value[1] > 0
        assert (bound <= value + 1e-9).all()
        assert bound[1] > 0.99 * value[1]


# ---------------------------------------------------------------- gram


def test_every_field_of_a_graph_is_in_its_digest() -> None:
    plain = Graph(2, np.array([[0, 1]]))
    fields = {
        "node_labels": [0, 1],
        "node_attributes": [[1.0], [2.0]],
        "node_weights": [0.5, 1.0],
        "edge_weights": [2.0],
        "edge_labels": [1],
        "edge_attributes": [[3.0]],
        "node_distances": [[0.0, 2.0], [2.0, 0.0]],
    }
    digests = graph_digests(GraphSet.from_graphs([plain]))
    for name, values in fields.items():
        for more in (0, 1):
            changed: Any = {name: np.asarray(values) + more}
            digests += graph_digests(GraphSet.from_graphs([Graph(2, plain.edges, **changed)]))
    assert len(set(digests)) == len(digests)


def test_pairs_that_do_not_converge_are_counted() -> None:
    graphs = random_graphs(9)
    settings = Parameters.of({**QUICK, "max_iter": 4, "sinkhorn_iter": 50})
    measures, _ = represent(graphs, settings)
    pairs = np.stack(np.triu_indices(len(graphs)), axis=1).astype(np.int64)
    solved = solve_pairs(measures, pairs, settings.cost_weights(), settings.scg_options(), backend="cpu", n_jobs=1)
    wanted = int((~solved.converged).sum())
    assert 0 < wanted < len(pairs) - wanted or 0 < len(pairs) - wanted < wanted  # counting the others is seen
    assert symmetric_discrepancy(measures, settings)[1].n_not_converged == wanted
    tiled = compute_gram(graphs, memory=SMALL, **settings.asdict()).health
    assert (tiled.n_not_converged, tiled.n_pairs) == (wanted, len(pairs))


def test_the_health_of_parts_is_that_of_all_of_them() -> None:
    parts = [GramHealth(10, 1, 4.0, 0.5), GramHealth(30, 5, 8.0, 1.5)]
    assert GramHealth.of(parts) == GramHealth(40, 6, 7.0, 2.0)
    assert GramHealth.of(parts).pairs_per_second == 20.0
    assert GramHealth.of([]) == GramHealth(0, 0, 0.0, 0.0)


# ---------------------------------------------------------------- learning


def test_repeats_of_inner_folds_differ() -> None:
    codes = np.arange(40) % 2
    splits = inner_splits(codes, n_inner=4, repeats=3, seed=5)
    assert len(splits) == 12
    repeats = [tuple(tuple(validation) for _, validation in splits[r : r + 4]) for r in (0, 4, 8)]
    assert len(set(repeats)) == 3
    others = inner_splits(codes, n_inner=4, repeats=1, seed=6)
    assert tuple(tuple(validation) for _, validation in others) not in repeats


def test_platt_targets_are_softened_by_the_number_of_graphs() -> None:
    """If decisions have two values, the sigmoid meets both targets exactly."""
    decisions, codes = np.array([-1.0] * 3 + [1.0] * 8)[:, None], np.array([0] * 3 + [1] * 8)
    slope, offset = fit_sigmoids(decisions, codes)[0]
    np.testing.assert_allclose(expit([offset - slope, offset + slope]), [1 / (3 + 2), (8 + 1) / (8 + 2)], atol=1e-5)


@pytest.mark.parametrize("shift", [0.0, 0.35])
def test_the_curvature_of_the_proxy_is_the_derivative_of_its_gradient(shift: float) -> None:
    """For a positive kernel (shift 0), and for one with negative eigenvalues, over the rows of two of three classes."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(9, 12))
    kernel = rows @ rows.T / 12 - shift * 2 * np.eye(9)
    proxy = Proxy(kernel, spectrum(kernel), 0.7)
    assert bool(len(proxy.spectrum.negative_values)) == (shift > 0)
    members, signs, v = np.arange(7), np.where(np.arange(7) < 3, 1.0, -1.0), rng.normal(size=7)

    def at(place: np.ndarray) -> ProxyPoint:
        return _evaluate(proxy, members, signs, place)

    step = 1e-5
    moved = [(at(v + step * e), at(v - step * e)) for e in np.eye(7)]
    slopes = [(up.value - down.value) / (2 * step) for up, down in moved]
    np.testing.assert_allclose(at(v).gradient, slopes, rtol=1e-6, atol=1e-7)
    second = np.array([(up.gradient - down.gradient) / (2 * step) for up, down in moved])
    np.testing.assert_allclose(_curvature(proxy, members, at(v)), -second, rtol=1e-5, atol=1e-6)


# ---------------------------------------------------------------- data


@pytest.mark.parametrize(("size", "refused"), [(4 * 2**30, False), (4 * 2**30 + 1, True), (2**50, True)])
def test_the_limit_of_a_zip_is_four_gib(size: int, refused: bool, tmp_path: Path) -> None:
    """The table of contents says how large the files are: nothing has to be unpacked to refuse them."""
    from rwk.datasets.tu_files import find_source

    source = write_tu(tmp_path / "TOY", random_graphs(3))
    place = tmp_path / "TOY.zip"
    with zipfile.ZipFile(place, "w") as archive:
        for file in source.iterdir():
            archive.write(file, f"TOY/{file.name}")
        rest = sum(member.file_size for member in archive.infolist()[1:])
        archive.infolist()[0].file_size = size - rest
    if refused:
        with pytest.raises(GraphError, match="and the limit is 4; use a smaller set"):
            find_source(place)
    else:
        assert find_source(place).name == "TOY"


@pytest.mark.parametrize("label", [2**31 - 1, 2**31, 2**31 + 7, -(2**31), -(2**31) - 1, 2**62])
def test_labels_beyond_32_bits_are_read_as_they_are(label: int, tmp_path: Path) -> None:
    place = write_tu(tmp_path / "TOY", random_graphs(4))
    file = place / "TOY_node_labels.txt"
    lines = file.read_text().splitlines()
    file.write_text("\n".join([str(label), *lines[1:]]) + "\n")
    labels = load_dataset(place).node_labels
    assert labels is not None
    assert labels.dtype == np.int64
    assert labels.tolist() == [label, *map(int, lines[1:])]


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.uint8, np.int64])
def test_integer_labels_of_any_width_are_the_same_graph(kind: type[np.generic]) -> None:
    graph = Graph(3, np.array([[0, 1]]), node_labels=np.array([1, 2, 1], kind), edge_labels=np.array([3], kind))
    assert graph.node_labels is not None
    assert graph.node_labels.dtype == np.int64
    same = Graph(3, np.array([[0, 1]]), node_labels=np.array([1, 2, 1]), edge_labels=np.array([3]))
    assert graph_digests(GraphSet.from_graphs([graph])) == graph_digests(GraphSet.from_graphs([same]))


def test_labels_that_are_not_whole_numbers_are_refused() -> None:
    whole = Graph(2, np.array([[0, 1]]), node_labels=np.array([1.0, 2.0]))
    assert whole.node_labels is not None
    assert whole.node_labels.tolist() == [1, 2]
    for bad in ([1.5, 2.0], [np.nan, 1.0], [np.inf, 0.0], [1e30, 0.0]):
        with pytest.raises(GraphError, match="node labels"):
            Graph(2, np.array([[0, 1]]), node_labels=np.array(bad))


def test_float_labels_of_networkx_stay_apart() -> None:
    import networkx as nx

    network = nx.path_graph(3)
    nx.set_node_attributes(network, {0: 1.25, 1: 1.75, 2: 1.25}, "label")
    labels = as_graphs([network], node_label="label")[0].node_labels
    assert labels is not None
    assert labels[0] == labels[2] != labels[1]


def test_distances_weigh_edges() -> None:
    lengths = GraphSet.from_graphs([Graph(3, np.array([[0, 1], [1, 2]]), edge_attributes=np.array([[1.0], [3.0]]))])
    weights = distance_graph(lengths, sigma=2.0).edge_weights
    np.testing.assert_allclose(weights, np.exp([-0.25, -2.25]))


@pytest.mark.parametrize("n_edges", [3, 2])
def test_complete_graphs_with_lengths_have_two_forms(n_edges: int, tmp_path: Path) -> None:
    place = tmp_path / "TOY"
    place.mkdir()
    edges = [(first + a, first + b) for first in (1, 4) for a, b in [(0, 1), (0, 2), (1, 2)][:n_edges]]
    both = [*edges, *((b, a) for a, b in edges)]
    (place / "TOY_A.txt").write_text("".join(f"{a}, {b}\n" for a, b in both))
    (place / "TOY_graph_indicator.txt").write_text("1\n1\n1\n2\n2\n2\n")
    (place / "TOY_graph_labels.txt").write_text("0\n1\n")
    (place / "TOY_edge_labels.txt").write_text("".join(f"{i % n_edges}\n" for i in range(len(both))))
    (place / "TOY_edge_attributes.txt").write_text("".join(f"{1 + i % n_edges}\n" for i in range(len(both))))
    graphs, forms = load_forms("TOY", tmp_path)
    assert graphs.sizes.tolist() == [3, 3]
    assert graphs.edges.tolist() == [[0, 1], [0, 2], [1, 2]][:n_edges] * 2
    if n_edges == 2:
        assert list(forms) == [""]
        return
    assert list(forms) == ["bonds", "distance"]
    np.testing.assert_allclose(forms["distance"].edge_weights, np.exp(-((np.array([1, 2, 3] * 2) / 2.0) ** 2)))


def test_the_planted_motif_is_where_it_is_said_to_be() -> None:
    import networkx as nx

    graphs, motifs = planted_motif(12, n_nodes=9)
    assert np.asarray(graphs.targets).tolist() == [0, 1] * 6
    assert set(graphs.sizes.tolist()) == set(range(9 - 2 + MOTIF_SIZE, 9 + 3 + MOTIF_SIZE))
    for graph, nodes, target in zip(graphs, motifs, [0, 1] * 6, strict=True):
        network = nx.Graph(graph.edges.tolist())
        assert nx.number_of_nodes(network) == graph.n_nodes
        assert nx.is_connected(network)
        if not target:
            assert len(nodes) == 0
            assert nx.is_tree(network)
            continue
        assert nx.is_isomorphic(network.subgraph(nodes.tolist()), nx.Graph(MOTIF))
        rest = network.subgraph(set(network) - set(nodes.tolist()))
        assert nx.is_tree(rest)
        assert graph.n_edges == rest.number_of_edges() + len(MOTIF) + 1


# ---------------------------------------------------------------- command line and uploads


def test_a_missing_extra_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rwk.cli import main

    data = write_tu(tmp_path / "TOY", random_graphs(3))
    for module in ("pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setattr(sys, "argv", ["rwk", "gram", str(data), "-o", str(tmp_path / "gram.parquet")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 1
    assert said[0].startswith("rwk: ")
    assert "pip install 'rwk[parquet]'" in said[0]
    assert not (tmp_path / "gram.parquet").exists()


@pytest.mark.parametrize("kind", [ImportError, ValueError, OSError, RuntimeError, IndexError])
def test_a_known_error_is_one_sentence(
    kind: type[Exception], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from rwk.cli import info_command, main

    def fail(*_: object) -> None:
        raise kind("what is wrong; what to do")

    monkeypatch.setattr(info_command, "load_graphs", fail)
    monkeypatch.setattr(sys, "argv", ["rwk", "info", "MUTAG"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == "rwk: what is wrong; what to do\n"


@pytest.mark.parametrize(
    "declared", ["<!DOCTYPE graphml>", '<!DOCTYPE x SYSTEM "file:///etc/passwd">', '<!DOCTYPE x [<!ENTITY a "b">]>']
)
def test_uploads_declare_no_doctype(declared: str) -> None:
    pytest.importorskip("dash", reason="dash is in the extra 'explore'")
    from rwk.explore.upload import _from_graphml

    text = f'<?xml version="1.0"?>{declared}<graphml><graph edgedefault="undirected"><node id="0"/></graph></graphml>'
    with pytest.raises(GraphError, match="DOCTYPE, which is not allowed"):
        _from_graphml("a.graphml", text.encode())
    assert _from_graphml("a.graphml", text.replace(declared, "").encode()).graph.n_nodes == 1
