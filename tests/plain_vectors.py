"""Vector registers as NumPy arrays: with NUMBA_DISABLE_JIT=1 the solver bodies run as Python, line by line.

`use_plain_vectors` puts these functions in place of the instructions of the same names (`transport/cpu/simd`, and the
tiles of products), which only compiled code can use. Tests then run the same bodies as always, on small problems; a
debugger can step through them, and coverage sees their lines. Sums have the same order as in compiled code, but
products are not fused, so that last bits differ.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import config

from rwk.runtime import compiling
from rwk.runtime import packed as packing
from rwk.transport.cpu import ahead, sparse
from rwk.transport.cpu.lanes import entering, entrance, products, sparse_lanes
from rwk.transport.cpu.rows import panels
from rwk.transport.cpu.simd import vectormath, vectors
from rwk.transport.cpu.sinkhorn import TINY_32, TINY_64


def _place(array: Any, index: Any) -> Any:
    """The part of an array that is one vector, as `vectors.address` finds it."""
    if array.ndim == 1:
        width = vectors.REGISTER_BYTES // array.itemsize
        assert 0 <= index <= len(array) - width
        return array[index : index + width]
    leading = index if isinstance(index, tuple) else (index,)
    return array[leading + (0,) * (array.ndim - 1 - len(leading))]


def load(array: Any, index: Any) -> Any:
    return _place(array, index).copy()


def store(array: Any, index: Any, value: Any) -> None:
    place = _place(array, index)
    assert (place.shape, place.dtype) == (value.shape, value.dtype)
    place[:] = value


def fma(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


def larger(a: Any, b: Any) -> Any:
    return np.where(a > b, a, b)


def smaller(a: Any, b: Any) -> Any:
    return np.where(a < b, a, b)


def splat(array: Any, number: Any) -> Any:
    return np.full(vectors.REGISTER_BYTES // array.itemsize, number, array.dtype)


def wide(a: Any) -> Any:
    return a.astype(np.float64)


def no_lanes(a: Any) -> Any:
    return np.zeros_like(a)


def put(array: Any, value: Any) -> None:
    assert array.dtype == value.dtype
    array[: len(value)] = value


def lane_sum(a: Any) -> Any:
    while len(a) > 1:
        a = a[: len(a) // 2] + a[len(a) // 2 :]
    return a[0]


def absolute(a: Any) -> Any:
    return np.abs(a)


def where_larger(a: Any, b: Any, value: Any) -> Any:
    return np.where(a > b, value, value.dtype.type(0))


def choose(a: Any, b: Any, value: Any, other: Any) -> Any:
    return np.where(a > b, value, other)


def mismatch(words: Any, index: Any, word: Any, value: Any) -> Any:
    return np.where(words[index : index + len(value)] != word, value, value.dtype.type(0))


def _precision(x: Any) -> vectormath.Precision:
    return vectormath.SINGLE if np.asarray(x).dtype == np.float32 else vectormath.DOUBLE


def exp_of(x: Any) -> Any:
    return np.exp(np.maximum(x, np.asarray(x).dtype.type(_precision(x).lowest)))


def log_of(x: Any) -> Any:
    return np.log(x)


def quotient(a: Any, b: Any) -> Any:
    return a / b


def root_of(x: Any) -> Any:
    least = x.dtype.type(1e-36 if x.dtype == np.float32 else 1e-290)
    return np.where(x > least, np.sqrt(x), x.dtype.type(0))


def _entry(view: products.View, row: int, column: int) -> Any:
    """The vector of a view at a row and a column; places are counted in vectors."""
    all_vectors = view.memory.reshape(-1, view.memory.shape[-1])
    return all_vectors[view.first + row * view.down + column * view.across]


def tile_product(
    left: Any, right: Any, out: Any, base: Any, scale: Any, first_row: int, first_column: int, counts: Any
) -> None:
    depth, rows, columns = counts
    places = [(first_row + r, first_column + c) for r in range(rows) for c in range(columns)]
    found = []
    for row, column in places:
        total = np.zeros_like(_entry(left, row, 0)) if base is None else scale * _entry(base, row, column)
        for j in range(depth):
            total = fma(_entry(left, row, j), _entry(right, j, column), total)
        found.append(total)
    for (row, column), total in zip(places, found, strict=True):
        _entry(out, row, column)[:] = total


def half_round(
    pair: Any, matrix: Any, u: Any, v: Any, sums: Any, m: int, known: Any, wanted: Any, turns: bool
) -> None:  # fmt: skip
    tiny = matrix.dtype.type(TINY_32 if matrix.itemsize == 4 else TINY_64)
    above, below = ([first + step * c for c in range(count)] for first, step, count in (known, wanted))
    scale, totals = u[above, 0].copy(), np.zeros_like(matrix[below, 0])
    for k in range(m):
        total = sums[k, 0].copy()
        for factor, row in zip(scale, above, strict=True):
            total = fma(factor, matrix[row, k], total)
        if turns:
            v[k, 0] = quotient(pair[1][k, 0], larger(total, tiny))
        sums[k, 0] = 0.0 if turns else total
        totals = fma(matrix[below, k], v[k, 0], totals)
    for total, row in zip(totals, below, strict=True):
        u[row, 0] = quotient(pair[0][row, 0], larger(total, tiny))


def _sum_entries(
    names: Any, values: Any, places: Any, numbers: Any, entries: Any, k: int, out: Any, p: int, count: int
) -> None:  # fmt: skip
    length = count * vectors.WIDTH_64
    total = np.zeros(length)
    for t in range(*entries):
        begin = places[names[t]] + k
        total = fma(values[t], numbers[begin : begin + length], total)
    out[p : p + length] = total


def sparse_row(values: Any, used: Any, dense: Any, out: Any, i: int, c: int, width: int) -> None:
    places = [w * 64 + bit for w, word in enumerate(used[i].tolist()) for bit in range(64) if word >> bit & 1]
    for column in range(c, c + width):
        total = np.zeros_like(dense[0, column])
        for j in places:
            total = fma(values[i, j], dense[j, column], total)
        _entry(out, i, column)[:] = total


def panel_tile(left: Any, source: Any, panel: Any, depth: int, out: Any, place: Any, fresh: bool, counts: Any) -> None:
    (first, down, begin, last), (out_first, out_down), (halves, across) = source, place, counts
    length = across * vectors.REGISTER_BYTES // panel.itemsize
    for r in range(begin, min(begin + halves * panels.HALF_TILE, last + 1)):
        results = out[out_first + r * out_down :][:length]
        assert len(results) == length
        total = np.zeros_like(results) if fresh else results.copy()
        for j in range(depth):
            total = fma(left[first + r * down + j], panel[j * length : (j + 1) * length], total)
        results[:] = total


def enter_at(address: int, records: Any, a: int, b: int, lane: int) -> None:
    entering.enter(records, a, b, lane)


def packed(content: Any) -> Any:
    return content


def unpacked(address: Any) -> Any:
    return address


STAND_INS: dict[Any, tuple[Callable[..., Any], ...]] = {
    vectors: (
        load, store, fma, larger, smaller, splat, wide, no_lanes, put, lane_sum, absolute, where_larger, choose,
        mismatch,
    ),
    vectormath: (exp_of, log_of, quotient, root_of),
    products: (tile_product, half_round),
    sparse: (_sum_entries,),
    packing: (packed, unpacked),
    sparse_lanes: (sparse_row,),
    panels: (panel_tile,),
    entrance: (enter_at,),
}  # fmt: skip


def use_plain_vectors() -> None:
    """Let this process run the solver bodies as Python; numba must be off.

    Modules that are imported later find the new functions in those named above.
    """
    assert config.DISABLE_JIT, "set NUMBA_DISABLE_JIT=1"
    np.seterr(all="ignore")  # as in compiled code
    instead = {id(getattr(module, new.__name__)): new for module, all_new in STAND_INS.items() for new in all_new}
    instead[id(compiling.is_cold)] = lambda *arguments: False  # nothing is compiled
    instead[id(compiling.address_of)] = lambda *arguments: 0
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "rwk":
            for key, value in list(vars(module).items()):
                if id(value) in instead:
                    setattr(module, key, instead[id(value)])
    assert ahead.is_cold is compiling.is_cold
