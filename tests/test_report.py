"""Pictures show what they claim, layouts are stable, and a report is one file that needs nothing else."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser

import networkx as nx
import numpy as np
import pytest
from sklearn.metrics import precision_recall_fscore_support

import rwk
from rwk.datasets.synthetic import planted_motif
from rwk.experiment import Grid, make_folds
from rwk.experiment.methods import RwkMethod
from rwk.experiment.run_folder import classify
from rwk.learn.explain import explain_left_out
from rwk.parameters import Parameters
from rwk.report import (
    dataset_map,
    plot_ablation,
    plot_accuracy,
    plot_alignment,
    plot_convergence,
    plot_graph,
    plot_kernel,
    plot_map,
    plot_runtime,
    plot_scaling,
    plot_spectrum,
    plot_terms,
)
from rwk.report.class_scores import class_figures, confusion
from rwk.report.layout import layout, matched_layout, molecule_layout
from rwk.report.run_data import ReportError, read_run
from rwk.report.writing import write_report
from score_records import repeat_of, score_of


@pytest.fixture(scope="module")
def mutag():
    return rwk.load_dataset("MUTAG")


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    graphs, _ = planted_motif(20, n_nodes=8)
    folder = tmp_path_factory.mktemp("run")
    folds = make_folds(graphs.targets, n_splits=4, n_repeats=2)
    method = RwkMethod("RWK", {"default": Parameters()}, Grid(eta=(1.0,), C=(1.0, 10.0)))
    classify(graphs, method, folder, folds=folds)
    return graphs, folder


def by_gid(ax, gid):
    return next(c for c in ax.collections if c.get_gid() == gid)


# ---------------------------------------------------------------- alignments


def test_alignment_draws_every_node_edge_and_the_terms(mutag):
    G, H = mutag[0], mutag[1]
    solution = rwk.align(G, H)
    ax = plot_alignment(G, H, solution, title="two molecules")
    nodes = [c for c in ax.collections if c.get_gid() == "nodes"]
    assert [len(c.get_offsets()) for c in nodes] == [G.n_nodes, H.n_nodes]
    edges = [c for c in ax.collections if c.get_gid() == "edges"]
    assert [len(c.get_segments()) for c in edges] == [G.n_edges, H.n_edges]
    bars = ax.figure.axes[1]
    drawn = sum(patch.get_width() for patch in bars.patches)
    assert drawn == pytest.approx(solution.value, abs=1e-3)
    assert f"RW = {solution.value:.3f}" in bars.get_title(loc="left")


def test_line_width_follows_mass():
    G = rwk.as_graphs(nx.path_graph(6))[0]
    solution = rwk.align(G, G, entropy=0.05)
    lines = by_gid(plot_alignment(G, G, solution), "mass")
    widths = np.asarray(lines.get_linewidths())
    assert (np.diff(widths) >= -1e-9).all()  # drawn in the order of their mass
    assert widths.max() > widths.min()


def test_same_and_other_labels_have_their_own_colours(mutag):
    lines = by_gid(plot_alignment(mutag[0], mutag[1], rwk.align(mutag[0], mutag[1])), "mass")
    assert len(np.unique(np.asarray(lines.get_colors())[:, :3], axis=0)) == 2


def test_elements_are_coloured_and_written(mutag):
    ax = plot_graph(mutag[0])
    written = sorted(text.get_text() for text in ax.texts if text.get_text())
    assert written == ["N", "O", "O"]
    assert len(np.unique(by_gid(ax, "nodes").get_facecolors(), axis=0)) == 3


@pytest.mark.parametrize("n", [1, 2, 10, 30, 100])
def test_any_size_is_drawn_inside_the_frame(n):
    G = rwk.as_graphs(nx.gnm_random_graph(n, 2 * n, seed=n))[0]
    ax = plot_alignment(G, G, rwk.align(G, G))
    ax.figure.canvas.draw()
    (x0, x1), (y0, y1) = ax.get_xlim(), ax.get_ylim()
    for nodes in (c.get_offsets() for c in ax.collections if c.get_gid() == "nodes"):
        assert ((nodes[:, 0] > x0) & (nodes[:, 0] < x1) & (nodes[:, 1] > y0) & (nodes[:, 1] < y1)).all()


@pytest.mark.parametrize("n", [10, 30, 100])
def test_nodes_keep_clear_of_each_other(n):
    """Nine dots in ten do not touch their nearest neighbour, in either graph, also if a graph is not connected."""
    graphs = rwk.as_graphs([nx.random_geometric_graph(n, 1.6 / n**0.5, seed=seed) for seed in (1, 2)])
    ax = plot_alignment(graphs[0], graphs[1], rwk.align(graphs[0], graphs[1]))
    ax.figure.canvas.draw()
    for dots in (c for c in ax.collections if c.get_gid() == "nodes"):
        at = ax.transData.transform(dots.get_offsets()) * 72 / ax.figure.dpi  # points
        apart = np.linalg.norm(at[:, None] - at[None, :], axis=2) + np.diag(np.full(n, np.inf))
        assert np.quantile(apart.min(axis=1), 0.1) > dots.get_sizes()[0] ** 0.5


@pytest.mark.parametrize("given", [None, "fixed limits", "shared"])
def test_drawing_says_nothing(given, mutag, caplog):
    from rwk.report import new_figure

    axes = None if given is None else new_figure(8, 4).subplots(ncols=2, sharey=given == "shared")
    if given == "fixed limits":
        for ax in axes:
            ax.set(xlim=(0, 1), ylim=(0, 1))
    drawn = plot_alignment(mutag[0], mutag[1], rwk.align(mutag[0], mutag[1]), axes=axes)
    drawn.figure.canvas.draw()
    plot_map(np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0))), ax=drawn).figure.canvas.draw()
    assert not caplog.records


def test_every_plot_takes_axes():
    import inspect

    import rwk.report as report

    plots = [getattr(report, name) for name in report.__all__ if name.startswith("plot_")]
    assert len(plots) >= 12
    for plot in plots:
        assert {"ax", "axes"} & set(inspect.signature(plot).parameters), plot.__name__


def test_weightless_nodes_are_drawn_without_lines():
    G = rwk.Graph(3, np.array([[0, 1], [1, 2]]), node_weights=np.array([1.0, 0.0, 1.0]))
    H = rwk.Graph(2, np.array([[0, 1]]), node_weights=np.ones(2))
    ax = plot_alignment(G, H, rwk.align(G, H))
    assert len(by_gid(ax, "nodes").get_offsets()) == 3


def test_one_axes_given_is_used_and_two_are_too(mutag):
    from rwk.report import new_figure

    solution = rwk.align(mutag[0], mutag[1])
    one = new_figure(6, 4).subplots()
    assert plot_alignment(mutag[0], mutag[1], solution, axes=one).figure is one.figure
    two = new_figure(6, 4).subplots(ncols=2)
    assert plot_alignment(mutag[0], mutag[1], solution, axes=two) is two[0]


def test_terms_with_negative_values_are_drawn(mutag):
    solution = rwk.align(mutag[0], mutag[0], debias=True)
    assert any(patch.get_width() < 0 for patch in plot_terms(solution).patches)


def test_solution_of_other_graphs_is_one_sentence(mutag):
    with pytest.raises(ValueError, match="solution is of a graph with 17 nodes"):
        plot_alignment(mutag[5], mutag[1], rwk.align(mutag[0], mutag[1]))


# ---------------------------------------------------------------- cards for notebooks


def test_cards_say_what_the_record_holds(mutag):
    solution = rwk.align(mutag[0], mutag[1])
    assert f"{solution.value:.4f}" in solution._repr_html_()
    assert "<svg" in solution._repr_html_()
    assert "188" in mutag._repr_html_()
    assert "-1 (63), 1 (125)" in mutag._repr_html_()
    assert "RWKernel" in rwk.RWKernel(eta=2.0)._repr_html_()


def test_cards_of_matrices_neighbours_and_runs(mutag, tmp_path):
    gram = rwk.compute_gram(mutag[:12], max_iter=1)
    assert "78" in gram._repr_html_()  # pairs
    assert "not converged" in gram._repr_html_()
    found = rwk.nearest(mutag[0], mutag[:12], k=3)
    for index, value in zip(found.indices, found.values, strict=True):
        assert f"graph {index}" in found._repr_html_()
        assert f"{value:.4f}" in found._repr_html_()
    assert "2" in rwk.nearest(mutag[:2], mutag[:12], k=3)._repr_html_()
    graphs, _ = planted_motif(12, n_nodes=8)
    folds = make_folds(graphs.targets, n_splits=3, n_repeats=1)
    method = RwkMethod("RWK", {"default": Parameters()}, Grid(eta=(1.0,), C=(1.0,)))
    run = classify(graphs, method, tmp_path, folds=folds)
    assert "accuracy" in run._repr_html_()
    assert "one repeat" in run._repr_html_()


def test_cards_escape_names():
    graphs = rwk.as_graphs([nx.path_graph(2)])
    named = rwk.GraphSet.from_graphs(list(graphs), name="<script>")
    assert "<script>" not in named._repr_html_()


# ---------------------------------------------------------------- layouts


def test_layout_is_stable(mutag):
    np.testing.assert_array_equal(layout(mutag[0]), layout(mutag[0]))


def test_molecules_have_even_bonds(mutag):
    pytest.importorskip("rdkit")
    graph = mutag[0]
    places = molecule_layout(graph)
    lengths = np.linalg.norm(places[graph.edges[:, 0]] - places[graph.edges[:, 1]], axis=1)
    assert lengths.max() < 1.05 * lengths.min()


def test_parts_do_not_overlap():
    graphs = nx.disjoint_union_all([nx.cycle_graph(12), nx.path_graph(7), nx.complete_graph(4), nx.empty_graph(9)])
    places = layout(rwk.as_graphs(graphs)[0])
    boxes = [(places[a:b].min(axis=0), places[a:b].max(axis=0)) for a, b in ((0, 12), (12, 19), (19, 23), (23, 24))]
    for i, (low, high) in enumerate(boxes):
        for other_low, other_high in boxes[:i]:
            assert (low > other_high).any() or (other_low > high).any()
    wide, tall = np.ptp(places, axis=0)
    assert 0.3 < wide / tall < 1.5  # nine single nodes are not a tail of nine rows


def test_blurred_mass_leaves_a_layout_as_it_is():
    """If the mass of every node goes everywhere, the second graph is only rotated: it keeps its own layout."""
    graph = rwk.as_graphs(nx.grid_2d_graph(4, 5))[0]
    own = layout(graph)
    drawn = matched_layout(graph, own, np.full((20, 20), 1 / 400))
    apart = [np.linalg.norm(p[:, None] - p[None, :], axis=2) for p in (own, drawn)]
    np.testing.assert_allclose(apart[0], apart[1], atol=0.15)


def test_matched_layout_follows_the_coupling(mutag):
    """A relabelled copy gets the layout of the first graph: all lines are parallel and equally long."""
    graph = mutag[0]
    order = np.random.default_rng(0).permutation(graph.n_nodes)
    copy = graph.permuted(order)
    coupling = np.zeros((graph.n_nodes, graph.n_nodes))
    coupling[order, np.arange(graph.n_nodes)] = 1 / graph.n_nodes
    first = layout(graph)
    second = matched_layout(copy, first, coupling)
    assert np.linalg.norm(first[order] - second, axis=1).max() < 0.5  # edges have length 1


# ---------------------------------------------------------------- matrices and records


def test_heat_map_is_ordered_by_class(mutag):
    graphs = mutag[:30]
    K = rwk.RWKernel().fit_transform(graphs)
    ax = plot_kernel(K, graphs.targets)
    shown = np.asarray(ax.images[0].get_array())
    assert shown.shape == K.shape
    np.testing.assert_allclose(np.sort(shown.ravel()), np.sort(K.ravel()))
    counts = np.unique(graphs.targets, return_counts=True)[1]
    first = shown[: counts[0], : counts[0]]
    members = np.flatnonzero(graphs.targets == graphs.targets.min())
    np.testing.assert_allclose(np.sort(first.ravel()), np.sort(K[np.ix_(members, members)].ravel()))
    assert len(ax.patches) == 4  # two bars a class


def test_map_has_a_point_for_every_graph(mutag):
    D = rwk.pairwise_discrepancy(mutag[:30])
    ax = plot_map(D, mutag[:30].targets)
    assert sum(len(c.get_offsets()) for c in ax.collections) == 30


@pytest.mark.parametrize("method", ["mds", "tsne"])
def test_map_keeps_two_far_groups_apart(method):
    places = np.concatenate(
        [np.random.default_rng(0).normal(0, 1, (20, 2)), np.full((20, 2), 50.0) + np.arange(20)[:, None] / 20]
    )
    D = np.linalg.norm(places[:, None] - places[None], axis=2)
    drawn, _ = dataset_map(D, method=method)
    centres = drawn[:20].mean(axis=0), drawn[20:].mean(axis=0)
    assert np.linalg.norm(centres[0] - centres[1]) > 3 * drawn[:20].std(axis=0).max()


def test_spectrum_shows_its_negative_part():
    ax = plot_spectrum(np.array([[1.0, 2.0], [2.0, 1.0]]))
    assert sorted(patch.get_height() for patch in ax.patches) == pytest.approx([-1.0, 3.0])
    assert "25 %" in ax.get_title(loc="left")


def test_nan_matrix_is_one_sentence():
    with pytest.raises(ValueError, match="NaN or infinite"):
        plot_kernel(np.array([[1.0, np.nan], [np.nan, 1.0]]))


def test_convergence_shows_the_history():
    solution = rwk.align(nx.path_graph(6), nx.star_graph(6), trace=True)
    ax = plot_convergence(solution)
    np.testing.assert_allclose(ax.figure.axes[1].get_lines()[0].get_ydata(), solution.history[:, 0])
    with pytest.raises(ValueError, match="trace=True"):
        plot_convergence(rwk.align(nx.path_graph(3), nx.path_graph(3)))


def scores(dataset, method, mean):
    return [score for seed in range(2) for score in repeat_of(dataset, method, [mean] * 3, seed=seed)]


def test_accuracy_bars_are_the_records():
    records = scores("MUTAG", "RWK", 0.88) + scores("MUTAG", "WWL", 0.86) + scores("PTC_MR", "RWK", 0.67)
    ax = plot_accuracy(records, published={"MUTAG": {"paper": 93.6}})
    heights = sorted(round(bar.get_height(), 6) for group in ax.containers for bar in getattr(group, "patches", []))
    assert heights == [67.0, 86.0, 88.0]
    assert any(list(line.get_ydata()) == [93.6] for line in ax.get_lines())


def test_every_method_is_named_once_in_a_colour_of_its_own():
    """Also methods without a record of the first dataset; there is no gap for a method that was not run."""
    names = [f"method {i}" for i in range(12)]
    scores = [score_of(data, name, 0.8) for data, methods in (("A", names[:2]), ("B", names[1:])) for name in methods]
    ax = plot_accuracy(scores)
    titles = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(titles) == sorted([*names, "majority class"])
    assert len({tuple(patch.get_facecolor()) for patch in ax.patches}) == len(names)
    centres = np.sort([patch.get_x() + patch.get_width() / 2 for patch in ax.patches])
    assert np.sort(np.diff(centres))[-2] == pytest.approx(1.0)  # one gap, between the datasets


def test_ablation_is_the_difference_in_points():
    ax = plot_ablation(scores("MUTAG", "RWK", 0.88) + scores("MUTAG", "RWK-0", 0.86))
    assert ax.patches[0].get_height() == pytest.approx(-2.0)


def test_runtime_and_scaling_are_logarithmic():
    rows = [{"dataset": "MUTAG", "method": name, "ms_per_pair": ms, "nodes": 20} for name, ms in (("a", 1), ("b", 10))]
    assert plot_runtime(rows).get_yscale() == "log"
    assert len(plot_scaling(rows, x="nodes", y="ms_per_pair").get_lines()) == 2


def test_pictures_leave_pyplot_alone():
    code = """
