"""With scikit-learn: choose the width of the kernel and C of an SVM, then predict new graphs in a pipeline.

python examples/precomputed_kernel.py   (needs rwk[plot] and the MUTAG dataset; writes precomputed_kernel.png)
"""

import numpy as np
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import rwk
from rwk.report import new_figure

data = rwk.load_dataset("MUTAG")
train, new = data[::2], data[1::2]
etas, costs = [0.25, 0.5, 1.0, 2.0, 4.0], [1.0, 10.0, 100.0]

D = rwk.pairwise_discrepancy(train)  # solved once: eta and C only change what is made of it
scores = np.array(
    [[cross_val_score(rwk.IndefiniteSVC(C=C), np.exp(-eta * D), train.targets).mean() for eta in etas] for C in costs]
)
best_C, best_eta = np.unravel_index(scores.argmax(), scores.shape)
model = make_pipeline(rwk.RWKernel(eta=etas[best_eta]), rwk.IndefiniteSVC(C=costs[best_C])).fit(train, train.targets)
print(f"eta={etas[best_eta]}, C={costs[best_C]}: accuracy on new graphs {model.score(new, new.targets):.2f}")

ax = new_figure(5.4, 3.4).subplots()
ax.figure.colorbar(ax.imshow(scores), label="accuracy, five folds", shrink=0.6)
ax.set_xticks(range(len(etas)), etas)
ax.set_yticks(range(len(costs)), costs)
ax.set(xlabel="eta", ylabel="C", title=f"{len(train)} molecules of MUTAG")
ax.figure.savefig("precomputed_kernel.png", dpi=90, bbox_inches="tight")
