"""What a browser, or someone who pretends to be one, could send to the explorer."""

from __future__ import annotations

import functools
import json
import logging
from typing import Any

import networkx as nx

import rwk
from fuzz.promise import holds
from fuzz.values import Chance

PATHS = ("/", "/_dash-layout", "/_dash-dependencies", "/_dash-update-component", "/_favicon.ico", "/_reload-hash",
         "/assets/page.js", "/assets/../server.py", "/assets/%2e%2e/server.py", "/_dash-component-suites/dash/x.js",
         "/_dash-component-suites/../../x", "/_dash-component-suites/dash/dcc/dash_core_components.js", "/no/such",
         "/_dash-component-suites/os/path.py", "//evil.example", "/?a=0&b=1", "/?a=99", "/?entropy=nan", "/%00",
         "/_dash-component-suites//", "/_dash-component-suites/dash_cytoscape/", "/_callback/x")  # fmt: skip
METHODS = ("GET", "GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "TRACE")
HOSTS = ("127.0.0.1:8050", "localhost", "[::1]:8050", "evil.example", "127.0.0.1.evil.example", "", "[", "a b", "\xff")
GOOD = (200, 204, 301, 302, 304, 308, 400, 403, 404, 405, 411, 413, 415, 429)


def make(chance: Chance) -> Any:
    """A request of any kind; most are callbacks with something wrong in one place."""
    if chance.happens(0.25):
        return {
            "path": chance.of(chance.choice(PATHS), "/" + chance.text().encode(errors="replace").decode()),
            "method": chance.choice(METHODS),
            "host": chance.choice(HOSTS[:3]) if chance.happens(0.7) else chance.choice(HOSTS),
        }
    return {"callback": chance.randrange(64), "values": [_value(chance) for _ in range(24)], "change": _change(chance)}


def _value(chance: Chance) -> Any:
    """What an input could have: None stands for what the page itself would send."""
    if chance.happens(0.7):
        return None
    return chance.of(
        chance.number,
        chance.integer,
        chance.text,
        lambda: {"a": chance.text(), "b": "1", "next": "a"},
        lambda: {"a": str(chance.integer()), "b": "u:x", "next": chance.of("a", "b", "c")},
        lambda: {"points": [{"customdata": chance.number()}]},
        lambda: [chance.number()],
        lambda: {"entropy": chance.number(), "hops": chance.number()},
        lambda: "?" + "&".join(f"{name}={chance.number()}" for name in ("a", "b", "entropy", "hops")),
        lambda: [["x.graphml"], ["data:,AAAA"]],
    )()


def _change(chance: Chance) -> Any:
    if chance.happens(0.5):
        return None
    part = chance.of("output", "outputs", "inputs", "state", "changedPropIds", "odd")
    return [part, chance.of(None, [], {}, 1, chance.text(), [1], [{}], {"id": 1}, [[]], [{"id": "x", "property": "y"}])]


def run(recipe: Any) -> None:
    """Send it; the answer is never an error of the server, and always has the headers."""
    app, browser = client()
    if "path" in recipe:
        path = "/" + recipe["path"].lstrip("/").replace("\x00", "%00")
        answer = browser.open(
            path,
            method=recipe["method"],
            headers={"Host": recipe["host"].encode("latin-1", "replace").decode("latin-1")},
        )
    else:
        body = _body(app, recipe)
        answer = browser.post("/_dash-update-component", data=json.dumps(body), content_type="application/json")
    holds(answer.status_code in GOOD, f"status {answer.status_code}")
    holds(answer.headers.get("X-Content-Type-Options") == "nosniff", "a header is missing")
    holds("default-src 'self'" in answer.headers.get("Content-Security-Policy", ""), "a header is missing")
    if answer.status_code == 200 and "callback" in recipe:
        text = answer.get_data(as_text=True)
        holds("NaN" not in text and "Infinity" not in text, "an answer is not finite")
    holds(b"Traceback" not in answer.get_data(), "a traceback is shown")


def _body(app: Any, recipe: Any) -> Any:
    """The body of a callback as the page sends it, with some of the values replaced."""
    names = [name for name, known in app.callback_map.items() if known.get("callback")]
    output = names[recipe["callback"] % len(names)]
    known = app.callback_map[output]
    given = list(recipe["values"])
    inputs = [_filled(spec, given) for spec in known["inputs"]]
    state = [_filled(spec, given) for spec in known["state"]]
    parts = output.strip(".").split("...") if output.startswith("..") else [output]
    outputs = [dict(zip(("id", "property"), part.split("@")[0].rsplit(".", 1), strict=True)) for part in parts]
    first = known["inputs"][0]
    body = {
        "output": output,
        "outputs": outputs if output.startswith("..") else outputs[0],
        "inputs": inputs,
        "state": state,
        "changedPropIds": [f"{first['id']}.{first['property']}"],
    }
    if recipe.get("change"):
        part, value = recipe["change"]
        body[part] = value
    return body


def usual_body(app: Any, output: str) -> Any:
    """The body of the callback with this output, as the page sends it."""
    names = [name for name, known in app.callback_map.items() if known.get("callback")]
    number = next(i for i, name in enumerate(names) if output in name)
    return _body(app, {"callback": number, "values": []})


def _filled(spec: Any, given: list[Any]) -> Any:
    value = given.pop() if given else None
    usual = _usual().get(f"{spec['id']}.{spec['property']}")
    if str(spec["id"]).startswith("{"):
        key = {"kind": json.loads(spec["id"])["kind"], "key": "1"}
        return [{"id": key, "property": spec["property"], "value": value}] if value is not None else []
    return {"id": spec["id"], "property": spec["property"], "value": usual if value is None else value}


@functools.cache
def _usual() -> dict[str, Any]:
    """The values that the page starts with."""
    from rwk.explore.callbacks import CONTROLS
    from rwk.explore.settings import NAMES, Settings, to_page

    start = to_page(Settings.of(rwk.Parameters()))
    found: dict[str, Any] = {
        "chosen.data": {"a": "0", "b": "1", "next": "a"},
        "settled.data": start,
        "theme.data": "light",
    }
    for name, control in zip((*NAMES, "feature_metric"), CONTROLS, strict=True):
        found[f"{control}.value"] = start[name]
    return found


@functools.cache
def client() -> Any:
    from rwk.explore.rate_limit import RateLimit
    from rwk.explore.server import make_app
    from rwk.explore.state import Explorer

    logging.disable(logging.CRITICAL)
    graphs = rwk.as_graphs([nx.path_graph(n) for n in range(2, 6)] + [nx.cycle_graph(4)], targets=[0, 1, 0, 1, 1])
    app = make_app(Explorer(graphs, rwk.Parameters(backend="cpu", n_jobs=1)), limit=RateLimit(10**9, 1e9))
    return app, app.server.test_client()
