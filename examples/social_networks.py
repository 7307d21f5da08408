"""Social networks: which random model do real networks resemble?

python examples/social_networks.py   (needs rwk[plot]; writes social_networks.png)
"""

import networkx as nx

import rwk
from rwk.report import new_figure

networks = {
    "karate club": nx.karate_club_graph(),
    "Florentine families": nx.florentine_families_graph(),
    "Les Misérables": nx.les_miserables_graph(),
}
discrepancies = {}
for name, network in networks.items():
    n, m = network.number_of_nodes(), network.number_of_edges()
    degree = max(2, 2 * round(m / n))  # of the small world: an even number
    models = {
        "random edges": lambda seed, n=n, m=m: nx.gnm_random_graph(n, m, seed=seed),
        "small world": lambda seed, n=n, k=degree: nx.watts_strogatz_graph(n, k, 0.1, seed=seed),
        "preferential": lambda seed, n=n, k=degree // 2: nx.barabasi_albert_graph(n, k, seed=seed),
        "clustered hubs": lambda seed, n=n, k=degree // 2: nx.powerlaw_cluster_graph(n, k, 0.8, seed=seed),
    }
    samples = [model(seed) for model in models.values() for seed in range(5)]
    graphs = rwk.as_graphs([nx.Graph(network.edges), *samples])  # structure alone: no labels, no weights
    D = rwk.pairwise_discrepancy(graphs, feature_metric="product", wl_rounds=0, debias=True)
    discrepancies[name] = dict(zip(models, D[0, 1:].reshape(len(models), 5).mean(axis=1), strict=True))
    print(f"{name}: most like {min(discrepancies[name], key=discrepancies[name].get)}")

axes = new_figure(9, 2.8).subplots(1, 3, sharey=True)
for ax, (name, values) in zip(axes, discrepancies.items(), strict=True):
    best = min(values, key=values.get)
    ax.barh(list(values), list(values.values()), color=["C1" if model == best else "C0" for model in values])
    ax.set(title=name, xlabel="mean discrepancy")
axes[0].invert_yaxis()
axes[0].figure.savefig("social_networks.png", dpi=100)
