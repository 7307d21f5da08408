"""The web server: starting it, answering what the user does, rejecting requests from elsewhere."""

from __future__ import annotations

import base64
import binascii
import logging
import socket
import threading
import webbrowser
from typing import TYPE_CHECKING, Any, Final

from rwk.explore.drawings import map_figure, pair_elements, term_rows
from rwk.explore.state import Explorer, Settings
from rwk.explore.upload import MAX_BYTES, parse_smiles, parse_upload
from rwk.explore.web_page import neighbour_items, page, term_bars
from rwk.graphs import GraphError
from rwk.runtime.log import LOG
from rwk.runtime.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from rwk.graphs import GraphSet
    from rwk.parameters import Parameters
    from rwk.runtime.arrays import FloatArray

HOST: Final = "127.0.0.1"
NAMES: Final = frozenset({"127.0.0.1", "localhost", "[::1]"})
# the page may load only what this server sends; the libraries need inline styles and one eval
POLICY: Final = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; worker-src 'self' blob:; frame-ancestors 'none'"
)


def serve(
    graphs: GraphSet,
    parameters: Parameters | None = None,
    *,
    port: int = 8050,
    browser: bool = True,
    discrepancy: FloatArray | None = None,
    say: Callable[[str], object] = LOG.warning,
) -> None:
    """Serve the page of a set of graphs on this computer until stopped.

    Parameters
    ----------
    graphs : GraphSet
        The graphs to explore.
    parameters : Parameters, optional
        Settings of the kernel; the defaults if None.
    port : int
        Port to serve on.
    browser : bool
        Whether to open the page in a browser.
    discrepancy : array of shape (n_graphs, n_graphs), optional
        The matrix of discrepancies, if it is known; computed if None.
    say : callable
        Called with the line that tells the address; by default the library's log.
    """
    _check_port(port)
    _need_dash()
    explorer = Explorer(graphs, parameters, discrepancy=discrepancy)
    explorer.warm_up()
    app = make_app(explorer)
    address = f"http://{HOST}:{port}/"
    say(f"{graphs.name} at {address} (stop with Ctrl+C)")
    if browser:
        threading.Timer(0.8, webbrowser.open, [address]).start()
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    app.run(host=HOST, port=port, debug=False)


def make_app(explorer: Explorer) -> Any:
    """The Dash application for an explorer."""
    _need_dash()
    from importlib.resources import files

    from dash import Dash

    app = Dash(
        "rwk.explore",
        assets_folder=str(files("rwk.explore").joinpath("assets")),
        serve_locally=True,
        title=f"{explorer.graphs.name} · rwk",
        update_title="",
    )
    app.enable_dev_tools(debug=False)
    first = {"a": "0", "b": explorer.neighbours("0", 1)[0].key if len(explorer.graphs) > 1 else "0", "next": "a"}
    app.layout = page(explorer, first)
    _guard(app.server)
    _choose(app, explorer)
    _draw(app, explorer)
    return app


def _guard(server: Any) -> None:
    """Answer requests to this computer's own names only (against DNS rebinding); let the page load only our files."""
    from flask import abort, request

    server.config["MAX_CONTENT_LENGTH"] = 2 * MAX_BYTES

    @server.before_request  # type: ignore[untyped-decorator]
    def only_here() -> None:
        name = request.host.rsplit(":", 1)[0] if not request.host.endswith("]") else request.host
        if name not in NAMES:
            abort(403)

    @server.after_request  # type: ignore[untyped-decorator]
    def own_parts(response: Any) -> Any:
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        return response


def _choose(app: Any, explorer: Explorer) -> None:
    """Add the callback for everything that changes which two graphs are shown."""
    from dash import ALL, Input, Output, State, ctx, no_update

    @app.callback(  # type: ignore[untyped-decorator]
        Output("chosen", "data"),
        Output("message", "children"),
        Output("message", "className"),
        Output("search", "value"),
        Input("map", "clickData"),
        Input("search", "n_submit"),
        Input({"kind": "neighbour", "key": ALL}, "n_clicks"),
        Input("swap", "n_clicks"),
        Input("upload", "contents"),
        Input("use-smiles", "n_clicks"),
        Input("smiles", "n_submit"),
        State("search", "value"),
        State("upload", "filename"),
        State("smiles", "value"),
        State("chosen", "data"),
        prevent_initial_call=True,
    )
    def choose(*given: Any) -> Any:
        click, _, near, _, contents, _, _, search, filename, smiles, chosen = given
        cause, message = ctx.triggered_id, ""
        if isinstance(cause, dict) and not any(near):  # the list was redrawn, nobody clicked
            return (no_update,) * 4
        try:
            if cause == "upload":
                name = str(filename or "upload")
                chosen, message = _uploaded(explorer, chosen, name, parse_upload(name, _decoded(contents)))
            elif cause in ("use-smiles", "smiles"):
                name = str(smiles or "")
                chosen, message = _uploaded(explorer, chosen, name[:40], parse_smiles(name))
            else:
                chosen = _clicked(explorer, chosen, cause, click, search)
        except GraphError as error:
            return no_update, str(error), "message warn", no_update
        return chosen, message, "message", ""


