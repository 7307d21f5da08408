"""Which node is which: one-to-one matchings of two graphs.

    match         `match`: annealed solves from several starts, rounded, refined, and put into a `Matching`
    common        `common_part`, and matching in part: partial couplings, rounded to what the graphs have in common
    find          `find`: where a pattern lies in each of many graphs
    part_search   the compiled search for common parts and for exact occurrences
    naming        from positions of nodes to a `Matching`
    matched       `Matching`: pairs of node names, what stays unmatched, confidence, interchangeable nodes
    refinement    from couplings to the best assignment: rounding, growing from matched neighbours, exchanges
    local_search  the compiled exchanges, and the misfit that they lower

Transport finds where the nodes of one graph lie in the other, from distances and features. The assignment near it is
then improved by what a coupling sees badly: which edges have a counterpart.
"""
