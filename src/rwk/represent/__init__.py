"""From graphs to measures: everything the solver will know of each graph."""

from rwk.represent.pipeline import learn_scale, represent

__all__ = ["learn_scale", "represent"]
