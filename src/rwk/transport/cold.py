"""Compile the solver in a process of its own: `python -m rwk.transport.cold float64`.

Code that was just compiled and the same code loaded from disk round differently in the last bit: a process that
compiles resolves a call to whichever copy of a function it made first, one that loads has a single copy. So nobody
solves with code of his own making: where the disk has none, a child process compiles and everyone loads.
"""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Final

import numpy as np

from rwk.transport.compiling import is_cold
from rwk.transport.problem import TERM_NAMES, CostWeights, GraphMeasures, PairResults, ScgOptions

_CHILD: Final = "RWK_COMPILING"  # set in the child, which must not ask for another


def compile_apart(precision: str) -> None:
    """Have a child compile the solver for one precision, unless the disk has it; without it, this process will."""
    from rwk.transport import cpu

    if _CHILD in os.environ or not (is_cold(cpu.solve_chunk, precision) or is_cold(cpu.solve_pair, precision)):
        return
    print("rwk: compiling, once (about half a minute)", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "rwk.transport.cold", precision]
    paths = os.pathsep.join(path for path in sys.path if path)
    subprocess.run(
        command, env={**os.environ, _CHILD: "1", "PYTHONPATH": paths}, stdin=subprocess.DEVNULL, capture_output=True
    )


def one_node(precision: str) -> GraphMeasures:
    """The smallest measures there are, with the types that all have."""
    real = np.dtype(precision)
    zero_one, one = np.array([0, 1]), np.ones(1)
    return GraphMeasures(
        offsets=zero_one,
        weights=one,
        degrees=one,
        features=np.zeros((1, 0)),
        square_norms=one,
        column_offsets=zero_one,
        column_keys=np.ones(1, np.uint64),
        entry_offsets=zero_one,
        entry_rows=np.zeros(1, np.int64),
        entry_values=one,
        colours=np.zeros((0, 1), np.uint64),
        embedding=np.zeros((1, 0)),
        signs=np.zeros((1, 0), np.int8),
        factor_offsets=zero_one,
        factors=np.ones(1, real),
        structure_offsets=zero_one,
        structure=np.zeros(1, real),
        laplacian_offsets=zero_one,
        laplacian_columns=np.zeros(1, np.int64),
        laplacian_values=np.ones(1, real),
        hamming_cost=1.0,
        neighbour_cost=1.0,
    )


def main(precision: str) -> None:
    """Solve one pair by each of the ways in."""
    from rwk.transport import cpu

    measures, options = one_node(precision), ScgOptions(entropy=0.1, max_iter=1, sinkhorn_iter=1, tol=0.0)
    weights = CostWeights(*[0.5] * len(CostWeights._fields))
    cpu.solve_chunk(measures, np.zeros((1, 2), np.int64), weights, options, PairResults.empty(1))
    cpu.solve_pair(measures, 0, 0, weights, options, np.zeros(len(TERM_NAMES)), np.zeros((0, 2)))


if __name__ == "__main__":
    main(sys.argv[1])
