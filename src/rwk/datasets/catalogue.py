"""The sets that are known by name, and the checksums of their contents."""

from __future__ import annotations

import re

from rwk.datasets.collection import collection_names

SITE = "https://www.chrsmrrs.com/graphkerneldatasets"

# Content checksums (`parsed_cache.content_checksum`) of copies that were compared with the published statistics. They
# are of the graphs, not of a zip, so a repacked file or another order of lines passes.
CHECKSUMS = {
    "BZR": "e52944d9e1fe41bad7b1c51334a87aaf8f2ad24342d78487486a105158ff9fd5",
    "BZR_MD": "3b581c5764763c9deefe881c3f3cf4a2646e7b00775e76574cf4291c12e804d0",
    "COLLAB": "a2f09afdfcbca4fc93b3280147abb6c40b5c15e75bd25b722953db47e7d8194c",
    "COX2": "b60541b9a51bf5fe2dcb4390f8533fd4aa8740ddd9131124aa7f61b5c9fca3a3",
    "COX2_MD": "4824278304edea1ffcb09fa0071ff045bb5e5e8ddc99f21858aa81a20784378c",
    "DD": "d1b4f98c8b4fc4cfbeef11aec85689685e1e6ca6de7a4c672b3791a613548345",
    "ENZYMES": "860a4bb080bf6a78125f097820c93c41727863a9ea5c616d65aa915a33014616",
    "MUTAG": "aceec9cfc4e92741a7ab4aa027313b6fa3b8d76e513ee0309ccc36a1b2b6a3ae",
    "NCI1": "4deb3c8a2f14ed4da38d8395182a0507e067ab74e5381ef413144836a9baa182",
    "NCI109": "c3222e1468d8029588af566f87518471bf907320f0b494a82a01316563dc55f0",
    "PROTEINS": "b321f2cae44e507361d103ca092adf8305cee3d9f38d5e2f6360061eb735297d",
    "PROTEINS_full": "f2e395cc59b9fe061437f39018bf32dc48a57cf0d4db8ab00e4cf8819162ce0d",
    "PTC_MR": "61486f19585b380b6c56e61f176ec88984309a892b21c42cb5431cbf7e6a36ce",
}

# Sets whose checksum ignores the order of the nodes: our copy was converted from another text format, and there was no
# original to compare that order with.
ANY_NODE_ORDER = frozenset({"COLLAB"})

# other names of sets, in plain form
_ALIASES = {"ptc": "ptc_mr", "d&d": "dd"}


def plain(name: str) -> str:
    """A name in lower case, with "_" for the signs between its parts: PTC-MR and ptc_mr are the same set.

    Signs are not left out: "MU TAG" is not MUTAG.

    >>> plain("PTC-MR"), plain("D&D"), plain("MU TAG")
    ('ptc_mr', 'dd', 'mu_tag')
    """
    key = re.sub(r"[-_. ]+", "_", name.strip().lower())
    return _ALIASES.get(key, key)


KNOWN = {plain(name): name for name in CHECKSUMS}
# all names of the TU collection; those without a checksum are read as they come
COLLECTION = {**{plain(name): name for name in collection_names()}, **KNOWN}

# What the node labels mean, for the sets whose own descriptions say so.
ELEMENTS = {
    "MUTAG": "C N O F I Cl Br",
    "PTC_MR": "In P O N Na C Cl S Br F K Cu Zn I Ba Sn Pb Ca",
    "COX2_MD": "C N F S O Cl Br",
    "BZR_MD": "C N O F Cl S P Br",
}


def element_names(name: str) -> dict[int, str] | None:
    """Chemical elements by node label, or None if the labels are not elements or not known.

    >>> element_names("MUTAG")[1]
    'N'
    """
    return dict(enumerate(ELEMENTS[name].split())) if name in ELEMENTS else None
