"""Which pairs make a matrix, where their values go, and who computes them.

    matrix      matrices in memory; health: how their solving went; rows: kept until all are solved
    compute     compute_gram: a matrix tile by tile, kept as it grows
    estimate    what a run would take, from a measured sample
    tiles       graphs ordered by size, cut into tiles of like cost
    budget      how large tiles may be inside a stated amount of memory
    opening     making a store, going on with one, adding graphs
    store       finished tiles as zarr arrays; manifest, blocks, places: what else lies there, and where
    executors   threads, processes; cluster: Dask
    reading     the finished matrix: whole, slice, memory map

`compute` calls `opening`, an executor and `reading`; the solver is called by `executors` and `matrix` alone.
"""

from rwk.gram.health import GramHealth
from rwk.gram.matrix import cross_discrepancy, self_discrepancy, symmetric_discrepancy

__all__ = ["GramHealth", "cross_discrepancy", "self_discrepancy", "symmetric_discrepancy"]
