"""A Gram matrix on disk: it is saved tile by tile, and a run that was stopped resumes.

python examples/matrix_on_disk.py [folder]
"""

import sys
import tempfile
from pathlib import Path

import rwk

data = rwk.load_dataset("MUTAG")[:60]
folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp()) / "mutag"
gram = rwk.compute_gram(data, store=folder)
print(gram, gram.health)

again = rwk.compute_gram(data, store=folder)  # nothing left to compute
print("bit-identical:", bool((gram.discrepancy() == again.discrepancy()).all()))
