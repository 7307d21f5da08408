"""Search: which molecules are most similar to aspirin, and which atom goes to which?

python examples/similar_molecules.py   (needs rwk[molecules,plot]; writes similar_molecules.png)
"""

import rwk
from rwk.report import plot_alignment

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
aspirin = rwk.molecules({"aspirin": "CC(=O)Oc1ccccc1C(=O)O"})

library = rwk.molecules(LIBRARY)
found = rwk.nearest(aspirin, library, k=3, debias=True)
for name, value in zip(found.names, found.values, strict=True):
    print(f"{name:20} {value:.3f}")

best = library[str(found.names[0])]
solution = rwk.align(aspirin, best, entropy=0.03)
print("atom by atom:", solution.matching().tolist())
ax = plot_alignment(aspirin[0], best, solution, title=f"aspirin and {found.names[0]}")
ax.figure.savefig("similar_molecules.png", dpi=100)
