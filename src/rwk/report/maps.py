"""A dataset as a map in the plane, and the spectrum of its kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rwk.report.heatmap import square_matrix
from rwk.report.palette import (
    FAINT,
    INK,
    LINK,
    MUTED,
    SCALE,
    WARN,
    as_text,
    class_colours,
    headline,
    is_continuous,
    new_axes,
    quiet,
)
from rwk.report.stress import LARGE, stress_layout
from rwk.runtime.arrays import FloatArray

NAMED: Final = 40  # points that are named on a map, at most: more names would cover each other


def dataset_map(
    D: ArrayLike, *, method: Literal["mds", "tsne"] = "mds", random_state: int | None = 0
) -> tuple[FloatArray, float]:
    """Positions of graphs in the plane such that graphs with a small discrepancy are near each other.

    Since RW(G, G) need not be 0, half of the two diagonal entries is subtracted from each discrepancy first.

    Parameters
    ----------
    D : array of shape (n_graphs, n_graphs)
        Matrix of discrepancies.
    method : {"mds", "tsne"}
        "mds" (classical scaling, then stress) preserves large distances, "tsne" neighbourhoods.
    random_state : int or None
        Seed of t-SNE.

    Returns
    -------
    places : array of shape (n_graphs, 2)
        The positions, between -1 and 1.
    correlation : float
        Rank correlation of the distances on the map with the discrepancies.

    Examples
    --------
    >>> import numpy as np
    >>> from rwk.report import dataset_map
    >>> places, likeness = dataset_map(np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0))))
    >>> places.shape, bool(likeness > 0.9)
    ((6, 2), True)
    """
    apart = _separations(square_matrix(D))
    if method == "tsne" and len(apart) > 3:
        from sklearn.manifold import TSNE

        start = 1e-4 * _scaled(_classical(apart))
        embedding = TSNE(
            metric="precomputed",
            init=start,
            perplexity=min(30.0, (len(apart) - 1) / 3),
            learning_rate=200.0,
            random_state=random_state,
        )
        places = np.asarray(embedding.fit_transform(apart), dtype=np.float64)
    elif method in ("mds", "tsne"):
        places = stress_layout(apart, _classical(apart)) if len(apart) <= 2 * LARGE else _classical(apart)
    else:
        raise ValueError(f"method must be 'mds' or 'tsne', not {method!r}")
    return _scaled(places), _likeness(apart, places)


def plot_map(
    D: ArrayLike,
    targets: ArrayLike | None = None,
    *,
    names: Sequence[str] | None = None,
    places: FloatArray | None = None,
    ax: Any = None,
) -> Any:
    """Draw a dataset as a map: one point per graph, coloured by class or value, similar graphs near each other.

    Parameters
    ----------
    D : array of shape (n_graphs, n_graphs)
        Matrix of discrepancies.
    targets : array of length n_graphs, optional
        Class of each graph; or a number, such as a measured property, which is shown on a scale of colours. Points
        whose number is NaN are grey.
    names : sequence of n_graphs str, optional
        Name of each graph, such as `graphs.names`; written beside the points of at most 40 graphs.
    places : array of shape (n_graphs, 2), optional
        Positions from `dataset_map`; computed if None.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from rwk.report import plot_map
    >>> D = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    >>> plot_map(D, [0, 0, 0, 1, 1, 1]).get_title(loc="left")
    'Map of 6 graphs\\n'
    """
    ax = new_axes(5.6, 5.0) if ax is None else ax
    note = "near means similar"
    if places is None:
        places, likeness = dataset_map(D)
        note = f"near means similar; rank correlation with the discrepancy {likeness:.2f}"
    n = len(places)
    size = float(np.clip(9000 / n, 8, 70))
    given = None if targets is None else np.asarray(targets)
    if given is not None and is_continuous(given):
        _draw_values(ax, places, given.astype(np.float64), size)
    else:
        _draw_classes(ax, places, given, size)
    if names is not None and n <= NAMED:
        for name, (x, y) in zip(names, places, strict=True):
            ax.annotate(as_text(name), (x, y), xytext=(5, 3), textcoords="offset points", fontsize=7.5, color=INK)
    ax.autoscale()  # limits that were set before would contradict equal units
    ax.set_aspect("equal", adjustable="datalim")
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    headline(ax, f"Map of {n} graphs", note)
    return ax


def _draw_classes(ax: Any, places: FloatArray, targets: NDArray[Any] | None, size: float) -> None:
    """Points coloured by class, with a legend."""
    classes = np.zeros(len(places), int) if targets is None else targets
    colours = {0: LINK} if targets is None else class_colours(classes)
    for label, colour in colours.items():
        mine = places[classes == label]
        title = as_text(f"{label} ({len(mine)})")
        ax.scatter(*mine.T, s=size, color=colour, alpha=0.75, edgecolors="white", linewidths=0.5, label=title)
    if targets is not None:
        ax.legend(frameon=False, fontsize=8.5, labelcolor=INK, title="class", title_fontsize=8.5, loc="best")


def _draw_values(ax: Any, places: FloatArray, values: FloatArray, size: float) -> None:
    """Points coloured by value, with a colour bar; the largest values are drawn last."""
    known = np.isfinite(values)
    ax.scatter(*places[~known].T, s=size, color=FAINT, edgecolors=MUTED, linewidths=0.5)
    order = np.flatnonzero(known)[np.argsort(values[known], kind="stable")]
    style = {"s": size, "cmap": SCALE, "alpha": 0.9, "edgecolors": "white", "linewidths": 0.5}
    points = ax.scatter(*places[order].T, c=values[order], **style)
    bar = ax.figure.colorbar(points, ax=ax, shrink=0.6, pad=0.02, aspect=26, label="target")
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8, colors=MUTED, labelcolor=INK, length=0)


def plot_spectrum(K: ArrayLike, *, ax: Any = None) -> Any:
    """Draw the eigenvalues of a kernel, with the negative ones in another colour, and their share of the spectrum.

    Parameters
    ----------
    K : array of shape (n_graphs, n_graphs)
        The kernel matrix.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from rwk.report import plot_spectrum
    >>> plot_spectrum(np.array([[1.0, 2.0], [2.0, 1.0]])).get_title(loc="left")
    '25 % of the spectrum is negative\\n'
    """
    ax = new_axes(5.4, 3.6) if ax is None else ax
    kernel = square_matrix(K)
    values = np.linalg.eigvalsh((kernel + kernel.T) / 2)[::-1]
    total = float(np.abs(values).sum()) or 1.0
    negative = values < -1e-12 * abs(values[0])
    share = float(-values[negative].sum()) / total
    ranks = np.arange(1, len(values) + 1)
    width = 0.9 if len(values) < 120 else 1.0
    ax.bar(ranks[~negative], values[~negative], width=width, color=LINK)
    ax.bar(ranks[negative], values[negative], width=width, color=WARN)
    ax.set_yscale("symlog", linthresh=max(1e-3 * abs(values[0]), 1e-12))
    ax.axhline(0, color=MUTED, linewidth=0.8)
    ax.set_xlabel("rank")
    ax.set_ylabel("eigenvalue (symmetric log)")
    quiet(ax, grid="y")
    count = f"{int(negative.sum())} of {len(values)} eigenvalues are below 0"
    headline(ax, f"{100 * share:.2g} % of the spectrum is negative", count)
    return ax


def _separations(D: FloatArray) -> FloatArray:
    """The discrepancies made symmetric, 0 on the diagonal and positive elsewhere."""
    own = np.diag(D)
    apart = np.maximum((D + D.T) / 2 - 0.5 * (own[:, None] + own[None, :]), 0.0)
    np.fill_diagonal(apart, 0.0)
    positive = apart[apart > 0]
    # a distance of 0 between copies would have infinite weight in the stress
    least = 0.02 * float(np.median(positive)) if len(positive) else 1.0
    apart = np.maximum(apart, least)
    np.fill_diagonal(apart, 0.0)
    return np.asarray(apart)


def _classical(apart: FloatArray) -> FloatArray:
    """Classical multidimensional scaling in the plane."""
    from scipy.sparse.linalg import eigsh

    squares = apart**2
    centred = -0.5 * (squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean())
    if len(apart) > 50:
        values, vectors = eigsh(centred, k=2, which="LA", v0=np.ones(len(apart)))
    else:
        values, vectors = np.linalg.eigh(centred)
    places = np.zeros((len(apart), 2))
    top = np.argsort(values)[::-1][:2]
    places[:, : len(top)] = vectors[:, top] * np.sqrt(np.maximum(values[top], 0.0))
    return places * np.where((places**3).sum(axis=0) < -1e-9, -1.0, 1.0)


def _scaled(places: FloatArray) -> FloatArray:
    centred = places - places.mean(axis=0)
    return np.asarray(centred / max(float(np.abs(centred).max()), 1e-12))


def _likeness(apart: FloatArray, places: FloatArray) -> float:
    """Rank correlation of the drawn distances with the given ones, on sampled pairs."""
    from scipy.stats import spearmanr

    if len(apart) < 3 or np.ptp(apart[~np.eye(len(apart), dtype=bool)]) < 1e-12:
        return 1.0
    chosen = np.random.default_rng(0).integers(0, len(apart), size=(2, 20_000))
    rows, columns = chosen[:, chosen[0] != chosen[1]]
    drawn = np.linalg.norm(places[rows] - places[columns], axis=1)
    found = float(spearmanr(apart[rows, columns], drawn).statistic)
    return found if np.isfinite(found) else 1.0
