"""Node features of your own: sensor networks of the same shape that differ in what they measure.

python examples/node_features.py   (needs rwk[plot]; writes node_features.png)
"""

import networkx as nx
import numpy as np

import rwk
from rwk.report import new_figure


def sensors(weather, n_columns, rng):
    """A grid of sensors; each measures temperature and humidity."""
    graph = nx.grid_2d_graph(5, n_columns)
    for (row, column), node in graph.nodes.items():
        front = column / n_columns  # a cold front comes from one side
        spot = np.exp(-((row - 2) ** 2 + (column - n_columns / 2) ** 2) / 3)  # a hot and dry spot in the middle
        value = {"cold front": [20 - 10 * front, 40 + 40 * front], "hot spot": [15 + 15 * spot, 60 - 40 * spot]}
        node["temperature"], node["humidity"] = value.get(weather, [15, 60]) + rng.normal(0, 0.5, size=2)
    return graph


rng = np.random.default_rng(0)
kinds = np.repeat(["calm", "cold front", "hot spot"], 5)
networks = [sensors(kind, 5 + i % 3, rng) for i, kind in enumerate(kinds)]
graphs = rwk.as_graphs(networks, node_attributes=["temperature", "humidity"])

figure = new_figure(9, 3.8)
panels = {"structure alone": 0.0, "with temperature and humidity": 2.0}
for ax, (title, weight) in zip(figure.subplots(1, 2), panels.items(), strict=True):
    settings = {"wl_rounds": 0, "return_weight": 0.0, "hops": 0, "attribute_weight": weight}
    D = rwk.pairwise_discrepancy(graphs, feature_metric="product", debias=True, **settings)
    figure.colorbar(ax.imshow(D, vmin=0), ax=ax, label="discrepancy")
    ax.set_xticks([2, 7, 12], kinds[[2, 7, 12]])
    ax.set_yticks([2, 7, 12], kinds[[2, 7, 12]], rotation=90, va="center")
    ax.set_title(title)
figure.savefig("node_features.png", dpi=90, bbox_inches="tight")
