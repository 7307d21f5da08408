"""The sixteen methods RWK is compared with, each written from its description and tested against other sources.

    registry     names() and get(name): one list
    base         what they share: manners, refusals, settings of a grid
    kernels      subtree (WL, WL-OA) · persistence (P-WL) · pyramid (WL-PM) · propagation (PK) · hashing (HGK-WL,
                 HGK-SP) · hopper (GHK): inner products of histograms
                 returns (RetGK) · tangent (GNTK): sums over pairs of nodes
                 wasserstein (WWL) · fused (FGW): a transport problem for each pair of graphs
    tools        histograms · nodes · paths · pairs (which threads solve which pairs) · emd (exact transport) · ranges
    neural       PATCHY-SAN, DGCNN, CapsGNN, GIN: classifiers; `networks` holds their layers and needs torch,
                 `learner` how they learn, `fields` the receptive fields of PATCHY-SAN

A kernel has fit, transform (new graphs × fitted graphs) and fit_transform; a classifier fit(graphs, y) and predict.
Kernels need nothing that rwk itself does not need.
"""

from rwk.baselines.base import NotApplicable
from rwk.baselines.registry import Description, applicable, describe, get, names

__all__ = ["Description", "NotApplicable", "applicable", "describe", "get", "names"]
