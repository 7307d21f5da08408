"""The sixteen methods RWK is compared with, each written from its paper and tested against other implementations.

    registry           names(), get(name), describe(): the one list
      kernels          inner products of histograms: weisfeiler_lehman (WL, WL-OA) · persistent_wl (P-WL) ·
                       pyramid_match (WL-PM) · propagation (PK) · hashing (HGK-WL, HGK-SP) · graph_hopper (GHK)
                       sums over pairs of nodes: retgk (RetGK) · gntk (GNTK; its data are
                       gntk_graphs, its solvers gntk_cpu on the CPU, gntk_gpu on a GPU)
                       one transport problem per pair of graphs: wasserstein_wl (WWL) · fused_gw (FGW; its solvers are
                       fused_gw_exact on the CPU, fused_gw_gpu on a GPU)
      neural           the classifiers PATCHY-SAN, DGCNN, CapsGNN and GIN
        neural_classifier   how they are fitted; receptive_fields: the input of PATCHY-SAN
        neural_stacks       many folds of one at once
        neural_regressor    GIN for numbers, which `rwk reproduce regression` runs
        networks            their layers and the training loop; needs torch
    gauche_process     GAUCHE's own process on fingerprints, for `rwk reproduce regression`; needs GAUCHE
    base               what the methods share: fit and transform, checks, the settings of a grid
    parameter_ranges   the values that parameters may have
    tools              histograms · node_features · node_costs (means of node costs) · paths ·
                       pair_matrix (all pairs, by threads) · network_simplex (exact transport)

A kernel has fit, transform (new graphs × fitted graphs) and fit_transform; a classifier has fit(graphs, y) and predict.
Kernels need only what rwk itself needs.
"""

from rwk.baselines.base import NotApplicable
from rwk.baselines.registry import Description, applicable, describe, get, names

__all__ = ["Description", "NotApplicable", "applicable", "describe", "get", "names"]
