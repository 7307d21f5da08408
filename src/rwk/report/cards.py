"""Records as small HTML cards for notebooks: plain strings that use the colours of the page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from rwk.runtime.words import counted

_CARD = (
    '<div style="display:inline-block;vertical-align:top;border:1px solid rgba(128,128,128,.35);border-radius:8px;'
    'padding:.6em .9em;margin:.2em 0;line-height:1.45;font-size:13px"><b style="font-size:14px">{title}</b>{body}</div>'
)
_ROW = (
    '<tr><td style="text-align:left;opacity:.65;padding-right:1.2em">{name}</td>'
    '<td style="text-align:left">{value}</td></tr>'
)
_BAR = (
    '<div style="background:rgba(128,128,128,.18);border-radius:3px;width:12em;height:.7em;display:inline-block">'
    '<div style="background:{colour};border-radius:3px;width:{share:.1f}%;height:100%"></div></div>'
)
LARGEST = 60  # larger couplings are not drawn


def card(title: str, *parts: str) -> str:
    """A box with a border, a title, and parts below it.

    >>> "&lt;b&gt;" in card("<b>")
    True
    """
    return _CARD.format(title=escape(title), body="".join(parts))


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """A table of names and values."""
    lines = "".join(_ROW.format(name=escape(name), value=escape(value)) for name, value in rows)
    return f'<table style="border:0;margin:.35em 0 0">{lines}</table>'


def bars(rows: Iterable[tuple[str, float]], colour: str = "#2f6db5") -> str:
    """A table of names, bars and values; the bars of negative values are red."""
    table = list(rows)
    top = max([abs(value) for _, value in table] or [1.0]) or 1.0
    lines = []
    for name, value in table:
        bar = _BAR.format(colour=colour if value >= 0 else "#c13b4a", share=100 * abs(value) / top)
        lines.append(_ROW.format(name=escape(name), value=f"{bar} {value:.4f}"))
    return f'<table style="border:0;margin:.35em 0 0">{"".join(lines)}</table>'


def grid(matrix: Sequence[Sequence[float]] | Any) -> str:
    """A matrix as a picture with one square per entry, darker for larger entries; empty if the matrix is too large.

    >>> grid([[1.0, 0.0], [0.0, 0.5]]).count("<rect")
    2
    """
    rows = [list(map(float, row)) for row in matrix]
    n, m = len(rows), len(rows[0]) if rows else 0
    if not n or not m or max(n, m) > LARGEST:
        return ""
    top = max(max(row) for row in rows) or 1.0
    squares = "".join(
        f'<rect x="{k}" y="{i}" width="1" height="1" fill-opacity="{value / top:.2f}"/>'
        for i, row in enumerate(rows)
        for k, value in enumerate(row)
        if value > 0.02 * top
    )
    size = max(3, min(8, 260 // max(n, m)))
    style = "margin:.5em 0 0;border:1px solid rgba(128,128,128,.35)"
    return (
        f'<svg viewBox="0 0 {m} {n}" width="{size * m}" height="{size * n}" fill="#2f6db5" role="img" '
        f'aria-label="coupling, {n} by {m}" style="{style}">{squares}</svg>'
    )


def solution_card(solution: Any) -> str:
    """A solved pair: the value, its terms as bars, the coupling as a picture."""
    n, m = solution.coupling.shape
    state = "converged" if solution.converged else "not converged"
    solved = f"{counted(solution.n_iter, 'iteration')}, gap {solution.gap:.2g}, {state}"
    terms = [(name.replace("_", " "), value) for name, value in solution.terms.items() if abs(value) > 5e-5]
    rows = [("nodes", f"{n} and {m}"), ("solved", solved)]
    return card(f"RW discrepancy {solution.value:.4f}", bars(terms), facts(rows), grid(solution.coupling))


def matching_card(found: Any) -> str:
    """A matching: its pairs with their confidence as bars, and what stays unmatched."""
    shown = [(f"{a} – {b}", float(sure)) for (a, b), sure in zip(found.pairs, found.confidence, strict=True)][:20]
    rows = [("edges preserved", f"{found.edges_preserved:.0%}")]
    rows += [("unmatched", ", ".join(map(str, side[:12]))) for side in found.unmatched if side]
    return card(f"Matching of {counted(len(found.pairs), 'pair')}", bars(shown), facts(rows), grid(found.coupling))


def average_card(average: Any) -> str:
    """An average graph: its size, the objective, and the discrepancy to each of its members as bars."""
    graph = average.graph
    title = f"Average of {counted(len(average.values), 'graph')}"
    fell = f"{average.history[0]:.4f} to {average.history[-1]:.4f} in {counted(len(average.history) - 1, 'round')}"
    rows = [("nodes and edges", f"{graph.n_nodes} and {graph.n_edges}"), ("objective", fell)]
    shown = [(f"graph {i}", float(value)) for i, value in enumerate(average.values[:20])]
    return card(title, facts(rows), bars(shown))


def set_card(graphs: Any) -> str:
    """A set of graphs: how many, how large, their labels and attributes, their classes."""
    fields = ("node_labels", "node_attributes", "node_weights", "edge_weights", "edge_labels", "edge_attributes")
    given = [field.replace("_", " ") for field in fields if getattr(graphs, field) is not None]
    rows = [("graphs", f"{len(graphs):,}")]
    if len(graphs):
        sizes = graphs.sizes
        rows.append(("nodes", f"{sizes.min()} to {sizes.max()}, {sizes.mean():.1f} on average"))
        rows.append(("edges", f"{graphs.n_edges.mean():.1f} on average"))
    rows.append(("carry", ", ".join(given) or "structure only"))
    if graphs.targets is not None and graphs.targets.ndim == 1 and graphs.targets.dtype.kind != "f":
        counts = Counter(graphs.targets.tolist())
        shown = [f"{label} ({counts[label]})" for label in sorted(counts, key=str)[:12]]
        rows.append(("classes", ", ".join(shown) + (" ..." if len(counts) > 12 else "")))
    return card(graphs.name, facts(rows))


def gram_card(gram: Any) -> str:
    """A matrix of discrepancies: how much of it is computed, and how many pairs converged."""
    health = gram.health
    rows = [("graphs", f"{len(gram):,}"), ("pairs solved", f"{health.n_pairs:,}")]
    if gram.n_missing:
        rows.append(("tiles missing", f"{gram.n_missing:,}; run it again to compute them"))
    share = health.n_not_converged / max(health.n_pairs, 1)
    rows.append(("not converged", f"{health.n_not_converged:,} ({share:.1%})"))
    rows.append(("iterations", f"{health.mean_iterations:.1f} on average"))
    return card("Gram matrix", facts(rows))


def neighbours_card(found: Any) -> str:
    """The nearest graphs with their discrepancies as bars, and how many pairs were solved to find them."""
    solved = f"{found.n_solved:,} of {found.n_candidates:,} pairs solved"
    if found.indices.ndim != 1:
        rows = [("queries", f"{len(found.indices):,}"), ("neighbours each", f"{found.indices.shape[1]}")]
        return card("Nearest graphs", facts([*rows, ("work", solved)]))
    titles = [f"graph {i}" for i in found.indices.tolist()] if found.names is None else found.names.tolist()
    near = zip(titles, found.values.tolist(), strict=True)
    return card("Nearest graphs", bars(near), facts([("work", solved)]))


def run_card(run: Any) -> str:
    """A run of nested cross-validation: the row of its table, and the folder of its record."""
    return card("Nested cross-validation", facts([*run.row().items(), ("record", str(run.folder))]))


def explanation_card(found: Any) -> str:
    """An explained prediction: the graphs that pull towards it and away from it, and the most important nodes."""
    pulls = [(f"{support.title} (class {support.target})", support.pull) for support in found.supports]
    nodes = ", ".join(map(str, found.top_nodes(6)))
    rows = [("margin", f"{found.margin:.3f}"), ("nodes that matter most", nodes)]
    return card(f"Predicted {found.predicted}, not {found.rival}", bars(pulls, "#e08214"), facts(rows))


def value_explanation_card(found: Any) -> str:
    """An explained value: the graphs that pull it up and down, and the nodes that differ most from the average."""
    pulls = [(f"{support.title} (value {support.target:.3g})", support.pull) for support in found.supports]
    nodes = ", ".join(f"{node} ({found.contributions[node]:+.2g})" for node in found.top_nodes(6))
    title = f"Predicted {found.predicted:.3g} ± {found.std:.2g}"
    return card(title, bars(pulls, "#e08214"), facts([("nodes that matter most", nodes)]))
