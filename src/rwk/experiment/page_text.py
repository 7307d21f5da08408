"""The paragraphs of the results page: how the accuracies were obtained, and what a reader must know to compare them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

INTRODUCTION: Final = (
    "`rwk reproduce tables` writes this page from the records in `results/`, which hold one line per fold. Accuracies "
    "are in percent: mean ± standard deviation over the repeats (in brackets: over all folds). The majority is the "
    "share of the largest class. All methods use the same folds, stored in `results/folds/`; no seed, split or fold "
    "is left out. The letters name the protocols:"
)
EARLIER_SOLVER: Final = (
    "Results of RWK and its variants on this page were recorded with version {earlier} of the solver; the present one "
    "is version {present}, which solves graphs of equal size both ways and averages. Values of other pairs are the "
    "same. The header of each file of records names the version it was made with."
)
# what a reader must know before comparing accuracies stands beside them
FROZEN: Final = (
    "All discrete datasets share one grid of settings, and all continuous datasets share another. **Both were decided "
    "on repeats 20, 21 and 22 of these datasets (NCI1 and COLLAB: repeat 20; NCI109 was left out), one setting of the "
    "continuous grid was changed once more on repeats 20 to 34, the node weights of COX2_MD and BZR_MD were decided on "
    "repeats 20 to 44, and neither grid was changed after repeats 0 to 9, shown here, had been run with it.** Only the "
    "folds differ, the graphs are the same, and the product cost had been tried before on repeats 0 to 2, so a new "
    "dataset may fare a little worse. This is the second discrete grid and the third continuous one: when they were "
    "decided, the accuracies of the earlier ones on repeats 0 to 9 were known (the changelog has them). Several "
    "hundred kernels were tried on repeats 20 to 22, and about fifty more for the third grid; the baselines search the "
    "grids of their papers, which nobody tuned on these folds. A kernel is the mean over three values of η, in units "
    "of the mean discrepancy of the training fold; the setting (or the mean of all) and C are chosen inside the "
    "training folds."
)
DECIDED: Final[Mapping[str, str]] = {
    "discrete": (
        "What moved what on repeats 20 to 22: the mean over three η instead of the best of eight helped PTC_MR most; "
        "the product cost of return probabilities (`walks`) helped DD and COLLAB, and helped them more when the "
        "coupling is blurred and its bias removed; NCI1 and PTC_MR are best with `colours`. A term for the difference "
        "in size, square roots of discrepancies, "
        "deeper colours and several weights of the return probabilities changed nothing beyond chance. Neither did "
        "Gromov-Wasserstein beside `colours`, which takes several times as long on DD, so it is left out (RWK-LW is "
        "therefore RWK here). Edge labels are not used, because the baselines do not use them."
    ),
    "continuous": (
        "What moved what on repeats 20 to 22: ENZYMES is best with small η, PROTEINS with large η, so two values are "
        "compared here; Gromov-Wasserstein beside the product cost helped ENZYMES; `labels` helped COX2; blurred "
        "couplings helped BZR_MD and PROTEINS. Of COX2_MD and BZR_MD the form is chosen and not the setting: with many "
        "candidates on 300 graphs, the choice itself costs accuracy. Attributes made of the distances between atoms "
        "did not help there. The third grid differs from the second in one number: attributes weigh half as much in "
        "`colours`. On repeats 20 to 34 this added half a point on BZR, and changed the others by less than chance "
        "does; on repeats 0 to 9 it added 0.1 on BZR, 0.1 on COX2 and 0.3 on PROTEINS. What did not help, or helped "
        "one dataset and cost another as much: labels without attributes, deeper or shallower colours, local variation "
        "of labels alone, a single η (good for all but PROTEINS), and for COX2_MD and BZR_MD other weights of "
        "distances, Gromov-Wasserstein on distances, contacts in place of bonds, and colours refined along bonds in "
        "the weighted form. On COX2_MD and BZR_MD, every setting is used on the bonds twice, with equal node weights "
        "and with weights by how rare the colours of a node are (inverse document frequency). On repeats 20 to 34 this "
        "added 1.6 ± 0.4 points on COX2_MD and 0.0 ± 0.3 on BZR_MD, on repeats 35 to 44, which confirmed it, 1.3 ± 0.4 "
        "and 0.2 ± 0.5, on repeats 0 to 9 1.0 and 0.1. Rarity alone, a group of its own, or the mean of all kernels as "
        "the only candidate helped COX2_MD as much but cost BZR_MD a point; on COX2 and BZR rarity changed less than "
        "chance does."
    ),
}
BASELINE_GRIDS: Final = (
    "**PK and GHK: `normalize` was added to their grids after their scores on MUTAG had been seen.** The other "
    "baselines search the grids of their papers, some of them thinned out, and all search the same C. Published "
    "accuracies come from other protocols, as marked; comparing them with ours is not fair."
)
EARLIER_RUNS: Final = (
    "† marks results of an earlier run, not yet repeated with the fair grids: no sums, γ as in the papers of WWL and "
    "FGW, and on graphs with labels and attributes only one of the two. Training of networks stopped after 30 epochs "
    "without an improvement (PATCHY-SAN: 50), and after 200 epochs at the latest (PATCHY-SAN: 150)."
)
FAIR: Final = (
    "**Fair runs** (`fair` in the header of a file of records): baselines have what RWK has. Methods that can use "
    "labels and attributes see both, with a weight between them in the grid. Sums of kernels are offered to all, and η "
    "is in units of the mean discrepancy of the training fold. On a GPU, FGW finds its directions by Sinkhorn rounds "
    "(`solver` in the header), and on DD and COLLAB it searches two settings only, GNTK four. "
    "Networks are trained for longer than by default: "
)
SEEN: Final = (
    "What each method uses of graphs that have everything, in a fair run. Without labels, degrees take their place in "
    "most methods. FGW also uses lengths of edges if there is exactly one edge attribute."
)
PROTOCOLS: Final = (
    "Some published accuracies of networks were chosen on test folds. *Ours*: epoch and width are chosen on a tenth "
    "of the training graphs. *On the test folds*: the same networks, trained on all training graphs, at the epoch (and "
    "width) with the best mean accuracy over the ten test folds, as in GIN's paper. *Last epoch*: these networks after "
    "their last epoch, averaged over the widths (DGCNN: over the learning rates), where nothing is chosen. The "
    "difference between *ours* and *on the test folds* comes from the protocol, and the part of it that *last epoch* "
    "does not have comes from the choice alone. What is left to *published* comes from the implementation, its "
    "settings, the description of the nodes, or chance. One repeat of ten folds, ± over the folds."
)
NETWORKS: Final = (
    "Networks set a tenth of the training graphs aside as a validation set. It decides when to stop, and also the "
    "width of GIN (32 or 64) and the learning rate of DGCNN (1e-4 or 1e-3). These grids are smaller than those of the "
    "networks' papers."
)
FORMS: Final = (
    "COX2_MD and BZR_MD are complete graphs with distances. RWK and the kernels use two forms of each, the bonds alone "
    "and all pairs weighted by exp(−d²/4), and choose between them inside the training folds; networks use the bonds."
)
ALL_METHODS: Final = (
    "The table has the paper's layout. **Bold: a baseline with a higher mean than RWK** on the folds that both have. "
    "There are 10 repeats of 10 folds unless a cell says otherwise. A method that did not finish was stopped after the "
    "time given in its cell (`--budget`). Methods that did finish may have taken longer or used a GPU: see `s` "
    "(seconds) and `versions` in their records."
)
TESTED: Final = (
    "RWK minus each baseline, in percentage points, on the folds that both have. In brackets: the two-sided p-value of "
    "the corrected resampled t-test (Nadeau and Bengio 2003), which takes into account that folds share training "
    "graphs. Bold: the baseline is ahead. The p-values are not corrected for multiple testing."
)
TESTED_VARIANTS: Final = (
    "RWK minus each variant, in percentage points, on the folds that both have, with the p-value of the corrected "
    "resampled t-test. Bold: the variant is ahead. Several settings of the grids have no local part or no global one; "
    "for them, a variant that leaves this part out is RWK itself. So these figures say what the part adds to the "
    "present grids, not what it does in a kernel that has all parts."
)
COMPLETE: Final = "Only the datasets on which every method, networks included, has a result:"
TRIED: Final = (
    "Each row changes one setting of a base: `weak` for discrete datasets, `attributes` for continuous ones. Only η "
    "and C are chosen inside the training folds. The first row is the accuracy of the base, the others are what the "
    "change adds to it, in percentage points, with the p-value of the corrected resampled t-test. Bold: p < 0.05, "
    "which one change in twenty reaches by chance. *Solved further*: 50 iterations, to a gap of 1e-6. *Node weights by "
    "degree*: degree + 1. *Best of five starts*: from μνᵀ and from four random couplings. The proxy kernel has κ = 1."
)
TIMED: Final = (
    "Time for all pairs of a dataset, mean over the runs. WWL and FGW are the implementations in this package; "
    "[performance](performance.md) compares ours with POT and GraKeL."
)
ONE_COMMAND: Final = "To get the result on a single dataset, give only this dataset after `--datasets`."
