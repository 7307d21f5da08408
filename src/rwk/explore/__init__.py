"""A page to explore a set of graphs: its map, any two graphs side by side, sliders that solve again at once.

    state     what the page knows: graphs, map, neighbours, solving (no web in it)
    upload    a user's own graph from untrusted bytes
    drawings  the map and the pair as plain dictionaries for the browser
    page      what stands where
    server    callbacks, safety, serving

The server answers this machine only and everything it sends is its own. Needs the extra `explore`.
"""

from __future__ import annotations

from typing import Any

__all__ = ["serve"]


def __getattr__(name: str) -> Any:
    if name != "serve":
        raise AttributeError(f"module 'rwk.explore' has no attribute {name!r}")
    from rwk.explore.server import serve

    return serve
