"""The matrices of all settings of a kernel among the baselines, kept as they are made.

Making them may take longer than all folds. Every group of settings is a file of its own until the folds are recorded,
so a run that was stopped, among the groups or among the folds, makes only the groups that are missing.
"""

from __future__ import annotations

import glob
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from rwk.experiment.run import Forms, first_form
from rwk.gram.kept import Kept
from rwk.graphs import GraphSet
from rwk.runtime.progress import Bar
from rwk.runtime.threads import Ticker


class SettingGroup(NamedTuple):
    """Settings that are made together: of one form, with the parameters that they share."""

    form: str
    graphs: GraphSet
    estimator: Any
    shared: dict[str, Any]

    @property
    def n_pairs(self) -> int:
        return len(self.graphs) * (len(self.graphs) + 1) // 2


@dataclass(frozen=True, slots=True, eq=False)
class BaselineMatrices:
    """Makes the matrices of a baseline on all forms of a dataset.

    `folder` keeps them under the words of `setting` until `forget` is called; without it nothing is kept. `bar` shows
    progress.
    """

    name: str
    estimator: Any
    forms: Forms
    fair: bool
    setting: str
    folder: Path | None = None
    bar: Bar | None = None

    def all(self) -> dict[str, Any]:
        """The matrix of every setting on every form; of equal ones the first, which would win the tie anyway."""
        kept = Kept.at(self.folder, self.forms, self.setting) if self.folder else None
        groups = self._groups()
        total = sum(group.n_pairs for group in groups)
        made: dict[str, Any] = {}
        with self.bar(f"{self._title}: matrices", total) if self.bar else nullcontext() as tick:
            for number, group in enumerate(groups):
                for name, matrix in self._kept_or_made(kept, number, group, tick).items():
                    if not any(np.array_equal(matrix, other) for other in made.values()):
                        made[f"{group.form}: {name}" if group.form else name] = matrix
        return made

    def forget(self) -> None:
        """Remove what was kept."""
        if self.folder:
            Kept(self.folder, "", "").remove(f"{glob.escape(self._title)}.[0-9]*")

    @property
    def _title(self) -> str:
        return f"{first_form(self.forms).name}-{self.name}"

    def _groups(self) -> list[SettingGroup]:
        return [
            SettingGroup(form, graphs, maker, shared)
            for form, graphs in self.forms.items()
            for maker in [clone(self.estimator)]  # which remembers what the groups of a form have in common
            for shared in maker.groups(graphs, fair=self.fair)
        ]

    def _kept_or_made(self, kept: Kept | None, number: int, group: SettingGroup, tick: Ticker | None) -> dict[str, Any]:
        """The matrices of a group by setting."""
        title = f"{self._title}.{number:03d}"
        found = kept.read(title) if kept else None
        if found is None:
            found = self._made(group, tick or (lambda done: None))
            if kept:
                kept.write(title, **found)
        elif tick:
            tick(group.n_pairs)
        return found

    def _made(self, group: SettingGroup, tick: Ticker) -> dict[str, Any]:
        """Methods that solve pairs say how many they have solved; for the others a group counts when it is done."""
        from rwk.baselines.pair_matrix import heard_by

        told = 0

        def hear(done: int) -> None:
            nonlocal told
            done = min(done, group.n_pairs - told)
            told += done
            tick(done)

        with heard_by(hear):
            found = dict(group.estimator.settings_of(group.graphs, group.shared, fair=self.fair))
        hear(group.n_pairs)
        return found
