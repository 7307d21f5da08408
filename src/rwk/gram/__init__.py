"""Gram matrices: which pairs are solved, who solves them, and where the values are kept.

A matrix that fits into memory is solved at once:

    matrix          discrepancies of all pairs of a set, or of one set against another
    health          how the solving went: pairs, not converged, iterations, seconds
    matrices        the matrix of one setting, from the folder where it is kept or else solved
    kept            arrays on disk with what they belong to: rows, whole matrices, matrices of a baseline
    matrix_file     a matrix as one file: .npz, .npy, .csv or .parquet

A larger one is solved tile by tile, and each tile is kept when it is finished:

    compute         compute_gram: opens the store, solves the missing tiles, returns a Gram
    estimate        estimate_gram: time and memory, from a measured sample
    tiles           graphs ordered by size and cut into blocks; a pair of blocks is a tile
    budget          how large tiles may be within a stated amount of memory
    opening         makes a store, resumes one, or adds graphs to it
    store           finished tiles as zarr arrays; manifest: what the store is of; places: local folder or remote
    executors       threads and processes that solve tiles; cluster: Dask; executor_names: which one is meant
    reading         Gram: the matrix, read whole, in slices or as a memory map
    errors          GramError and its relatives

Only `matrix`, `matrices` (for several starts), `executors` and `estimate` call the solver.
"""

from rwk.gram.health import GramHealth
from rwk.gram.matrix import cross_discrepancy, self_discrepancy, symmetric_discrepancy

__all__ = ["GramHealth", "cross_discrepancy", "self_discrepancy", "symmetric_discrepancy"]
