"""Structure embeddings: the position of a node in its graph as a row of numbers, comparable across graphs.

There are two. The *heat signature* of a node is how much heat stays on it, at a series of times; it needs no training
and does not depend on the numbering of the nodes. The *attention* embedding learns left and right factors F, R that
explain random walks of the heat kernel (symbols as in the paper):

    M_t = exp(-t L), t = 1..T            walks of length t
    Z   = walks * sum_t softmax(q)_t M_t     expected co-occurrence under attention
    loss(F, R, q) = sum Z log(1 + exp(-F R^T)) + [A = 0] log(1 + exp(F R^T))  + |q|^2 / 2

R4: embeddings of different graphs must be comparable, and factors learned from a random start are not. Here F and R
start from standardised heat signatures, and every step of Adam treats all nodes alike, so a renumbered graph gets the
same rows, and rows of different graphs are in one space. Nodes with equal starts and equal neighbours stay equal, but
only in exact arithmetic: the loss pushes nodes without an edge apart, and 200 steps turn a rounding error into a
difference of 1. So nodes that cannot be told apart form classes (`alike_classes`), and each class has one row.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from rwk.represent.spectrum import Spectrum, time_ladder
from rwk.runtime.arrays import FloatArray, IntArray
from rwk.runtime.compiling import compiled
from rwk.transport.cpu.simd.vectormath import exp_of, log_of

EPOCHS: Final = 200
LEARNING_RATES: Final = (1e-4, 1e-3, 1e-2, 1e-1)
MOMENTUM: Final = 0.9
SECOND_MOMENTUM: Final = 0.999
ADAM_EPSILON: Final = 1e-8
FLAT: Final = 1e-5  # a column that varies less is set to 0: standardising it would magnify rounding errors
BLOCK: Final = 2**14  # entries of F R^T at a time
ALIKE: Final = 1e-9  # signatures that differ by less are taken as equal


def heat_signature(spectrum: Spectrum, dim: int) -> FloatArray:
    """The heat signature at `dim` log-spaced times."""
    return spectrum.heat_signature(time_ladder(dim))


def attention_embedding(
    spectrum: Spectrum, connected: FloatArray, *, dim: int, walk_length: int, n_walks: int
) -> FloatArray:
    """The attention embedding [F | R] of one graph with (weighted) adjacency matrix `connected`."""
    classes = alike_classes(connected, spectrum.heat_signature(time_ladder(2 * (dim // 2))))
    member = np.equal.outer(np.arange(classes.max() + 1), classes).astype(np.float64)  # (classes, n)
    sizes = member.sum(axis=1)
    start_left, start_right = (member @ start / sizes[:, None] for start in canonical_start(spectrum, dim))
    walks = np.stack([member @ spectrum.heat_kernel(float(t)) @ member.T for t in range(1, walk_length + 1)])
    apart = member @ (connected == 0).astype(np.float64) @ member.T
    best_loss, best = np.inf, np.concatenate([start_left, start_right], axis=1)
    for rate in LEARNING_RATES:
        left, right = start_left.copy(), start_right.copy()
        loss = train_attention(walks, apart, sizes, left, right, rate, float(n_walks), EPOCHS)
        if loss < best_loss:
            best_loss, best = loss, np.concatenate([left, right], axis=1)
    return np.asarray(best[classes])


def uneven(length: int) -> FloatArray:
    """Fixed numbers between 1/2 and 3/2, all different."""
    return np.asarray(1.0 + 0.5 * np.cos(np.arange(length) ** 2.0 + 1.0))


def alike_classes(connected: FloatArray, signature: FloatArray) -> IntArray:
    """The class of each node: nodes of one class have equal signatures, and equal edges to nodes of each class."""
    mixture = signature @ uneven(signature.shape[1])  # one number per row that differs if rows differ
    order = np.argsort(mixture, kind="stable")
    classes = np.empty(len(connected), np.int64)
    classes[order] = np.cumsum(np.diff(mixture[order], prepend=mixture[order[:1]]) > ALIKE)
    near = [np.flatnonzero(row) for row in connected]
    # training sees of an edge only its entry in L; rounded, so that entries that should be equal are
    roots = np.sqrt(np.maximum(connected.sum(axis=1), 1e-300))
    entries = [np.round(connected[i, at] / (roots[i] * roots[at]), 9).tolist() for i, at in enumerate(near)]
    while True:
        seen = [
            (own, tuple(sorted(zip(classes[at].tolist(), entry, strict=True))))
            for own, at, entry in zip(classes.tolist(), near, entries, strict=True)
        ]
        number = {key: c for c, key in enumerate(sorted(set(seen)))}
        if len(number) == classes.max() + 1:
            return classes
        classes = np.array([number[key] for key in seen], np.int64)


def canonical_start(spectrum: Spectrum, dim: int) -> tuple[FloatArray, FloatArray]:
    """The start of F and R (R4): standardised heat signatures at `dim` // 2 times each, taken in turn from one series.

    Columns get different lengths. If signatures at different times are proportional, as in a star, where there are
    two classes of nodes, columns of equal length would start at a saddle point that only rounding errors leave.
    """
    signature = spectrum.heat_signature(time_ladder(2 * (dim // 2)))
    centred = signature - signature.mean(axis=0)
    spread = centred.std(axis=0)
    standard = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > FLAT)
    standard *= uneven(2 * (dim // 2)) / np.sqrt(max(dim // 2, 1))
    return np.ascontiguousarray(standard[:, 0::2]), np.ascontiguousarray(standard[:, 1::2])


@compiled
def train_attention(
    walks: Any, apart: Any, sizes: Any, left: Any, right: Any, rate: float, n_walks: float, epochs: int
) -> float:
    """Adam on F, R (in place) and the attention; returns the loss at the end.

    A row stands for a class of nodes, and `walks` and `apart` hold sums over classes; a row moves as one node would.
    """
    length, n = walks.shape[0], walks.shape[1]
    attention = np.zeros(length)
    moments_left = np.zeros((2, left.shape[0], left.shape[1]))
    moments_right = np.zeros((2, left.shape[0], left.shape[1]))
    moments_attention = np.zeros((2, length))
    by_left, by_right, by_attention = np.empty_like(left), np.empty_like(right), np.empty(length)
    for epoch in range(epochs):
        loss_and_gradient(walks, apart, left, right, attention, n_walks, by_left, by_right, by_attention)
        by_left /= sizes.reshape((n, 1))
        by_right /= sizes.reshape((n, 1))
        size = rate * np.sqrt(1.0 - SECOND_MOMENTUM ** (epoch + 1)) / (1.0 - MOMENTUM ** (epoch + 1))
        _adam_step(left.ravel(), by_left.ravel(), moments_left.reshape((2, -1)), size)
        _adam_step(right.ravel(), by_right.ravel(), moments_right.reshape((2, -1)), size)
        _adam_step(attention, by_attention, moments_attention, size)
    return loss_and_gradient(walks, apart, left, right, attention, n_walks, by_left, by_right, by_attention)


@compiled
def loss_and_gradient(
    walks: Any,
    apart: Any,
    left: Any,
    right: Any,
    attention: Any,
    n_walks: float,
    by_left: Any,
    by_right: Any,
    by_attention: Any,
) -> float:
    """The loss; fills in its derivatives by F, R and the logits. Works in blocks of rows that fit into the cache."""
    length, n = walks.shape[0], walks.shape[1]
    share = np.exp(attention - attention.max())
    share /= share.sum()
    by_right[:] = 0.0
    by_walk = np.zeros(length)
    loss = 0.5 * np.dot(attention, attention)
    rows = max(1, min(n, BLOCK // n))
    attracted, slope = np.empty(rows * n), np.empty(rows * n)
    for first in range(0, n, rows):
        block = slice(first, min(first + rows, n))
        count = (block.stop - first) * n
        occurrence = np.zeros(count)  # Z
        for t in range(length):
            occurrence += (n_walks * share[t]) * walks[t, block].ravel()
        scores = np.dot(left[block], right.T).ravel()
        away = apart[block].ravel()
        _fill_slopes(scores, occurrence, away, attracted[:count], slope[:count])
        square = slope[:count].reshape((-1, n))
        by_left[block] = np.dot(square, right)
        by_right += np.dot(square.T, left[block])
        for t in range(length):
            by_walk[t] += n_walks * np.dot(walks[t, block].ravel(), attracted[:count])
        # log(1 + exp(s)) = log(1 + exp(-s)) + s
        loss += np.dot(occurrence, attracted[:count]) + np.dot(away, attracted[:count] + scores)
    by_attention[:] = share * (by_walk - np.dot(share, by_walk)) + attention
    return float(loss)


@compiled
def _fill_slopes(scores: Any, occurrence: Any, apart: Any, attracted: Any, slope: Any) -> None:
    """log(1 + exp(-s)), and the derivative of the loss by s; no sums here, so the compiler uses vector instructions."""
    for p in range(len(scores)):
        # with e = exp(-|s|): log(1 + exp(-s)) = max(-s, 0) + log(1 + e), sigmoid from the same e
        s = scores[p]
        e = exp_of(-abs(s))
        positive = 1.0 / (1.0 + e)
        sigmoid = positive if s >= 0.0 else e * positive
        attracted[p] = max(-s, 0.0) + log_of(1.0 + e)
        slope[p] = apart[p] * sigmoid - occurrence[p] * (1.0 - sigmoid)


@compiled
def _adam_step(x: Any, gradient: Any, moments: Any, size: float) -> None:
    for p in range(len(x)):
        moments[0, p] = MOMENTUM * moments[0, p] + (1.0 - MOMENTUM) * gradient[p]
        moments[1, p] = SECOND_MOMENTUM * moments[1, p] + (1.0 - SECOND_MOMENTUM) * gradient[p] * gradient[p]
        x[p] -= size * moments[0, p] / (np.sqrt(moments[1, p]) + ADAM_EPSILON)
