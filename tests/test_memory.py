"""Memory that is handed back to the system."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

import numpy as np
import pytest

from rwk.runtime.memory import return_free_memory

STATUS = Path("/proc/self/statm")


def resident_megabytes() -> float:
    return int(STATUS.read_text().split()[1]) * 4096 / 2**20


@pytest.mark.skipif(
    sys.platform != "linux" or not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="the C library is not glibc"
)
def test_freed_memory_below_a_block_in_use_is_returned() -> None:
    arrays = [np.ones(4096) for _ in range(4000)]  # 125 MB in blocks that glibc does not map one by one
    highest = arrays[-1]
    del arrays
    before = resident_megabytes()
    return_free_memory()
    assert before - resident_megabytes() > 80
    assert highest.sum() == 4096


def test_systems_without_malloc_trim_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: object())
    assert return_free_memory() is None
