"""The device: which one, how much fits on it, and one sentence when it is not there."""

from __future__ import annotations

import importlib.util
import os
from typing import Any, Final

from rwk.runtime.backends import BackendError
from rwk.runtime.log import LOG

# "cpu" runs the same bodies on the processor, for tests; "cuda:1" picks a card.
DEVICE_VARIABLE: Final = "RWK_GPU_DEVICE"
# the most of a card's memory that this process takes, where several share it: 0.3 of it, say
SHARE_VARIABLE: Final = "RWK_GPU_SHARE"
SHARE_OF_FREE_MEMORY: Final = 0.4  # for one chunk of pairs; the allocator needs room beside it
PROCESSOR_BYTES: Final = 2**28  # of one chunk where the "device" is the processor

_announced: set[str] = set()

# what Triton, cuSOLVER and cuBLAS answer when there is no room for what they need themselves
NO_ROOM: Final = (
    "Triton Error [CUDA]: out of memory",
    "CUSOLVER_STATUS_INTERNAL_ERROR",
    "CUSOLVER_STATUS_ALLOC_FAILED",
    "CUBLAS_STATUS_ALLOC_FAILED",
    "CUBLAS_STATUS_NOT_INITIALIZED",
)


def open_device() -> Any:
    """The torch device to compute on, or a `BackendError`; never a substitute that was not asked for."""
    if importlib.util.find_spec("torch") is None:
        raise BackendError("backend='gpu' needs PyTorch with CUDA; install it with: pip install 'rwk[gpu]'")
    import torch

    wanted = os.environ.get(DEVICE_VARIABLE, "cuda")
    if wanted == "cpu":
        return torch.device("cpu")
    if not torch.cuda.is_available():
        reason = "was built without CUDA" if torch.version.cuda is None else "finds no CUDA device or driver"
        raise BackendError(f"backend='gpu' needs a CUDA device, and PyTorch {reason}; use backend='cpu'")
    try:
        device = torch.device(wanted)
    except RuntimeError:
        raise BackendError(f"{DEVICE_VARIABLE}={wanted!r} names no device; use 'cuda', 'cuda:1' or 'cpu'") from None
    share = memory_share()
    if share < 1.0:
        card = torch.cuda.current_device() if device.index is None else device.index
        torch.cuda.set_per_process_memory_fraction(share, card)
    return device


def memory_share() -> float:
    """The share of the card's memory that this process may take; 1 where nothing else is said.

    >>> memory_share()
    1.0
    """
    text = os.environ.get(SHARE_VARIABLE, "1")
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0.0 < share <= 1.0:
        raise BackendError(f"{SHARE_VARIABLE}={text!r} is no share of a card's memory; give a number in (0, 1]")
    return share


def device_name() -> str:
    """What the device calls itself."""
    import torch

    device = open_device()
    return str(torch.cuda.get_device_name(device)) if device.type == "cuda" else "processor"


def kernels_usable(device: Any) -> bool:
    """Whether the fused kernels run there: Triton on a CUDA device, or its interpreter on the processor."""
    if importlib.util.find_spec("triton") is None:
        return False
    return bool(device.type == "cuda" or os.environ.get("TRITON_INTERPRET") == "1")


def open_kernel_device() -> Any:
    """The device, where Triton's kernels run on it; else a `BackendError`."""
    device = open_device()
    if not kernels_usable(device):
        raise BackendError(
            "folds on the GPU need Triton; install it with: pip install 'rwk[gpu]', or use backend='cpu'"
        )
    return device


def chunk_bytes(device: Any) -> int:
    """Bytes that the matrices of one chunk of pairs may take."""
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
    """Whether an error says that the device's memory is full; the libraries of torch say so in words of their own.

    >>> is_out_of_memory(RuntimeError("cusolver error: CUSOLVER_STATUS_INTERNAL_ERROR, when calling ..."))
    True
    """
    import torch

    return isinstance(error, torch.cuda.OutOfMemoryError) or any(words in str(error) for words in NO_ROOM)


def no_room(what: str) -> BackendError:
    """That the device's memory is full, and what can be done."""
    return BackendError(
        f"{what} too large for the memory of this device, or other programs hold it; "
        f"use backend='cpu', or give each program its {SHARE_VARIABLE}"
    )
