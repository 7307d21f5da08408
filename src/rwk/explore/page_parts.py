"""The parts of the page that change with the pair: terms, neighbours, uploads, and the table of the matching."""

from __future__ import annotations

from typing import Any

from rwk.explore.state import Explorer, Neighbour, SolvedPair

Components = Any
TITLES = ("node", "label", "goes to", "label", "share of its mass", "pays")


def term_bars(solved: SolvedPair, rows: list[tuple[str, str, float]]) -> list[Components]:
    """The value, and one bar per term."""
    from dash import html

    top = max([abs(value) for _, _, value in rows] or [1.0])
    bars = []
    for name, colour, value in rows:
        filled = html.I(style={"width": f"{100 * abs(value) / top:.1f}%", "backgroundColor": colour})
        parts = [html.Span(name), html.Span(filled, className="bar"), html.Span(f"{value:.3f}", className="figure")]
        bars.append(html.Div(parts, className="term"))
    return [
        html.P([html.B(f"{solved.solution.value:.3f}"), " RW discrepancy, in this order"], className="value"),
        *bars,
    ]


def neighbour_items(explorer: Explorer, neighbours: list[Neighbour]) -> list[Components]:
    """One button per neighbour, which makes it the second graph."""
    from dash import html

    if not neighbours:
        return [html.Li("There is no other graph yet. Add your own below.", className="empty")]
    return [
        html.Li(
            html.Button(
                [
                    html.Span(near.name, title=near.name),
                    html.Span(near.note or _about(explorer, near.key)),
                    html.Span(f"{near.value:.3f}"),
                ],
                id={"kind": "neighbour", "key": near.key},
                type="button",
            )
        )
        for near in neighbours
    ]


def own_items(explorer: Explorer) -> list[Components]:
    """One button per uploaded graph, newest first, which makes it the first graph."""
    from dash import html

    return [
        html.Li(
            html.Button(
                [
                    html.Span(explorer.name(key), title=explorer.name(key)),
                    html.Span(f"{explorer.graph(key).n_nodes} nodes"),
                ],
                id={"kind": "own", "key": key},
                type="button",
            )
        )
        for key in reversed(explorer.uploads)
    ]


def matching_table(rows: list[tuple[str, ...]]) -> Components:
    """The matching as a table."""
    from dash import html

    head = html.Tr([html.Th(title, scope="col") for title in TITLES])
    return html.Table([html.Thead(head), html.Tbody([html.Tr([html.Td(cell) for cell in row]) for row in rows])])


def _about(explorer: Explorer, key: str) -> str:
    if key.startswith("u:"):
        return "yours"
    target = explorer.target(key)
    return f"{'value' if explorer.continuous else 'class'} {target}" if target else ""
