"""How atoms are written as labels, as in SMILES: `C`, `c` (aromatic), `N+`, `Ca2+`, `13C`, `CH3`, `C (R)`.

`convert.atoms` writes such names; pictures and `convert.label_coding` read the element out of them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, NamedTuple

_SYMBOLS: Final = (
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb "
    "Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au "
    "Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts "
    "Og"
)
ATOMIC_NUMBERS: Final = {symbol: number for number, symbol in enumerate(_SYMBOLS.split(), start=1)}

_ATOM: Final = re.compile(r"\d*([A-Z][a-z]?|[a-z]{1,2}?)(H\d*)?•*(\d*[+-])?( \(\w+\))?")


class Atom(NamedTuple):
    """What a label can say of one atom."""

    symbol: str
    charge: int = 0
    aromatic: bool = False
    isotope: int = 0
    radicals: int = 0
    hydrogens: int | None = None  # None: not part of the name
    stereo: str = ""


def atom_name(atom: Atom) -> str:
    """The label of an atom.

    >>> [atom_name(Atom("C")), atom_name(Atom("N", charge=1)), atom_name(Atom("C", aromatic=True, hydrogens=1))]
    ['C', 'N+', 'cH']
    >>> atom_name(Atom("C", isotope=13, stereo="R")), atom_name(Atom("Ca", charge=2))
    ('13C (R)', 'Ca2+')
    """
    symbol = atom.symbol.lower() if atom.aromatic else atom.symbol
    hydrogens = "" if not atom.hydrogens else "H" if atom.hydrogens == 1 else f"H{atom.hydrogens}"
    size = abs(atom.charge)
    charge = "" if not size else f"{size if size > 1 else ''}{'+' if atom.charge > 0 else '-'}"
    stereo = f" ({atom.stereo})" if atom.stereo else ""
    return f"{atom.isotope or ''}{symbol}{hydrogens}{'•' * atom.radicals}{charge}{stereo}"


def element_of(name: str) -> str | None:
    """The symbol of the element that a label names, or None if it is not the name of an atom.

    >>> element_of("O-"), element_of("c"), element_of("13CH3 (R)"), element_of("Zz"), element_of("carbon")
    ('O', 'C', 'C', None, None)
    """
    found = _ATOM.fullmatch(name)
    symbol = found[1].capitalize() if found else ""
    return symbol if symbol in ATOMIC_NUMBERS else None


def elements_in(names: Mapping[int, str] | None) -> dict[int, str]:
    """The element of each label that names an atom; small letters count only among molecules with aromatic bonds.

    >>> elements_in({6: "C", 7: "N+", 1: "single"}), elements_in({0: "b", 1: "c"}), elements_in({0: "c", 1: "aromatic"})
    ({6: 'C', 7: 'N'}, {}, {0: 'C'})
    """
    known = {code: str(name) for code, name in (names or {}).items()}
    aromatic = "aromatic" in known.values()
    found = {code: element_of(name) for code, name in known.items() if aromatic or name != name.lower()}
    return {code: element for code, element in found.items() if element is not None}
