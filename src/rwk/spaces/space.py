"""One item given as arrays, its checks, and the graph that stands for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from rwk.graphs import Graph, GraphError, GraphSet
from rwk.runtime.arrays import FloatArray

ASYMMETRY: Final = 1e-9  # largest difference of an entry and its mirror image, relative to the largest entry
_FIELDS: Final = ("structure", "features", "weights", "adjacency")
LARGEST: Final = 1e150  # entry whose square is finite, also if some are added
_LIMITS: Final = {"structure": LARGEST, "features": LARGEST, "weights": 1e308, "adjacency": LARGEST}


@dataclass(frozen=True, slots=True, eq=False)
class Space:
    """One item given as arrays: how its n points relate to each other, what they are like, and how much they weigh.

    Fields that an item does not have are None; at least one must be given.

    Parameters
    ----------
    structure : array of shape (n, n), optional
        Symmetric matrix that the Gromov-Wasserstein term compares, such as distances; its values may be negative.
    features : array of shape (n, d), optional
        One row per point; two points are compared by the Euclidean distance of their rows.
    weights : array of shape (n,), optional
        Mass of each point, 0 or more; normalised to sum 1. Uniform if None.
    adjacency : array of shape (n, n), optional
        Symmetric matrix of edge weights, 0 or more, for the terms of RW that need edges.

    Examples
    --------
    >>> from rwk import Space
    >>> Space(structure=[[0, 2], [2, 0]], weights=[1, 3]).n_points
    2
    >>> Space(structure=[[0, 2], [1, 0]]).checked("item 4")
    Traceback (most recent call last):
    ...
    rwk.graphs.graph.GraphError: item 4: structure is not symmetric: entry (0, 1) is 2 and entry (1, 0) is 1; \
