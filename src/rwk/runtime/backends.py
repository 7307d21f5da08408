"""Backends by name: what "auto" stands for here, and the error for one that is missing."""

from __future__ import annotations

import importlib.util
import os
import shutil


class BackendError(RuntimeError):
    """A backend or solver that was asked for and is not there."""


def backend_name(name: str) -> str:
    """What "auto" stands for here: the GPU where there is one, else the CPU."""
    if name == "auto":
        return "gpu" if device_present() else "cpu"
    return name


def device_present() -> bool:
    """Whether a GPU and the library to use it are there, without importing the library for a mere no."""
    driver = os.path.exists("/proc/driver/nvidia/version") or shutil.which("nvidia-smi") is not None
    if not driver or importlib.util.find_spec("torch") is None or importlib.util.find_spec("triton") is None:
        return False
    import torch

    return bool(torch.cuda.is_available())
