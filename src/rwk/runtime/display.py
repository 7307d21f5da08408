"""How records show themselves in a notebook, without knowing who draws them.

A record's `_repr_html_` asks here for its card by name. The facade says once which module has the cards
(`rwk.report.cards`); it is imported when the first card is shown.
"""

from __future__ import annotations

import importlib
from typing import Any

_place: list[str] = []


def draw_cards_with(module: str) -> None:
    """Name the module whose functions `<name>_card(record)` return HTML."""
    _place[:] = [module]


def card_of(name: str, record: Any) -> str | None:
    """The HTML card of a record; None, and the notebook shows its repr, where no module has been named."""
    if not _place:
        return None
    card: str = getattr(importlib.import_module(_place[0]), f"{name}_card")(record)
    return card
