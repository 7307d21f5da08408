"""Made-up records of experiments, for tests of tables and statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rwk.experiment import Score


def score_of(
    dataset: str, method: str, value: float, *, seed: int = 0, fold: int = 0, protocol: Mapping[str, Any] | None = None
) -> Score:
    """A record of one fold with 90 training graphs and 10 test graphs."""
    return Score(
        dataset=dataset,
        method=method,
        seed=seed,
        fold=fold,
        score=value,
        n_correct=round(10 * value),
        n_train=90,
        n_test=10,
        majority=0.5,
        chosen={"setting": "one"},
        inner_score=None,
        seconds=1.0,
        protocol=protocol or {},
        versions={},
    )


def repeat_of(dataset: str, method: str, values: Sequence[float], *, seed: int = 0, **protocol: Any) -> list[Score]:
    """Records of one repeat, one per score; all have the same folds unless `protocol` says otherwise."""
    whole = {"n_splits": len(values), "folds": "f", **protocol}
    return [score_of(dataset, method, value, seed=seed, fold=fold, protocol=whole) for fold, value in enumerate(values)]