import sys, numpy as np
from rwk.report import plot_kernel
plot_kernel(np.eye(3))
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_missing_matplotlib_is_one_sentence(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"pip install 'rwk\[plot\]'"):
        plot_kernel(np.eye(3))


# ---------------------------------------------------------------- the report


class Page(HTMLParser):
    """Collects what a page refers to, and checks that all tags are closed."""

    VOID = frozenset({"meta", "img", "br", "link", "input"})

    def __init__(self):
        super().__init__()
        self.references, self.open, self.alts = [], [], []

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.references += [named[key] for key in ("src", "href") if key in named]
        if tag == "img":
            self.alts.append(named.get("alt"))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def page(run_folder, tmp_path_factory):
    graphs, folder = run_folder
    path = tmp_path_factory.mktemp("report") / "report.html"
    assert write_report(folder, path, graphs=graphs) == [path]
    return path.read_text(encoding="utf-8")


def test_report_is_self_contained(page):
    parsed = Page()
    parsed.feed(page)
    assert not parsed.open
    assert all(ref.startswith(("data:image/png;base64,", "#")) for ref in parsed.references)
    assert "http:" not in page
    assert "https:" not in page
    assert "<script" not in page
    assert all(parsed.alts)


def test_report_says_the_runs_figures(page, run_folder):
    run = read_run(run_folder[1])
    assert f"{100 * run.record['accuracy']:.1f}" in page
    assert f"{run.record['health']['n_pairs']:,}" in page
    for title in (
        "Result",
        "Which classes are confused",
        "Scores per class",
        "Calibration",
        "Overview",
        "Nearest neighbours",
        "Hardest graphs",
        "Health",
        "Settings",
        "Made with",
    ):
        assert f"<h2>{title}</h2>" in page
    assert page.count("<img") >= 6
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_report_counts_every_graph_once_per_class(run_folder):
    """Confusions add up to the graphs, and agree with the records of the first repeat."""
    graphs, folder = run_folder
    run = read_run(folder)
    true = np.searchsorted(run.predictions.classes, graphs.targets.astype(str))
    counts = confusion(true, run.predictions.predicted, 2)
    assert counts.sum(axis=1).tolist() == np.bincount(true).tolist()
    assert np.trace(counts) == sum(score.n_correct for score in run.scores if score.seed == 0)
    expected = precision_recall_fscore_support(true, run.predictions.predicted, zero_division=np.nan)
    np.testing.assert_allclose(class_figures(counts), np.stack(expected[:3], axis=1))
    np.testing.assert_allclose(run.predictions.probability.sum(axis=1), 1.0)


