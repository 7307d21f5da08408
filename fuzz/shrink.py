"""A failing case made smaller: parts are left out and values made plain while it still fails the same way."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

PLAIN = (0, 1, "", None)


def shrunk(recipe: Any, fails: Callable[[Any], bool], most: int = 400) -> Any:
    """The smallest recipe found with at most this many trials.

    >>> shrunk({"a": [5, 7, 9], "b": 2}, lambda recipe: 7 in recipe.get("a", []))
    {'a': [7]}
    """
    left, smaller = most, True
    while smaller and left > 0:
        smaller = False
        for candidate in _smaller(recipe):
            left -= 1
            if fails(candidate):
                recipe, smaller = candidate, True
                break
            if left <= 0:
                break
    return recipe


def _smaller(recipe: Any) -> Iterator[Any]:
    """Recipes with one part less, then recipes with one plainer value."""
    places = list(_places(recipe, ()))
    for path in places:
        yield _without(recipe, path)
    for path in places:
        value = _at(recipe, path)
        if isinstance(value, dict | list):
            continue
        for plain in PLAIN:
            if value is plain or value == plain:
                break
            yield _with(recipe, path, plain)


def _places(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Where parts are: the outermost first, since leaving one out takes most away."""
    keys: list[Any] = list(value) if isinstance(value, dict) else []
    if isinstance(value, list):
        keys = list(range(len(value)))
    for key in keys:
        yield (*path, key)
    for key in keys:
        yield from _places(value[key], (*path, key))


def _at(recipe: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        recipe = recipe[key]
    return recipe


def _without(recipe: Any, path: tuple[Any, ...]) -> Any:
    made = copy.deepcopy(recipe)
    del _at(made, path[:-1])[path[-1]]
    return made


def _with(recipe: Any, path: tuple[Any, ...], value: Any) -> Any:
    made = copy.deepcopy(recipe)
    _at(made, path[:-1])[path[-1]] = value
    return made
