"""The CPU backend: small pairs side by side in vector registers, large pairs one at a time.

    dispatch.py       run_pairs(), run_pair(): which body a pair goes to, chunks over threads
    ahead.py          compiling in two processes
    chunks.py         long lists of pairs as chunks of similar cost
    lanes/            the body of small pairs: as many at once as a register has lanes
    rows/             the body of large pairs: one at a time, with vectors along its rows
    scalar.py         the body of large pairs from any start, with a trace, or on logarithms
      loading.py        step 1: the matrices of a pair
      quadratic.py      steps 2 and 6: the map Q
      sinkhorn.py       step 4: Sinkhorn rounds, on logarithms if need be
      absorbed.py       step 4 from given couplings: no logarithms after the first round
    partial_run.py    a mass below 1: one pair at a time, over threads
      partial.py        the body of the partial problem
      partial_sinkhorn.py  its step 4
    plain.py          the body of one small pair whose coupling is wanted, in plain NumPy: nothing to compile
      plain_costs.py    its step 1
    costs.py          the costs of a pair, for all compiled bodies
      sparse.py         squared distances over sparse features
    reductions.py     sums in a fixed order
    lower_bounds.py   bounds of a pair's value, for the search of nearest graphs
    simd/             vectors as values of compiled code

    dispatch ──► chunks, ahead
       ├───────► lanes, rows ─────────────────────────┐
       ├───────► plain ──► plain_costs
       └───────► scalar ──► quadratic ──► loading ──► costs ──► sparse ──► reductions, simd
                    └─────► sinkhorn ─────────────────────────────────────────┘

Pairs with n m up to 6,400 go to the lanes, unless one side is long. There every loop runs on full vectors however small
the graphs are; for one pair of 18 x 18 nodes the ends of short loops and calls of BLAS take most of the time. Larger
pairs have rows long enough to fill vectors by themselves. A single small pair is solved in plain NumPy, so that the
first alignment of a lifetime takes a few seconds: it is compiled for a quarter of a minute less, and takes half a
millisecond more.
"""
