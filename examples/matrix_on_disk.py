"""A Gram matrix that survives being stopped: it is kept tile by tile, and goes on where it was.

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

again = rwk.compute_gram(data, store=folder)  # nothing is left to compute
print("the same bits:", bool((gram.discrepancy() == again.discrepancy()).all()))
