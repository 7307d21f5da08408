"""Your own networkx graphs: convert them, fit a classifier, predict.

python examples/own_graphs.py   (needs rwk[plot]; writes own_graphs.png)
"""

import networkx as nx
import numpy as np

import rwk
from rwk.report import new_figure, plot_graph

# 1. Graphs of two kinds, rings and trees, with coloured nodes.
rng = np.random.default_rng(0)
graphs, kinds = [], []
for i in range(40):
    n = int(rng.integers(8, 15))
    graph = nx.cycle_graph(n) if i % 2 else nx.random_labeled_tree(n, seed=i)
    nx.set_node_attributes(graph, {node: "red" if rng.random() < 0.3 else "grey" for node in graph}, "colour")
    graphs.append(graph)
    kinds.append("ring" if i % 2 else "tree")

# 2. Convert them; `node_label` names the attribute that holds the labels.
data = rwk.as_graphs(graphs, targets=kinds, node_label="colour")
print(data)

# 3. A classifier that chooses its settings by cross-validation on the training graphs.
train, test = np.arange(30), np.arange(30, 40)
classifier = rwk.RWKClassifier(grid="quick", n_inner=3).fit(data[train], data.targets[train])
print("chosen:", classifier.choice_)
print("accuracy on new graphs:", classifier.score(data[test], data.targets[test]))

figure = new_figure(9, 2.6)
for ax, i in zip(figure.subplots(1, 4), test[:4], strict=True):
    predicted = classifier.predict(data[[i]])[0]
    plot_graph(data[int(i)], ax=ax, title=f"{data.targets[i]}, predicted: {predicted}")
figure.savefig("own_graphs.png", dpi=90)
