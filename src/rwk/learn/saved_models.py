"""A fitted Gaussian process in one file without pickle: arrays, and a header in JSON that names the version.

The file holds the training graphs (or the landmarks), from which the kernels are fitted again (they learn scales only),
and the solved covariance. A file of another version is refused: its kernels might differ.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from rwk import __version__
from rwk.graphs import GraphSet
from rwk.learn.exact_gp import FittedGP
from rwk.learn.gaussian_process import RWKGaussianProcess
from rwk.learn.landmark_gp import LandmarkGP
from rwk.learn.likelihood import Hyperparameters
from rwk.learn.term_sources import TermSources
from rwk.runtime.files import is_there, load_arrays, write_arrays
from rwk.transport.problem import SOLVER_VERSION

KIND: Final = "rwk regression model"
_WRONG: Final = "{} is damaged, or is not a saved regression model; make one with rwk regress, or save_model"
_ARRAYS: Final = ("coefficients", "factor", "removed")
_LANDMARK_ARRAYS: Final = ("map", "coefficients", "factor")
_LANDMARK_NUMBERS: Final = ("noise", "criterion", "target_mean", "target_std")


def save_model(process: RWKGaussianProcess, path: str | os.PathLike[str]) -> Path:
    """Write a fitted process.

    Parameters
    ----------
    process : RWKGaussianProcess
        The fitted process, with method "exact" or "landmarks".
    path : path
        Name of the file, ending in `.npz`.

    Returns
    -------
    Path
        The file.
    """
    model = process.model_
    if not isinstance(model, FittedGP | LandmarkGP):
        raise ValueError("a process with method='features' can't be saved; fit it with method='landmarks', or 'exact'")
    exact = model.exact if isinstance(model, LandmarkGP) else model
    sources = process.sources_
    graphs = sources.graphs
    arrays = {f"graphs_{f.name}": getattr(graphs, f.name) for f in fields(graphs) if _is_array(graphs, f.name)}
    if sources.counts is not None:
        arrays["counts"] = sources.counts.astype(np.float32)
    head = {
        "kind": KIND,
        "version": __version__,
        "solver": SOLVER_VERSION,
        "settings": {name: setting.asdict() for name, setting in sources.options.settings.items()},
        "estimator": {name: value for name, value in process.get_params().items() if name not in ("settings", "alpha")},
        "graphs": {"name": graphs.name, "names": graphs.names, "label_names": _text_keys(graphs.label_names)},
        "model": {name: value for name, value in asdict(exact).items() if name not in _ARRAYS},
    }
    for name in _ARRAYS:
        arrays[name] = getattr(exact, name)
    if isinstance(model, LandmarkGP):
        head["landmarks"] = {name: getattr(model, name) for name in _LANDMARK_NUMBERS}
        arrays |= {f"landmark_{name}": getattr(model, name) for name in _LANDMARK_ARRAYS}
        arrays["landmarks"] = process.landmarks_
    return write_arrays(path, head=np.array(json.dumps(head)), targets=process.targets_, **arrays)


def load_model(path: str | os.PathLike[str]) -> RWKGaussianProcess:
    """Read what `save_model` wrote.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    RWKGaussianProcess
        The fitted process; its predictions are those of the saved one.
    """
    found, head = _read(path)
    for name, ours in (("version", __version__), ("solver", SOLVER_VERSION)):
        if head[name] != ours:
            raise ValueError(
                f"{path} was made by {name} {head[name]} of rwk and this is {ours}; fit the model again, or install "
                "that one"
            )
    try:
        return _loaded(found, head)
    except (KeyError, TypeError, IndexError) as error:
        raise ValueError(_WRONG.format(path)) from error


def _loaded(found: dict[str, Any], head: dict[str, Any]) -> RWKGaussianProcess:
    """The process that a file of this version holds."""
    estimator = head["estimator"]
    process = RWKGaussianProcess(settings=head["settings"], **estimator)
    known = {name.removeprefix("graphs_"): value for name, value in found.items() if name.startswith("graphs_")}
    about = head["graphs"]
    names = None if about["names"] is None else tuple(about["names"])
    labels = None if about["label_names"] is None else {int(code): text for code, text in about["label_names"].items()}
    graphs = GraphSet(**known, name=about["name"], names=names, label_names=labels)
    process.sources_ = _sources(process, graphs, found.get("counts"))
    plain = head["model"]
    chosen = Hyperparameters(tuple(plain["chosen"][0]), tuple(plain["chosen"][1]), float(plain["chosen"][2]))
    lists = {name: tuple(plain[name]) for name in ("names", "units", "etas_used", "starts")}
    exact = FittedGP(**{**plain, **lists, "chosen": chosen}, **{name: found[name] for name in _ARRAYS})
    process.model_, process.method_ = exact, "exact"
    if "landmarks" in head:
        arrays = {name: found[f"landmark_{name}"] for name in _LANDMARK_ARRAYS}
        process.model_, process.method_ = LandmarkGP(exact=exact, **arrays, **head["landmarks"]), "landmarks"
        process.landmarks_ = found["landmarks"]
    process.targets_ = found["targets"]
    process.negative_share_, process.n_graphs_ = exact.negative_share, len(process.targets_)
    return process


def _sources(process: RWKGaussianProcess, graphs: GraphSet, counts: Any) -> TermSources:
    """The sources of the terms, fitted again to the training graphs, with the fingerprints that were saved."""
    terms = process._terms()
    made = TermSources.of(replace(terms, fingerprints=None), graphs, graphs)
    return replace(made, options=terms, counts=None if counts is None else np.asarray(counts, np.float64))


def _read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays and the header of a file; raises ValueError if it is no model, or is damaged."""
    if not is_there(path):
        raise ValueError(f"there is no file {path}; make a model with rwk regress, or save_model")
    try:
        found = load_arrays(path)
        head: dict[str, Any] = json.loads(str(found["head"]))
        known = head["kind"] == KIND
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(_WRONG.format(path)) from error
    if not known:
        raise ValueError(_WRONG.format(path))
    return found, head


def _is_array(graphs: GraphSet, name: str) -> bool:
    return isinstance(getattr(graphs, name), np.ndarray)


def _text_keys(names: Any) -> dict[str, str] | None:
    return None if names is None else {str(code): text for code, text in names.items()}