def test_report_of_values_has_predictions_and_no_classes(tmp_path):
    from dataclasses import replace

    from rwk.gram.matrix_file import save_gram

    graphs = rwk.as_graphs([nx.path_graph(n) for n in range(3, 18)])
    values = np.array([0.25 * n for n in range(15)])
    values[4] = 9.9  # wrong
    graphs = replace(graphs, targets=values)
    settings = Parameters(debias=True)
    matrix = save_gram(tmp_path / "K.npz", rwk.pairwise_discrepancy(graphs, debias=True), settings, targets=values)
    write_report(matrix, tmp_path / "report.html", graphs=graphs)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for title in ("Result", "Overview", "Nearest neighbours", "Most surprising values", "Health"):
        assert f"<h2>{title}</h2>" in page
    words = re.sub(r'src="[^"]*"', "", page[page.index("<h2>Result") :])
    assert not re.search(r"\bclass(es)?\b(?!=)", words)
    assert "SVC" not in words
    surprising = words[words.index("<h2>Most surprising") :]
    assert re.search(r"<tr><td[^>]*>graph 4</td>", surprising)
    assert "root mean squared error" in words


def test_report_of_few_values_predicts_nothing(tmp_path):
    from rwk.gram.matrix_file import save_gram

    D = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    matrix = save_gram(tmp_path / "K.npz", D, Parameters(), targets=np.array([0.5, 1.5, np.nan, 2.5]))
    (path,) = write_report(matrix, tmp_path / "report.html")
    assert "nothing was predicted from it" in path.read_text(encoding="utf-8")


