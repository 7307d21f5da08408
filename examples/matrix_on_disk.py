"""A cluster: three tasks share one store, as the tasks of a SLURM array do; a fourth call reads the whole matrix.

python examples/matrix_on_disk.py   (needs rwk[distributed,plot] and the MUTAG dataset; writes matrix_on_disk.png)
"""

import tempfile
from pathlib import Path

import numpy as np

import rwk
from rwk.report import new_figure, plot_kernel

data = rwk.load_dataset("MUTAG")
store = Path(tempfile.mkdtemp()) / "mutag"
progress = {task: [(0.0, 0)] for task in (1, 2, 3)}
for task, seen in progress.items():  # on a cluster, at the same time: rwk gram MUTAG --store mutag --part 1/3
    gram = rwk.compute_gram(
        data, store=store, part=f"{task}/3", report=lambda now, seen=seen: seen.append((now.seconds, now.pairs_done))
    )
    print(f"task {task} solved {seen[-1][1]:,} pairs; tiles still missing: {gram.n_missing}")

gram = rwk.compute_gram(data, store=store)  # nothing is left to compute; a Dask client: executor=client
print("bit-identical:", bool(np.array_equal(gram.discrepancy(), rwk.pairwise_discrepancy(data))))
print(gram.health)

figure = new_figure(9, 4)
left, right = figure.subplots(1, 2)
for task, seen in progress.items():
    left.plot(*np.transpose(seen), "o-", label=f"task {task} of 3")
left.set(title="Pairs in the store, by task", xlabel="seconds", ylabel="pairs")
left.legend(frameon=False)
plot_kernel(gram.kernel(), data.targets, ax=right)
figure.savefig("matrix_on_disk.png", dpi=90)
