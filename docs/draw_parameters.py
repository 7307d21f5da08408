"""Draw the pictures of the page on parameters: called by `docs/draw.py`, or python docs/draw_parameters.py."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from PIL import Image

import rwk
from rwk.graphs.colours import wl_colours
from rwk.report import new_figure, plot_coupling, plot_graph
from rwk.represent.pipeline import represent

HERE = Path(__file__).parent / "images" / "parameters"


def main() -> None:
    HERE.mkdir(parents=True, exist_ok=True)
    graphs = rwk.load_dataset("MUTAG")
    for draw in (wl_rounds, entropy, beta_global, structure, product, eta):
        path = HERE / f"{draw.__name__}.png"
        draw(graphs).savefig(path, dpi=80, facecolor="white", bbox_inches="tight")
        Image.open(path).convert("RGB").quantize(128).save(path, optimize=True)  # few colours make small files
        print(path)


def wl_rounds(graphs: rwk.GraphSet) -> Any:
    """One molecule, its atoms coloured by their colour after 0 to 3 rounds."""
    molecule = graphs[17:18]
    colours = wl_colours(molecule, 3)
    figure = new_figure(10, 2.7)
    for rounds, ax in enumerate(figure.subplots(1, 4)):
        kinds = np.unique(colours[rounds], return_inverse=True)[1]
        plot_graph(
            molecule[0], values=kinds - kinds.mean(), ax=ax, title=f"wl_rounds={rounds}: {kinds.max() + 1} colours"
        )
    return figure


def entropy(graphs: rwk.GraphSet) -> Any:
    """The coupling of two molecules for three entropies, columns in the order of the sharpest matching."""
    figure = new_figure(10, 3.2)
    first, second = graphs[17], graphs[43]
    sharp = rwk.align(first, second, entropy=0.02)
    order = np.argsort(sharp.coupling.argmax(axis=0), kind="stable")
    for value, ax in zip((0.5, 0.1, 0.02), figure.subplots(1, 3), strict=True):
        coupling = rwk.align(first, second, entropy=value).coupling
        ax.imshow(coupling[:, order], cmap="Blues")
        ax.set(title=f"entropy={value}", xlabel="atoms of one molecule", ylabel="of the other")
        ax.set_xticks([])
        ax.set_yticks([])
    return figure


def beta_global(_: rwk.GraphSet) -> Any:
    """A grid and a stretched grid, matched without and with the global term."""
    pair = rwk.as_graphs([nx.grid_2d_graph(3, 5), nx.grid_2d_graph(2, 8)])
    figure = new_figure(10, 3.4)
    for value, ax in zip((0.0, 5.0), figure.subplots(1, 2), strict=True):
        solution = rwk.align(pair[0], pair[1], beta_global=value, entropy=0.02, feature_metric="l2", n_starts=5)
        plot_coupling(pair[0], pair[1], solution, ax=ax)
        ax.set_title(f"beta_global={value}")
    return figure


def structure(_: rwk.GraphSet) -> Any:
    """What the global term sees of two rings joined by a path, for each choice of `structure`."""
    graph = nx.disjoint_union(nx.cycle_graph(8), nx.cycle_graph(8))
    nx.add_path(graph, [0, 16, 17, 8])
    ring = rwk.as_graphs([graph])
    kinds = ("shortest-path", "heat-kernel", "embedding", "adjacency", "laplacian")
    figure = new_figure(11, 2.6)
    for kind, ax in zip(kinds, figure.subplots(1, 5), strict=True):
        measures, _ = represent(ring, rwk.Parameters(structure=kind, scale="none"))
        ax.imshow(np.asarray(measures.structure).reshape(18, 18))
        ax.set_title(kind)
        ax.set_xticks([])
        ax.set_yticks([])
    return figure


def product(_: rwk.GraphSet) -> Any:
    """The cost of two nodes of equal colour against their distance, for a sum and for products."""
    ax = new_figure(5, 3).subplots()
    distance = np.linspace(0, 5, 200)
    ax.plot(distance, distance, "--", color="grey", label='"l2": grows with the distance')
    for weight in (0.5, 1.0, 2.0):
        ax.plot(distance, 1 - np.exp(-weight * distance), label=f'"product", weight {weight}')
    ax.set(xlabel="distance of two nodes, in medians", ylabel="cost", ylim=(0, 2))
    ax.legend(frameon=False, fontsize=8)
    return ax.figure


def eta(graphs: rwk.GraphSet) -> Any:
    """The kernel against the discrepancy for several widths, over the discrepancies of a dataset."""
    D = rwk.pairwise_discrepancy(graphs)
    ax = new_figure(5, 3).subplots()
    ax.hist(D[np.triu_indices(len(D), 1)], bins=60, density=True, color="lightgrey", label="discrepancies in MUTAG")
    grid = np.linspace(0, D.max(), 200)
    for value in (0.25, 1.0, 4.0):
        ax.plot(grid, np.exp(-value * grid), label=f"eta={value}")
    ax.set(xlabel="discrepancy", ylabel="kernel")
    ax.legend(frameon=False, fontsize=8)
    return ax.figure


if __name__ == "__main__":
    main()
