"""Finding graphs without solving every pair.

neighbours   nearest: the k graphs most like a given one
landmarks    RWFeatures: graphs as vectors, by their kernel with a few landmarks
bounds       lower bounds of the discrepancy, which rule pairs out before they are solved
"""
