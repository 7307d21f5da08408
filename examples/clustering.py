"""Clustering: a tree of random networks, grown from their discrepancies alone.

python examples/clustering.py   (needs rwk[plot]; writes clustering.png)
"""

import networkx as nx
from scipy.cluster.hierarchy import dendrogram, fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

import rwk
from rwk.report import new_figure

MODELS = {
    "ring": lambda n, seed: nx.watts_strogatz_graph(n, 4, 0.05, seed=seed),
    "random": lambda n, seed: nx.gnm_random_graph(n, 2 * n, seed=seed),
    "hubs": lambda n, seed: nx.barabasi_albert_graph(n, 2, seed=seed),
    "tree": lambda n, seed: nx.random_labeled_tree(n, seed=seed),
}
kinds = [model for model in MODELS for _ in range(6)]
graphs = {f"{model} {k + 1}": make(20 + 2 * k, k) for model, make in MODELS.items() for k in range(6)}

D = rwk.pairwise_discrepancy(graphs, feature_metric="product", wl_rounds=0, debias=True)
tree = linkage(squareform(D.clip(min=0), checks=False), method="ward")
found = fcluster(tree, t=len(MODELS), criterion="maxclust")
print(f"agreement with the models (adjusted Rand index): {adjusted_rand_score(kinds, found):.2f}")

ax = new_figure(9, 3.6).subplots()
cut = tree[-len(MODELS) + 1, 2]  # the tree has four branches below this height
dendrogram(tree, labels=list(graphs), color_threshold=cut, above_threshold_color="grey", leaf_rotation=60, ax=ax)
ax.set(title="Four kinds of networks of 20 to 30 nodes", ylabel="discrepancy")
ax.figure.savefig("clustering.png", dpi=100, bbox_inches="tight")
