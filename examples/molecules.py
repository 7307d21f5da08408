"""Molecules: a map of common drugs, where drugs of the same family lie together.

python examples/molecules.py   (needs rwk[molecules,plot]; writes molecules.png)
"""

import rwk
from rwk.report import plot_map

FAMILIES = {
    "salicylates": {"aspirin": "CC(=O)Oc1ccccc1C(=O)O", "diflunisal": "OC(=O)c1cc(ccc1O)c1ccc(F)cc1F",
                    "salicylic acid": "OC(=O)c1ccccc1O", "methyl salicylate": "COC(=O)c1ccccc1O"},
    "profens": {"ibuprofen": "CC(C)Cc1ccc(cc1)C(C)C(=O)O", "naproxen": "COc1ccc2cc(ccc2c1)C(C)C(=O)O",
                "ketoprofen": "CC(C(=O)O)c1cccc(c1)C(=O)c1ccccc1", "flurbiprofen": "CC(C(=O)O)c1ccc(c(F)c1)c1ccccc1"},
    "xanthines": {"caffeine": "Cn1cnc2c1c(=O)n(C)c(=O)n2C", "theophylline": "Cn1c2nc[nH]c2c(=O)n(C)c1=O",
                  "theobromine": "Cn1cnc2c1c(=O)[nH]c(=O)n2C", "pentoxifylline": "CC(=O)CCCCn1c(=O)c2c(ncn2C)n(C)c1=O"},
    "barbiturates": {"barbital": "CCC1(CC)C(=O)NC(=O)NC1=O", "phenobarbital": "CCC1(c2ccccc2)C(=O)NC(=O)NC1=O",
                     "pentobarbital": "CCCC(C)C1(CC)C(=O)NC(=O)NC1=O"},
}  # fmt: skip

smiles = {name: text for family in FAMILIES.values() for name, text in family.items()}
families = [family for family, members in FAMILIES.items() for _ in members]

drugs = rwk.molecules(smiles)  # atoms: element, charge, aromaticity, hydrogens, ring; bonds: type and conjugation
D = rwk.pairwise_discrepancy(drugs, debias=True)
for i, name in enumerate(drugs.names):
    D[i, i] = float("inf")
    print(f"{name:18} is most similar to {drugs.names[D[i].argmin()]}")
    D[i, i] = 0.0
plot_map(D, families, names=drugs.names).figure.savefig("molecules.png", dpi=100)
