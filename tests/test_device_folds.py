"""SVMs and folds on the GPU (in Triton's interpreter) choose and predict as on the CPU."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from device_folds import CASES
from rwk.learn.treatment import treat

torch = pytest.importorskip("torch", reason="the GPU backend needs PyTorch")
pytest.importorskip("triton", reason="Triton is not installed")


@pytest.fixture(scope="module")
def compared() -> Any:
    """Run in a process of its own, since Triton decides at import whether to use its interpreter."""
    environment = {**os.environ, "TRITON_INTERPRET": "1", "RWK_GPU_DEVICE": "cpu"}
    script = Path(__file__).parent / "device_folds.py"
    done = subprocess.run([sys.executable, str(script)], env=environment, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", CASES)
def test_folds_choose_and_predict_alike(name: str, compared: Any) -> None:
    assert compared[name]["found"] == compared[name]["wanted"]


def test_svms_agree_for_every_C(compared: Any) -> None:
    paths = compared["paths"]
    assert len(paths) == 2
    for path in paths:
        assert np.max(path["coefficients"]) < 1e-6
        assert np.max(path["decisions"]) < 1e-6


@pytest.mark.parametrize("treatment", ["clip", "flip", "shift", "none"])
def test_treatments_need_no_spectrum(treatment: str) -> None:
    from rwk.learn.treatment_gpu import treat_many

    rng = np.random.default_rng(3)
    kernels = rng.normal(size=(3, 20, 20))
    kernels = kernels + kernels.transpose(0, 2, 1)
    kernels[2] = np.eye(20)  # nothing to treat
    rows = rng.normal(size=(5, 20))
    found = treat_many(torch.tensor(kernels), treatment)
    for number, kernel in enumerate(kernels):
        wanted = treat(kernel, treatment)
        np.testing.assert_allclose(found.kernels[number].numpy(), wanted.kernel, atol=1e-8)
        np.testing.assert_allclose(found.map_rows(number, torch.tensor(rows)).numpy(), wanted.map_rows(rows), atol=1e-8)


def test_out_of_memory_halves_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    from rwk.learn import search_gpu as module
    from rwk.runtime.backends import BackendError

    sizes = []
    full = torch.cuda.OutOfMemoryError("full"), RuntimeError("CUBLAS_STATUS_ALLOC_FAILED")

    class Small(module.DeviceRun):
        def __init__(self) -> None: ...

        def search(self, tasks: Any) -> Any:
            sizes.append(len(tasks))
            if len(tasks) > room:
                raise full[len(tasks) % 2]
            return [f"choice {task}" for task in tasks]

        def fit(self, tasks: Any, choices: Any) -> Any:
            return tasks

    room = 2
    assert Small()([1, 2, 3, 4, 5]) == [(f"choice {task}", task) for task in (1, 2, 3, 4, 5)]  # type: ignore[list-item, comparison-overlap]
    assert sizes == [5, 2, 3, 1, 2]
    room = 0
    with pytest.raises(BackendError, match="too large for the memory of this GPU"):
        Small()([1])  # type: ignore[list-item]


def test_folds_without_kernels_say_so_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    from rwk.experiment import nested_cv
    from rwk.runtime.backends import BackendError

    monkeypatch.setenv("RWK_GPU_DEVICE", "cpu")
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    apart = np.abs(np.subtract.outer(np.arange(20.0), np.arange(20.0)))
    with pytest.raises(BackendError, match="needs Triton"):
        nested_cv({"line": apart}, np.arange(20) >= 10, backend="gpu")
