"""Names of backends: what "auto" means on this computer, and the error for a backend that is missing."""

from __future__ import annotations

import importlib.util
import os
import shutil


class BackendError(RuntimeError):
    """A backend or solver that was requested but is not available."""


def backend_name(name: str) -> str:
    """The backend to use: "auto" becomes "gpu" if there is a GPU, else "cpu"; other names stay as they are."""
    if name == "auto":
        return "gpu" if device_present() else "cpu"
    return name


def device_present() -> bool:
    """Whether there are a GPU and the libraries to use it; PyTorch is imported only if there is a driver."""
    driver = os.path.exists("/proc/driver/nvidia/version") or shutil.which("nvidia-smi") is not None
    if not driver or importlib.util.find_spec("torch") is None or importlib.util.find_spec("triton") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())
