"""What happens when the user does something: which callbacks the page has, and what each answers."""

from __future__ import annotations

from typing import Any, Final

from rwk.explore.choosing import ChosenGraphs, choose, first_pair
from rwk.explore.class_view import class_items
from rwk.explore.map_drawing import map_figure
from rwk.explore.page_parts import matching_table, neighbour_items, own_items, term_bars
from rwk.explore.pair_drawing import pair_elements, table_rows, term_rows
from rwk.explore.parity_drawing import parity_figure, parity_words
from rwk.explore.request_checks import chosen_of, linked_state, settings_of
from rwk.explore.settings import NAMES, Settings, to_page
from rwk.explore.state import Explorer
from rwk.explore.web_page import slider_id
from rwk.graphs import GraphError
from rwk.report.matching_table import matching_csv, matching_rows
from rwk.runtime.words import counted

__all__ = ["add_callbacks", "first_pair"]

CONTROLS: Final = (*(slider_id(name) for name in NAMES), "feature-metric")
SOLVED: Final = ("pair.elements", "pair.layout", "pair-title.children", "terms.children", "timing.children",
                 "message.children", "message.className", "matching.children", "product-sliders.hidden")  # fmt: skip


def add_callbacks(app: Any, explorer: Explorer) -> None:
    """Add all callbacks of the page."""
    _add_choosing(app, explorer)
    _add_restoring(app, explorer)
    _add_drawing(app, explorer)
    _add_neighbours(app, explorer)
    _add_map(app, explorer)
    _add_parity(app, explorer)
    _add_files(app, explorer)
    _add_browser_side(app)


def _add_choosing(app: Any, explorer: Explorer) -> None:
    """Everything that changes which two graphs are shown."""
    from dash import ALL, Input, Output, State, ctx, no_update

    @app.callback(  # type: ignore[untyped-decorator]
        Output("chosen", "data"),
        Output("search-message", "children"),
        Output("search-message", "className"),
        Output("upload-message", "children"),
        Output("upload-message", "className"),
        Output("search", "value"),
        Output("own-graphs", "children"),
        Input("url", "search"),
        Input("map", "clickData"),
        Input("map-key", "data"),
        Input("search", "n_submit"),
        Input({"kind": "neighbour", "key": ALL}, "n_clicks"),
        Input({"kind": "own", "key": ALL}, "n_clicks"),
        Input("swap", "n_clicks"),
        Input("reset", "n_clicks"),
        Input("upload", "contents"),
        Input("use-smiles", "n_clicks"),
        Input("smiles", "n_submit"),
        Input("member-click", "data"),
        State("search", "value"),
        State("upload", "filename"),
        State("smiles", "value"),
        State("settled", "data"),
        State("chosen", "data"),
    )
    def answer(query: Any, click: Any, key: Any, *given: Any) -> Any:
        contents, search, names, smiles, settled, chosen = given[5], *given[9:]
        cause = ctx.triggered_id
        if isinstance(cause, dict) and not ctx.triggered[0]["value"]:  # a list was redrawn, nobody clicked
            return (no_update,) * 7
        if cause == "member-click" and isinstance(given[8], dict):
            cause = {"kind": "member", "key": given[8].get("key")}
        values = {"query": query, "click": click, "key": key, "search": search, "files": (names, contents)}
        if cause in (None, "member-click") or (cause == "map-key" and key is None):  # the page was opened
            cause = "url"
        values |= {"smiles": smiles, "settings": settings_of(explorer, settled)}
        found = choose(explorer, chosen_of(chosen), cause, values)
        return _answer(explorer, found, no_update, searched=cause == "search")


def _answer(explorer: Explorer, found: ChosenGraphs, same: Any, *, searched: bool) -> Any:
    """The outputs of `answer`: an error is shown beside what caused it, and the graphs stay as they were.

    The field of the search is emptied after a search alone: somebody may be typing while another answer is on its way.
    """
    tone = "message warn" if found.error else "message"
    said = found.error or found.words
    search, upload = ("", said) if found.where == "upload" else (said, "")
    return (
        same if found.error else found.chosen,
        search,
        tone if found.where == "search" else "message",
        upload,
        tone if found.where == "upload" else "message",
        "" if searched and not found.error else same,
        own_items(explorer),
    )


