"""`rwk reproduce regression`: molecules with measured values, every method on the same splits.

    regression_methods   the matrices of each method, all learned with by one kind of Gaussian process
    regression_splits    20 random splits (10 of Lipophilicity), and one by scaffold
    run_method           what is missing of a method on a set: one line per split, in results/regression/
      run_split          one of these lines
    regression_table     mean ± standard error over the random splits, and the scaffold split beside it

Settings were chosen on random splits 20 to 24, which are never reported.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from rwk import __version__
from rwk.experiment.json_lines import append_line, read_entries
from rwk.experiment.regression_methods import FOREST, GAUCHE, NETWORK, REGRESSION_METHODS, MoleculeData
from rwk.experiment.regression_splits import SCAFFOLD, Split, random_split, scaffold_split
from rwk.graphs import GraphSet
from rwk.learn.exact_gp import Blocks, GpOptions, Prediction, blocks_of, fit_gp, own_of
from rwk.runtime.arrays import FloatArray
from rwk.runtime.log import LOG

MOLECULE_SETS: Final = ("FreeSolv", "ESOL", "Photoswitch", "Lipophilicity")
REPEATS: Final = {"Lipophilicity": 10}
USUAL_REPEATS: Final = 20
TREES: Final = 300
NEGLIGIBLE: Final = 1e-3  # a weight, in units of the variance of the targets
MEASURES: Final = ("rmse", "mae", "r2", "nlpd", "coverage")
Learned = tuple[Prediction, dict[str, Any]]  # predictions of the test molecules, and what was chosen


@dataclass(frozen=True)
class RegressionOptions:
    """Where things are, and how much is run; the fields mean what they mean in `reproduce.Options`."""

    folder: Path = Path("results")
    matrices: Path | None = None
    data: Path | None = None
    repeats: int | None = None
    backend: str = "auto"
    n_jobs: int | None = None
    solve_only: bool = False

    def record_file(self, dataset: str, method: str) -> Path:
        return self.folder / "regression" / f"{dataset}-{method}.jsonl"


def reproduce_regression(datasets: Sequence[str], methods: Sequence[str], options: RegressionOptions) -> str:
    """Run what is missing, and return the tables of all sets in Markdown; empty if matrices were solved only."""
    sets, chosen = list(datasets) or list(MOLECULE_SETS), [known_method(name) for name in methods]
    for name in sets:
        data = MoleculeData(name, options.data, options.matrices, options.backend, options.n_jobs)
        for method in chosen or usual_methods():
            if not options.solve_only:
                run_method(data, method, options)
            elif method.startswith("RW"):
                data.rw()
    if options.solve_only:
        return ""
    return "\n\n".join(regression_table(name, options.folder, chosen or list(REGRESSION_METHODS)) for name in sets)


def usual_methods() -> list[str]:
    """All methods that can be run here: GAUCHE only if it is installed."""
    from rwk.baselines.gauche_process import has_gauche

    return [method for method in REGRESSION_METHODS if method != GAUCHE or has_gauche()]


def known_method(name: str) -> str:
    """A method as it is spelled here; raises ValueError for an unknown one.

    >>> known_method("rw+fp")
    'RW+FP'
    """
    spelled = {method.lower(): method for method in REGRESSION_METHODS}
    if name.lower() not in spelled:
        raise ValueError(f"there is no method {name!r} for regression; the methods are {', '.join(REGRESSION_METHODS)}")
    return spelled[name.lower()]


def run_method(data: MoleculeData, method: str, options: RegressionOptions) -> None:
    """One method on one set: every split that has no record yet."""
    for kind, seed in missing_splits(data.name, method, options):
        run_split(data, method, (kind, seed), options)


def missing_splits(name: str, method: str, options: RegressionOptions) -> list[tuple[str, int]]:
    """The splits of a set that a method has no record of: their kind and seed."""
    found = read_entries(options.record_file(name, method), "record")
    done = {(entry.content["split"], entry.content["seed"]) for entry in found}
    repeats = options.repeats or REPEATS.get(name, USUAL_REPEATS)
    wanted = [("random", seed) for seed in range(repeats)] + [(SCAFFOLD, 0)]
    return [key for key in wanted if key not in done]


def run_split(data: MoleculeData, method: str, key: tuple[str, int], options: RegressionOptions) -> None:
    """Learn and predict one split, and append its record; processes may do so side by side."""
    kind, seed = key
    split = scaffold_split(data.scaffolds) if kind == SCAFFOLD else random_split(len(data.targets), seed)
    forest = partial(_forest, n_jobs=options.n_jobs)
    learners: dict[str, Callable[..., Learned]] = {FOREST: forest, NETWORK: _network, GAUCHE: _gauche}
    learner = learners.get(method, _process)
    inputs = data.inputs(method)
    start = time.perf_counter()
    found, chosen = learner(inputs, data.targets, split)
    scores = regression_scores(data.targets[split.test], found)
    line = {"split": kind, "seed": seed, "n_train": len(split.train), "n_test": len(split.test), **scores}
    header = {"rwk": "regression", "dataset": data.name, "method": method, "version": __version__, **data.about(method)}
    line |= {"seconds": round(time.perf_counter() - start, 1), "chosen": chosen}
    append_line(options.record_file(data.name, method), line, header)
    LOG.info("%s %s %s %d: RMSE %.3f", data.name, method, kind, seed, scores["rmse"])


def _process(blocks: Blocks, targets: FloatArray, split: Split) -> Learned:
    model = fit_gp(blocks_of(blocks, split.train, split.train), targets[split.train], 0.0, GpOptions())
    found = model.predict(blocks_of(blocks, split.test, split.train), own_of(blocks, split.test))
    return found, short(model.record())


def _forest(counts: FloatArray, targets: FloatArray, split: Split, *, n_jobs: int | None) -> Learned:
    """A random forest; its error bar is the error of the trees that did not see a molecule (out of bag)."""
    from sklearn.ensemble import RandomForestRegressor

    forest = RandomForestRegressor(TREES, max_features=0.33, oob_score=True, n_jobs=n_jobs, random_state=split.seed)
    forest.fit(counts[split.train], targets[split.train])
    variance = float(np.mean((forest.oob_prediction_ - targets[split.train]) ** 2))
    mean = forest.predict(counts[split.test])
    return Prediction(mean, np.full(len(mean), variance)), {}


def _network(graphs: GraphSet, targets: FloatArray, split: Split) -> Learned:
    """GIN; its error bar is the error on the molecules that it set aside for validation."""
    from rwk.baselines.neural_regressor import GINRegressor

    network = GINRegressor(random_state=split.seed).fit(graphs[split.train], targets[split.train])
    mean = network.predict(graphs[split.test])
    return Prediction(mean, np.full(len(mean), network.std_**2)), network.chosen_


def _gauche(smiles: list[str], targets: FloatArray, split: Split) -> Learned:
    from rwk.baselines.gauche_process import GaucheProcess

    process = GaucheProcess().fit([smiles[i] for i in split.train], targets[split.train])
    mean, std = process.predict([smiles[i] for i in split.test], return_std=True)
    return Prediction(mean, std**2), {}


def short(values: Mapping[str, Any]) -> dict[str, Any]:
    """A fitted process for records: three digits, and no terms whose weight is negligible.

    >>> short({"weights": {"atoms": 0.0123456, "colours": 0.00013}, "eta": {"atoms": 0.5, "colours": 1.0}})
    {'weights': {'atoms': 0.0123}, 'eta': {'atoms': 0.5}}
    """
    used = {name: weight for name, weight in values["weights"].items() if weight >= NEGLIGIBLE}
    etas = {name: eta for name, eta in values["eta"].items() if name in used}
    return {**_rounded({**values, "weights": used}), "eta": _rounded(etas)}


def _rounded(values: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _rounded(value) if isinstance(value, Mapping) else float(f"{value:.3g}") for name, value in values.items()
    }


def regression_scores(targets: FloatArray, found: Prediction) -> dict[str, float]:
    """RMSE, MAE, R², mean negative log predictive density, and the share of targets inside the 95 % interval.

    >>> one = Prediction(np.array([0.0, 0.0]), np.array([1.0, 1.0]))
    >>> regression_scores(np.array([1.0, -1.0]), one)
    {'rmse': 1.0, 'mae': 1.0, 'r2': 0.0, 'nlpd': 1.418939, 'coverage': 1.0}
    """
    errors = targets - found.mean
    density = 0.5 * np.log(2 * np.pi * found.variance) + 0.5 * errors**2 / found.variance
    scores = {
        "rmse": np.sqrt(np.mean(errors**2)),
        "mae": np.abs(errors).mean(),
        "r2": 1.0 - np.mean(errors**2) / np.var(targets),
        "nlpd": density.mean(),
        "coverage": (np.abs(errors) <= 1.959964 * np.sqrt(found.variance)).mean(),
    }
    return {name: round(float(value), 6) for name, value in scores.items()}


def regression_table(dataset: str, folder: Path, methods: Sequence[str]) -> str:
    """The figures of one set in Markdown, from records alone; a method without records has no row."""
    lines = [
        f"**{dataset}**",
        "",
        "| method | splits | RMSE | MAE | R² | NLPD | in the 95 % interval | RMSE, scaffold split |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for method in methods:
        scores = read_scores(RegressionOptions(folder).record_file(dataset, method))
        random = {name: [line[name] for line in scores if line["split"] == "random"] for name in MEASURES}
        scaffold = [line["rmse"] for line in scores if line["split"] == SCAFFOLD]
        if random["rmse"]:
            cells = [mean_and_error(random[name]) for name in MEASURES]
            last = f"{scaffold[0]:.3g}" if scaffold else ""
            lines.append(f"| {method} | {len(random['rmse'])} | {' | '.join(cells)} | {last} |")
    return "\n".join(lines)


def read_scores(path: Path) -> list[dict[str, Any]]:
    """The records of one method on one set; of a split recorded twice, the last."""
    found = {(line["split"], line["seed"]): line for _, _, line in read_entries(path, "record")}
    return [found[key] for key in sorted(found)]


def mean_and_error(values: Sequence[float]) -> str:
    """Mean ± standard error."""
    error = float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
    return f"{np.mean(values):.3f} ± {error:.3f}"
