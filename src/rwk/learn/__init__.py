"""Learning with an indefinite kernel. Everything here sees matrices and records, never a solver.

    classifier        RWKClassifier: graphs in, classes out; chooses its own settings
      search          chooses setting, treatment, η, C and κ inside one training fold (search_gpu: many folds on a GPU)
        inner_folds   scores of candidates on inner folds
      grids           the named grids: which settings are solved, what is searched on their matrices
      svc             IndefiniteSVC: a classifier on one precomputed kernel
        treatment     what is done to the negative eigenvalues of a kernel (treatment_gpu)
        proxy         the treatment that learns a positive kernel together with the support vectors
        one_vs_one    one SVM per pair of classes, for many C on one kernel
          smo         the quadratic program of one SVM (smo_gpu)
        svc_checks    checks of its parameters and kernel
        platt         probabilities from decisions
    likelihood        how well a sum of kernels explains measured values, with gradients; calls `treatment`
    explain           which training graphs and which nodes a prediction comes from

`search` uses `treatment`, `proxy` and `one_vs_one` as `svc` does.
"""