def test_report_of_a_folder_without_predictions(run_folder, tmp_path):
    graphs, folder = run_folder
    for name in ("run.json", "records.jsonl", "gram.npz"):
        shutil.copy(folder / name, tmp_path / name)
    assert "Calibration" not in write_report(tmp_path, tmp_path / "r.md", graphs=graphs)[0].read_text(encoding="utf-8")
    np.savez(tmp_path / "predictions.npz", classes=np.array(["a"]), predicted=np.zeros(3, int))
    with pytest.raises(ReportError, match="does not belong to this run"):
        read_run(tmp_path)


def test_markdown_says_the_same_and_finds_its_pictures(page, run_folder, tmp_path):
    graphs, folder = run_folder
    written = write_report(folder, tmp_path / "report.md", graphs=graphs)
    text = written[0].read_text(encoding="utf-8")
    named = re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)
    assert len(named) == page.count("<img")
    assert all((tmp_path / name).read_bytes().startswith(b"\x89PNG") for name in named)


def test_report_without_the_graphs_goes_without_alignments(run_folder, tmp_path):
    _, folder = run_folder
    text = write_report(folder, tmp_path / "report.html")[0].read_text(encoding="utf-8")
    assert text.count("<img") == 4


def test_report_of_a_bare_matrix(run_folder, tmp_path):
    text = write_report(run_folder[1] / "gram.npz", tmp_path / "report.html")[0].read_text(encoding="utf-8")
    assert "<h2>Overview</h2>" in text


