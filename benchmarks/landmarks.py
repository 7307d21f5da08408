"""Accuracy against the number of landmarks: `python benchmarks/landmarks.py NCI1 --output results/landmarks.json`.

One full matrix of discrepancies is computed (or read with `--matrix`); the discrepancies to landmarks are some of its
columns. All methods use the same ten stratified outer folds, with eta and C chosen on the training folds: the full Gram
matrix with IndefiniteSVC (five inner folds), and landmarks drawn from the training fold with a linear SVM (three inner
folds), with and without mean feature vectors. The row with 0 landmarks has the mean feature vectors alone. A table is
written next to the record as Markdown. `--output RECORD --plot FILE.png` draws a record and computes nothing.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import joblib
import numpy as np
from scipy import sparse
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import LinearSVC

import rwk
from rwk.experiment import Grid, make_folds, nested_cv
from rwk.experiment.tables import markdown
from rwk.represent import represent
from rwk.retrieval.landmarks import LENGTH, Drawing, hashed_barycentres, nystroem_map
from rwk.runtime.machine import machine_record
from rwk.transport.problem import SOLVER_VERSION

FULL_ETAS = (0.5, 1.0, 2.0, 4.0)
FULL_CS = (1.0, 10.0, 100.0)
ETAS = (1.0,)
CS = (0.1, 1.0, 10.0)
TOL = 1e-3
Fold = tuple[np.ndarray, np.ndarray]


def features(D: np.ndarray, means: Any, train: np.ndarray, row: dict[str, Any], seed: int) -> dict[float, Any]:
    """Features of all graphs for every eta, from landmarks drawn from the training graphs, as in RWFeatures."""
    if not row["n_landmarks"]:
        return {1.0: means}
    inside = D[np.ix_(train, train)]
    drawing = Drawing(lambda chosen: inside[:, chosen], len(train), random_state=seed)
    landmarks = train[drawing.draw(row["selection"], row["n_landmarks"])]
    maps: dict[float, Any] = {}
    for eta in ETAS:
        columns = np.exp(-eta * D[:, landmarks])
        X = columns @ nystroem_map(columns[landmarks], TOL)[0]
        if row["barycentres"]:
            X = X - X[train].mean(axis=0)
            X *= LENGTH / np.sqrt((X[train] ** 2).sum(axis=1).mean())
            X = sparse.csr_matrix(sparse.hstack([sparse.csr_matrix(X), means]))
        maps[eta] = X
    return maps


def score_fold(D: np.ndarray, means: Any, y: np.ndarray, split: Fold, row: dict[str, Any], fold: int) -> float:
    """Test accuracy of one outer fold; eta and C are chosen on inner folds of the training graphs."""
    train, test = split
    maps = features(D, means, train, row, fold)
    inner = list(StratifiedKFold(3, shuffle=True, random_state=0).split(train, y[train]))
    right = {
        (eta, C): sum(
            (linear_svc(C, X).fit(X[train[a]], y[train[a]]).predict(X[train[b]]) == y[train[b]]).sum() for a, b in inner
        )
        for eta, X in maps.items()
        for C in CS
    }
    eta, C = max(right, key=lambda key: right[key])
    X = maps[eta]
    return float((linear_svc(C, X).fit(X[train], y[train]).predict(X[test]) == y[test]).mean())


def linear_svc(C: float, X: Any) -> LinearSVC:
    return LinearSVC(C=C, dual=sparse.issparse(X), tol=1e-3, max_iter=2000)


def plot(record: dict[str, Any], picture: Path) -> None:
    """Draw accuracy against the number of landmarks, one line per kind of features, and the full Gram as a level."""
    from rwk.report.palette import CLASSES, INK, MUTED, headline, new_axes, quiet

    axes = new_axes(6.6, 4.2)
    for (name, level), dashes in zip(record["full_gram"].items(), ("--", "-."), strict=False):
        axes.axhline(100 * level, color=INK, lw=1, ls=dashes, label=f"full Gram ({name})")
    kinds = list(dict.fromkeys((row["selection"], row["barycentres"]) for row in record["curve"] if row["n_landmarks"]))
    for colour, kind in zip(CLASSES, kinds, strict=False):
        rows = [row for row in record["curve"] if row["n_landmarks"] and (row["selection"], row["barycentres"]) == kind]
        label = f"{kind[0]}, with mean feature vectors" if kind[1] else f"{kind[0]}, landmarks alone"
        x, y = [row["n_landmarks"] for row in rows], [100 * row["accuracy"] for row in rows]
        axes.plot(x, y, marker="o", markersize=4, color=colour, label=label)
    for row in record["curve"]:
        if not row["n_landmarks"]:
            level = 100 * row["accuracy"]
            axes.axhline(level, color=MUTED, lw=1, ls=":", label="mean feature vectors alone")
    axes.set(xscale="log", xlabel="landmarks m", ylabel="accuracy, %")
    axes.set_xticks(x, [f"{m}\n{200 * m / record['n_graphs']:.2g} %" for m in x])
    axes.minorticks_off()
    quiet(axes, grid="y")
    axes.legend(fontsize=8, frameon=False, labelcolor=INK)
    title = f"{record['n_graphs']:,} graphs of {record['dataset']}"
    headline(axes, title, f"{record['protocol']}; under m: share of the full Gram's solves")
    axes.figure.savefig(picture, dpi=110, facecolor="white")


def table(record: dict[str, Any]) -> str:
    """The record as a table: one row per kind of features and number of landmarks."""
    names = {("none", True): "mean feature vectors alone"}
    rows = [["full Gram, SVM", name, "100 %", f"{100 * value:.1f}"] for name, value in record["full_gram"].items()]
    for row in record["curve"]:
        beside = ", with mean feature vectors" if row["barycentres"] else ""
        name = names.get((row["selection"], row["barycentres"]), f"landmarks by {row['selection']}{beside}")
        m = str(row["n_landmarks"]) if row["n_landmarks"] else ""
        accuracy = f"{100 * row['accuracy']:.1f} ({100 * row['deviation_over_folds']:.1f})"
        rows.append([name, m, f"{100 * row['share_of_solves']:.2g} %", accuracy])
    head = ["features", "m", "solves", "accuracy, % (deviation over folds)"]
    title = f"{record['n_graphs']:,} graphs of {record['dataset']}, {record['protocol']}; majority class "
    return f"{title}{100 * record['majority']:.1f} %.\n\n{markdown(head, rows)}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("--graphs", type=int, default=None, help="number of graphs, chosen at random")
    parser.add_argument("--landmarks", type=int, nargs="+", default=[25, 50, 100, 200, 400])
    parser.add_argument("--matrix", default=None, help="an .npy file of discrepancies")
    parser.add_argument("--treatments", nargs="+", default=["clip", "flip"], help="treatments of the full Gram matrix")
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--backend", default="cpu", help="backend of the full matrix and its folds")
    parser.add_argument("--output", type=Path, default=None)
    parser.add_argument("--plot", type=Path, default=None, help="draw the record at --output; compute nothing")
    arguments = parser.parse_args()
    if arguments.plot:
        plot(json.loads(arguments.output.read_text()), arguments.plot)
        return
    graphs = rwk.load_dataset(arguments.data)
    if arguments.graphs:
        graphs = graphs[np.random.default_rng(0).permutation(len(graphs))[: arguments.graphs]]
    y = np.asarray(graphs.targets)
    if arguments.matrix:
        D = np.load(arguments.matrix).astype(np.float64)
    else:
        D = rwk.compute_gram(graphs, memory="8GB", backend=arguments.backend).discrepancy()
    means = hashed_barycentres(represent(graphs, rwk.Parameters())[0])
    folds = make_folds(y, n_repeats=1)
    full = {}
    for treatment in arguments.treatments:
        grid = Grid(eta=FULL_ETAS, C=FULL_CS, treatments=(treatment,))
        where = {"n_jobs": arguments.jobs, "backend": arguments.backend}
        full[treatment] = nested_cv({"rwk": D}, y, folds=folds, grid=grid, **where).mean
        print(treatment, full[treatment], flush=True)
    n = len(graphs)
    rows: list[dict[str, Any]] = [{"selection": "none", "barycentres": True, "n_landmarks": 0}]
    for selection, barycentres in (("k-means++", False), ("uniform", False), ("k-means++", True)):
        rows += [{"selection": selection, "barycentres": barycentres, "n_landmarks": m} for m in arguments.landmarks]
    for row in rows:
        work = (joblib.delayed(score_fold)(D, means, y, folds.split(0, f), row, f) for f in range(folds.n_splits))
        scores = joblib.Parallel(arguments.jobs)(work)
        row["accuracy"] = round(float(np.mean(scores)), 4)
        row["deviation_over_folds"] = round(float(np.std(scores)), 4)
        row["share_of_solves"] = round(n * row["n_landmarks"] / (n * (n + 1) / 2), 4)
        print(row, flush=True)
    record = {
        "dataset": graphs.name,
        "n_graphs": n,
        "majority": round(float(np.bincount(np.unique(y, return_inverse=True)[1]).max() / n), 4),
        "protocol": "10 stratified outer folds, one repeat; eta and C by inner folds",
        "grid": {"full": {"eta": FULL_ETAS, "C": FULL_CS}, "landmarks": {"eta": ETAS, "C": CS}},
        "tol": TOL,
        "full_gram": {name: round(value, 4) for name, value in full.items()},
        "curve": rows,
        "parameters": rwk.Parameters().asdict(),
        "made_with": machine_record(SOLVER_VERSION),
    }
    if arguments.output:
        arguments.output.write_text(json.dumps(record, indent=1) + "\n")
        arguments.output.with_suffix(".md").write_text(table(record))


if __name__ == "__main__":
    main()
