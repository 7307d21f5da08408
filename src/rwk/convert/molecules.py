"""Converts RDKit molecules and SMILES; `atoms` decides what is read from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np

from rwk.convert.atoms import Custom, Featurizer, Hydrogens, has_stereo
from rwk.convert.build import Names, Notes
from rwk.graphs import Graph, GraphError, GraphSet
from rwk.graphs.checks import check_graphs
from rwk.runtime.parameter_checks import shown
from rwk.runtime.user_warnings import warn_user

STEREO = "have stereochemistry that is not used; rwk.molecules(..., stereo=True) tells stereoisomers apart"
NEEDS_RDKIT: Final = "needs RDKit: pip install 'rwk[molecules]'"


def molecules(
    smiles: Any,
    *,
    featurizer: str | Custom = "full",
    hydrogens: Hydrogens = "implicit",
    stereo: bool = False,
    targets: Any = None,
    on_error: Literal["raise", "skip"] = "raise",
) -> GraphSet:
    """Read molecules as graphs: atoms are nodes, bonds are edges.

    The label of an atom is its element, formal charge and aromaticity, written as in SMILES: `C`, `c`, `N+`, `O-`. Its
    six attributes are the number of hydrogens, the number of neighbours, the formal charge, whether it is in a ring,
    whether it is aromatic, and its pi orbitals (sp2 1, sp 2). The label of a bond is `single`, `double`, `triple` or
    `aromatic`, and says whether the bond is conjugated. `RWKRegressor` and `RWKGaussianProcess` were measured with
    these labels and attributes (`rwk reproduce regression`). Isotopes and radicals are part of the label if the
    SMILES says so: `13C`, `C•`. The fragments of a salt stay one graph that is not connected; to keep the largest
    fragment only, use RDKit's `rdMolStandardize.LargestFragmentChooser` first. `as_graphs` reads SMILES and RDKit
    molecules with the defaults of this function. Needs RDKit: `pip install 'rwk[molecules]'`.

    Parameters
    ----------
    smiles : str, RDKit molecule, or a list, dict, array or column of them
        The molecules. The keys of a dict become the names of the graphs.
    featurizer : {"full", "labels", "element"} or callable, default "full"
        "full" is as above. "labels" has the same labels and no attributes. "element" labels atoms by their element
        and bonds by their type alone, as most benchmark sets do. A function gets an RDKit molecule and returns a dict
        with any of `node_labels`, `node_attributes`, `edge_labels` and `edge_attributes`, with one entry per atom or
        bond.
    hydrogens : {"implicit", "explicit", "count"}, default "implicit"
        "implicit" leaves hydrogens out, except those that RDKit keeps as atoms, such as deuterium; "explicit" makes all
        of them nodes; "count" adds their number to the label: `CH3`.
    stereo : bool, default False
        Whether R and S become part of the labels of atoms, and E and Z part of the labels of double bonds. If False, a
        warning says that stereochemistry was found and not used.
    targets : array-like with one entry per molecule, optional
        Class or value of each molecule.
    on_error : {"raise", "skip"}, default "raise"
        What to do with a SMILES that does not parse: raise an error that names it, or leave the molecule and its target
        out with a warning.

    Returns
    -------
    GraphSet
        The molecules that could be read, in the given order.

    Raises
    ------
    GraphError
        If a SMILES does not parse; the message says which.

    Examples
    --------
    >>> import rwk
    >>> acetate = rwk.molecules("CC(=O)[O-]")
    >>> [acetate.label_names[code] for code in acetate.node_labels.tolist()]
    ['C', 'C', 'O', 'O-']
    >>> [acetate.label_names[code] for code in acetate.edge_labels.tolist()]
    ['single', 'double, conjugated', 'single, conjugated']
    >>> acetate.node_attributes.shape
    (4, 6)
    """
    if on_error not in ("raise", "skip"):
        raise GraphError(f"on_error={on_error!r} is unknown; give 'raise' or 'skip'")
    chosen, notes = Featurizer(featurizer, hydrogens, stereo), Notes()
    given = dict(enumerate(_listed(smiles)))
    values = _checked_targets(targets, len(given))
    parsed, problems = _parsed(given)
    if problems and on_error == "raise":
        raise GraphError(_sentence(problems, len(given)) + "; correct or remove them, or pass on_error='skip'")
    if problems:
        warn_user(_sentence(problems, len(given)) + "; they are left out")
    graphs = _converted(parsed, chosen, notes)
    kept = None if values is None else values[list(graphs)]
    keys = [str(key) for key in smiles] if isinstance(smiles, Mapping) else None
    names = None if keys is None else [keys[i] for i in graphs]
    found = check_graphs(GraphSet.from_graphs(graphs.values(), targets=kept, name="molecules", names=names))
    notes.warn(len(found))
    return found


def from_molecules(items: Mapping[int, Any], names: Names, notes: Notes) -> dict[int, Graph]:
    """Convert RDKit molecules; hydrogens become nodes only if the molecule has them as explicit atoms."""
    return _converted(items, Featurizer(), notes)


def from_smiles(items: Mapping[int, str], names: Names, notes: Notes) -> dict[int, Graph]:
    """Parse SMILES; raises a `GraphError` that lists those that do not parse."""
    parsed, problems = _parsed(items)
    if problems and len(items) == 1:
        raise GraphError(f"{shown(next(iter(items.values())))} is neither a file that exists nor a SMILES that parses")
    if problems:
        raise GraphError(
            _sentence(problems, len(items)) + "; correct or remove them, or use rwk.molecules(..., on_error='skip')"
        )
    return _converted(parsed, Featurizer(), notes)


def _converted(items: Mapping[int, Any], featurizer: Featurizer, notes: Notes) -> dict[int, Graph]:
    graphs = {}
    for i, molecule in items.items():
        if not featurizer.stereo and not callable(featurizer.kind) and has_stereo(molecule):
            notes.add(STEREO)
        graphs[i] = featurizer.graph(molecule, f"molecule {i}")
    return graphs


def _listed(smiles: Any) -> Sequence[Any]:
    """One molecule, or an iterable of molecules, as a list."""
    if isinstance(smiles, Mapping):
        return list(smiles.values())
    single = isinstance(smiles, str) or hasattr(smiles, "GetAtoms")
    if single or not isinstance(smiles, Iterable):
        return [smiles]
    return list(smiles)


def _parsed(items: Mapping[int, Any]) -> tuple[dict[int, Any], dict[int, Any]]:
    """RDKit molecules by number, and the entries that are none."""
    try:
        from rdkit import Chem, rdBase
    except ImportError as error:
        one = next(iter(items.values()), "")
        raise GraphError(f"{shown(one)} is not a file, and reading it as SMILES {NEEDS_RDKIT}") from error
    found, problems = {}, {}
    with rdBase.BlockLogs():
        for i, item in items.items():
            molecule = _molecule(item, Chem) if isinstance(item, str) else item
            if hasattr(molecule, "GetAtoms") and molecule.GetNumAtoms():
                found[i] = molecule
            else:
                problems[i] = item
    return found, problems


def _molecule(smiles: str, chem: Any) -> Any:
    """The molecule, or None; a text that is not Unicode (half a surrogate pair) is none."""
    try:
        return chem.MolFromSmiles(smiles.strip())
    except UnicodeEncodeError:
        return None


def _sentence(problems: Mapping[int, Any], n_items: int) -> str:
    named = [f"number {i} ({shown(item)})" for i, item in problems.items()]
    listed = ", ".join(named[:5]) + (" and others" if len(named) > 5 else "")
    return f"{len(named)} of {n_items} SMILES do not parse: {listed}"


def _checked_targets(targets: Any, n_molecules: int) -> Any:
    if targets is None:
        return None
    try:
        values = np.asarray(targets)
    except ValueError:
        raise GraphError("the targets are not one value per molecule; give a list of numbers or texts") from None
    if values.ndim == 0 or len(values) != n_molecules:
        n_targets = 1 if values.ndim == 0 else len(values)
        raise GraphError(f"{n_targets} targets were given for {n_molecules} molecules; give one per molecule")
    return values
