"""Learning with an indefinite kernel. Everything here sees matrices and records, never a solver.

    classifier        RWKClassifier: graphs in, classes out; chooses its own settings
      search          chooses setting, treatment, η, C and κ inside one training fold (search_gpu: many folds on a GPU)
        search_grid   Grid: what is tried
        setting_kernels  the kernel of each setting and η, from the named matrices of all graphs
        inner_folds   scores of candidates on inner folds
      grids           the named grids: which settings are solved, what is searched on their matrices
      rarity          node weights by how rare the surroundings of a node are, for molecules in space
      svc             IndefiniteSVC: a classifier on one precomputed kernel
        treatment     what is done to the negative eigenvalues of a kernel (treatment_gpu)
        proxy         the treatment that learns a positive kernel together with the support vectors
        one_vs_one    one SVM per pair of classes, for many C on one kernel
          smo         the quadratic program of one SVM (smo_gpu)
        svc_checks    checks of its parameters and kernel
        platt         probabilities from decisions
    regressor         RWKRegressor: graphs in, numbers out; kernel ridge regression that chooses its own settings
    gaussian_process  RWKGaussianProcess: numbers with error bars, by one of the next three
      exact_gp        a Gaussian process on matrices; predictions
      landmark_gp     the same for many graphs: a subset of regressors
      feature_ridge   Bayesian ridge regression on `RWFeatures`
        likelihood    how well a sum of kernels explains measured values, with gradients; calls `treatment`
      term_sources    from graphs to the matrices of a sum: RW discrepancies, fingerprints, composition
        composition   kernels on numbers of nodes and edges of each kind
          count_kernels  the min-max kernel on counts
      saved_models    a fitted process in a file, without pickle
      active          ActiveSearch: which graphs to measure next, to find the best of a pool
      target_checks   checks of classes, values and known variances
    explain           which training graphs and which nodes a predicted class comes from
      explain_value   the same for a predicted value

The two regressors share `term_sources` and `target_checks`. `search` uses `treatment`, `proxy` and `one_vs_one` as
`svc` does.
"""
