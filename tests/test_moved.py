"""Old import paths still work: they warn, and give the same objects as the new paths."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

import rwk
from rwk.runtime.moved import MOVED, redirect_old_imports

# the paths that the reference and the examples of version 0.1 used
DOCUMENTED = {
    "rwk.discrepancy": "align pairwise_discrepancy",
    "rwk.neighbours": "nearest",
    "rwk.transport.problem": "PairSolution",
    "rwk.kernel": "RWKernel",
    "rwk.classifier": "RWKClassifier",
    "rwk.svm": "IndefiniteSVC",
    "rwk.landmarks": "RWFeatures",
    "rwk.explain": "explain Explanation",
    "rwk.convert.recognise": "as_graphs",
    "rwk.datasets.load": "load_dataset",
    "rwk.datasets.planted": "planted_motif MOTIF_SIZE",
    "rwk.graphs": "Graph GraphSet",
    "rwk.features": "wl_colours",
    "rwk.parameters": "Parameters",
    "rwk.gram.compute": "compute_gram",
    "rwk.gram.reading": "Gram",
    "rwk.experiment.folds": "make_folds",
    "rwk.experiment.protocol": "nested_cv",
    "rwk.experiment.statistics": "corrected_t_test average_ranks",
    "rwk.baselines.registry": "get describe",
    "rwk.report.alignment": "plot_alignment plot_terms",
    "rwk.report.drawing": "plot_graph",
    "rwk.report.kernels": "plot_kernel",
    "rwk.report.maps": "plot_map plot_spectrum",
    "rwk.report.curves": "plot_convergence plot_accuracy plot_ablation plot_runtime plot_scaling",
    "rwk.report.ranks": "plot_ranks",
    "rwk.report.explained": "plot_explanation",
    "rwk.report.commands": "write_report",
}


@pytest.fixture(autouse=True)
def _not_imported() -> Iterator[None]:
    """Each test imports the old modules anew."""
    _forget()
    yield
    _forget()


def _forget() -> None:
    for old in MOVED:
        module, (parent, _, name) = sys.modules.pop(old, None), old.rpartition(".")
        if module is not None and vars(sys.modules[parent]).get(name) is module:
            delattr(sys.modules[parent], name)


def import_quietly(module: str) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return importlib.import_module(module)


@pytest.mark.parametrize("old", MOVED)
def test_an_old_path_warns_and_gives_the_same_objects(old: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"^{old} has moved; import from {MOVED[old]}$"):
        found = importlib.import_module(old)
    present = importlib.import_module(MOVED[old])
    names = [name for name in vars(present) if not name.startswith("__")]
    assert names
    for name in names:
        assert getattr(found, name) is getattr(present, name)
    assert present.__name__ == present.__spec__.name == MOVED[old]  # type: ignore[union-attr]


@pytest.mark.parametrize("old", MOVED)
def test_no_module_is_left_at_an_old_path(old: str) -> None:
    parent = importlib.import_module(old.rpartition(".")[0])
    others = [finder for finder in sys.meta_path if type(finder).__name__ != "_Redirect"]
    assert all(finder.find_spec(old, parent.__path__, None) is None for finder in others)


@pytest.mark.parametrize("path", [f"{module}.{name}" for module, names in DOCUMENTED.items() for name in names.split()])
def test_documented_paths_of_public_names_still_work(path: str) -> None:
    module, _, name = path.rpartition(".")
    found = getattr(import_quietly(module), name)
    for facade in (rwk, importlib.import_module("rwk.report"), importlib.import_module("rwk.experiment")):
        if name in facade.__all__:
            assert found is getattr(facade, name)


def test_names_that_were_imported_from_old_paths_are_the_public_ones() -> None:
    with pytest.warns(DeprecationWarning, match=r"import from rwk\.learn\.svc") as caught:
        from rwk.svm import IndefiniteSVC
    assert IndefiniteSVC is rwk.IndefiniteSVC
    assert caught[0].filename == __file__  # the warning shows the line of the user
    with pytest.warns(DeprecationWarning, match="has moved"):
        from rwk import neighbours
    assert neighbours.nearest is rwk.nearest


def test_only_moved_modules_are_redirected() -> None:
    redirect_old_imports()
    assert sum(type(finder).__name__ == "_Redirect" for finder in sys.meta_path) == 1
    with pytest.raises(ModuleNotFoundError, match=r"rwk\.nowhere"):
        importlib.import_module("rwk.nowhere")
