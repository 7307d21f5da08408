"""Checks of what a browser sends before any callback sees it: a malformed request is answered with 400."""

from __future__ import annotations

from typing import Any, NoReturn
from urllib.parse import parse_qs

from rwk.explore.settings import SLIDERS, Settings, to_page
from rwk.explore.state import Explorer
from rwk.graphs import GraphError
from rwk.runtime.allowed_values import FEATURE_METRICS

MAX_KEY = 64


def refuse(sentence: str) -> NoReturn:
    """Answer the request with 400 and one sentence."""
    from werkzeug.exceptions import BadRequest

    raise BadRequest(sentence)


def check_callback_request(body: Any, callbacks: Any) -> None:
    """Refuse the body of a callback request that does not fit any callback of the page."""
    if not isinstance(body, dict):
        refuse("the request must be a JSON object")
    known = callbacks.get(body.get("output")) if isinstance(body.get("output"), str) else None
    if known is None:
        refuse("the request names no callback of this page")
    _check_outputs(body.get("outputs"), body["output"])
    for given, wanted in ((body.get("inputs", []), known["inputs"]), (body.get("state", []), known["state"])):
        if not isinstance(given, list) or len(given) != len(wanted):
            refuse("the request does not have the inputs of its callback")
        for item, spec in zip(given, wanted, strict=True):
            _check_input(item, spec)
    changed = body.get("changedPropIds", [])
    if not isinstance(changed, list) or not all(isinstance(name, str) and "." in name for name in changed):
        refuse("the request does not say what has changed")


def _check_outputs(outputs: Any, output: str) -> None:
    """The outputs must be those that the name of the callback lists: "a.b", or "..a.b...c.d.." for several."""
    several = output.startswith("..")
    wanted = output[2:-2].split("...") if several else [output]
    listed = outputs if several else [outputs]
    if not isinstance(listed, list) or [_output_name(item) for item in listed] != [w.split("@")[0] for w in wanted]:
        refuse("the request does not have the outputs of its callback")


def _output_name(item: Any) -> str:
    fits = isinstance(item, dict) and isinstance(item.get("property"), str) and isinstance(item.get("id"), str)
    return f"{item['id']}.{item['property'].split('@')[0]}" if fits else ""


def _check_input(item: Any, spec: Any) -> None:
    listed = item if isinstance(item, list) else [item]
    pattern = str(spec["id"]).startswith("{")
    if isinstance(item, list) and not pattern:
        refuse("the request does not have the inputs of its callback")
    for one in listed:
        if not isinstance(one, dict) or one.get("property") != spec["property"]:
            refuse("the request does not have the inputs of its callback")
        if isinstance(one.get("id"), dict) != pattern or (not pattern and one.get("id") != spec["id"]):
            refuse("the request does not have the inputs of its callback")


def chosen_of(data: Any) -> dict[str, str]:
    """The two chosen graphs as the page stores them; refuses anything else."""
    fits = isinstance(data, dict) and all(isinstance(data.get(name), str) for name in ("a", "b", "next"))
    if not fits or any(len(value) > MAX_KEY for value in data.values()) or data["next"] not in ("a", "b"):
        refuse("the request does not name two graphs")
    return {name: data[name] for name in ("a", "b", "next")}


def settings_of(explorer: Explorer, values: Any) -> Settings:
    """The settings that the page sent; refuses what no slider can have."""
    if not isinstance(values, dict):
        refuse("the request has no settings")
    try:
        return Settings.from_page(values, explorer.parameters)
    except GraphError as error:
        refuse(str(error))


def linked_state(explorer: Explorer, query: str) -> tuple[dict[str, str], dict[str, Any]]:
    """The graphs and the settings that a link names; raises `GraphError` if there is no such state."""
    given = {name: values[-1] for name, values in parse_qs(query.lstrip("?")).items()}
    page = to_page(explorer.start)
    for slider in SLIDERS:
        if slider.name in given:
            try:
                page[slider.name] = float(given[slider.name])
            except ValueError:
                raise GraphError(f"the link gives no number for {slider.title}") from None
    if given.get("feature_metric", "both") not in FEATURE_METRICS:
        raise GraphError("the link names a way to compare features that does not exist")
    page["feature_metric"] = given.get("feature_metric", page["feature_metric"])
    Settings.from_page(page, explorer.parameters)
    graphs = {side: key for side, key in given.items() if side in ("a", "b")}
    for key in graphs.values():
        explorer.graph(key)
    return graphs, page
