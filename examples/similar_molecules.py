"""From SMILES to a similarity search: which molecules are most similar to aspirin, and which atom goes to which?

python examples/similar_molecules.py [picture.png]
"""

import sys

import rwk

LIBRARY = {
    "salicylic acid": "OC(=O)c1ccccc1O",
    "paracetamol": "CC(=O)Nc1ccc(O)cc1",
    "ibuprofen": "CC(C)Cc1ccc(cc1)C(C)C(=O)O",
    "caffeine": "Cn1cnc2c1c(=O)n(C)c(=O)n2C",
    "benzoic acid": "OC(=O)c1ccccc1",
    "methyl salicylate": "COC(=O)c1ccccc1O",
    "naproxen": "COc1ccc2cc(ccc2c1)C(C)C(=O)O",
    "nicotine": "CN1CCCC1c1cccnc1",
}
ASPIRIN = "CC(=O)Oc1ccccc1C(=O)O"

library = rwk.molecules(LIBRARY)
found = rwk.nearest(ASPIRIN, library, k=3, debias=True)
for name, value in zip(found.names, found.values, strict=True):
    print(f"{name:20} {value:.3f}")

best = library[str(found.names[0])]
solution = rwk.align(ASPIRIN, best, entropy=0.05)
print("atom by atom:", solution.matching().tolist())
if len(sys.argv) > 1:
    from rwk.report import plot_alignment

    aspirin = rwk.as_graphs(ASPIRIN)[0]
    ax = plot_alignment(aspirin, best, solution, title=f"aspirin and {found.names[0]}")
    ax.figure.savefig(sys.argv[1], dpi=150)
