"""Solving pairs of graphs: from what is known of each graph to a coupling and its value.

    problem.py          notation, the numbered steps of Algorithm 1, constants of the method, records
    measures.py         GraphMeasures: all the solver knows of many graphs, and what is done to it
    interchangeable.py  which nodes a coupling can't tell apart
    work.py             the cost of a pair, by which work is dealt out
    pairs.py            solve_pairs(), solve_pair(): which way a pair is solved, and by which backend
    starts.py           the best of several starts; annealing, all starts of a pair at once
    exact.py            a body with an exact linear program in step 4, and the certificate of a result
    payments.py         what each node pays
    mean_costs.py       how large costs are on average
    cpu/                two bodies, lanes and scalar
    gpu/                three bodies, fused, streamed and batched

    starts ──► pairs ──┬──► cpu.dispatch ──┬──► cpu.lanes      n m up to 6,400, m up to 110
                       │                   └──► cpu.scalar     larger, and what the lanes can't solve
                       ├──► gpu ───────────┬──► gpu.fused_run     up to 128 nodes
                       │                   ├──► gpu.streamed_run  up to 1,024 nodes
                       │                   └──► gpu.batched       larger, one pair, double precision, or no Triton
                       └──► exact ────────────► the compiled steps of cpu.scalar

Algorithm 1 has six bodies with the same numbered steps. Which one solves a pair depends on the backend and on the pair
alone, so a value never depends on the other pairs (R16). Each body is there because it was measured to be worth it
(docs/performance.md):

    lanes    As many small pairs at once as a register has lanes: a third faster than scalar at 48 nodes, a sixth at
             80, level with it at about 100.
    rows     Larger pairs one at a time, vectors along their rows.
    scalar   One large pair at a time, products by BLAS; also rounds on logarithms, and starts near a plan of costs.
    fused    Small pairs, a kernel per step, matrices in registers: 25 million pairs per second up to 16 nodes, 6
             million up to 32, 1.2 million up to 64 (one H200, single precision); a CPU thread solves 30,000 of MUTAG.
    streamed Graphs too large for registers: a third of the passes over memory that batched takes. Matrices of DD and
             COLLAB take 35 and 24 s with it, and took 119 and 81 s before (one H200; a part of this has other reasons).
    batched  Still larger graphs, with batched products. It is also the only body that gives terms and couplings on a
             GPU, and runs without Triton.
    exact    Plain Frank-Wolfe with a true gap, by POT. It is slow and there for what it proves, not for its speed.

Nothing here knows what a graph is: `represent` makes `GraphMeasures` of graphs.
"""
