"""Why was this graph put into its class? The data has a planted motif, and the explanation finds it.

python examples/explain_prediction.py [picture.png]
"""

import sys

import numpy as np

from rwk import IndefiniteSVC, RWKernel
from rwk.datasets.synthetic import MOTIF_SIZE, planted_motif
from rwk.learn.explain import explain

graphs, motifs = planted_motif(31)
train = np.arange(30)
kernel = RWKernel()
classifier = IndefiniteSVC(C=100.0).fit(kernel.fit_transform(graphs[train]), graphs.targets[train])

# graphs of class 1 contain the motif; this one is not in the training set
held_out, motif = planted_motif(2, random_state=7)
why = explain(kernel, classifier, graphs[train], held_out[1])
print(why)
print("nodes that matter most:", sorted(why.top_nodes(MOTIF_SIZE)))
print("nodes of the motif:    ", motif[1].tolist())
if len(sys.argv) > 1:
    from rwk.report import plot_explanation

    plot_explanation(why, marked=motif[1])[0].figure.savefig(sys.argv[1], dpi=150)
