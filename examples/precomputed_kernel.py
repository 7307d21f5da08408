"""The kernel with scikit-learn: a pipeline, cross-validation, and predictions for new graphs.

python examples/precomputed_kernel.py
"""

from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import rwk

data = rwk.load_dataset("MUTAG")[:60]
pipeline = make_pipeline(rwk.RWKernel(eta=2.0), rwk.IndefiniteSVC(C=10.0))
print("5 folds:", cross_val_score(pipeline, data, data.targets, cv=5).round(2))

pipeline.fit(data[:50], data.targets[:50])
print("new graphs:", pipeline.predict(data[50:]))
