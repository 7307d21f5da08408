"""The web server: starting it, and rejecting requests that are malformed or come from elsewhere."""

from __future__ import annotations

import logging
import socket
import threading
import webbrowser
from html import escape
from typing import TYPE_CHECKING, Any, Final

from rwk.explore.callbacks import add_callbacks, first_pair
from rwk.explore.rate_limit import RateLimit
from rwk.explore.request_checks import check_callback_request
from rwk.explore.state import Explorer
from rwk.explore.upload import MAX_BYTES
from rwk.explore.web_page import page
from rwk.runtime.log import LOG

if TYPE_CHECKING:
    from collections.abc import Callable

    from rwk.graphs import GraphSet
    from rwk.parameters import Parameters
    from rwk.runtime.arrays import FloatArray

HOST: Final = "127.0.0.1"
MAX_REQUEST: Final = 8 * MAX_BYTES  # a few files at once, in base64
BURST, PER_SECOND = 600, 120.0  # requests; a slider that is dragged sends some dozens per second
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


def make_app(explorer: Explorer, *, limit: RateLimit | None = None) -> Any:
    """The Dash application for an explorer; `limit` says how many requests it answers."""
    _need_dash()
    from importlib.resources import files

    from dash import Dash

    app = Dash(
        "rwk.explore",
        assets_folder=str(files("rwk.explore").joinpath("assets")),
        serve_locally=True,
        title=f"{escape(explorer.graphs.name)} · rwk",  # Dash writes it into the page as it is
        update_title="",
    )
    app.enable_dev_tools(debug=False)
    app.layout = lambda: page(explorer, first_pair(explorer))  # made again when the page is loaded again
    add_callbacks(app, explorer)
    _guard(app, limit or RateLimit(BURST, PER_SECOND))
    return app


def _guard(app: Any, limit: RateLimit) -> None:
    """Answer well-formed requests to this computer's own names only (against DNS rebinding), none from pages of other
    sites, and not too many; let the page load only our files.
    """
    from dash.exceptions import DependencyException
    from flask import abort, request
    from werkzeug.exceptions import HTTPException

    server = app.server
    server.config["MAX_CONTENT_LENGTH"] = MAX_REQUEST

    @server.before_request  # type: ignore[untyped-decorator]
    def only_here() -> None:
        if _name(request.host) not in NAMES:
            abort(403)
        origin = request.headers.get("Origin")
        if origin is not None and _name(origin.rpartition("//")[2]) not in NAMES:  # a page of another site
            abort(403)
        if not limit.allows():
            abort(429)
        if (request.content_length or 0) > MAX_REQUEST:
            abort(413)
        if request.path.endswith("/_dash-update-component") and request.method == "POST":
            check_callback_request(request.get_json(silent=True), app.callback_map)

    @server.after_request  # type: ignore[untyped-decorator]
    def own_parts(response: Any) -> Any:
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        return response

    @server.errorhandler(HTTPException)  # type: ignore[untyped-decorator]
    def one_sentence(error: Any) -> Any:
        """The page shows the text of an error, so it is plain text."""
        return str(error.description), error.code, {"Content-Type": "text/plain; charset=utf-8"}

    @server.errorhandler(DependencyException)  # type: ignore[untyped-decorator]
    def no_such_file(error: Any) -> Any:
        return "there is no such file", 404, {"Content-Type": "text/plain; charset=utf-8"}


def _name(host: str) -> str:
    """The name of a host without its port."""
    return host if host.endswith("]") else host.rsplit(":", 1)[0]


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
