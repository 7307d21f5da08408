"""What the explorer's server answers to strangers: 400 to malformed requests, nothing to other sites, limits to all."""

from __future__ import annotations

import gc
import json
from typing import Any

import networkx as nx
import pytest

import rwk

pytest.importorskip("dash", reason="the page needs Dash: pip install 'rwk[explore]'")
pytest.importorskip("dash_cytoscape", reason="the page needs dash-cytoscape: pip install 'rwk[explore]'")

from rwk.explore.callbacks import CONTROLS
from rwk.explore.rate_limit import RateLimit
from rwk.explore.server import MAX_REQUEST, make_app
from rwk.explore.settings import NAMES, Settings, to_page
from rwk.explore.state import Explorer

MARKUP = "<img src=x onerror=alert(1)>"
NO_LIMIT = RateLimit(10**9, 1e9)


@pytest.fixture(scope="module")
def explorer() -> Explorer:
    networks = [nx.path_graph(n) for n in range(2, 6)] + [nx.cycle_graph(4)]
    graphs = rwk.as_graphs(
        {MARKUP if i == 0 else f"g{i}": one for i, one in enumerate(networks)}, targets=[0, 1, 0, 1, 1]
    )
    return Explorer(graphs, rwk.Parameters(backend="cpu", n_jobs=1))


@pytest.fixture(scope="module")
def app(explorer: Explorer) -> Any:
    return make_app(explorer, limit=NO_LIMIT)


def drawing(app: Any, **changes: Any) -> dict[str, Any]:
    """The body of the callback that draws the pair, as the page sends it."""
    output = next(name for name in app.callback_map if "pair.elements" in name)
    parts = output[2:-2].split("...")
    start = to_page(Settings.of(rwk.Parameters()))
    values = dict(zip(CONTROLS, [start[name] for name in (*NAMES, "feature_metric")], strict=True))
    chosen = {"id": "chosen", "property": "data", "value": {"a": "0", "b": "1", "next": "a"}}
    inputs = [{"id": name, "property": "value", "value": value} for name, value in values.items()]
    body = {
        "output": output,
        "outputs": [dict(zip(("id", "property"), part.rsplit(".", 1), strict=True)) for part in parts],
        "inputs": [chosen, *inputs],
        "changedPropIds": ["chosen.data"],
    }
    return {**body, **changes}


def sent(app: Any, body: Any, **headers: str) -> Any:
    return app.server.test_client().post("/_dash-update-component", json=body, headers=headers)


def test_what_the_page_sends_is_answered(app: Any) -> None:
    answer = sent(app, drawing(app))
    assert answer.status_code == 200, answer.text
    assert answer.json["response"]["pair"]["elements"]


@pytest.mark.parametrize(
    "changes",
    [
        {"outputs": [{"id": "x", "property": "y"}]},
        {"outputs": None},
        {"outputs": []},
        {"inputs": []},
        {"changedPropIds": 3},
        {"state": [{}]},
        {"output": ["pair.elements"]},
        {"output": "..pair.elements...no.such.."},
    ],
    ids=str,
)
def test_crafted_callbacks_get_400(app: Any, changes: dict[str, Any]) -> None:
    assert sent(app, drawing(app, **changes)).status_code == 400


@pytest.mark.parametrize("value", ["nan", float("nan"), float("inf"), 1e308, -5, True, None, [], {}, "x" * 10_000])
def test_sliders_that_no_slider_can_have_get_400(app: Any, value: Any) -> None:
    for at in range(1, 1 + len(NAMES)):
        body = drawing(app)
        body["inputs"][at]["value"] = value
        answer = sent(app, body)
        assert answer.status_code == 400, (body["inputs"][at], answer.text)
        assert len(answer.text.splitlines()) == 1


@pytest.mark.parametrize("path", ["/assets/../server.py", "/_dash-component-suites/os/path.py", "/%00", "/no/such"])
def test_odd_paths_are_never_an_error_of_the_server(app: Any, path: str) -> None:
    answer = app.server.test_client().get(path)
    assert answer.status_code < 500
    assert b"Traceback" not in answer.data
    assert b"def serve" not in answer.data


@pytest.mark.parametrize("path", ["/", "/no/such", "/_dash-update-component", "/assets/page.js"])
def test_every_answer_has_the_headers(app: Any, path: str) -> None:
    headers = app.server.test_client().get(path).headers
    assert "default-src 'self'" in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "no-referrer"


def test_other_hosts_and_other_sites_are_rejected(app: Any) -> None:
    client = app.server.test_client()
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:8050"):
        assert client.get("/", headers={"Host": host}).status_code == 403
    for host in ("127.0.0.1:8050", "localhost", "[::1]:8050"):
        assert client.get("/", headers={"Host": host}).status_code == 200
    for origin in ("https://evil.example", "null", "http://127.0.0.1.evil.example"):
        assert sent(app, drawing(app), Origin=origin).status_code == 403
    assert sent(app, drawing(app), Origin="http://127.0.0.1:8050").status_code == 200


def test_large_requests_are_rejected(app: Any) -> None:
    answer = app.server.test_client().post("/_dash-update-component", data=b" " * (MAX_REQUEST + 1))
    assert answer.status_code == 413


def test_too_many_requests_are_rejected_for_a_while(explorer: Explorer) -> None:
    now = [0.0]
    client = make_app(explorer, limit=RateLimit(3, 2.0, clock=lambda: now[0])).server.test_client()
    assert [client.get("/no/such").status_code for _ in range(4)] == [200, 200, 200, 429]
    now[0] = 1.0  # two more after a second
    assert [client.get("/no/such").status_code for _ in range(3)] == [200, 200, 429]


def test_names_with_markup_are_text_on_the_page(app: Any, explorer: Explorer) -> None:
    """The browser gets names as JSON and shows them as text; Plotly, which reads markup, gets them escaped."""
    client = app.server.test_client()
    assert MARKUP not in client.get("/").text
    for part in json.dumps(client.get("/_dash-layout").json).split('"figure"')[1:]:
        assert MARKUP not in part.split('"config"')[0]
    answer = sent(app, drawing(app)).json["response"]
    assert answer["pair-title"]["children"].startswith(MARKUP)  # the child of a component is text
    assert client.get("/_dash-layout").headers["Content-Type"].startswith("application/json")


def test_callbacks_leave_nothing_behind(app: Any) -> None:
    """What a callback keeps would add objects; `python -m fuzz --memory 5000` measures the memory itself."""

    def send(count: int, shift: float) -> int:
        for i in range(count):
            body = drawing(app)
            body["inputs"][1]["value"] = round(shift + i / 400, 6)
            assert sent(app, body).status_code == 200
        gc.collect()
        return len(gc.get_objects())

    send(8, 0.1)
    before = send(4, 0.5)
    assert send(20, 1.0) - before < 20 * 5
