"""An explanation: why was this graph put into its class? The data has a planted motif, and the explanation finds it.

python examples/explain_prediction.py   (needs rwk[plot]; writes explain_prediction.png)
"""

from rwk import IndefiniteSVC, RWKernel
from rwk.datasets.synthetic import MOTIF_SIZE, planted_motif
from rwk.learn.explain import explain
from rwk.report import plot_explanation

graphs, _ = planted_motif(30)  # trees; those of class 1 contain the motif
kernel = RWKernel()
classifier = IndefiniteSVC(C=100.0).fit(kernel.fit_transform(graphs), graphs.targets)

held_out, motif = planted_motif(2, random_state=7)  # the second one is of class 1 and not in the training set
why = explain(kernel, classifier, graphs, held_out[1])
print(why)
print("nodes that matter most:", sorted(why.top_nodes(MOTIF_SIZE)))
print("nodes of the motif:    ", motif[1].tolist())
axes = plot_explanation(why, n_alignments=1, marked=motif[1])  # the motif has halos
axes[0].figure.savefig("explain_prediction.png", dpi=70)
