"""A record of how the solving of many pairs went."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class GramHealth(NamedTuple):
    """How many pairs were solved, how many did not converge, in how many iterations and seconds."""

    n_pairs: int
    n_not_converged: int
    mean_iterations: float
    seconds: float

    @property
    def pairs_per_second(self) -> float:
        return self.n_pairs / self.seconds if self.seconds > 0 else float("inf")

    @classmethod
    def of(cls, parts: Sequence[GramHealth]) -> GramHealth:
        """The health of several parts taken together."""
        n_pairs = sum(part.n_pairs for part in parts)
        iterations = sum(part.mean_iterations * part.n_pairs for part in parts)
        return cls(
            n_pairs,
            sum(part.n_not_converged for part in parts),
            iterations / n_pairs if n_pairs else 0.0,
            sum(part.seconds for part in parts),
        )
