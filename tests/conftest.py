"""With NUMBA_DISABLE_JIT=1, what is compiled otherwise runs as Python in every test."""

from __future__ import annotations

from numba import config

if config.DISABLE_JIT:
    from plain_vectors import use_plain_vectors

    use_plain_vectors()
