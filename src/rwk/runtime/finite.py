"""The last check of a result: numbers that are NaN or infinite become an error that names the pair."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Numbers = TypeVar("Numbers")


class NotFiniteError(ValueError):
    """A result is NaN or infinite; the message names the pair and says what to change."""


def finite_matrix(
    matrix: Numbers, *, what: str = "the discrepancy", rows: Sequence[int] | Any = None, columns: Any = None
) -> Numbers:
    """The matrix itself; raises `NotFiniteError` for the first entry that is NaN or infinite.

    `rows` and `columns` are the numbers of the graphs, by default their places in the matrix.

    >>> finite_matrix(np.array([[0.0, np.nan]]), what="the kernel")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    rwk.runtime.finite.NotFiniteError: the kernel of graphs 0 and 1 is nan: ...
    """
    values = np.asarray(matrix)
    if np.isfinite(values).all():
        return matrix
    i, j = np.argwhere(~np.isfinite(values))[0].tolist()
    first, second = i if rows is None else rows[i], j if columns is None else columns[j]
    raise _error(f"{what} of graphs {int(first)} and {int(second)}", values[i, j])


def finite_rows(rows: Any, *, what: str) -> NDArray[Any]:
    """The rows as an array; raises `NotFiniteError` for the first graph whose row has a NaN or an infinite number.

    >>> finite_rows([[0.5, 0.5]], what="the probabilities").tolist()
    [[0.5, 0.5]]
    """
    values = np.asarray(rows)
    bad = ~np.isfinite(values.reshape(len(values), -1)).all(axis=1)
    if bad.any():
        at = int(np.argmax(bad))
        wrong = values.reshape(len(values), -1)[at]
        raise _error(f"{what} of graph {at}", wrong[~np.isfinite(wrong)][0])
    return values


def finite_values(values: Numbers, pair: Callable[[int], str], *, what: str = "the discrepancy") -> Numbers:
    """The values themselves; raises if one is NaN or infinite, and `pair(k)` says in words which pair it belongs to.

    >>> finite_values([1.0, 2.0], "pair {}".format)
    [1.0, 2.0]
    """
    numbers = np.asarray(values, np.float64).ravel()
    if np.isfinite(numbers).all():
        return values
    at = int(np.argmin(np.isfinite(numbers)))
    raise _error(f"{what} of {pair(at)}", numbers[at])


def _error(what: str, value: Any) -> NotFiniteError:
    return NotFiniteError(
        f"{what} is {float(value)}: weights, attributes or a parameter are too large or too small; rescale them"
    )


def kernel_of(discrepancy: Any, eta: float) -> Any:
    """K = exp(-eta D); raises `NotFiniteError` if it overflows, as it does for very negative discrepancies.

    >>> kernel_of(np.zeros((1, 1)), 2.0).tolist()
    [[1.0]]
    """
    with np.errstate(over="ignore"):
        return finite_matrix(np.exp(-eta * discrepancy), what="the kernel")
