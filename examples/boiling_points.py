"""Regression: boiling points of alkanes from their carbon skeletons.

python examples/boiling_points.py   (needs rwk[plot]; writes boiling_points.png)
"""

import networkx as nx
import numpy as np
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import KFold, cross_val_predict

import rwk
from rwk.report import new_figure

# carbon atoms of the main chain, places of side chains (m: methyl, e: ethyl), boiling point in degrees Celsius
ALKANES = """4: -0.5 | 3m2: -11.7 | 5: 36.1 | 4m2: 27.8 | 3m2m2: 9.5 | 6: 68.7 | 5m2: 60.3 | 5m3: 63.3 | 4m2m2: 49.7
4m2m3: 58.0 | 7: 98.4 | 6m2: 90.0 | 6m3: 91.9 | 5e3: 93.5 | 5m2m2: 79.2 | 5m2m3: 89.8 | 5m2m4: 80.5 | 5m3m3: 86.1
4m2m2m3: 80.9 | 8: 125.7 | 7m2: 117.6 | 7m3: 118.9 | 7m4: 117.7 | 6e3: 118.5 | 6m2m2: 106.8 | 6m2m3: 115.6
6m2m4: 109.4 | 6m2m5: 109.1 | 6m3m3: 112.0 | 6m3m4: 117.7 | 5m2e3: 115.6 | 5m3e3: 118.2 | 5m2m2m3: 109.8 | 5m2m2m4: 99.2
5m2m3m3: 114.8 | 5m2m3m4: 113.5 | 4m2m2m3m3: 106.5"""


def skeleton(text):  # "5m2": a path 1-2-3-4-5, and atom 6 beside atom 2
    graph = nx.path_graph(range(1, int(text[0]) + 1))
    for kind, place in zip(text[1::2], text[2::2], strict=True):
        nx.add_path(graph, [int(place), *(len(graph) + 1 + k for k in range(1 if kind == "m" else 2))])
    return graph


table = [entry.split(": ") for entry in ALKANES.replace("\n", " | ").split(" | ")]
degrees = np.array([float(celsius) for _, celsius in table])
D = rwk.pairwise_discrepancy([skeleton(text) for text, _ in table], feature_metric="product", wl_rounds=1, debias=True)
K = np.exp(-0.1 * D / D.mean())
model, folds = KernelRidge(kernel="precomputed", alpha=1e-3), KFold(10, shuffle=True, random_state=0)
predicted = degrees.mean() + cross_val_predict(model, K, degrees - degrees.mean(), cv=folds)
print(f"mean error: {abs(predicted - degrees).mean():.1f} degrees")
ax = new_figure(4, 3.8).subplots()
ax.plot(degrees, predicted, "o", degrees, degrees, "-")
ax.set(title=f"{len(degrees)} alkanes, ten folds", xlabel="boiling point (°C)", ylabel="predicted")
ax.figure.savefig("boiling_points.png", dpi=100, bbox_inches="tight")
