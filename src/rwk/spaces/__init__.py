"""Problems given as arrays: your own cost and structure matrices in place of graphs.

    space        `Space`: structure matrix, features, weights and adjacency of one item; checks that say what is wrong
    models       Wasserstein, GW, FGW and RW by name: which settings of the objective each of them is
    own_costs    `solve` and `solve_pairs`: one pair, with its coupling, or the values of many
    pairwise     `pairwise_gw`: all pairs of a list of matrices, with a store and executors if wanted

A space becomes a graph without edges (or with those of its adjacency) whose node distances are the structure matrix, so
everything else, from the representation to the tiles of a store, is the same code as for graphs.
"""
