"""Brain-like weighted graphs: two groups that differ in how strongly the two hemispheres are connected.

python examples/brain_networks.py   (needs rwk[plot]; writes brain_networks.png)
"""

import networkx as nx
import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

import rwk
from rwk.report import new_figure, plot_map


def brain(across, rng):
    """Regions at random places; the weight of a connection falls with distance, and by `across` between sides."""
    n = int(rng.integers(24, 31))  # every brain has its own regions: nobody knows which ones correspond
    places = rng.normal(size=(n, 3)) * [1.5, 1.0, 1.0]
    distance = np.linalg.norm(places[:, None] - places[None], axis=2)
    weights = np.exp(-(distance**2) / 2) * rng.uniform(0.7, 1.3, size=(n, n))
    other_side = (places[:, None, 0] > 0) != (places[None, :, 0] > 0)
    weights = np.triu(weights * np.where(other_side, across, 1.0), 1)
    return nx.from_numpy_array(np.where(weights > 0.1, weights, 0.0)), places  # "weight" is used by default


rng = np.random.default_rng(0)
groups = np.repeat(["control", "weak bridge"], 20)
brains = [brain(1.0 if group == "control" else 0.2, rng) for group in groups]
kernel = rwk.RWKernel(feature_metric="product", wl_rounds=0, structure="heat-kernel")
K = kernel.fit_transform([graph for graph, _ in brains])  # return probabilities and heat follow the weights
print("accuracy, five folds:", cross_val_score(SVC(kernel="precomputed", C=100), K, groups, cv=5).mean())

axes = new_figure(9, 3.4).subplots(1, 3, width_ratios=[1, 1, 1.5])
for ax, (graph, places), group in zip(axes, brains[::20], groups[::20], strict=False):
    width = [2 * graph[a][b]["weight"] for a, b in graph.edges]
    nx.draw(graph, dict(enumerate(places[:, :2])), ax=ax, node_size=25, width=width, edge_color="grey")
    ax.set_title(group)
plot_map(kernel.discrepancy(), groups, ax=axes[2])
axes[0].figure.savefig("brain_networks.png", dpi=90)
