"""Small pairs side by side: as many as a vector register has lanes, one pair per lane.

    body.py           the loop: Algorithm 1 over a list of pairs
    entering.py       steps 1 and 2: putting a pair into a lane
    entrance.py       the call of it: it is compiled apart from the loop, and called by its address
    steps.py          steps 3 and 5 to 9 on all lanes
    lane_sinkhorn.py  step 4 on all lanes
    products.py       products of small matrices, the inner loops
    sparse_lanes.py   products with sparse matrices, the Laplacians
    summaries.py      vectors of single graphs that all their pairs need
    lane_data.py      the arrays, pictured here
    kept_memory.py    these arrays from one list of pairs to the next

    body ──► entrance ──► entering ──► summaries, lane_data, ../costs
      └────► steps, lane_sinkhorn ──► products, sparse_lanes ──► ../simd

Every matrix is an array (rows, columns, lanes). Its entry [i, k] is one register, in which each lane belongs to another
pair. A register of 64 bytes has 8 lanes in float64, 16 in float32; one of 32 bytes half as many.

    data.fixed[i, k]    lane 0   lane 1   lane 2  ...  lane 7
                       ┌────────┬────────┬────────┬───┬────────┐
                       │ pair 0 │ pair 1 │ pair 2 │   │ pair 7 │     entry (i, k) of eight matrices
                       └────────┴────────┴────────┴───┴────────┘

    one lane of it      k = 0 1 2 3 4 5 6 7
                  i = 0     x x x x x 0 0 .         x  the lane's own pair, n = 3 and m = 5 nodes
                      1     x x x x x 0 0 .         0  padding up to `extent`, here (4, 7), the largest pair at present:
                      2     x x x x x 0 0 .            nodes of weight 0, which neither give nor receive mass
                      3     0 0 0 0 0 0 0 .         .  room for larger pairs of the list; nothing reads it
                      4     . . . . . . . .

What lies in which array, shapes without the lanes:

    LaneData        mu (n, 1)  nu (m, 1)              weights of the nodes
    (the pair)      fixed, image (n, m)               the gradient without gamma; Q(gamma)
                    structure_nu (m, m)               C_P of the target
                    laplacian_mu (n, n), laplacian_nu (m, m)  sparse L, weights of the terms folded in
                    left (n, r + s + n), right (r + s + n, m)  all of Q(X) but the ridge is their product:

                        left = [ F_mu | L_mu X F_nu | C_mu ]   right = [ (L_nu X^T F_mu)^T ; F_nu^T ; X C_nu ]

                    with F F^T = S; what depends on X is filled in for every product
                    start_mu (n, 5)  start_nu (m, 5)  columns that gamma = mu nu^T is described by:

                        column      start_mu    start_nu
                        STRUCTURE   C_mu mu     C_nu nu   ┐
                        SOURCE      L_mu mu     S_nu nu   │ Q(mu nu^T) is the sum of
                        TARGET      S_mu mu     L_nu nu   │ these four outer products
                        RIDGE       mu          nu        ┘
                        LOGARITHM   log mu      log nu      log gamma is their outer sum

    LaneCouplings   gamma, logs (n, m)
    Workspace       g, delta, delta_image (n, m) ...  what an iteration overwrites
    LaneState       pair, n, m, active, gap ...       (lanes,) how far each lane is
    LaneSums        slope, curvature, value ...       (lanes,) sums over matrices, in float64

    GraphSummaries  vectors (6, V)                    not by lane but by node of all graphs (V), rows STRUCTURE_IMAGE,
                                                      EMBEDDING_IMAGE, LAPLACIAN_IMAGE, WEIGHT, LOG_WEIGHT, HALF_MOMENT
                    totals (N, 2)                     and by graph (N), columns TOTAL_MOMENT, TOTAL_ENTROPY
"""