def test_names_are_escaped(tmp_path):
    from rwk.gram.matrix_file import save_gram

    place = save_gram(tmp_path / "K.npz", np.zeros((3, 3)), Parameters(), name="<script>alert(1)</script>")
    assert "<script" not in write_report(place, tmp_path / "r.html")[0].read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda folder: folder / "nothing", "neither the folder of a run nor a matrix"),
        (lambda folder: (folder / "run.json").write_text("{}") and folder, "is not the record of a run"),
        (lambda folder: (folder / "run.json").write_text("{") and folder, "cannot be read"),
    ],
)
def test_bad_runs_are_one_sentence(tmp_path, make, sentence):
    with pytest.raises(ReportError, match=sentence):
        read_run(make(tmp_path))


def test_report_rejects_other_endings_and_other_graphs(run_folder, tmp_path):
    graphs, folder = run_folder
    with pytest.raises(ReportError, match=r"\.html or \.md"):
        write_report(folder, tmp_path / "report.pdf")
    with pytest.raises(ReportError, match="of 20 graphs, but planted motif has 5"):
        write_report(folder, tmp_path / "report.html", graphs=graphs[:5])


def test_a_graph_left_out_is_explained_by_the_others(run_folder):
    graphs, _ = run_folder
    found = explain_left_out(graphs, 3, Parameters(), n_supports=2)
    assert found.predicted in (0, 1)
    for support in found.supports:  # numbered as in the whole set
        assert support.index != 3
        assert support.graph.n_nodes == graphs[support.index].n_nodes
        assert support.target == graphs.targets[support.index]