def _add_restoring(app: Any, explorer: Explorer) -> None:
    """Sliders as a link or the button Reset says."""
    from dash import Input, Output, ctx, no_update

    @app.callback(  # type: ignore[untyped-decorator]
        *[Output(name, "value") for name in CONTROLS], Input("url", "search"), Input("reset", "n_clicks")
    )
    def restore(query: Any, _: Any) -> Any:
        wanted = to_page(explorer.start)
        if ctx.triggered_id != "reset":
            if not query:
                return (no_update,) * len(CONTROLS)
            try:
                wanted = linked_state(explorer, str(query))[1]
            except GraphError:  # `answer` says what is wrong
                return (no_update,) * len(CONTROLS)
        return tuple(wanted[name] for name in (*NAMES, "feature_metric"))


def _add_drawing(app: Any, explorer: Explorer) -> None:
    """The pair, its terms and its matching."""
    from dash import Input, Output, ctx, no_update

    @app.callback(  # type: ignore[untyped-decorator]
        *[Output(*name.split(".")) for name in SOLVED],
        *[Output(f"{slider_id(name)}-value", "children") for name in NAMES],
        Input("chosen", "data"),
        *[Input(name, "value") for name in CONTROLS],
    )
    def draw(chosen: Any, *values: Any) -> Any:
        chosen, settings = chosen_of(chosen), _settings(explorer, values)
        figures = _figures(settings)
        try:
            solved = explorer.solve(chosen["a"], chosen["b"], settings)
        except (GraphError, ValueError) as error:
            return *(no_update,) * 5, str(error), "message warn", *(no_update,) * 2, *figures
        state = "converged" if solved.solution.converged else "not converged"
        timing = f"{counted(solved.solution.n_iter, 'iteration')}, {state}, {solved.milliseconds:.0f} ms"
        # a new pair is fitted into the view; while sliders move, the user's zoom stays
        another = ctx.triggered_id in (None, "chosen")
        room = 26 if max(solved.solution.coupling.shape) > 12 else 70  # else two atoms would fill the page
        view = {"name": "preset", "fit": True, "padding": room, "pair": [chosen["a"], chosen["b"]]}
        return (
            pair_elements(solved),
            view if another else no_update,
            f"{explorer.title(chosen['a'])} and {explorer.title(chosen['b'])}",
            term_bars(solved, term_rows(solved)),
            timing,
            f"{solved.note[:1].upper()}{solved.note[1:]}.".removeprefix("."),
            "message",
            matching_table(table_rows(solved)),
            settings.feature_metric != "product",
            *figures,
        )


def _add_neighbours(app: Any, explorer: Explorer) -> None:
    from dash import Input, Output, ctx

    @app.callback(  # type: ignore[untyped-decorator]
        Output("neighbours", "children"),
        Output("neighbours-title", "children"),
        Output("neighbours-hint", "children"),
        Output("neighbours-hint", "className"),
        Input("chosen", "data"),
        Input("settled", "data"),
        Input("compare-again", "n_clicks"),
    )
    def neighbours(chosen: Any, settled: Any, _: Any) -> Any:
        chosen, settings = chosen_of(chosen), settings_of(explorer, settled)
        follow = explorer.follows or ctx.triggered_id == "compare-again"
        used = settings if follow else explorer.start
        try:
            near = explorer.neighbours(chosen["a"], settings=used)
        except (GraphError, ValueError) as error:
            return [], "Nearest", str(error), "hint warn"
        when = "they are" if used == settings else "at the start"
        words = f"Compared with the sliders as {when}; the order of the two graphs does not matter here."
        return neighbour_items(explorer, near), f"Nearest to {explorer.name(chosen['a'])}", words, "hint"


def _add_map(app: Any, explorer: Explorer) -> None:
    from dash import ALL, Input, Output, ctx, no_update

    inputs = [Input("chosen", "data"), Input("theme", "data")]
    if explorer.graphs.targets is not None and not explorer.continuous:
        inputs.append(Input("shown-class", "value"))

        @app.callback(  # type: ignore[untyped-decorator]
            Output("class-graphs", "children"), Output("class-hint", "children"), Input("shown-class", "value")
        )
        def draw_class(shown: Any) -> Any:
            items = class_items(explorer, str(shown or "")[:200])
            words = "Its medoid, the graph nearest to all of the class, and the members nearest to that."
            return items, words if items else "Choose a class above to see a typical graph and some members."

        # by way of a store: the answer to an upload would be dropped if drawing a class asked for the next answer
        @app.callback(  # type: ignore[untyped-decorator]
            Output("member-click", "data"),
            Input({"kind": "member", "key": ALL}, "n_clicks"),
            prevent_initial_call=True,
        )
        def click_member(clicks: Any) -> Any:
            if not isinstance(ctx.triggered_id, dict) or not ctx.triggered[0]["value"]:
                return no_update
            return {"key": str(ctx.triggered_id.get("key")), "clicks": sum(filter(None, clicks))}

    @app.callback(Output("map", "figure"), *inputs)  # type: ignore[untyped-decorator]
    def draw_map(chosen: Any, theme: Any, shown: Any = None) -> Any:
        return map_figure(explorer, chosen_of(chosen), shown, "dark" if theme == "dark" else "light")


