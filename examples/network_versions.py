"""Two states of a network: the karate club before it split, and the two clubs after. Who is who?

python examples/network_versions.py   (needs rwk[plot]; writes network_versions.png)
"""

import networkx as nx
import numpy as np

import rwk
from rwk.report import plot_alignment

before = nx.karate_club_graph()
club = nx.get_node_attributes(before, "club")
before = nx.Graph(before.edges)
letters = np.random.default_rng(0).permutation([f"m{i}" for i in range(34)]).tolist()
names = dict(zip(before, letters, strict=True))  # everybody gets another name
after = nx.Graph([(names[a], names[b]) for a, b in before.edges if club[a] == club[b]])  # ties between the clubs ended

found = rwk.match(before, after)
right = sum(names[member] == name for member, name in found)
swapped = sum(
    names[member] != name and set(after[name]) - {names[member]} == set(after[names[member]]) - {name}
    for member, name in found
)
print(f"{right} of 34 members found, {swapped} took the place of somebody who has the same ties after the split")
graphs = rwk.as_graphs([before, after])
ax = plot_alignment(graphs[0], graphs[1], found.solution, title="The karate club before and after it split")
ax.figure.savefig("network_versions.png", dpi=90)
