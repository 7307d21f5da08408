"""Stratified folds: made once, stored, and used by every method."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import StratifiedKFold

from rwk.learn.one_vs_one import encode_classes
from rwk.runtime.arrays import IntArray
from rwk.runtime.files import CHECKSUM, load_json, record_checksum, write_whole
from rwk.runtime.parameter_checks import check_seed, shown

NOT_COVERED: Final = "{} is damaged: its folds do not cover the graphs; remove it, and they are made again"


@dataclass(frozen=True, slots=True, eq=False)
class Folds:
    """Stratified folds of several repeats; iterating yields every (seed, fold).

    Attributes
    ----------
    n_splits : int
        Folds per repeat.
    test_fold : mapping of int to int array of shape (graphs,)
        `test_fold[seed][i]` is the number of the fold that tests graph i.
    classes : str
        Fingerprint of the targets that the folds were made for.

    Examples
    --------
    >>> from rwk import make_folds
    >>> folds = make_folds([0, 1] * 10, n_splits=5, n_repeats=2)
    >>> train, test = folds.split(seed=0, fold=3)
    >>> len(folds), len(train), len(test)
    (10, 16, 4)
    """

    n_splits: int
    test_fold: Mapping[int, IntArray]
    classes: str

    def split(self, seed: int, fold: int) -> tuple[IntArray, IntArray]:
        """Indices of the training and the test graphs of one fold."""
        at = self.test_fold[seed]
        return np.flatnonzero(at != fold), np.flatnonzero(at == fold)

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return ((seed, fold) for seed in self.test_fold for fold in range(self.n_splits))

    def __len__(self) -> int:
        return len(self.test_fold) * self.n_splits

    def fingerprint(self, seed: int) -> str:
        """A short fingerprint of the folds of one seed."""
        return fingerprint_of(self.test_fold[seed])


def make_folds(
    targets: ArrayLike, n_splits: int = 10, n_repeats: int = 10, *, seeds: Sequence[int] | None = None
) -> Folds:
    """Make stratified folds; the same targets and seeds give the same folds.

    Parameters
    ----------
    targets
        Class of each graph.
    n_splits
        Folds per repeat.
    n_repeats
        Number of repeats, with seeds 0 to n_repeats − 1.
    seeds
        Seeds of the repeats, instead of `n_repeats`.

    Returns
    -------
    Folds
        Which fold tests which graph, per seed.

    Examples
    --------
    >>> folds = make_folds([0, 1] * 10, n_splits=5, n_repeats=2)
    >>> len(folds), folds.split(seed=0, fold=0)[1].tolist()
    (10, [5, 8, 13, 16])
    """
    classes, codes = encode_classes(targets)
    for name, value in (("n_splits", n_splits), ("n_repeats", n_repeats)):
        if not isinstance(value, Integral) or isinstance(value, bool):
            raise ValueError(f"{name}={shown(value)} is not a whole number")
    if n_splits < 2:
        raise ValueError(f"n_splits={shown(n_splits)} is too small; cross-validation needs at least two folds")
    for seed in () if seeds is None else seeds:
        check_seed(seed, "a seed")
    counts = np.bincount(codes)
    if counts.min() < n_splits:
        name = classes[int(counts.argmin())]
        raise ValueError(
            f"class {name} has {counts.min()} members, fewer than the {shown(n_splits)} folds; use fewer, or merge it"
        )
    test_fold = {}
    for seed in range(n_repeats) if seeds is None else seeds:
        at = np.empty(len(codes), np.int64)
        splitter = StratifiedKFold(n_splits, shuffle=True, random_state=seed)
        for fold, (_, test) in enumerate(splitter.split(codes, codes)):
            at[test] = fold
        test_fold[int(seed)] = at
    return Folds(n_splits, test_fold, fingerprint_of(codes))


def save_folds(folds: Folds, path: str | os.PathLike[str]) -> None:
    """Store folds as JSON.

    Parameters
    ----------
    folds
        Folds to store.
    path
        File to write; its folder is made if need be.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "folds.json"
    >>> save_folds(make_folds([0, 1] * 10, n_splits=5), path)
    >>> len(load_folds(path))
    50
    """
    content = {
        "n_splits": folds.n_splits,
        "classes": folds.classes,
        "test_fold": {str(seed): _written(at, folds.n_splits) for seed, at in folds.test_fold.items()},
    }
    text = json.dumps({**content, CHECKSUM: record_checksum(content)}, separators=(",", ":")) + "\n"
    write_whole(path, lambda beside: beside.write_text(text, encoding="utf-8"))


def load_folds(path: str | os.PathLike[str]) -> Folds:
    """Load folds stored by `save_folds`.

    Parameters
    ----------
    path
        File to read.

    Returns
    -------
    Folds
        The stored folds.
    """
    try:
        content = load_json(path)
        test_fold = {int(seed): _read(at) for seed, at in content["test_fold"].items()}
        folds = Folds(content["n_splits"], test_fold, content["classes"])
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise ValueError(f"{path} is not a file of folds; remove it, or write it again with save_folds") from error
    if not _is_partition(folds):
        raise ValueError(NOT_COVERED.format(path))
    return folds


def _written(at: IntArray, n_splits: int) -> str | list[int]:
    """The fold of each graph: a digit per graph if there are at most ten folds, otherwise numbers."""
    return "".join(map(str, at.tolist())) if n_splits <= 10 else at.tolist()


def _read(written: Any) -> IntArray:
    numbers = np.array([int(digit) for digit in written] if isinstance(written, str) else written)
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind != "i"):
        raise ValueError("not a list of whole numbers")
    return numbers.astype(np.int64)


def _is_partition(folds: Folds) -> bool:
    """Whether every seed puts every graph into one of `n_splits` folds, and leaves no fold empty."""
    n_splits, sizes = folds.n_splits, {len(at) for at in folds.test_fold.values()}
    if type(n_splits) is not int or n_splits < 2 or not isinstance(folds.classes, str):
        return False
    full = all(np.array_equal(np.unique(at), np.arange(n_splits)) for at in folds.test_fold.values())
    return full and len(sizes) <= 1


def stored_folds(
    path: str | os.PathLike[str], targets: ArrayLike, n_splits: int = 10, seeds: Sequence[int] = range(10)
) -> Folds:
    """Load the folds of these seeds from a file that all methods share; missing seeds are made and added to it."""
    known = make_folds(targets, n_splits, seeds=())
    if Path(path).exists():
        stored = load_folds(path)
        if stored.classes != known.classes:
            raise ValueError(f"{path} holds folds made for other targets; use another folder")
        if stored.n_splits != n_splits:
            raise ValueError(f"{path} holds {stored.n_splits} folds per repeat, not {n_splits}; use another folder")
        if any(len(at) != len(np.asarray(targets)) for at in stored.test_fold.values()):
            raise ValueError(NOT_COVERED.format(path))
        known = stored
    missing = [seed for seed in seeds if seed not in known.test_fold]
    if missing:
        made = make_folds(targets, n_splits, seeds=missing)
        everything = {**known.test_fold, **made.test_fold}
        known = Folds(n_splits, {seed: everything[seed] for seed in sorted(everything)}, known.classes)
        save_folds(known, path)
    return Folds(n_splits, {int(seed): known.test_fold[seed] for seed in seeds}, known.classes)


def fingerprint_of(codes: IntArray) -> str:
    """A short fingerprint of an assignment of graphs to classes or folds."""
    return hashlib.sha256(codes.tobytes()).hexdigest()[:12]
