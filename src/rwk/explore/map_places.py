"""Where graphs are drawn on the map, graphs that were uploaded included."""

from __future__ import annotations

from typing import Final

import numpy as np

from rwk.report.maps import dataset_map
from rwk.runtime.arrays import FloatArray

FAR: Final = 1.6  # graphs are far away from this many times the radius that holds most of them
MOST: Final = 0.95
STEPS: Final = 100


class MapPlaces:
    """Positions of graphs in the plane, near if they are similar; single graphs far from the rest are drawn nearer.

    >>> D = np.abs(np.subtract.outer(np.r_[np.arange(30.0), 400.0], np.r_[np.arange(30.0), 400.0]))
    >>> places = MapPlaces(D)
    >>> inner, outer = np.ptp(places.places[:30], axis=0).max(), np.ptp(places.places, axis=0).max()
    >>> places.n_drawn_nearer, bool(inner > 0.3 * outer)
    (1, True)
    """

    def __init__(self, discrepancy: FloatArray) -> None:
        self._own = np.diag(discrepancy).copy()
        self._places, self.likeness = dataset_map(discrepancy)
        apart = np.maximum((discrepancy + discrepancy.T) / 2 - 0.5 * (self._own[:, None] + self._own[None, :]), 0.0)
        drawn = np.linalg.norm(self._places[:, None] - self._places[None, :], axis=2)
        # units of the map per unit of discrepancy
        self._unit = float((drawn * apart).sum() / max(float((apart**2).sum()), 1e-300))
        self._centre = np.median(self._places, axis=0)
        self._radius = 1.15 * float(np.quantile(np.linalg.norm(self._places - self._centre, axis=1), MOST))
        self.places = self._nearer(self._places)
        self.n_drawn_nearer = int((np.linalg.norm(self._places - self._centre, axis=1) > FAR * self._radius).sum())

    def place(self, row: FloatArray, own: float, all_own: FloatArray | None = None) -> FloatArray:
        """The position of another graph, from its discrepancies with the graphs of the map and with itself."""
        apart = np.maximum(row - 0.5 * (own + (self._own if all_own is None else all_own)), 0.0) * self._unit
        nearest = int(np.argmin(apart))
        weights = 1.0 / np.maximum(apart, 0.05 * float(np.median(apart)) + 1e-9) ** 2
        at = self._places[nearest] + np.array([1e-3, 7e-4])
        for _ in range(STEPS):  # stress majorisation of one point
            away = at - self._places
            length = np.maximum(np.linalg.norm(away, axis=1), 1e-9)
            at = (weights[:, None] * (self._places + (apart / length)[:, None] * away)).sum(axis=0) / weights.sum()
        return np.asarray(self._nearer(at[None, :])[0])

    def _nearer(self, places: FloatArray) -> FloatArray:
        """The places with those that are far away drawn towards the rest, in the same direction and order."""
        away = places - self._centre
        length = np.linalg.norm(away, axis=1)
        edge = FAR * self._radius
        if edge <= 0:
            return places
        drawn = np.where(length > edge, edge * (1 + 0.3 * np.log(np.maximum(length / edge, 1.0))), length)
        return np.asarray(self._centre + away * (drawn / np.maximum(length, 1e-12))[:, None])
