"""Which pairs make a matrix, and where their values go."""

from rwk.gram.matrix import Cost, GramHealth, cross_discrepancy, estimate_cost, self_discrepancy, symmetric_discrepancy

__all__ = ["Cost", "GramHealth", "cross_discrepancy", "estimate_cost", "self_discrepancy", "symmetric_discrepancy"]
