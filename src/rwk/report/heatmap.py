"""Heat map of a kernel matrix, with graphs ordered by class and similarity."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rwk.report.palette import INK, MUTED, as_text, class_colours, headline, is_continuous, new_axes, similarity_map
from rwk.runtime.arrays import FloatArray, IntArray


def plot_kernel(K: ArrayLike, targets: ArrayLike | None = None, *, ax: Any = None) -> Any:
    """Draw a kernel matrix as a heat map, with graphs ordered by class and, within a class, by similarity.

    Bars at the margins show the classes. The colours span the 1st to the 99th percentile of the off-diagonal entries.

    Parameters
    ----------
    K : array of shape (n_graphs, n_graphs)
        The kernel matrix.
    targets : array of length n_graphs, optional
        Class of each graph, or a number; with numbers on a scale the graphs are ordered by them.
    ax : matplotlib Axes, optional
        Where to draw; a new figure if None.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from rwk.report import plot_kernel
    >>> plot_kernel(np.eye(4), [0, 1, 0, 1]).get_title(loc="left")
    'Kernel of 4 graphs\\n'
    """
    kernel = square_matrix(K)
    ax = new_axes(5.4, 5.0) if ax is None else ax
    order = kernel_order(kernel, targets)
    off = kernel[~np.eye(len(kernel), dtype=bool)] if len(kernel) > 1 else kernel.ravel()
    low, high = (float(level) for level in np.percentile(off, [1, 99]))
    image = ax.imshow(
        kernel[np.ix_(order, order)], cmap=similarity_map(), vmin=low, vmax=max(high, low + 1e-12),
        interpolation="nearest" if len(kernel) < 700 else "antialiased",
    )  # fmt: skip
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    continuous = targets is not None and is_continuous(np.asarray(targets))
    if targets is not None and not continuous:
        _class_bars(ax, np.asarray(targets)[order])
    bar = ax.figure.colorbar(image, ax=ax, shrink=0.55, pad=0.02, aspect=26)
    bar.outline.set_visible(False)
    bar.ax.tick_params(labelsize=8, colors=MUTED, labelcolor=INK, length=0)
    ordered = "by similarity" if targets is None else "by target" if continuous else "by class, then similarity"
    headline(ax, f"Kernel of {len(kernel)} graphs", f"ordered {ordered}; darker is more alike")
    return ax


def kernel_order(kernel: FloatArray, targets: ArrayLike | None = None) -> IntArray:
    """The order in which to draw the graphs: by class, and within a class so that neighbours are similar.

    >>> kernel_order(np.exp(-np.abs(np.subtract.outer([0.0, 9.0, 1.0], [0.0, 9.0, 1.0])))).tolist()
    [0, 2, 1]
    """
    if targets is not None and is_continuous(np.asarray(targets)):
        return np.argsort(np.asarray(targets), kind="stable")
    labels = np.zeros(len(kernel), int) if targets is None else np.unique(np.asarray(targets), return_inverse=True)[1]
    parts = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    return np.concatenate([part[_similar_path(kernel[np.ix_(part, part)])] for part in parts])


def _similar_path(kernel: FloatArray) -> IntArray:
    """The leaves of a hierarchical clustering, ordered so that neighbours are similar."""
    from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
    from scipy.spatial.distance import squareform

    if len(kernel) < 3:
        return np.arange(len(kernel))
    apart = kernel.max() - kernel
    np.fill_diagonal(apart, 0.0)
    condensed = squareform((apart + apart.T) / 2, checks=False)
    tree = linkage(condensed, "average")
    if len(kernel) <= 400:
        tree = optimal_leaf_ordering(tree, condensed)
    leaves: NDArray[np.int64] = np.asarray(leaves_list(tree), dtype=np.int64)
    return leaves if leaves[0] < leaves[-1] else leaves[::-1].copy()


def _class_bars(ax: Any, targets: NDArray[Any]) -> None:
    """One bar per class along the left and the lower margin, with the class and its size."""
    colours = class_colours(targets)
    n = len(targets)
    width = 0.022 * n
    labels, starts, counts = np.unique(targets, return_index=True, return_counts=True)
    for label, start, count in zip(labels.tolist(), starts, counts, strict=True):
        style = {"color": colours[label], "clip_on": False, "linewidth": 0}
        ax.add_patch(_rectangle((-0.5 - 1.6 * width, start - 0.5), width, count, **style))
        ax.add_patch(_rectangle((start - 0.5, n - 0.5 + 0.6 * width), count, width, **style))
        if count >= 0.04 * n:
            text = as_text(f"{label} ({count})")
            at = {"fontsize": 8.5, "color": INK, "clip_on": False}
            ax.text(start - 0.5 + count / 2, n - 0.5 + 2.4 * width, text, ha="center", va="top", **at)
            ax.text(-0.5 - 2.2 * width, start - 0.5 + count / 2, text, ha="right", va="center", rotation=90, **at)
        if start:
            ax.axhline(start - 0.5, color="white", linewidth=1.2)
            ax.axvline(start - 0.5, color="white", linewidth=1.2)


def _rectangle(corner: tuple[float, float], width: float, height: float, **style: Any) -> Any:
    from matplotlib.patches import Rectangle

    return Rectangle(corner, width, height, **style)


def square_matrix(matrix: ArrayLike) -> FloatArray:
    """The matrix as floats; raises `ValueError` if it is not square, or not finite."""
    values = np.asarray(matrix, dtype=np.float64)
    if values.ndim != 2 or values.shape[0] != values.shape[1] or not len(values):
        raise ValueError(f"the matrix must be square and not empty, but its shape is {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError("the matrix contains NaN or infinite entries; compute it again")
    return values
