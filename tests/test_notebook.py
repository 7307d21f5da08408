"""Notebooks: pictures show by themselves, once, and every picture takes graphs in any form."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from typing import Any

import networkx as nx
import numpy as np
import pytest

pytest.importorskip("matplotlib", reason="the pictures need the extra 'plot'")

from matplotlib.colors import to_hex

from rwk import IndefiniteSVC, RWKernel, align, as_graphs, match
from rwk.learn.explain import explain
from rwk.report import plot_alignment, plot_coupling, plot_explanation, plot_graph, plot_kernel, plot_map, plot_matching
from rwk.report.palette import FAINT, is_continuous
from rwk.report.shown_figures import shown_by_pyplot

D = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
PATH, STAR = nx.path_graph(4), nx.star_graph(4)


def shown(value: Any) -> tuple[bytes, dict[str, int]] | None:
    """What a notebook shows for the last value of a cell: it calls the value's own method."""
    picture = value._repr_png_()
    return None if picture is None else (picture[0], picture[1])


def pictures() -> dict[str, Any]:
    solution = align(PATH, STAR)
    return {
        "map": plot_map(D),
        "figure": plot_map(D).figure,
        "kernel": plot_kernel(np.exp(-D)),
        "graph": plot_graph(PATH),
        "alignment": plot_alignment(PATH, STAR, solution),
        "coupling": plot_coupling(PATH, STAR, solution),
        "matching": plot_matching(PATH, STAR, match(PATH, STAR)),
    }


def test_pictures_show_themselves() -> None:
    for name, value in pictures().items():
        png, size = shown(value) or (b"", {})
        assert png.startswith(b"\x89PNG"), name
        assert 150 < size["width"] < 900, name


def test_a_notebook_shows_pictures_through_ipython() -> None:
    formatters = pytest.importorskip("IPython.core.formatters")
    data, _ = formatters.DisplayFormatter().format(plot_map(D))
    assert data["image/png"]


def test_pyplot_shows_a_figure_once() -> None:
    """With the backend of notebooks pyplot shows its figures at the end of the cell, so the Axes show nothing."""
    code = (
        "import matplotlib; import matplotlib.pyplot as plt; import numpy as np; from rwk.report import plot_map\n"
        "ax = plot_map(np.eye(3))\n"
        "assert ax.figure.number in plt.get_fignums()\n"
        "assert matplotlib.get_backend().lower() == 'agg' and ax._repr_png_() is not None\n"
        "matplotlib.get_backend = lambda: 'inline'\n"
        "assert ax._repr_png_() is None and ax.figure._repr_png_() is None\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "MPLBACKEND": "agg"})


def test_axes_of_others_are_left_as_they_are() -> None:
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert plot_map(D, ax=ax) is ax
    assert not shown_by_pyplot(ax.figure)
    assert plot_coupling(PATH, STAR, align(PATH, STAR), ax=ax)._repr_png_() is None


def test_figures_can_be_pickled() -> None:
    again = pickle.loads(pickle.dumps(plot_map(D).figure))
    assert shown(again) is not None


def test_pictures_take_what_as_graphs_takes() -> None:
    pytest.importorskip("rdkit")
    assert len(plot_graph("CCO").collections) == len(plot_graph(as_graphs("CCO")[0]).collections)
    by_name = plot_alignment("CCO", "CCN", align("CCO", "CCN"))
    graphs = as_graphs(["CCO", "CCN"])
    by_graph = plot_alignment(graphs[0], graphs[1], align("CCO", "CCN"))
    labels = [{text.get_text() for text in ax.get_legend().get_texts()} for ax in (by_name, by_graph)]
    assert labels[0] == labels[1] > {"C", "O", "N"}  # one coding of the labels of both
    with pytest.raises(ValueError, match="2 graphs were given where one is drawn"):
        plot_graph(["CCO", "CCN"])


def test_explain_takes_what_as_graphs_takes() -> None:
    rings, paths = [nx.cycle_graph(n) for n in range(4, 9)], [nx.path_graph(n) for n in range(4, 9)]
    kernel = RWKernel(debias=True)
    classifier = IndefiniteSVC(C=100.0).fit(kernel.fit_transform(rings + paths), [1] * 5 + [0] * 5)
    why = explain(kernel, classifier, rings + paths, nx.cycle_graph(9), n_supports=2)
    assert why.predicted == 1
    assert why.graph.n_nodes == 9
    assert shown(plot_explanation(why, n_alignments=1)) is not None
    with pytest.raises(ValueError, match="one graph can be explained at a time, but 2 were given"):
        explain(kernel, classifier, rings + paths, rings[:2])


def test_numbers_colour_a_map_by_a_scale() -> None:
    values = [0.5, 0.1, 2.0, np.nan, 1.5, 1.0]
    ax = plot_map(D, values)
    assert len(ax.figure.axes) == 2  # the map and its colour bar
    assert ax.figure.axes[1].get_ylabel() == "target"
    assert ax.get_legend() is None
    unknown, points = ax.collections
    assert to_hex(unknown.get_facecolor()[0]) == FAINT
    assert points.get_array().tolist() == sorted(value for value in values if np.isfinite(value))
    classes = plot_map(D, [0, 1, 0, 1, 0, 1])
    assert len(classes.figure.axes) == 1
    assert classes.get_legend() is not None


def test_the_kernel_of_numbers_is_ordered_by_them() -> None:
    values = np.array([0.5, 0.1, 2.5, 1.7, 0.3, 1.0])
    ax = plot_kernel(np.exp(-D), values)
    order = np.argsort(values)
    np.testing.assert_array_equal(ax.images[0].get_array(), np.exp(-D)[np.ix_(order, order)])
    assert "ordered by target" in "".join(text.get_text() for text in ax.texts)


@pytest.mark.parametrize(
    ("targets", "continuous"),
    [(["a", "b"], False), ([True, False], False), ([1.0, 2.0], False), ([0.5, 1.0], True), (range(200), True)],
)
def test_which_targets_are_on_a_scale(targets: Any, continuous: bool) -> None:
    assert is_continuous(np.asarray(targets)) is continuous
