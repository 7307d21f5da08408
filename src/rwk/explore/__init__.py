"""A web page to explore a set of graphs: its map, any two graphs side by side, sliders that solve again at once.

    server    `serve`: starts the server, answers what the user does; calls all the files below
    state     `Explorer`: the graphs, their map, neighbours, solving a pair; knows nothing of the web
    upload    a graph from a file that a user uploads, which is not trusted
    drawings  the map and the pair as plain dictionaries for the browser
    web_page  the layout of the page

The server answers requests from this computer only, and the page loads nothing from elsewhere. Needs the extra
`explore`.
"""

from __future__ import annotations

from typing import Any

__all__ = ["serve"]


def __getattr__(name: str) -> Any:
    if name != "serve":
        raise AttributeError(f"module 'rwk.explore' has no attribute {name!r}")
    from rwk.explore.server import serve

    return serve
