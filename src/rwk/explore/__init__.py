"""A web page to explore a set of graphs: its map, any two graphs side by side, sliders that solve again at once.

    server          `serve`: starts the server, rejects requests from elsewhere; calls `callbacks` and `web_page`
    callbacks       what happens when the user does something; calls all the files below
    choosing        which two graphs are shown after a click, a search, an upload or a link
    request_checks  checks of what a browser sends; malformed requests are answered with 400
    rate_limit      how many requests are answered per second
    web_page        the layout of the page; assets/ has its style and what the browser does by itself
    page_parts      the parts that change with the pair: terms, neighbours, uploads, the table of the matching
    class_view      the picture of a class: its medoid beside members, as small drawings
    map_drawing     the map as a plain dictionary for the browser
    parity_drawing  measured against predicted values, likewise, if the graphs have values
    pair_drawing    two graphs and their coupling as plain dictionaries for the browser
    state           `Explorer`: the graphs, their map, neighbours, solving a pair; knows nothing of the web
    comparing       a graph compared with another, or with all, under the settings of the page; called by `state`
    map_places      where graphs are on the map; called by `state`
    settings        what the sliders set; used by all of the above
    upload          graphs from a file that a user uploads, which is not trusted

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
