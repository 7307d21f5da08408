"""What a run predicts for each graph: the choices recorded for one repeat, fitted again, with probabilities.

Records count correct predictions only. In one repeat every graph is tested once, so one repeat is enough to say which
classes are confused and whether probabilities can be trusted. Folds that ran on a GPU are fitted again on the CPU.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from math import inf
from typing import Any, Final

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

from rwk.experiment.folds import Folds
from rwk.experiment.records import Score
from rwk.learn.one_vs_one import encode_classes
from rwk.learn.search import Choice, Task, fit_choice
from rwk.learn.setting_kernels import Matrices
from rwk.learn.svc import IndefiniteSVC
from rwk.runtime.files import write_arrays

PREDICTIONS: Final = "predictions.npz"
MOST_FOR_PROBABILITIES: Final = 1500  # graphs; probabilities take five more fits per fold


def save_predictions(
    path: str | os.PathLike[str], matrices: Matrices, targets: Any, folds: Folds, scores: Sequence[Score]
) -> None:
    """Fit the choices of the first repeat again, and write the classes and probabilities that they predict.

    The file has `classes`, `predicted` (a code per graph, -1 if its fold is not recorded), `probability` (graphs ×
    classes, if there are few enough graphs) and `seed`.
    """
    classes, codes = encode_classes(targets)
    seed = min(score.seed for score in scores)
    predicted = np.full(len(codes), -1, np.int64)
    chances = np.full((len(codes), len(classes)), np.nan)
    for score in scores:
        if score.seed == seed:
            task = Task(*folds.split(seed, score.fold), codes=codes, seed=seed, fold=score.fold)
            with threadpool_limits(limits=1):  # as in the run itself
                _predict(matrices, task, _choice_of(score), predicted, chances)
    found: dict[str, Any] = {"classes": classes.astype(str), "predicted": predicted, "seed": seed}
    if np.isfinite(chances).any():
        found["probability"] = chances
    write_arrays(path, **found)


def _predict(matrices: Matrices, task: Task, choice: Choice, predicted: Any, chances: Any) -> None:
    """Fill in the rows of the test graphs of one fold."""
    predicted[task.test] = fit_choice(matrices, task, choice)
    codes = task.codes[task.train]
    if len(task.codes) > MOST_FOR_PROBABILITIES or np.bincount(codes).min() < 2:
        return
    svc = IndefiniteSVC(
        C=choice.C,
        treatment=choice.treatment,  # type: ignore[arg-type]
        kappa=choice.kappa,
        probability=True,
        random_state=task.seed,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the run itself does not ask for a duality gap
        svc.fit(matrices.kernel(choice.setting, choice.eta, task.train, task.train), codes)
    chances[task.test] = svc.predict_proba(matrices.kernel(choice.setting, choice.eta, task.train, task.test))


def _choice_of(score: Score) -> Choice:
    chosen = score.chosen
    return Choice(
        setting=chosen["setting"],
        treatment=chosen["treatment"],
        eta=chosen.get("eta"),
        C=chosen["C"],
        kappa=chosen.get("kappa", inf),
        score=score.inner_score or 0.0,
    )
