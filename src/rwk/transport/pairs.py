"""Many pairs: which orientation, which backend.

`solve_pairs` puts every pair into an orientation that depends on the two graphs alone, so a matrix is exactly
symmetric and a part of it equals the whole, and hands the list to a backend.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import shutil
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from rwk.transport.cpu.chunks import Ticker
from rwk.transport.problem import NO_START, CostWeights, GraphMeasures, PairResults, PairSolution, ScgOptions

__all__ = ["Ticker", "in_precision", "joined", "solve_pair", "solve_pairs"]

# name -> module with run_pairs() and run_pair(); imported on use
_BACKENDS: Final = {
    "cpu": "rwk.transport.cpu.dispatch",
    "gpu": "rwk.transport.gpu",
    "exact": "rwk.transport.exact",
}


def solve_pairs(
    measures: GraphMeasures,
    pairs: NDArray[np.int64],
    weights: CostWeights,
    options: ScgOptions,
    *,
    backend: str = "cpu",
    n_jobs: int | None = None,
    tick: Ticker | None = None,
    ranks: NDArray[np.int64] | None = None,
) -> PairResults:
    """Solve the listed pairs (rows of two graph numbers) in their canonical orientation.

    With unequal Laplacian weights the two orientations are different problems: their mean is returned. `ranks` are
    the `content_ranks` of the measures, for who calls many times or gives them in another precision: those of the
    measures as they were made orient a pair alike in both.
    """
    run = backend_named(backend).run_pairs
    oriented = orient(measures, pairs, ranks)
    first = run(measures, oriented, weights, options, n_jobs=n_jobs, tick=tick)
    if weights.beta_local == 0 or weights.laplacian_source == weights.laplacian_target:
        return PairResults(*first)
    second = PairResults(*run(measures, oriented[:, ::-1].copy(), weights, options, n_jobs=n_jobs, tick=tick))
    return PairResults(
        0.5 * (first.values + second.values),
        np.maximum(first.n_iter, second.n_iter),
        np.maximum(first.gaps, second.gaps),
        first.converged & second.converged,
    )


def solve_pair(
    measures: GraphMeasures,
    a: int,
    b: int,
    weights: CostWeights,
    options: ScgOptions,
    *,
    backend: str = "cpu",
    trace: bool = False,
    start: NDArray[np.float64] = NO_START,
) -> PairSolution:
    """Solve graphs a and b in this order, coupling included; on a GPU from mu nu^T alone."""
    elsewhere = {"start": start} if start.size else {}
    solution: PairSolution = backend_named(backend).run_pair(measures, a, b, weights, options, trace=trace, **elsewhere)
    return solution


def backend_named(name: str) -> Any:
    """The module that runs pairs: it has `run_pairs` and `run_pair`."""
    return importlib.import_module(_BACKENDS[backend_name(name)])


def backend_name(name: str) -> str:
    """What "auto" stands for here: the GPU where there is one, else the CPU."""
    if name == "auto":
        return "gpu" if device_present() else "cpu"
    return name


def device_present() -> bool:
    """Whether a GPU and the library to use it are there, without importing the library for a mere no."""
    driver = os.path.exists("/proc/driver/nvidia/version") or shutil.which("nvidia-smi") is not None
    if not driver or importlib.util.find_spec("torch") is None or importlib.util.find_spec("triton") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())


def orient(
    measures: GraphMeasures, pairs: NDArray[np.int64], ranks: NDArray[np.int64] | None = None
) -> NDArray[np.int64]:
    """Each pair with the smaller graph first; content, never position, decides between equal sizes."""
    ranks = content_ranks(measures) if ranks is None else ranks
    swap = ranks[pairs[:, 0]] > ranks[pairs[:, 1]]
    return np.where(swap[:, None], pairs[:, ::-1], pairs).astype(np.int64)


def content_ranks(measures: GraphMeasures) -> NDArray[np.int64]:
    """Rank of each graph by size, then by a digest of its measure; graphs of equal content share a rank."""
    keys = [
        int(size).to_bytes(8, "big") + digest
        for size, digest in zip(measures.sizes, graph_digests(measures), strict=True)
    ]
    _, ranks = np.unique(np.array(keys, dtype="S24"), return_inverse=True)
    return ranks.astype(np.int64)


def graph_digests(measures: GraphMeasures) -> list[bytes]:
    """16 bytes that stand for all the solver knows of a graph; hex, so that no byte is 0."""
    return [_digest(measures, i) for i in range(measures.n_graphs)]


def _digest(measures: GraphMeasures, i: int) -> bytes:
    nodes = slice(measures.offsets[i], measures.offsets[i + 1])
    columns = slice(measures.column_offsets[i], measures.column_offsets[i + 1])
    entries = slice(measures.entry_offsets[columns.start], measures.entry_offsets[columns.stop])
    rows = slice(measures.laplacian_offsets[nodes.start], measures.laplacian_offsets[nodes.stop])
    code = hashlib.blake2b(digest_size=8)
    for part in (
        measures.weights[nodes],
        measures.degrees[nodes],
        measures.features[nodes],
        measures.column_keys[columns],
        measures.entry_rows[entries],
        measures.entry_values[entries],
        np.ascontiguousarray(measures.colours[:, nodes]),
        measures.embedding[nodes],
        measures.signs[nodes],
        measures.factors[measures.factor_offsets[i] : measures.factor_offsets[i + 1]],
        measures.structure[measures.structure_offsets[i] : measures.structure_offsets[i + 1]],
        measures.laplacian_columns[rows],
        measures.laplacian_values[rows],
    ):
        code.update(np.ascontiguousarray(part).tobytes())
    return code.hexdigest().encode()


def in_precision(measures: GraphMeasures, precision: str) -> GraphMeasures:
    """Measures whose matrices are in the precision of the solve; costs stay float64."""
    real = np.dtype(precision)
    return measures._replace(
        factors=measures.factors.astype(real, copy=False),
        structure=measures.structure.astype(real, copy=False),
        laplacian_values=measures.laplacian_values.astype(real, copy=False),
    )


def joined(first: GraphMeasures, second: GraphMeasures) -> GraphMeasures:
    """One set of measures after the other; both must come from one representation."""
    offset_fields = {name for name in GraphMeasures._fields if name.endswith("offsets")}
    parts: dict[str, Any] = {}
    for name in GraphMeasures._fields:
        a, b = getattr(first, name), getattr(second, name)
        if name in offset_fields:
            parts[name] = np.concatenate([a, b[1:] + a[-1]])
        elif isinstance(a, np.ndarray):
            parts[name] = np.concatenate([a, b], axis=1 if name == "colours" else 0)
    return first._replace(**parts)
