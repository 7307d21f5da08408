"""Proteins: contact graphs of idealised folds, made of helices and strands, on a map.

python examples/protein_folds.py   (needs rwk[plot]; writes protein_folds.png)
"""

import networkx as nx
import numpy as np

import rwk
from rwk.report import new_figure, plot_graph, plot_map


def fold(pieces, rng):
    """Residues as nodes, contacts closer than 7 Å as edges; helices (H) and strands (E) stand side by side."""
    places = []
    for number, piece in enumerate(pieces):
        t = np.arange(int(rng.integers(8, 13)))
        turn = np.deg2rad(100) * t  # 3.6 residues per turn of a helix; 1.5 Å per residue, 3.3 Å in a strand
        helix = np.stack([2.3 * np.cos(turn), 2.3 * np.sin(turn), 1.5 * (t - t.mean())], axis=1)
        strand = np.stack([0 * t, 0.9 * (-1.0) ** t, 3.3 * (t - t.mean())], axis=1)
        place = (helix if piece == "H" else strand)[:: -1 if number % 2 else 1]
        aside = np.array([number * (8.5 if "H" in pieces else 4.8), 0, 0])
        places.append(place + aside + rng.normal(0, 0.3, place.shape))
    xyz = np.concatenate(places)
    near = np.linalg.norm(xyz[:, None] - xyz[None], axis=2) < 7.0
    graph = nx.from_numpy_array(np.triu(near, 1))
    kinds = np.repeat(list(pieces), [len(place) for place in places])
    nx.set_node_attributes(graph, dict(enumerate(kinds.tolist())), "label")
    return graph


FOLDS = {"three helices": "HHH", "sheet": "EEEE", "helix on strands": "EHE", "helix hairpin": "HH"}
rng = np.random.default_rng(0)
graphs = rwk.as_graphs([fold(pieces, rng) for pieces in FOLDS.values() for _ in range(8)])
D = rwk.pairwise_discrepancy(graphs, feature_metric="product", wl_rounds=1, debias=True)
left, right = new_figure(9, 4.2).subplots(1, 2, width_ratios=[1, 1.2])
plot_graph(graphs[0], ax=left, title="three helices: residues and contacts")
plot_map(D, np.repeat(list(FOLDS), 8), ax=right)
left.figure.savefig("protein_folds.png", dpi=90)
