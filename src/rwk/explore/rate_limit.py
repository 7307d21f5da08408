"""How many requests the server answers: a burst at once, then so many per second."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class RateLimit:
    """Lets `burst` requests pass at once; after that, `per_second` of them.

    >>> limit = RateLimit(2, 10.0, clock=lambda: 0.0)
    >>> [limit.allows() for _ in range(3)]
    [True, True, False]
    """

    def __init__(self, burst: int, per_second: float, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.burst, self.per_second, self._clock = burst, per_second, clock
        self._left, self._at = float(burst), clock()
        self._lock = threading.Lock()

    def allows(self) -> bool:
        """Whether one more request is answered now."""
        with self._lock:
            now = self._clock()
            self._left = min(float(self.burst), self._left + (now - self._at) * self.per_second)
            self._at = now
            if self._left < 1.0:
                return False
            self._left -= 1.0
            return True
