"""Two versions of a network: nodes were renamed, some left, some edges changed. Who is who?

python examples/network_versions.py   (needs rwk[plot]; writes network_versions.png)
"""

import networkx as nx
import numpy as np

import rwk
from rwk.report import plot_alignment

rng = np.random.default_rng(0)
old = nx.Graph(nx.karate_club_graph().edges)
new = old.copy()
gone = [11, 16, 26]
new.remove_nodes_from(gone)
for a, b in rng.permutation(np.array(new.edges))[:3]:  # three ties ended
    new.remove_edge(a, b)
names = dict(zip(rng.permutation(list(new)).tolist(), range(len(new)), strict=True))  # everybody got a new number
new = nx.relabel_nodes(new, names)

# settings for matchings: Euclidean features, much weight on the structure, little entropy, several starts
solution = rwk.align(old, new, feature_metric="l2", beta_global=5.0, entropy=0.02, n_starts=10)
old_nodes, new_nodes = list(old), list(new)
matching = [(old_nodes[i], new_nodes[j]) for i, j in solution.matching()]
right = sum(names.get(person) == number for person, number in matching)
print(f"{right} of {len(new)} members found; without a counterpart: {sorted(set(old) - {a for a, _ in matching})}")
graphs = rwk.as_graphs([old, new])
ax = plot_alignment(graphs[0], graphs[1], solution, title="The karate club, before and after")
ax.figure.savefig("network_versions.png", dpi=90)
