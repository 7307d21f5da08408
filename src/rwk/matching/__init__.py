"""Which node is which: one-to-one matchings of two graphs.

    match         `match`: soft starts and annealed solves, rounded, refined, and put into a `Matching`
    common        `common_part`, and matching in part: partial couplings, rounded to what the graphs have in common
    find          `find`: where a pattern lies in each of many graphs
    part_search   the compiled search for common parts
    backtracking  the compiled search for exact occurrences
    matched       `Matching`: pairs of node names, what stays unmatched, confidence, interchangeable nodes
    later         what a matching knows beside its pairs, computed when it is asked for
    refinement    from couplings and soft starts to the best assignment
    soft_starts   soft assignments by edges and nodes alone, made sharper step by step
    signatures    what nodes cost by their surroundings
    first_start   the first of them at once, for graphs that hardly differ
    isomorphism   graphs that are the same but for the order of their nodes
    growing       assigning nodes again by where their neighbours are
    local_search  exchanges of nodes, and the misfit that they lower
    assignment    the assignment of least cost
    listed_edges  the edges of a graph as the searches read them

Transport finds where the nodes of one graph lie in the other, from distances and features; soft starts do the same
from edges alone, in a hundredth of the time. The assignments near them are then improved by what a coupling sees badly:
which edges have a counterpart.
"""
