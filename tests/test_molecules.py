"""Molecules are read as chemists mean them, and molecules that differ in what the user gave differ in value."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from rwk import GraphError, GraphSet, RWKernel, as_graphs, molecules, pairwise_discrepancy
from rwk.convert.atoms import ATTRIBUTES
from rwk.graphs.atom_names import element_of

Chem = pytest.importorskip("rdkit.Chem", reason="molecules are in the extra 'molecules'")


def atoms(graphs: GraphSet) -> list[str]:
    assert graphs.label_names is not None
    assert graphs.node_labels is not None
    return [graphs.label_names[code] for code in graphs.node_labels.tolist()]


def bonds(graphs: GraphSet) -> list[str]:
    assert graphs.label_names is not None
    assert graphs.edge_labels is not None
    return [graphs.label_names[code] for code in graphs.edge_labels.tolist()]


FAMILIES = {
    "rings": ["c1ccccc1", "C1CCCCC1", "C1=CCCCC1"],
    "two carbons": ["CC", "C=C", "C#C"],
    "acid and its anion": ["CC(=O)O", "CC(=O)[O-]"],
    "isotopes": ["CCO", "[13CH3]CO"],
    "radical": ["CC", "C[CH2]"],
    "salt": ["CC(=O)[O-]", "CC(=O)[O-].[Na+]"],
}


@pytest.mark.parametrize("family", FAMILIES)
def test_molecules_that_differ_have_a_discrepancy(family: str) -> None:
    for read in (molecules, as_graphs):
        D = pairwise_discrepancy(read(FAMILIES[family]), debias=True, wl_edge_labels=True)
        for i, j in combinations(range(len(D)), 2):
            assert D[i, j] > 1e-3, FAMILIES[family]


@pytest.mark.parametrize("pair", [["C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O"], ["C/C=C/C", "C/C=C\\C"]])
def test_stereoisomers_differ_on_request_and_a_sentence_says_so_otherwise(pair: list[str]) -> None:
    D = pairwise_discrepancy(molecules(pair, stereo=True), debias=True, wl_edge_labels=True)
    assert D[0, 1] > 1e-3
    for read in (molecules, as_graphs):
        with pytest.warns(UserWarning, match=r"2 of 2 graphs have stereochemistry that is not used; .*stereo=True"):
            read(pair)


def test_stereo_is_in_the_labels() -> None:
    assert atoms(molecules("C[C@H](N)C(=O)O", stereo=True))[1] == "C (S)"
    assert "double (Z)" in bonds(molecules("C/C=C\\C", stereo=True))


def test_labels_of_atoms_and_bonds() -> None:
    assert atoms(molecules("c1ccccc1[N+](=O)[O-]")) == ["c"] * 6 + ["N+", "O", "O-"]
    of_a_nitrile = sorted(bonds(molecules("c1ccccc1C=CC#N", featurizer="labels")))
    conjugated = [f"{kind}, conjugated" for kind in ("double", "single", "single", "triple")]
    assert of_a_nitrile == ["aromatic"] * 6 + conjugated
    assert bonds(molecules("C=CCC#C")) == ["double", "single", "single", "triple"]
    assert atoms(molecules("[Ca+2].[13CH4].[CH3]")) == ["Ca2+", "13C", "C•"]
    assert atoms(molecules("c1ccccc1[N+](=O)[O-]", featurizer="element")) == ["C"] * 6 + ["N", "O", "O"]
    plain = molecules("CCO").node_labels
    assert plain is not None
    assert plain.tolist() == [6, 6, 8]


def test_hydrogens() -> None:
    assert molecules("CCO").sizes.tolist() == [3]
    assert molecules("CCO", hydrogens="explicit").sizes.tolist() == [9]
    assert atoms(molecules("CCO", hydrogens="count")) == ["CH3", "CH2", "OH"]
    assert atoms(molecules("[2H]O[2H]")) == ["2H", "O", "2H"]


def test_fragments_stay_one_graph() -> None:
    salt = molecules("CC(=O)[O-].[Na+]")
    assert len(salt) == 1
    assert salt.sizes.tolist() == [5]
    assert salt.n_edges.tolist() == [3]


def test_full_has_attributes_and_conjugation() -> None:
    graphs = molecules(["C=CC=C", "c1ccccc1"], featurizer="full")
    assert graphs.node_attributes is not None
    assert graphs.node_attributes.shape == (10, len(ATTRIBUTES))
    assert graphs.node_attributes[0].tolist() == [2, 1, 0, 0, 0, 1]
    assert graphs.node_attributes[-1].tolist() == [1, 2, 0, 1, 1, 1]
    assert bonds(graphs[:1]) == ["double, conjugated", "single, conjugated", "double, conjugated"]
    assert np.isfinite(pairwise_discrepancy(graphs)).all()


def test_a_featurizer_of_ones_own() -> None:
    def by_degree(molecule: Any) -> dict[str, Any]:
        every = list(molecule.GetAtoms())
        return {
            "node_labels": [f"{a.GetSymbol()}{a.GetDegree()}" for a in every],
            "node_attributes": [1.0] * len(every),
        }

    graphs = molecules(["CCO", "C"], featurizer=by_degree)
    assert atoms(graphs) == ["C1", "C2", "O1", "C0"]
    assert graphs.node_attributes is not None
    assert graphs.edge_labels is None
    with pytest.raises(GraphError, match="molecule 0: the featurizer returned 2 node_labels; return 3"):
        molecules("CCO", featurizer=lambda molecule: {"node_labels": [1, 2]})
    with pytest.raises(GraphError, match="the featurizer returned labels; return a dict with any of node_labels"):
        molecules("CCO", featurizer=lambda molecule: {"labels": [1, 2, 3]})


def test_lists_dicts_and_rdkit_molecules() -> None:
    texts = ["CCO", "c1ccccc1"]
    expected = molecules(texts, targets=[0.5, 1.5])
    assert expected.targets is not None
    assert expected.targets.tolist() == [0.5, 1.5]
    for given in (dict(zip("ab", texts, strict=True)), np.array(texts), map(Chem.MolFromSmiles, texts), tuple(texts)):
        graphs = molecules(given)
        np.testing.assert_array_equal(graphs.edges, expected.edges)
        np.testing.assert_array_equal(graphs.node_labels, expected.node_labels)  # type: ignore[arg-type]
    np.testing.assert_array_equal(as_graphs(texts).edge_labels, expected.edge_labels)  # type: ignore[arg-type]


def test_invalid_smiles_are_named_or_skipped(capfd: pytest.CaptureFixture[str]) -> None:
    given = ["CCO", "C1CC", "C", "", None]
    sentence = "3 of 5 SMILES do not parse: number 1 ('C1CC'), number 3 (''), number 4 (None)"
    with pytest.raises(GraphError, match=re.escape(f"{sentence}; correct or remove them, or pass on_error='skip'")):
        molecules(given)
    with pytest.warns(UserWarning, match=re.escape(f"{sentence}; they are left out")):
        graphs = molecules(given, targets=[1, 2, 3, 4, 5], on_error="skip")
    assert graphs.targets is not None
    assert graphs.targets.tolist() == [1, 3]
    assert capfd.readouterr().err == ""


@pytest.mark.filterwarnings("ignore:1 of 1 SMILES do not parse")
def test_nothing_left_is_one_sentence() -> None:
    with pytest.raises(GraphError, match="molecules is empty; give at least one graph"):
        molecules(["(("], on_error="skip")


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"featurizer": "morgan"}, "featurizer='morgan' is unknown; give 'full', 'labels', 'element' or a function"),
        ({"hydrogens": "some"}, "hydrogens='some' is unknown"),
        ({"on_error": "ignore"}, "on_error='ignore' is unknown"),
        ({"targets": [1, 2]}, "2 targets were given for 1 molecules"),
    ],
)
def test_wrong_options_are_one_sentence(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(GraphError, match=re.escape(sentence)):
        molecules("CCO", **wrong)


def test_charges_do_not_vanish_between_sets_of_molecules() -> None:
    """A fitted set of plain atoms does not take O- for O, but a set that knows elements only does."""
    acid, anion = molecules("CC(=O)O"), molecules("CC(=O)[O-]")
    assert pairwise_discrepancy(acid, anion, scale="none")[0, 0] > pairwise_discrepancy(acid, acid, scale="none")[0, 0]
    by_element = molecules("CC(=O)O", featurizer="element")
    kernel = RWKernel(scale="none").fit(by_element)
    np.testing.assert_array_equal(kernel.discrepancy(anion), kernel.discrepancy(by_element))


def test_element_of_every_atom() -> None:
    for text in ("[se]1cccc1", "[Cl-].C[N+](C)(C)C", "[13CH3]O", "[Fe+2]", "[CH3]"):
        molecule = Chem.MolFromSmiles(text)
        for hydrogens in ("implicit", "count"):
            found = [element_of(name) for name in atoms(molecules(molecule, hydrogens=hydrogens))]
            assert found == [atom.GetSymbol() for atom in molecule.GetAtoms()]


def test_molecules_are_compared_with_sets_that_have_no_attributes() -> None:
    """The attributes of atoms are left out where the other graphs have none; those of other graphs are not."""
    plain = molecules(["CC(=O)O", "CCN"], featurizer="element")
    kernel = RWKernel(scale="none").fit(plain)
    again = molecules(["CC(=O)O", "CCN"])
    assert again.node_attributes is not None
    np.testing.assert_array_equal(kernel.discrepancy(again), kernel.discrepancy(plain))
    np.testing.assert_array_equal(pairwise_discrepancy(plain, again), pairwise_discrepancy(plain, plain))
    wide = replace(again, node_attributes=again.node_attributes[:, :3])
    with pytest.raises(GraphError, match="these have node labels and 3 node attributes"):
        kernel.discrepancy(wide)
