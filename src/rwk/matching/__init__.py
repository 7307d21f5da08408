"""Which node is which: one-to-one matchings of two graphs.

    match         `match`: annealed solves from several starts, rounded, refined, and put into a `Matching`
    matched       `Matching`: pairs of node names, what stays unmatched, confidence, interchangeable nodes
    refinement    from couplings to the best assignment: rounding, growing from matched neighbours, exchanges
    local_search  the compiled exchanges, and the misfit that they lower

Transport finds where the nodes of one graph lie in the other, from distances and features. The assignment near it is
then improved by what a coupling sees badly: which edges have a counterpart.
"""
