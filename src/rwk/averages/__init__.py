"""Average graphs, typical graphs, and clusters of graphs around them.

    barycenter  `barycenter`: starts, sizes, checks; the best of several descents as a `AverageGraph`
    averaged    `AverageGraph`: the average graph, the objective, and how it lies in every member
    descent     the block-coordinate descent: align the members, average them, keep what lowers the objective
    evidence    from aligned members to a graph: shares of edges, thresholds, majorities, means
    resizing    graphs with some nodes more or less, to start from
    medoids     `medoid` and `RWKMedoids`: the members that are nearest to all others
    kmeans      `RWKMeans`: clusters around average graphs

An average is a graph like its members, so whatever compares, draws or saves graphs takes it too.
"""
