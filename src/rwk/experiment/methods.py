"""Every method by its name in the paper: RWK with its variants and settings, and the baselines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from rwk.datasets.forms import grid_of
from rwk.experiment.baseline_runs import BaselineMethod, baseline_names
from rwk.experiment.run import Forms, Hardware, Method, Obstacle, PreparedMethod, RunOptions
from rwk.gram.health import GramHealth
from rwk.gram.kept import described
from rwk.gram.matrices import SingleMatrix, discrepancy_matrix, forget_matrix, matrix_of_starts
from rwk.graphs import GraphSet
from rwk.learn.grids import SETTINGS, for_forms, search_grid, settings_for, title_of
from rwk.learn.rarity import learned_rarity, with_rare_nodes
from rwk.learn.search_grid import Grid
from rwk.parameters import VARIANTS, Parameters
from rwk.runtime.backends import backend_name
from rwk.runtime.log import LOG
from rwk.runtime.threads import Ticker, thread_count
from rwk.transport.measures import GraphMeasures

# variants of the paper, and the sign of the degree prior as it is printed there; RWK is the settings as they are
METHODS: Final[Mapping[str, Mapping[str, Any]]] = {
    **{name: {"variant": name} for name in VARIANTS},
    "RWK": {},
    "RWK-repel": {"degree_prior": "repel"},
}
AUTO: Final = "auto"  # the grid that fits the graphs
FEWER_HOPS: Final = ("RWK-1", "RWK-0")  # variants that change hops alone


def known_method(name: str) -> str:
    """The name of a variant or baseline as the paper spells it.

    >>> known_method("rwk-1")
    'RWK-1'
    """
    names = {known.lower(): known for known in (*METHODS, *baseline_names())}
    if name.lower() not in names:
        raise ValueError(f"there is no method {name!r}; the methods are {', '.join(names.values())}")
    return names[name.lower()]


def method_of_paper(name: str, grid: str, base: Parameters, *, fair: bool = False) -> Method:
    """A method of the paper's tables: a variant of RWK on a grid of settings, or a baseline with its own (fair) grid.

    >>> method_of_paper("RWK-1", "discrete", Parameters()).name
    'RWK-1'
    """
    if name not in METHODS:
        return BaselineMethod(name, fair)
    return RwkMethod(name, settings_of(name, grid, base), search_grid(grid))


def method_of_user(
    name: str, grid: str, parameters: Parameters, graphs: GraphSet | None = None, *, fair: bool = False
) -> Method:
    """A method as `rwk classify` is asked for it: `rwk_of_user`, or a baseline with its own (fair) grid."""
    name = known_method(name)
    return rwk_of_user(name, grid, parameters, graphs) if name in METHODS else BaselineMethod(name, fair)


def rwk_of_user(name: str, grid: str, parameters: Parameters, graphs: GraphSet | None = None) -> RwkMethod:
    """RWK with all parameters as they are, or a variant, which sets its own; `variant` among them names it too.

    The grid "auto" has the settings that `RWKClassifier()` takes for the graphs, with or without edge labels. If
    another parameter of the model was changed, it is the grid "quick": these parameters alone.

    >>> rwk_of_user("RWK", "quick", Parameters(variant="NoRegs")).name
    'NoRegs'
    """
    changes: Mapping[str, Any] = {} if name == "RWK" else METHODS[name]
    named = parameters.variant or name if name == "RWK" else name
    if grid != AUTO or graphs is None or not _as_by_default(parameters):
        grid = "quick" if grid == AUTO else grid
        return RwkMethod(named, grid_settings(grid, parameters, changes), search_grid(grid))
    edges = {"wl_edge_labels": parameters.wl_edge_labels}
    settings = {name: {**values, **edges} for name, values in settings_for(graphs).items()}
    return RwkMethod(named, _changed(settings, parameters, changes), search_grid(grid_of(graphs)))


def _as_by_default(parameters: Parameters) -> bool:
    """Whether nothing was asked for but where and with which seed to run, and whether to use edge labels."""
    free = ("backend", "n_jobs", "random_state", "wl_edge_labels")
    return parameters == Parameters(**{name: getattr(parameters, name) for name in free})


def settings_of(method: str, grid: str, base: Parameters) -> dict[str, Parameters]:
    """The settings of a grid as a variant of the paper sees them.

    >>> len(settings_of("RWK-1", "discrete", Parameters())) == len(SETTINGS["discrete"])
    True
    """
    settings = grid_settings(grid, base, METHODS[method])
    for name, made in settings.items():
        if made.feature_metric == "hamming" and method in ("RWK", *FEWER_HOPS):
            raise ValueError(f"setting {name!r} compares by Hamming alone, on which hops do not act; use l2 or both")
    return settings


def grid_settings(grid: str, base: Parameters, changes: Mapping[str, Any]) -> dict[str, Parameters]:
    """The settings of a grid with the same changes made to each; of those that are equal then, the first.

    Fewer hops are for settings that have hops: transport of features alone (`hops=0`) gets none.
    """
    if grid not in SETTINGS:
        raise ValueError(f"there is no grid {grid!r}; the grids are {', '.join(SETTINGS)}")
    return _changed(SETTINGS[grid], base, changes)


def _changed(
    grid: Mapping[str, Mapping[str, Any]], base: Parameters, changes: Mapping[str, Any]
) -> dict[str, Parameters]:
    settings: dict[str, Parameters] = {}
    for name, values in grid.items():
        before = replace(base, **values)
        made = replace(before, **changes).checked()
        if changes.get("variant") in FEWER_HOPS:
            made = replace(made, hops=min(made.hops, before.hops))
        if made not in settings.values():
            settings[name] = made
    return settings


@dataclass(frozen=True, slots=True)
class RwkMethod:
    """RWK under a name: a discrepancy matrix per form and setting, and what is searched on the matrices.

    Where it runs is for the `RunOptions` to say, whatever backend and n_jobs the settings have.
    """

    name: str
    settings: Mapping[str, Parameters]
    grid: Grid
    n_starts: int = 1  # couplings to begin from; the best found counts

    def prepare(self, forms: Forms, options: RunOptions) -> PreparedMethod:
        """All matrices, each solved when it is asked for; the training folds choose between them."""
        matrices = self.matrices(forms, options)
        about = {
            "settings": {title: described(one.parameters, one.form) for title, one in matrices.items()},
            "parameters": {title: one.parameters.asdict() for title, one in matrices.items()},
        }

        def forget() -> None:
            if options.matrices is None:
                for one in matrices.values():
                    one.forget()

        grid = for_forms(self.grid, len(forms))
        return PreparedMethod(matrices, about, self.hardware(options), grid=grid, forget=forget)

    def matrices(self, forms: Forms, options: RunOptions) -> dict[str, SettingMatrix]:
        """The matrix of every form and setting, by title."""
        announce = _once(options.announce) if options.announce else None
        options = replace(options, announce=announce)
        made: dict[str, SettingMatrix] = {}
        forms = with_rare_nodes(forms, learned_rarity(forms))
        n_left = len(forms) * len(self.settings)
        for form, graphs in forms.items():
            for name, setting in self.settings.items():
                title = title_of(form, name)
                parameters = replace(setting, backend=options.backend, n_jobs=options.n_jobs)
                words = f"{graphs.name} {self.name} {title}"
                made[title] = SettingMatrix(graphs, parameters, form, words, options, n_left, self.n_starts)
                n_left -= 1
        return made

    def hardware(self, options: RunOptions) -> Hardware:
        """The folds run on what solves the pairs."""
        return Hardware(backend_name(options.backend), thread_count(options.n_jobs))

    def obstacle(self, forms: Forms) -> Obstacle | None:
        """RWK applies to all graphs."""
        return None


@dataclass(frozen=True, slots=True)
class SettingMatrix:
    """The matrix of one form and setting, read or solved when it is called for."""

    graphs: GraphSet
    parameters: Parameters
    form: str
    title: str
    options: RunOptions
    n_left: int = 1  # matrices that are still to be had, with this one
    n_starts: int = 1

    def __call__(self) -> SingleMatrix:
        if self.n_starts > 1:
            return matrix_of_starts(self.graphs, self.parameters, self.n_starts)
        matrix, health = self.solved()
        pairs, left = f"{health.n_pairs:,} pairs", f"{health.n_not_converged:,} not converged"
        LOG.info("%s: %s solved in %.1f s, %s", self.title, pairs, health.seconds, left)
        return matrix

    def solved(self) -> tuple[SingleMatrix, GramHealth]:
        """The matrix and how its solving went."""
        return discrepancy_matrix(
            self.graphs, self.parameters, form=self.form, folder=self.folder, solving=self._solving
        )

    def forget(self) -> None:
        """Remove the matrix from where it is kept."""
        if self.folder:
            forget_matrix(self.folder, self.graphs.name, self.parameters, self.form)

    @property
    def folder(self) -> Path | None:
        """Where the matrix is kept."""
        return self.options.matrices or self.options.unfinished

    @contextmanager
    def _solving(self, measures: GraphMeasures) -> Iterator[Ticker | None]:
        n_pairs = len(self.graphs) * (len(self.graphs) + 1) // 2
        if self.options.announce:
            self.options.announce(self.graphs, self.parameters, measures, self.n_left)
        with self.options.bar(self.title, n_pairs) if self.options.bar else nullcontext() as tick:
            yield tick


def _once(call: Callable[..., None]) -> Callable[..., None]:
    """A function that does its work the first time only."""
    done = False

    def first(*arguments: Any) -> None:
        nonlocal done
        if not done:
            done = True
            call(*arguments)

    return first
