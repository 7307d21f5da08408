"""Large sets: a few landmarks instead of all pairs.

python examples/large_sets.py   (needs rwk[plot]; writes large_sets.png)
"""

import networkx as nx
import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC

import rwk
from rwk.report import new_figure

rng = np.random.default_rng(0)
kinds = rng.integers(3, size=400)
graphs = rwk.as_graphs(
    [
        nx.barabasi_albert_graph(int(n), 2, seed=i) if kind == 0
        else nx.watts_strogatz_graph(int(n), 4, 0.3, seed=i) if kind == 1
        else nx.gnm_random_graph(int(n), 2 * int(n) - 4, seed=i)
        for i, (kind, n) in enumerate(zip(kinds, rng.integers(12, 20, size=400), strict=True))
    ]
)  # fmt: skip
train, test = np.arange(300), np.arange(300, 400)
kernel = rwk.RWKernel(feature_metric="product", wl_rounds=0)
scores = {}
for n_landmarks in (2, 5, 10, 20, 40):
    model = make_pipeline(rwk.RWFeatures(n_landmarks, kernel=kernel, barycentres=False), LinearSVC(C=100))
    scores[n_landmarks] = model.fit(graphs[train], kinds[train]).score(graphs[test], kinds[test])
    print(f"{n_landmarks:3} landmarks, {model[0].n_solved_:6,} pairs solved: accuracy {scores[n_landmarks]:.2f}")
print(f"all pairs would be {300 * 301 // 2:,}")

ax = new_figure(5, 3.4).subplots()
ax.plot(list(scores), list(scores.values()), "o-")
ax.set(title="400 graphs of three kinds", xlabel="landmarks", ylabel="accuracy on new graphs", ylim=(0.3, 1))
ax.figure.savefig("large_sets.png", dpi=100, bbox_inches="tight")
