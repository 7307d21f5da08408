"""The accuracies that the paper printed, and the protocol behind each.

Wijesinghe, Wang, Gould: A Regularized Wasserstein Framework for Graph Kernels, ICDM 2021. Accuracies in percent,
mean ± standard deviation, copied as printed. The paper took the results of its baselines from other papers: WL and
RetGK from GNTK's, GHK, HGK-WL and HGK-SP from WWL's, the rest from their own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from rwk.datasets.forms import SINGLE_FORMS

DISCRETE: Final = ("MUTAG", "PTC_MR", "NCI1", "DD", "NCI109", "COLLAB")
CONTINUOUS: Final = ("COX2", "ENZYMES", "PROTEINS", "BZR", "COX2_MD", "BZR_MD")
HOPS: Final = ("RWK", "RWK-1", "RWK-0")
ABLATION: Final = ("NoLaplacianReg", "NoEntropyReg", "NoRegs", "RWK-LW", "RWK-GW")

# another form of a dataset -> the dataset that the published accuracy is of
OTHER_FORMS: Final[Mapping[str, str]] = {
    "PROTEINS_full": "PROTEINS",
    **SINGLE_FORMS,
}

OURS: Final = "N"
PROTOCOLS: Final[Mapping[str, str]] = {
    OURS: "nested cross-validation: repeated, stratified outer folds; everything that is chosen with the help of "
    "labels is chosen inside the training folds; no seed, split or fold is dropped. Attributes are standardised and "
    "costs scaled on all graphs of the dataset, without their labels. The results of this package.",
    "S": "ten random 90/10 splits. The paper speaks of nested cross-validation, but its released code fixes the "
    "hyper-parameters per dataset and leaves out some seeds.",
    "F": "nested cross-validation on random 90/10 splits; distances scaled by their maximum over all data.",
    "R": "repeated 10-fold cross-validation, hyper-parameters chosen inside the training folds (GHK, HGK-WL and "
    "HGK-SP: as reported in WWL's paper).",
    "T": "10-fold cross-validation, hyper-parameters chosen on the test folds.",
    "E": "10-fold cross-validation; the epoch is the one with the best mean accuracy on the test folds themselves.",
    "Q": "as quoted in GNTK's paper, which does not say how it was obtained.",
    "O": "10-fold cross-validation as described in the method's own paper.",
}
PROTOCOL_OF: Final[Mapping[str, str]] = {
    "WL": "Q",
    "WL-OA": "R",
    "GHK": "R",
    "PK": "O",
    "HGK-WL": "R",
    "HGK-SP": "R",
    "RetGK": "Q",
    "GNTK": "T",
    "P-WL": "R",
    "WL-PM": "O",
    "WWL": "R",
    "FGW": "F",
    "PATCHY-SAN": "O",
    "DGCNN": "O",
    "CapsGNN": "O",
    "GIN": "E",
    **dict.fromkeys((*HOPS, *ABLATION), "S"),
}
BASELINES: Final = tuple(name for name, code in PROTOCOL_OF.items() if code != "S")

_TABLES: Final = (
    """
                   MUTAG   PTC_MR     NCI1       DD   NCI109   COLLAB
    WL          90.4±5.7 59.9±4.3 86.0±1.8 79.4±0.3 85.9±1.5 78.9±1.9
    WL-OA       84.5±1.7 63.6±1.5 86.1±0.2 79.2±0.4 86.3±0.2 80.7±0.1
    RetGK       90.3±1.1 62.5±1.6 84.5±0.2        -        - 81.0±0.3
    GNTK        90.0±8.5 67.9±6.9 84.2±1.5 75.6±3.9        - 83.6±1.0
    P-WL        90.5±1.3 64.0±0.8 85.4±0.1 78.6±0.3 84.9±0.3        -
    WL-PM       87.7±0.8 61.4±0.8 86.4±0.2 78.6±0.2 85.3±0.2 81.5±0.5
    WWL         87.2±1.5 66.3±1.2 85.7±0.2 79.6±0.5        -        -
    FGW         88.4±5.6 65.3±7.9 86.4±1.6        -        -        -
    PATCHY-SAN  92.6±4.2 60.0±4.8 78.6±1.9 77.1±2.4        - 72.6±2.2
    DGCNN       85.8±0.0 58.6±0.0 74.4±0.0 76.6±0.0 75.0±0.0 73.7±0.0
    CapsGNN     86.6±1.5 66.0±1.8 78.3±1.3 75.3±2.3 81.1±3.1 79.6±2.9
    GIN         89.4±5.6 64.6±7.0 82.7±1.7 75.3±3.5 86.5±1.5 80.2±1.9
    RWK         93.6±3.7 69.5±6.1 88.0±4.5 81.6±3.5 87.3±6.1 83.8±4.6
    RWK-1       92.5±3.1 68.9±5.1 87.7±6.1 81.0±4.3 86.9±5.2 83.2±3.1
    RWK-0       90.7±4.2 67.8±3.6 87.0±5.1 79.6±3.1 86.4±4.6 81.5±3.9
    """,
    """
                    COX2  ENZYMES PROTEINS      BZR  COX2_MD   BZR_MD
    GHK         76.4±1.3 65.6±0.8 74.7±0.2 76.4±0.9 66.2±1.0 69.1±2.0
    PK          77.6±0.6 71.6±0.5 61.3±0.8 79.5±0.4        -        -
    HGK-WL      78.1±0.4 63.0±0.6 75.9±0.1 78.5±0.6 74.6±1.7 68.9±0.6
    HGK-SP      72.5±1.1 66.3±0.3 75.7±0.1 76.4±0.7 68.5±1.0 66.1±1.0
    WWL         78.2±0.4 73.2±0.8 77.9±0.8 84.4±2.0 76.3±1.0 69.7±0.9
    FGW         77.2±4.8 71.0±6.7 74.5±2.7 85.1±4.1        -        -
    RWK         81.2±5.3 78.3±4.1 79.3±6.1 86.2±5.6 78.1±4.3 71.9±4.6
    RWK-1       80.7±4.6 77.5±5.3 78.9±4.5 85.8±5.5 77.4±3.7 71.3±4.3
    RWK-0       79.6±3.1 76.4±4.5 78.2±5.6 85.2±4.3 76.7±5.5 70.5±3.7
    """,
    """
                       MUTAG   PTC_MR     NCI1       DD   NCI109   COLLAB
    NoLaplacianReg  90.1±3.5 67.0±3.7 86.2±5.3 79.4±4.5 85.8±5.2 81.5±3.9
    NoEntropyReg    92.2±3.5 68.3±6.5 87.3±6.1 80.4±3.6 86.5±4.7 82.4±3.8
    NoRegs          88.9±3.5 66.2±4.6 85.3±5.8 78.2±3.9 84.7±5.1 80.8±4.1
    RWK-LW          87.4±4.2 64.8±6.5 84.9±3.6 77.8±3.8 83.8±5.7 79.5±3.6
    RWK-GW          82.8±5.4 61.2±5.8 81.9±4.3 75.3±4.8 80.7±5.5 75.1±3.9
    """,
    """
                        COX2      BZR  ENZYMES PROTEINS  COX2_MD   BZR_MD
    NoLaplacianReg  79.1±3.9 84.8±4.2 76.2±3.8 77.5±5.5 76.1±4.6 68.7±3.9
    NoEntropyReg    80.5±5.4 85.7±6.3 77.2±3.7 78.5±5.1 77.2±4.1 69.8±4.9
    NoRegs          78.2±4.6 83.7±5.6 75.4±3.6 76.6±4.8 75.9±3.6 67.9±4.5
    RWK-LW          77.1±4.1 82.8±3.8 74.5±5.2 75.5±4.4 74.7±4.3 66.8±5.1
    RWK-GW          75.3±5.4 79.6±6.0 72.6±3.3 73.2±5.6 71.3±4.1 64.1±3.6
    """,
)


class Figure(NamedTuple):
    """A published accuracy in percent."""

    mean: float
    std: float
    protocol: str  # a key of PROTOCOLS

    def __str__(self) -> str:
        return f"{self.mean:.1f} ± {self.std:.1f}"


def _read(table: str) -> dict[tuple[str, str], Figure]:
    head, *rows = table.strip().splitlines()
    figures = {}
    for row in rows:
        method, *cells = row.split()
        for dataset, cell in zip(head.split(), cells, strict=True):
            if cell != "-":
                mean, std = map(float, cell.split("±"))
                figures[dataset, method] = Figure(mean, std, PROTOCOL_OF[method])
    return figures


# (dataset, method) -> accuracy; what the paper leaves blank is not here
PUBLISHED: Final[Mapping[tuple[str, str], Figure]] = {
    key: figure for table in _TABLES for key, figure in _read(table).items()
}


def published(dataset: str, method: str) -> Figure | None:
    """The paper's accuracy of a method on a dataset, or None if it printed none.

    >>> str(published("MUTAG", "RWK"))
    '93.6 ± 3.7'
    >>> published("DD", "FGW") is None
    True
    """
    return PUBLISHED.get((OTHER_FORMS.get(dataset, dataset), method))
