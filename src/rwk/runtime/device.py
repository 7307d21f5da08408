"""The GPU: which one to use, how much fits in its memory, and clear errors if it is missing or full."""

from __future__ import annotations

import importlib.util
import os
from typing import Any, Final

from rwk.runtime.backends import BackendError
from rwk.runtime.log import LOG

# "cuda:1" selects a GPU, "cuda:0,cuda:2" several; "cpu" runs the GPU code on the CPU, for tests
DEVICE_VARIABLE: Final = "RWK_GPU_DEVICE"
# the largest share of the GPU's memory that this process may use if several processes share it, such as 0.3
SHARE_VARIABLE: Final = "RWK_GPU_SHARE"
SHARE_OF_FREE_MEMORY: Final = 0.4  # for one chunk of pairs; the allocator needs the rest
PROCESSOR_BYTES: Final = 2**28  # for one chunk if the "device" is the CPU

_announced: set[str] = set()

# errors of Triton, cuSOLVER and cuBLAS that mean that memory is full
NO_ROOM: Final = (
    "Triton Error [CUDA]: out of memory",
    "CUSOLVER_STATUS_INTERNAL_ERROR",
    "CUSOLVER_STATUS_ALLOC_FAILED",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUBLAS_STATUS_NOT_INITIALIZED",
)


def open_device() -> Any:
    """The torch device to compute on; raises `BackendError` if it is missing, and never falls back to another.

    Where there are several, it is the first of them.
    """
    return _opened(os.environ.get(DEVICE_VARIABLE, "cuda").split(",")[0])


def open_devices() -> list[Any]:
    """All devices to solve pairs on: those that `$RWK_GPU_DEVICE` lists, or all that are visible."""
    given = os.environ.get(DEVICE_VARIABLE)
    if given is not None:
        return [_opened(name) for name in given.split(",")]
    first = open_device()
    import torch

    count = torch.cuda.device_count()
    return [first] if count < 2 else [_opened(f"cuda:{number}") for number in range(count)]


def _opened(wanted: str) -> Any:
    """The device of this name."""
    if importlib.util.find_spec("torch") is None:
        raise BackendError("backend='gpu' needs PyTorch with CUDA; install it with: pip install 'rwk[gpu]'")
    import torch

    if wanted == "cpu":
        return torch.device("cpu")
    if not torch.cuda.is_available():
        reason = "was built without CUDA" if torch.version.cuda is None else "finds no CUDA device or driver"
        raise BackendError(f"backend='gpu' needs a CUDA device, and PyTorch {reason}; use backend='cpu'")
    try:
        device = torch.device(wanted)
    except RuntimeError:
        choice = "use 'cuda', 'cuda:1', 'cuda:0,cuda:1' or 'cpu'"
        raise BackendError(f"{DEVICE_VARIABLE}={wanted!r} is not a device; {choice}") from None
    share = memory_share()
    if share < 1.0:
        index = torch.cuda.current_device() if device.index is None else device.index
        torch.cuda.set_per_process_memory_fraction(share, index)
    return device


def memory_share() -> float:
    """The share of the GPU's memory that this process may use: `$RWK_GPU_SHARE`, or 1.

    >>> memory_share()
    1.0
    """
    text = os.environ.get(SHARE_VARIABLE, "1")
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0.0 < share <= 1.0:
        raise BackendError(f"{SHARE_VARIABLE}={text!r} is not a share of the GPU's memory; give a number in (0, 1]")
    return share


def device_name() -> str:
    """The name of the device."""
    import torch

    device = open_device()
    return str(torch.cuda.get_device_name(device)) if device.type == "cuda" else "processor"


def kernels_usable(device: Any) -> bool:
    """Whether Triton kernels run on the device: on a CUDA device, or in Triton's interpreter on the CPU."""
    if importlib.util.find_spec("triton") is None:
        return False
    return bool(device.type == "cuda" or os.environ.get("TRITON_INTERPRET") == "1")


def open_kernel_device() -> Any:
    """The device, if Triton kernels run on it; else raises `BackendError`."""
    device = open_device()
    if not kernels_usable(device):
        raise BackendError(
            "backend='gpu' needs Triton here; install it with: pip install 'rwk[gpu]', or use backend='cpu'"
        )
    return device


def chunk_bytes(device: Any) -> int:
    """How many bytes the matrices of one chunk of pairs may take."""
    if device.type != "cuda":
        return PROCESSOR_BYTES
    import torch

    free, total = torch.cuda.mem_get_info(device)
    reserved = torch.cuda.memory_reserved(device)
    free = min(free, max(0, int(memory_share() * total) - reserved))
    return int(SHARE_OF_FREE_MEMORY * (free + reserved - torch.cuda.memory_allocated(device)))


def announce_compiling(what: str, device: Any) -> None:
    """Say once that a kernel is compiled; later runs find it in Triton's cache."""
    if device.type == "cuda" and what not in _announced:
        _announced.add(what)
        LOG.warning("rwk is compiling the GPU kernel %s, once", what)


def is_out_of_memory(error: RuntimeError) -> bool:
    """Whether an error means that the device's memory is full; each library of torch has its own message for that.

    >>> is_out_of_memory(RuntimeError("cusolver error: CUSOLVER_STATUS_INTERNAL_ERROR, when calling ..."))
    True
    """
    import torch

    return isinstance(error, torch.cuda.OutOfMemoryError) or any(words in str(error) for words in NO_ROOM)


def no_room(what: str) -> BackendError:
    """The error for a full device memory; `what` is a subject with its verb, such as "the pair is"."""
    return BackendError(
        f"{what} too large for the memory of this GPU, or other programs use it; "
        f"use backend='cpu', or give each program a share of the memory by {SHARE_VARIABLE}"
    )
