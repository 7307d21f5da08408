"""The names of the TU collection (chrsmrrs.github.io/datasets): sets that can be downloaded by name.

The thirteen sets with a checksum are in `catalogue`; the others are read as they come.
"""

from __future__ import annotations

from typing import Final

_CELL_LINES: Final = (
    "MCF-7 MOLT-4 NCI-H23 OVCAR-8 P388 PC-3 SF-295 SN12C SW-620 UACC257 Yeast",
    "H",  # active compounds with hydrogens: MCF-7H
)
_TOX21: Final = "AhR AR AR-LBD ARE aromatase ATAD5 ER ER_LBD HSE MMP p53 PPAR-gamma"

_NAMES: Final = {
    "small molecules": """
        AIDS alchemy_full BZR BZR_MD COX2 COX2_MD DHFR DHFR_MD ER_MD FRANKENSTEIN MUTAG Mutagenicity NCI1 NCI109 PTC_FM
        PTC_FR PTC_MM PTC_MR QM9 ZINC_full ZINC_test ZINC_train ZINC_val""",
    "bioinformatics": "DD ENZYMES KKI OHSU Peking_1 PROTEINS PROTEINS_full",
    "computer vision": """
        COIL-DEL COIL-RAG Cuneiform Fingerprint FIRSTMM_DB Letter-high Letter-low Letter-med MSRC_9 MSRC_21 MSRC_21C""",
    "social networks": """
        COLLAB dblp_ct1 dblp_ct2 DBLP_v1 deezer_ego_nets facebook_ct1 facebook_ct2 github_stargazers highschool_ct1
        highschool_ct2 IMDB-BINARY IMDB-MULTI infectious_ct1 infectious_ct2 mit_ct1 mit_ct2 REDDIT-BINARY
        REDDIT-MULTI-5K REDDIT-MULTI-12K reddit_threads tumblr_ct1 tumblr_ct2 twitch_egos TWITTER-Real-Graph-Partial""",
    "synthetic": "COLORS-3 SYNTHETIC SYNTHETICnew Synthie TRIANGLES",
}


def collection_names() -> list[str]:
    """All names of the collection, sorted without regard to case.

    >>> {"IMDB-BINARY", "AIDS", "Mutagenicity", "MCF-7H", "Tox21_p53_training"} <= set(collection_names())
    True
    """
    lines = [name + ending for name in _CELL_LINES[0].split() for ending in ("", _CELL_LINES[1])]
    tox = [f"Tox21_{name}_{part}" for name in _TOX21.split() for part in ("training", "evaluation", "testing")]
    given = [name for names in _NAMES.values() for name in names.split()]
    return sorted({*given, *lines, *tox}, key=str.lower)