def _clicked(explorer: Explorer, chosen: dict[str, str], cause: Any, click: Any, search: Any) -> dict[str, str]:
    """The two chosen graphs after a click on the map, a neighbour or a button, or after a search."""
    if cause == "swap":
        return {**chosen, "a": chosen["b"], "b": chosen["a"]}
    if isinstance(cause, dict):
        return {**chosen, "b": str(cause["key"])}
    key = explorer.key_of(str(search or "").strip())
    if cause == "map":
        key = str(click["points"][0].get("customdata", chosen["a"]))
    explorer.graph(key)
    return _next(chosen, key)


def _draw(app: Any, explorer: Explorer) -> None:
    """Add the callbacks that draw the pair, the neighbours and the map."""
    from dash import Input, Output, ctx, no_update

    @app.callback(  # type: ignore[untyped-decorator]
        Output("pair", "elements"),
        Output("pair", "layout"),
        Output("pair-title", "children"),
        Output("terms", "children"),
        Output("timing", "children"),
        *[Output(f"{name}-value", "children") for name in ("beta-local", "beta-global", "entropy", "hops")],
        Input("chosen", "data"),
        *[Input(name, "value") for name in ("beta-local", "beta-global", "entropy", "hops")],
    )
    def draw(chosen: dict[str, str], *sliders: Any) -> Any:
        local, whole, entropy, hops = (float(value) for value in sliders)
        settings = Settings(local, whole, 10.0**entropy, int(hops))
        solved = explorer.solve(chosen["a"], chosen["b"], settings)
        first, second = (explorer.title(chosen[side]) for side in "ab")
        state = "converged" if solved.solution.converged else "not converged"
        timing = f"{counted(solved.solution.n_iter, 'iteration')}, {state}, {solved.milliseconds:.0f} ms"
        shown = (f"{local:.2f}", f"{whole:.2f}", f"{settings.entropy:.3f}", f"{settings.hops}")
        terms = term_bars(solved, term_rows(solved))
        # a new pair is fitted into the view; while sliders move, the user's zoom stays
        another = ctx.triggered_id in (None, "chosen")
        room = 26 if max(solved.solution.coupling.shape) > 12 else 70  # else two atoms would fill the page
        view = (
            {"name": "preset", "fit": True, "padding": room, "pair": [chosen["a"], chosen["b"]]}
            if another
            else no_update
        )
        return pair_elements(solved), view, f"{first} and {second}", terms, timing, *shown

    @app.callback(Output("neighbours", "children"), Input("chosen", "data"))  # type: ignore[untyped-decorator]
    def neighbours(chosen: dict[str, str]) -> Any:
        return neighbour_items(explorer.neighbours(chosen["a"]))

    inputs = [Input("chosen", "data")]
    if explorer.graphs.targets is not None:
        inputs.append(Input("shown-class", "value"))

    @app.callback(Output("map", "figure"), *inputs)  # type: ignore[untyped-decorator]
    def draw_map(chosen: dict[str, str], shown: str | None = None) -> Any:
        return map_figure(explorer, chosen, shown)


def _next(chosen: dict[str, str], key: str) -> dict[str, str]:
    """The chosen graphs after a click on one: clicks set the first and the second graph in turn."""
    side = chosen.get("next", "a")
    return {**chosen, side: key, "next": "b" if side == "a" else "a"}


def _uploaded(explorer: Explorer, chosen: dict[str, str], name: str, graph: Any) -> tuple[dict[str, str], str]:
    """The chosen graphs after an upload, the upload and its nearest graph, and the message to show."""
    key = explorer.add(name, graph)
    nearest = explorer.neighbours(key, 1)[0].key
    return {**chosen, "a": key, "b": nearest, "next": "b"}, f"{name}: {graph.n_nodes} nodes, {graph.n_edges} edges"


def _decoded(contents: Any) -> bytes:
    text = str(contents or "").partition(",")[2]
    if len(text) > 2 * MAX_BYTES:
        raise GraphError(f"the file is too large; give one of at most {MAX_BYTES:,} bytes")
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        raise GraphError("the file did not arrive completely; try again") from None


def _need_dash() -> None:
    try:
        import dash
        import dash_cytoscape  # noqa: F401  only to see whether it is installed
    except ImportError:
        raise ImportError("the explorer needs Dash; install it with: pip install 'rwk[explore]'") from None
    del dash


def _check_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except (OSError, OverflowError):
            raise OSError(f"port {port} can't be used; choose another with --port") from None