def _add_parity(app: Any, explorer: Explorer) -> None:
    """Measured against predicted values, if graphs have values."""
    from dash import Input, Output, State

    if not explorer.continuous:
        return

    @app.callback(  # type: ignore[untyped-decorator]
        Output("parity", "figure"),
        Output("parity-words", "children"),
        Output("parity-box", "hidden"),
        Input("parity-draw", "n_clicks"),
        State("theme", "data"),
        prevent_initial_call=True,
    )
    def draw_parity(_: Any, theme: Any) -> Any:
        figure = parity_figure(explorer, "dark" if theme == "dark" else "light")
        return figure, parity_words(explorer), not figure["data"]


def _add_files(app: Any, explorer: Explorer) -> None:
    from dash import Input, Output, State

    @app.callback(  # type: ignore[untyped-decorator]
        Output("file", "data"),
        Output("message", "children", allow_duplicate=True),
        Output("message", "className", allow_duplicate=True),
        Input("pair-csv", "n_clicks"),
        State("chosen", "data"),
        *[State(name, "value") for name in CONTROLS],
        prevent_initial_call=True,
    )
    def matching_file(_: Any, chosen: Any, *values: Any) -> Any:
        chosen, settings = chosen_of(chosen), _settings(explorer, values)
        try:
            solved = explorer.solve(chosen["a"], chosen["b"], settings)
        except (GraphError, ValueError) as error:
            return None, str(error), "message warn"
        text = matching_csv(matching_rows(solved.first, solved.second, solved.solution))
        return {"content": text, "filename": "matching.csv", "type": "text/csv"}, "", "message"


def _add_browser_side(app: Any) -> None:
    """What the browser does without asking the server; the functions are in assets/page.js."""
    from dash import ClientsideFunction, Input, Output, State

    def here(name: str, *parts: Any, **more: Any) -> None:
        app.clientside_callback(ClientsideFunction("explorer", name), *parts, **more)

    controls = [Input(name, "value") for name in CONTROLS]
    here("settle", Output("settled", "data"), *controls, prevent_initial_call=True)
    here("address", Output("copy-link", "title"), Input("chosen", "data"), *controls, State("start", "data"))
    here("theme", Output("theme", "data"), Input("url", "search"))
    here("style", Output("pair", "stylesheet"), Input("theme", "data"), State("styles", "data"))
    here("fit", Output("reset", "n_clicks"), Input("reset", "n_clicks"), prevent_initial_call=True)
    here("copyLink", Output("copy-link", "n_clicks"), Input("copy-link", "n_clicks"), prevent_initial_call=True)
    here("mapPicture", Output("map-png", "n_clicks"), Input("map-png", "n_clicks"), prevent_initial_call=True)
    here("pairPicture", Output("pair-png", "n_clicks"), Input("pair-png", "n_clicks"), prevent_initial_call=True)
    here("closeToast", Output("toast-close", "n_clicks"), Input("toast-close", "n_clicks"), prevent_initial_call=True)


def _settings(explorer: Explorer, values: tuple[Any, ...]) -> Settings:
    """The settings from the values of `CONTROLS`."""
    numbers = [_number(value) for value in values[:-1]]
    return settings_of(explorer, dict(zip((*NAMES, "feature_metric"), [*numbers, values[-1]], strict=True)))


def _number(value: Any) -> Any:
    """A range input may send its value as text."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


def _figures(settings: Settings) -> tuple[str, ...]:
    """The values beside the sliders."""
    formats = {"entropy": ".3f", "hops": "d"}
    return tuple(format(getattr(settings, name), formats.get(name, ".2f")) for name in NAMES)
