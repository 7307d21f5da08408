"""Draw where RWK stands among all methods on every dataset: `python docs/draw.py standing`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib
from tables import ROOT
from tables_accuracy import accuracies

from rwk.report import new_figure

PLACE = Path(__file__).parent / "images" / "how-good.svg"
GREY, COLOUR = "#9aa0a6", "#c0392b"


def write(ax: Any, row: float, accuracy: str, rank: str, color: str) -> None:
    """Two words to the right of a row."""
    for place, word in ((1.055, accuracy), (1.085, rank)):
        aligned = "right" if word is accuracy else "left"
        ax.text(place, row, word, transform=ax.get_yaxis_transform(), ha=aligned, va="center", fontsize=9, color=color)


def main() -> None:
    scores = accuracies(ROOT)
    figure = new_figure(8.0, 4.7)
    ax = figure.subplots()
    for row, (_, by_method) in enumerate(scores.items()):
        others = {method: 100 * score for method, score in by_method.items() if method != "RWK"}
        mine = 100 * by_method["RWK"]
        ax.scatter([mine], [row], s=90, color=COLOUR)
        # in front, so that a baseline as good as RWK is not hidden
        ax.scatter(list(others.values()), [row] * len(others), s=24, color=GREY, linewidths=0.5, edgecolors="white")
        best = max(others, key=others.__getitem__)
        ax.annotate(
            best, (others[best], row), (0, 5.5), textcoords="offset points", ha="center", fontsize=7, color="#555555"
        )
        rank = 1 + sum(score > mine for score in others.values())
        write(ax, row, f"{mine:.1f}", f"{rank} of {len(by_method)}", "black")
    write(ax, -0.95, "RWK", "rank", "#555555")
    ax.set_yticks(range(len(scores)), list(scores))
    ax.invert_yaxis()
    ax.set_xlim(right=95)
    ax.set_xlabel("accuracy in percent (nested cross-validation)")
    ax.grid(axis="x", color="#eeeeee")
    ax.set_axisbelow(True)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    ax.scatter([], [], s=90, color=COLOUR, label="RWK")
    ax.scatter([], [], s=24, color=GREY, label="the sixteen baselines")
    ax.legend(loc="lower left", frameon=False)
    with matplotlib.rc_context({"svg.hashsalt": PLACE.stem}):  # so that equal records give equal files
        figure.savefig(PLACE, bbox_inches="tight", metadata={"Date": None})
    print(PLACE)


if __name__ == "__main__":
    main()
