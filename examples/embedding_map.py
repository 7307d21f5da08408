"""An embedding: the molecules of MUTAG on a map, and as vectors for any other program.

python examples/embedding_map.py   (needs rwk[plot] and the MUTAG dataset; writes embedding_map.png)
"""

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

import rwk
from rwk.report import new_figure, plot_map

graphs = rwk.load_dataset("MUTAG")
classes = np.where(graphs.targets > 0, "mutagenic", "not mutagenic")
D = rwk.pairwise_discrepancy(graphs, debias=True)
vectors = KernelPCA(10, kernel="precomputed").fit_transform(np.exp(-D))  # ten numbers per molecule
np.savetxt("vectors.csv", vectors, delimiter=",")
score = cross_val_score(KNeighborsClassifier(5), vectors, classes).mean()
print(f"five nearest neighbours among the vectors get {score:.0%} of the classes right")

left, right = new_figure(9, 4.4).subplots(1, 2)
plot_map(D, classes, ax=left)
plot_map(D, classes, places=vectors[:, :2], ax=right)
right.set_xlabel("the first two of the ten numbers")
left.figure.savefig("embedding_map.png", dpi=90)
