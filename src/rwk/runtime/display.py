"""How records appear in notebooks, without importing the code that draws them.

The `_repr_html_` of a record calls `card_of`. `rwk/__init__.py` sets the module that has the cards, `rwk.report.cards`;
it is imported when the first card is shown.
"""

from __future__ import annotations

import importlib
from typing import Any

_module: list[str] = []  # at most one name


def draw_cards_with(module: str) -> None:
    """Set the module whose functions `<name>_card(record)` return HTML."""
    _module[:] = [module]


def card_of(name: str, record: Any) -> str | None:
    """The HTML card of a record; None if no module has been set, and the notebook then shows the repr."""
    if not _module:
        return None
    card: str = getattr(importlib.import_module(_module[0]), f"{name}_card")(record)
    return card