only symmetric matrices can be compared
    """

    structure: Any = None
    features: Any = None
    weights: Any = None
    adjacency: Any = None

    @property
    def n_points(self) -> int:
        """Number of points, by the first field that is given."""
        given = [getattr(self, name) for name in _FIELDS if getattr(self, name) is not None]
        shape = shape_of(given[0]) if given else ()
        return shape[0] if shape else 0

    def checked(self, title: str) -> Space:
        """The same space with arrays of float64; raises a `GraphError` that names the field that is wrong."""
        arrays = {name: _numbers(getattr(self, name), f"{title}: {name}", _LIMITS[name]) for name in _FIELDS}
        space = Space(**arrays)
        n = space.n_points
        if n == 0:
            raise GraphError(f"{title} has no points; give a structure matrix, features or weights with at least one")
        if space.features is not None and space.features.ndim == 1:
            space = Space(space.structure, space.features[:, None], space.weights, space.adjacency)
        shapes = {"structure": (n, n), "adjacency": (n, n), "weights": (n,), "features": (n, None)}
        for name, shape in shapes.items():
            _check_shape(getattr(space, name), shape, f"{title}: {name}")
        for name in ("structure", "adjacency"):
            _check_symmetric(getattr(space, name), f"{title}: {name}")
        for name in ("weights", "adjacency"):
            _check_not_negative(getattr(space, name), f"{title}: {name}")
        if space.weights is not None and not space.weights.sum() > 0:
            raise GraphError(f"{title}: weights are all 0; make at least one positive")
        return space

    @property
    def kept(self) -> Any:
        """Which points have mass: the solver sees no others."""
        return np.ones(self.n_points, bool) if self.weights is None else np.asarray(self.weights) > 0


def as_spaces(items: Iterable[Any], title: str = "item {}") -> list[Space]:
    """Checked spaces from spaces or structure matrices; `title` names an item in errors by its number.

    >>> as_spaces([np.zeros((2, 2)), Space(structure=[[0.0]])])[1].n_points
    1
    """
    if not isinstance(items, Iterable) or isinstance(items, str):
        raise GraphError(f"{type(items).__name__} is no list of structure matrices or Spaces; give one")
    spaces = [
        (item if isinstance(item, Space) else Space(structure=item)).checked(title.format(i))
        for i, item in enumerate(items)
    ]
    if not spaces:
        raise GraphError("no items were given; give at least one structure matrix or Space")
    for name in ("structure", "features", "adjacency"):
        have = [getattr(space, name) is not None for space in spaces]
        if any(have) and not all(have):
            without = title.format(have.index(False))
            raise GraphError(f"{without} has no {name}, but {title.format(have.index(True))} has; give all or none")
    widths = [0 if space.features is None else space.features.shape[1] for space in spaces]
    for i, width in enumerate(widths):
        if width != widths[0]:
            raise GraphError(
                f"{title.format(i)}: features have {width} columns, but those of {title.format(0)} have {widths[0]}; "
                "give the same number"
            )
    return spaces


def as_graph_set(spaces: Sequence[Space], feature_factor: float) -> GraphSet:
    """The graphs that stand for spaces; features are multiplied by `feature_factor`, which may be 0.

    Structures are shifted by the least entry of all if that is negative: differences of entries stay the same.
    """
    least = min([0.0, *(float(space.structure.min()) for space in spaces if space.structure is not None)])
    return GraphSet.from_graphs([_as_graph(space, feature_factor, least) for space in spaces], name="items")


def _as_graph(space: Space, feature_factor: float, least: float) -> Graph:
    n = space.n_points
    edges, edge_weights = np.empty((0, 2), np.int64), None
    if space.adjacency is not None:
        edges = np.argwhere(np.triu(space.adjacency, 1) > 0).astype(np.int64)
        edge_weights = space.adjacency[edges[:, 0], edges[:, 1]]
    used = space.features is not None and feature_factor != 0
    return Graph(
        n,
        edges,
        node_attributes=space.features * feature_factor if used else np.zeros((n, 1)),
        node_weights=np.ones(n) if space.weights is None else space.weights,
        edge_weights=edge_weights,
        node_distances=np.zeros((n, n)) if space.structure is None else space.structure - least,
    )


def checked_cost(cost: Any, shape: tuple[int, int], title: str) -> FloatArray:
    """A cost matrix of this shape; raises a `GraphError` that says what is wrong with it."""
    matrix = _numbers(cost, title, 1e300)
    assert matrix is not None
    _check_shape(matrix, shape, title)
    return matrix


def shape_of(given: Any) -> tuple[int, ...]:
    """The shape of an array-like; empty if its rows have different lengths."""
    try:
        return tuple(np.shape(given))
    except ValueError:
        return ()


def _numbers(given: Any, title: str, most: float) -> FloatArray | None:
    """Values as an array of finite float64 of at most this size; None stays None."""
    if given is None:
        return None
    try:
        array = np.asarray(given.toarray() if hasattr(given, "toarray") else given)
        if array.dtype.kind in "mMc":  # times and complex numbers
            raise TypeError
        values = np.array(array, np.float64, ndmin=1, order="C")
    except (TypeError, ValueError, OverflowError):
        raise GraphError(f"{title} is not an array of numbers; correct it") from None
    bad = np.argwhere(~np.isfinite(values))
    if len(bad):
        place = ", ".join(map(str, bad[0]))
        raise GraphError(f"{title} has {values[tuple(bad[0])]} at ({place}); replace it by a finite number")
    if np.abs(values).max(initial=0.0) > most:
        raise GraphError(f"{title} has values beyond {most:g}, which can't be computed with; give it in another unit")
    return values


def _check_shape(values: FloatArray | None, shape: tuple[int | None, ...], title: str) -> None:
    if values is None:
        return
    if values.ndim != len(shape) or any(
        want not in (None, have) for want, have in zip(shape, values.shape, strict=True)
    ):
        wanted = ", ".join("any" if length is None else str(length) for length in shape)
        raise GraphError(f"{title} has shape {values.shape}; it must be ({wanted}{',' if len(shape) == 1 else ''})")


def _check_symmetric(matrix: FloatArray | None, title: str) -> None:
    if matrix is None:
        return
    off = np.abs(matrix - matrix.T)
    if off.max(initial=0.0) > ASYMMETRY * np.abs(matrix).max(initial=0.0):
        i, k = sorted(np.unravel_index(int(off.argmax()), off.shape))
        raise GraphError(
            f"{title} is not symmetric: entry ({i}, {k}) is {matrix[i, k]:g} and entry ({k}, {i}) is {matrix[k, i]:g}; "
            "only symmetric matrices can be compared"
        )


def _check_not_negative(values: FloatArray | None, title: str) -> None:
    if values is not None and (values < 0).any():
        first = tuple(np.argwhere(values < 0)[0])
        place = ", ".join(map(str, first))
        raise GraphError(f"{title} has {values[first]:g} at ({place}); it must be 0 or more")
