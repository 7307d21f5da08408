"""Gives graphs the label codes of other graphs, so that equal names compare equal.

The same element may be 6 in one source (its atomic number) and 0 in another (its place in a list).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

import numpy as np

from rwk.convert.atoms import ATTRIBUTES, CONJUGATED
from rwk.graphs import GraphSet
from rwk.graphs.atom_names import ATOMIC_NUMBERS, element_of
from rwk.graphs.canonical import label_codes
from rwk.runtime.arrays import IntArray

LARGEST_NUMBER: Final = 2**32  # a larger code is the hash of a word


def in_form_of(graphs: GraphSet, others: GraphSet) -> GraphSet:
    """The graphs with label codes as in `others`, and molecules without their attributes if `others` have none.

    A SMILES can so be compared with a benchmark set that knows the elements of atoms only.
    """
    return in_codes_of(
        graphs, others.label_names, attributes=others.node_attributes is not None, edge_labels=others.edge_labels
    )


def in_codes_of(
    graphs: GraphSet,
    names: Mapping[int, str] | None,
    *,
    attributes: bool = True,
    edge_labels: IntArray | None = None,
) -> GraphSet:
    """The graphs with node labels coded as in `names`, a mapping of codes to names taken from other graphs.

    Names that are not in `names` get codes of their own. Labels without a name keep their codes. If `names` are of
    plain elements, as in most benchmark sets, a charged or aromatic atom is coded as its element and
    a conjugated bond as its type. Without `attributes`,
    those that `rwk.molecules` gives to atoms are left out.

    >>> from rwk.convert import as_graphs
    >>> ring = as_graphs([(np.ones((2, 2)) - np.eye(2), ["C", "O"])])
    >>> in_codes_of(ring, {0: "C", 1: "N", 2: "O"}).node_labels.tolist()
    [0, 2]
    """
    if not attributes and _are_molecules(graphs):
        graphs = replace(graphs, node_attributes=None)
    own = graphs.label_names
    if graphs.node_labels is None or not own or not names or own == names:
        return graphs
    codes = {name: code for code, name in names.items()}
    elements_only = _knows_elements_only(names)
    used, places = np.unique(graphs.node_labels, return_inverse=True)
    renamed: dict[int, str] = {}
    wanted = []
    for label in used.tolist():
        name = own.get(label)
        if elements_only and name not in codes:
            name = element_of(name or "") or name
        code = label if name is None else codes.get(name, int(label_codes([name])[0][0]))
        wanted.append(code)
        if name is not None:
            renamed[code] = name
    labels = np.array(wanted, np.int64)[places.reshape(-1)]
    if elements_only:
        graphs = _without_conjugation(graphs, own, edge_labels)
    of_edges = () if graphs.edge_labels is None else np.unique(graphs.edge_labels).tolist()
    kept = {code: own[code] for code in of_edges if code in own}
    return replace(graphs, node_labels=labels, label_names={**kept, **names, **renamed})


def _without_conjugation(graphs: GraphSet, names: Mapping[int, str], known: IntArray | None) -> GraphSet:
    """The graphs with conjugated bonds coded as those of the same type, unless `known` has conjugated bonds."""
    plain = {code: name.removesuffix(CONJUGATED) for code, name in names.items() if name.endswith(CONJUGATED)}
    if graphs.edge_labels is None or not plain:
        return graphs
    if known is not None and np.isin(known, list(plain)).any():
        return graphs
    labels = graphs.edge_labels.copy()
    for code, name in plain.items():
        labels[graphs.edge_labels == code] = label_codes([name])[0][0]
    return replace(graphs, edge_labels=labels)


def _are_molecules(graphs: GraphSet) -> bool:
    """Whether the node attributes are those that `rwk.molecules` reads from atoms."""
    if graphs.node_attributes is None or graphs.node_labels is None or not graphs.label_names:
        return False
    used = np.unique(graphs.node_labels).tolist()
    return graphs.node_attributes.shape[1] == len(ATTRIBUTES) and all(
        element_of(graphs.label_names.get(code, "")) for code in used
    )


def _knows_elements_only(names: Mapping[int, str]) -> bool:
    """Whether the labels of a set are elements that do not tell a charged or aromatic atom from a plain one.

    Molecules read by `rwk.molecules` tell them apart; there the code of a plain atom is its atomic number.
    """
    elements = {code: name for code, name in names.items() if name in ATOMIC_NUMBERS}
    return bool(elements) and not any(ATOMIC_NUMBERS[name] == code for code, name in elements.items())


def same_kind_of_labels(first: IntArray | None, second: IntArray | None) -> bool:
    """Whether labels of two sources can be compared: not if one has words, the other numbers, and none is shared.

    The bonds of a SMILES are "single", "double", ...; those of many benchmark sets are 0, 1, ...

    >>> words = label_codes(["single", "double"])[0]
    >>> same_kind_of_labels(words, label_codes(["triple"])[0]), same_kind_of_labels(words, np.array([0, 1]))
    (True, False)
    """
    if first is None or second is None or not len(first) or not len(second):
        return True
    words = [bool((codes > LARGEST_NUMBER).any()) for codes in (first, second)]
    return words[0] == words[1] or bool(np.isin(first, second).any())
