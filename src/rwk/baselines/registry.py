"""The list of baselines: their names, what each is, and how to get one."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from rwk.baselines.base import Baseline
from rwk.graphs import GraphSet

# name -> module and class; kernels first, in the order of the paper's tables
_METHODS: Final = {
    "wl": ("weisfeiler_lehman", "WL"),
    "wl-oa": ("weisfeiler_lehman", "WLOA"),
    "ghk": ("graph_hopper", "GHK"),
    "pk": ("propagation", "PK"),
    "hgk-wl": ("hashing", "HGKWL"),
    "hgk-sp": ("hashing", "HGKSP"),
    "retgk": ("retgk", "RetGK"),
    "gntk": ("gntk", "GNTK"),
    "p-wl": ("persistent_wl", "PWL"),
    "wl-pm": ("pyramid_match", "WLPM"),
    "wwl": ("wasserstein_wl", "WWL"),
    "fgw": ("fused_gw", "FGW"),
    "patchy-san": ("neural", "PatchySan"),
    "dgcnn": ("neural", "DGCNN"),
    "capsgnn": ("neural", "CapsGNN"),
    "gin": ("neural", "GIN"),
}


class Description(NamedTuple):
    """What a baseline is, as listed by `describe`."""

    name: str
    title: str
    kind: str  # "kernel", "discrepancy" or "classifier"
    accepts: tuple[str, ...]  # what it can use: "labels", "attributes", "structure" (it needs neither of the two)
    grid: dict[str, tuple[Any, ...]]  # the values of parameters that model selection tries
    extra: str  # a library that it needs, or ""
    reference: str
    sees: str  # what it uses of graphs with labels and attributes: "labels", "attributes", "labels or attributes", ...
    fair_sees: str  # the same with its fair grid
    fair_grid: dict[str, tuple[Any, ...]]  # the values that a fair comparison tries
    fair_parameters: dict[str, Any]  # the values that a fair comparison sets
    note: str  # why it can't use the rest, or ""


def names() -> list[str]:
    """Names of all baselines.

    >>> names()[:3], len(names())
    (['wl', 'wl-oa', 'ghk'], 16)
    """
    return list(_METHODS)


def get(name: str, **parameters: Any) -> Any:
    """Get a baseline by name.

    Parameters
    ----------
    name : str
        The name, as in `names()`; case, hyphens and underscores don't matter ("WL-OA", "wl_oa").
    **parameters
        Parameters of the baseline; see its class.

    Returns
    -------
    estimator
        A kernel (`fit`, `transform`, `fit_transform`) or a classifier (`fit`, `predict`), not fitted.

    Examples
    --------
    >>> from rwk.baselines import get
    >>> get("wwl", rounds=2)
    WWL(rounds=2)
    >>> get("wll")
    Traceback (most recent call last):
    ...
    ValueError: there is no baseline 'wll'; did you mean 'wl'?
    """
    return _class_of(name)(**parameters)


def describe() -> list[Description]:
    """Describe all baselines.

    Returns
    -------
    list of Description
        For each baseline its name, title, kind, what it accepts, its grid, what it needs, its reference, and which of
        the data it uses if graphs have both labels and attributes: by default (`sees`), and with the grid of a fair
        comparison (`fair_sees`, `fair_grid`).

    Examples
    --------
    >>> from rwk.baselines import describe
    >>> describe()[0].title
    'WL'
    >>> [row.title for row in describe() if "labels" not in row.accepts]
    []
    >>> [row.title for row in describe() if row.fair_sees != "labels and attributes"]
    ['WL', 'WL-OA', 'P-WL', 'WL-PM']
    """
    return [_described(name, _class_of(name)) for name in _METHODS]


def applicable(graphs: GraphSet) -> list[str]:
    """Names of the baselines that can use these graphs.

    >>> from rwk import as_graphs
    >>> import networkx as nx
    >>> applicable(as_graphs([nx.path_graph(3)])) == names()  # degrees stand for missing labels
    True
    """
    return [name for name in _METHODS if _class_of(name).applies(graphs)]


def _described(name: str, method: type[Baseline]) -> Description:
    return Description(
        name=name,
        title=method.title,
        kind=method.kind,
        accepts=method.accepts,
        grid=_plain_grid(method.grid),
        extra=method.extra,
        reference=method.reference,
        sees=method.sees,
        fair_sees=method.fair_sees(),
        fair_grid=_plain_grid(method.fair_grid()),
        fair_parameters=dict(method.fair_parameters),
        note=method.note,
    )


def _plain_grid(grid: Mapping[str, Sequence[Any]]) -> dict[str, tuple[Any, ...]]:
    return {name: tuple(values) for name, values in grid.items()}


def _class_of(name: str) -> type[Baseline]:
    known = {_plain(key): key for key in _METHODS}
    if _plain(name) not in known:
        near = difflib.get_close_matches(_plain(name), known, n=1, cutoff=0.4)
        hint = f"did you mean {known[near[0]]!r}?" if near else f"the names are {', '.join(_METHODS)}"
        raise ValueError(f"there is no baseline {name!r}; {hint}")
    module, title = _METHODS[known[_plain(name)]]
    method: type[Baseline] = getattr(importlib.import_module(f"rwk.baselines.{module}"), title)
    return method


def _plain(name: str) -> str:
    return "".join(letter for letter in name.lower() if letter.isalnum())
