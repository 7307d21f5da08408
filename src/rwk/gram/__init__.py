"""Which pairs make a matrix, and where their values go."""

from rwk.gram.matrix import GramHealth, cross_discrepancy, self_discrepancy, symmetric_discrepancy

__all__ = ["GramHealth", "cross_discrepancy", "self_discrepancy", "symmetric_discrepancy"]
