"""RWKClassifier: graph classification that chooses its own settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf
from numbers import Integral, Real
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from rwk.convert import as_graphs
from rwk.datasets.forms import FORMS, GraphForms, grid_of, warn_complete
from rwk.discrepancy import warn_unused
from rwk.graphs import GraphSet
from rwk.kernel import RWKernel
from rwk.learn.grids import SETTINGS, for_forms, named_settings, search_grid, settings_for, title_of
from rwk.learn.rarity import learned_rarity, with_rare_nodes
from rwk.learn.search import Task, search
from rwk.learn.search_grid import Grid
from rwk.learn.setting_kernels import Matrices
from rwk.learn.svc import IndefiniteSVC
from rwk.learn.target_checks import classes_of
from rwk.parameters import Parameters
from rwk.runtime.arrays import FloatArray
from rwk.runtime.parameter_checks import check_choice, check_flag, shown
from rwk.runtime.watched import shown_progress

Numbers = float | Sequence[float]
KAPPAS: Final = (0.1, 1.0, 10.0, 100.0)


class RWKClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Graph classification with the regularized Wasserstein kernel and an SVM for indefinite kernels.

    Discrepancies are computed once per setting of the grid; setting, η, C (and κ) are then chosen by stratified inner
    folds of the training graphs.

    Parameters
    ----------
    grid : str or mapping, default "auto"
        The settings to choose from. "auto" takes those of the grid "continuous" if nodes or edges have attributes,
        otherwise those of "discrete"; both use edge labels if there are any. Or the name of a grid ("quick", "small",
        "paper", "discrete", "continuous", "full"), or a mapping from names to settings, each a mapping of
        `rwk.Parameters`. With several settings, the mean of their kernels is a candidate as well.
    forms : {"auto", "given"}, default "auto"
        How complete graphs are seen whose edges have labels and a length, such as molecules in space. "auto" sees them
        twice, as the results page does: their bonds alone, and all pairs weighted by distance; inner folds choose.
        Half of the kernels on bonds weigh nodes by how rare their surroundings are among the training graphs.
        Which label means "no bond" is learned from the training graphs, and new graphs must be of the same kind.
        "given" sees them as they are. All other graphs are always seen as they are.
    eta : float or sequence of float, optional
        Values to try for η in the kernel exp(−η D). By default (grid "paper" excepted) the kernel is the mean over
        three values, in units of the mean discrepancy of the training graphs.
    C : float or sequence of float, optional
        Values to try for the C of the SVM; by default those of the grid.
    treatment : {"clip", "proxy", "flip", "shift", "none"}, default "clip"
        What is done about negative eigenvalues (see `IndefiniteSVC`). "proxy" tries the proxy kernel with every
        `kappa` against "clip", which is κ = ∞.
    kappa : float or sequence of float, optional
        Values to try for κ with treatment "proxy"; by default 0.1, 1, 10 and 100.
    n_inner : int, default 5
        Number of inner folds.
    probability : bool, default False
        Whether to fit what `predict_proba` needs.
    backend : {"auto", "cpu", "gpu"}, default "auto"
        Where discrepancies are computed.
    n_jobs : int, optional
        Number of threads; by default all.
    random_state : int, default 0
        Seed of the inner folds and of everything else that is random.
    verbose : bool, optional
        Whether to show a progress bar; by default after five seconds, in a terminal or a notebook.

    Attributes
    ----------
    choice_ : Choice
        The chosen setting, treatment, η, C and κ, and their accuracy on the inner folds.
    settings_ : dict of Parameters
        All settings that were tried, by name; with several forms the name is "form: setting".
    forms_ : GraphForms
        In which forms graphs are seen; `forms_.of(graphs)` returns graphs in each of them.
    rarity_ : NodeRarity or None
        How rare the surroundings of atoms are, which weighs the nodes of a part of the kernels on bonds; None if graphs
        are seen as they are.
    kernels_ : dict of RWKernel
        The fitted kernels of the settings in use: the chosen one, or all if their mean was chosen.
    svc_ : IndefiniteSVC
        The fitted SVM.
    eigenvalues_, negative_share_
        Those of the chosen kernel; see `IndefiniteSVC`.
    classes_ : ndarray
        The classes.
    n_graphs_ : int
        Number of training graphs.

    Examples
    --------
    >>> from rwk.datasets.synthetic import planted_motif
    >>> graphs, _ = planted_motif(24)
    >>> classifier = RWKClassifier(grid="quick").fit(graphs[:16], graphs.targets[:16])
    >>> classifier.predict(graphs[16:]).shape, classifier.choice_.setting
    ((8,), 'default')
    """

    def __init__(
        self,
        *,
        grid: str | Mapping[str, Mapping[str, Any]] = "auto",
        forms: str = "auto",
        eta: Numbers | None = None,
        C: Numbers | None = None,
        treatment: str = "clip",
        kappa: Numbers | None = None,
        n_inner: int = 5,
        probability: bool = False,
        backend: str = "auto",
        n_jobs: int | None = None,
        random_state: int | None = 0,
        verbose: bool | None = None,
    ) -> None:
        self.grid = grid
        self.forms = forms
        self.eta = eta
        self.C = C
        self.treatment = treatment
        self.kappa = kappa
        self.n_inner = n_inner
        self.probability = probability
        self.backend = backend
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the settings and train.

        Parameters
        ----------
        X : GraphSet or anything `as_graphs` takes
            The training graphs.
        y : array-like, optional
            Their classes; by default the targets of the GraphSet.

        Returns
        -------
        RWKClassifier
            The fitted classifier.
        """
        graphs = as_graphs(X)
        check_choice("forms", self.forms, FORMS)
        self.forms_ = GraphForms.learned(graphs) if self.forms == "auto" else GraphForms()
        forms, chosen = self.forms_.of(graphs), self._settings(graphs)
        grid = for_forms(self._grid(graphs), len(forms))
        self.rarity_ = learned_rarity(forms)
        self.classes_, codes = classes_of(graphs, y)
        if len(forms) == 1:  # otherwise the lengths are used, and the bonds are a structure
            warn_unused(graphs, *chosen.values())
            warn_complete(graphs, *(setting.structure for setting in chosen.values()))
        forms = with_rare_nodes(forms, self.rarity_)
        self._form_of = {title_of(form, name): form for form in forms for name in chosen}
        settings = {title_of(form, name): setting for form in forms for name, setting in chosen.items()}
        kernels = {
            title: RWKernel(**setting.asdict(), verbose=False)._fit_silently(forms[self._form_of[title]])
            for title, setting in settings.items()
        }
        n_pairs = len(kernels) * len(graphs) * (len(graphs) + 1) // 2
        with shown_progress(self.verbose, "discrepancies", n_pairs) as tick:
            named = {name: kernel.discrepancy(tick=tick) for name, kernel in kernels.items()}
        everyone = np.arange(len(graphs))
        task = Task(everyone, everyone[:0], codes, seed=self.random_state or 0, fold=0)
        matrices = Matrices(named, "discrepancy", grid)
        choice = search(matrices, task)
        used = matrices.members(choice.setting)
        self.settings_, self.choice_, self.n_graphs_ = settings, choice, len(graphs)
        self.kernels_ = {name: kernels[name] for name in used}
        assert choice.eta is not None
        self._transforms = {
            name: matrices.transform(named[name].diagonal(), choice.eta, partial(_mean, named[name])) for name in used
        }
        self.svc_ = IndefiniteSVC(
            C=choice.C,
            treatment=choice.treatment,  # type: ignore[arg-type]
            kappa=choice.kappa,
            probability=self.probability,
            random_state=self.random_state,
        ).fit(self._kernel({name: named[name] for name in used}), self.classes_[codes])
        self.negative_share_, self.eigenvalues_ = self.svc_.negative_share_, self.svc_.eigenvalues_
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Predicted classes of graphs.

        Parameters
        ----------
        X : GraphSet or anything `as_graphs` takes
            New graphs.

        Returns
        -------
        ndarray of shape (n,)
            The predicted classes.
        """
        rows = self._rows(X)
        return self.svc_.predict(rows)

    def decision_function(self, X: Any) -> FloatArray:
        """Decision values of graphs.

        Parameters
        ----------
        X : GraphSet or anything `as_graphs` takes
            New graphs.

        Returns
        -------
        ndarray
            Of shape (n,) for two classes, positive for the second; with more classes one column per class.
        """
        rows = self._rows(X)
        return self.svc_.decision_function(rows)

    @available_if(lambda self: bool(self.probability))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """Class probabilities of graphs; only with `probability=True`.

        Parameters
        ----------
        X : GraphSet or anything `as_graphs` takes
            New graphs.

        Returns
        -------
        ndarray of shape (n, n_classes)
            The probabilities.
        """
        rows = self._rows(X)
        return np.asarray(self.svc_.predict_proba(rows))

    def _rows(self, X: Any) -> FloatArray:
        """Kernel values of new graphs with the training graphs."""
        check_is_fitted(self, "svc_")
        graphs = as_graphs(X)
        forms = with_rare_nodes(self.forms_.of(graphs), self.rarity_)
        with shown_progress(self.verbose, "discrepancies", len(self.kernels_) * len(graphs) * self.n_graphs_) as tick:
            blocks = {
                title: kernel.discrepancy(forms[self._form_of[title]], tick=tick)
                for title, kernel in self.kernels_.items()
            }
        return self._kernel(blocks)

    def _kernel(self, discrepancies: Mapping[str, FloatArray]) -> FloatArray:
        """The mean kernel of the settings in use."""
        total = sum(self._transforms[name](block) for name, block in discrepancies.items())
        return np.asarray(total) / len(discrepancies)

    def _settings(self, graphs: GraphSet) -> dict[str, Parameters]:
        given = settings_for(graphs) if self._chooses_grid() else self.grid
        return named_settings(given, self.backend, self.n_jobs, self.random_state)

    def _chooses_grid(self) -> bool:
        return isinstance(self.grid, str) and self.grid == "auto"

    def _grid(self, graphs: GraphSet) -> Grid:
        if not isinstance(self.n_inner, Integral):
            raise ValueError(f"n_inner={shown(self.n_inner)} is not a whole number; give at least two inner folds")
        check_flag("probability", self.probability)
        known = self.grid if isinstance(self.grid, str) and self.grid in SETTINGS else "own"
        grid = search_grid(grid_of(graphs) if self._chooses_grid() else known)
        if self.eta is not None:  # values of the user are compared, and multiply the discrepancy itself
            grid = replace(grid, eta=_numbers("eta", self.eta), unit="none", spread=(1.0,))
        proxy = self.treatment == "proxy"
        return replace(
            grid,
            C=grid.C if self.C is None else _numbers("C", self.C),
            treatments=("clip",) if proxy else (self.treatment,),
            kappas=(inf,) if not proxy else KAPPAS if self.kappa is None else _numbers("kappa", self.kappa),
            n_inner=self.n_inner,
        ).checked()


def _mean(matrix: FloatArray) -> float:
    return float(matrix.mean())


def _numbers(name: str, given: Numbers) -> tuple[float, ...]:
    try:
        return (float(given),) if isinstance(given, Real) else tuple(float(value) for value in given)  # type: ignore[union-attr]
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be one or more positive numbers, not {shown(given)}") from None