# ---------------------------------------------------------------- commands


def command(*arguments):
    from typer.testing import CliRunner

    import rwk.cli
    from rwk.cli.app import app

    assert rwk.cli.main
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_report_command_writes_the_page(run_folder, tmp_path):
    done = command("report", run_folder[1], "-o", tmp_path / "r.html")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "r.html").exists()


def test_explain_command_names_graphs_and_nodes(tmp_path):
    done = command("explain", "MUTAG", "0", "-o", tmp_path / "why.png", "--supports", "2", "--max-iter", "2")
    assert done.exit_code == 0, done.output
    assert "nodes that matter most" in done.output
    assert (tmp_path / "why.png").read_bytes().startswith(b"\x89PNG")


def test_doctor_knows_the_extras():
    import tomllib
    from pathlib import Path

    from rwk.cli.doctor_command import EXTRAS

    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
    declared = project["optional-dependencies"]
    assert set(EXTRAS) == set(declared) - {"all", "dev", "docs"}
    for extra, (packages, _) in EXTRAS.items():
        assert set(packages) == {re.split(r"[>=\[; ]", line)[0] for line in declared[extra]} - {"rwk"}


def test_doctor_says_what_each_extra_adds(monkeypatch):
    from rwk.cli import doctor_command

    monkeypatch.setattr(doctor_command, "installed", lambda package: "" if package == "dash" else "1.0")
    advice = {finding.what: finding.advice for finding in doctor_command.findings(["plot", "explore"])}
    assert advice["extra explore"].startswith("pip install 'rwk[explore]' adds dash")
    assert advice["extra plot"] == ""
    done = command("doctor")
    assert done.exit_code == 0
    assert "threads" in done.output
