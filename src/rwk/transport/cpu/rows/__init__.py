"""The body of large pairs: one at a time, with vectors along the rows of its matrices.

    row_body.py      solve_in_rows(): the loop of Algorithm 1
    row_data.py      the memory of a pair, and what lies where
    row_steps.py     steps 1 to 3, 5 and 7 to 9, each as one pass over the matrices it needs
    row_sinkhorn.py  steps 4 and 5: Sinkhorn rounds and the direction
    row_products.py  step 6: the map Q
      panels.py        products of matrices

A pair of a few hundred nodes has matrices that leave the second-level cache, so what counts is how often they are read:
passes are fused, rows of the prior are shared by nodes of equal degree, and vectors are aligned in memory.
"""
