"""Solving pairs of graphs: from what is known of each graph to a coupling and its value.

    problem.py    the records that travel, and the notation table
    interchangeable.py  which nodes a coupling can't tell apart
    starts.py     the best of several starts
    pairs.py      solve_pairs(): which orientation, which backend
    threads.py    the CPU backend: chunks of pairs (chunks.py) over threads
    lanes/        the numbered steps of small pairs, side by side in the lanes of vector registers
    cpu.py        the numbered steps of one pair, compiled, for large ones
      loading.py    step 1: the matrices of a pair
      costs.py      the costs among them
      quadratic.py  steps 2 and 6: the quadratic part of H
      sinkhorn.py   step 4: the Sinkhorn direction, rounded to exact marginals
      reductions.py sums over arrays in a fixed order
      vectormath.py exp and log as polynomials
      vectors.py    registers as values of compiled code
    gpu/          the GPU backend: a fused kernel for small pairs, batched products for large ones
    exact.py      a backend of the same steps with an exact linear solver for step 4, and the certificate
    scales.py     how large costs are on average
    compiling.py  the two compile policies

Imports point down this list. Nothing here knows what a graph is: `represent` makes `GraphMeasures` of graphs.
"""
