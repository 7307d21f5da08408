"""Fused Gromov-Wasserstein with entropic directions: it has the objective of the exact solver, and values near it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from baseline_graphs import permuted
from generators import dressed
from rwk import GraphSet, as_graphs, make_folds
from rwk.baselines.fused_gw import FGW, HUGE_GRID
from rwk.experiment import read_records
from rwk.experiment.baseline_runs import BaselineMethod
from rwk.experiment.run import RunOptions, run_experiment

torch = pytest.importorskip("torch", reason="the GPU backend needs PyTorch")

SIZES = (1, 3, 4, 6, 6, 9)
NEAR = 0.05  # of the mean value
ROUNDING = 1e-5


@pytest.fixture(autouse=True)
def on_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RWK_GPU_DEVICE", "cpu")
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)


def graphs_with(features: str, sizes: tuple[int, ...] = SIZES, seed: int = 0) -> GraphSet:
    rng = np.random.default_rng(seed)
    made = []
    for number, n in enumerate(sizes):
        near = np.triu(rng.random((n, n)) < 0.4, 1) | np.eye(n, k=1, dtype=bool)
        made.append(dressed(n, np.argwhere(near), seed=number, features=features))
    return as_graphs(made)


def both_ways(graphs: GraphSet, **parameters: Any) -> tuple[Any, Any]:
    """Discrepancies with entropic directions, and the exact solver's."""
    found = FGW(backend="gpu", **parameters).fit(graphs).discrepancy()
    return found, FGW(n_jobs=1, **parameters).fit(graphs).discrepancy()


@pytest.mark.parametrize("alpha", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("features", ["labels", "attributes", "both"])
def test_values_are_near_those_of_exact_directions(alpha: float, features: str) -> None:
    found, wanted = both_ways(graphs_with(features), alpha=alpha, features=features, rounds=1)
    apart = found - wanted
    assert abs(apart.mean()) < NEAR * wanted.mean()
    # one node can only be coupled in one way, so both solvers have the same objective there
    np.testing.assert_allclose(found[0], wanted[0], rtol=ROUNDING, atol=ROUNDING)
    np.testing.assert_array_equal(found, found.T)
    assert not found.diagonal().any()


def test_values_are_never_below_the_optimum() -> None:
    """Without structure the exact solver finds the least value there is."""
    found, least = both_ways(graphs_with("both"), alpha=0.0, features="both")
    assert (found >= least - ROUNDING).all()


@pytest.mark.parametrize("alpha", [0.2, 1.0])
def test_values_are_at_most_those_of_the_product_coupling(alpha: float) -> None:
    graphs = graphs_with("labels")
    kernel = FGW(backend="gpu", alpha=alpha, rounds=1).fit(graphs)
    state, found = kernel.fitted_, kernel.discrepancy()
    for i, j in np.argwhere(np.triu(np.ones_like(found), 1)):
        mine, other = (slice(state.offsets[k], state.offsets[k + 1]) for k in (i, j))
        differ = (state.colours[:, mine, None] != state.colours[:, None, other]).mean(axis=0).mean()
        c, d = (state.distances[state.distance_offsets[k] : state.distance_offsets[k + 1]] for k in (i, j))
        start = (1 - alpha) * differ + alpha * ((c[:, None] - d) ** 2).mean()
        assert found[i, j] <= start + ROUNDING


def test_new_graphs_are_compared_alike() -> None:
    graphs = graphs_with("labels")
    kernel = FGW(backend="gpu").fit(graphs)
    np.testing.assert_allclose(kernel.discrepancy(graphs)[:, 1:][0], kernel.discrepancy()[0, 1:], rtol=1e-6)
    assert kernel.discrepancy(graphs[2:4]).shape == (2, len(graphs))


def test_nodes_may_be_numbered_anew() -> None:
    graphs = graphs_with("labels")
    found, wanted = (FGW(backend="gpu").fit(given).discrepancy() for given in (permuted(graphs), graphs))
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=ROUNDING)


def test_records_say_how_values_were_found(tmp_path: Path) -> None:
    graphs = graphs_with("labels", (3, 4, 5, 6) * 3)
    graphs = replace(graphs, name="TOY", targets=np.arange(len(graphs)) % 2)
    prepared = BaselineMethod("FGW", fair=True).prepare({"": graphs}, RunOptions(backend="gpu"))
    assert prepared.about["solver"] == "entropic directions"
    assert prepared.hardware.backend == "gpu"
    exact = BaselineMethod("FGW", fair=True).prepare({"": graphs}, RunOptions(backend="cpu"))
    assert "solver" not in exact.about
    place = RunOptions(tmp_path / "r.jsonl", n_jobs=1)
    run_experiment(BaselineMethod("FGW", fair=True), {"": graphs}, make_folds(graphs.targets, 2, 1), place)
    assert "solver" not in read_records(tmp_path / "r.jsonl")[0].protocol


def test_the_fair_grid_of_a_huge_set_is_smaller(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs = graphs_with("labels")
    assert FGW.grid_for(graphs, fair=True)["rounds"] == tuple(range(5))
    monkeypatch.setattr("rwk.baselines.fused_gw.HUGE", 10.0)
    assert FGW.grid_for(graphs, fair=True) == HUGE_GRID
    assert FGW.grid_for(graphs) == dict(FGW.grid)


SCRIPT = """
import json
from rwk.baselines import fused_gw_gpu
from rwk.baselines.fused_gw import FGW
from test_fused_gw_gpu import graphs_with
fused_gw_gpu.ROUNDS, fused_gw_gpu.MAX_ITER = (5, 5), (2, 2)
print(json.dumps(FGW(backend="gpu", features="both").fit(graphs_with("both", (3, 5, 5))).discrepancy().tolist()))
"""


def test_the_fused_kernel_takes_squared_distances_too() -> None:
    """In a process of its own, since Triton decides at import whether to use its interpreter."""
    pytest.importorskip("triton", reason="Triton is not installed")
    here = str(Path(__file__).parent)
    found = []
    for interpret in ("1", "0"):
        environment = {**os.environ, "RWK_GPU_DEVICE": "cpu", "TRITON_INTERPRET": interpret}
        environment["PYTHONPATH"] = os.pathsep.join([here, *filter(None, [os.environ.get("PYTHONPATH")])])
        done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, check=True, capture_output=True)
        found.append(json.loads(done.stdout))
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4, atol=ROUNDING)
