"""`pairwise_gw`: the matrix of all pairs of a list of structure matrices, by the Gram machinery of graphs."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from rwk.gram.compute import compute_gram
from rwk.runtime.arrays import FloatArray
from rwk.runtime.parameter_checks import check_range
from rwk.spaces.models import model_of, settings_of, unit_of
from rwk.spaces.space import as_graph_set, as_spaces


def pairwise_gw(
    matrices: Iterable[Any],
    *,
    model: str | None = None,
    alpha: float = 0.5,
    unit: float | None = None,
    store: str | os.PathLike[str] | None = None,
    executor: Any = None,
    memory: str | int = "2GB",
    **parameters: Any,
) -> FloatArray:
    """Compute the Gromov-Wasserstein discrepancies of all pairs of a list of structure matrices.

    The matrices may have different sizes. With a store, a stopped run goes on where it was when it is called again.

    Parameters
    ----------
    matrices : list of arrays or of `Space`
        Symmetric matrices such as distances, or spaces with weights, features or adjacency too.
    model : str, optional
        "wasserstein", "gw", "fgw" or "rw", as in `solve`; "gw" for plain matrices.
    alpha : float, default 0.5
        Share of the structures in "fgw".
    unit : float, optional
        The size of costs that `entropy` and `tol` are multiples of; by default that of the given items. Give one if
        several lists must be solved alike.
    store : path or address, optional
        Keep finished tiles there, as `compute_gram` does.
    executor : optional
        None or "threads", "processes", or a Dask client.
    memory : str or int, default "2GB"
        Memory for what is held at once beside the given matrices.
    **parameters
        Settings of the solver, as in `solve`, and `debias`.

    Returns
    -------
    ndarray of shape (N, N)
        The values, exactly symmetric; "gw" and "fgw" follow the conventions of POT.

    Examples
    --------
    >>> import numpy as np
    >>> from rwk import pairwise_gw
    >>> line = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))
    >>> D = pairwise_gw([line, 2 * line, line[:3, :3]], debias=True)
    >>> D.shape, bool((D == D.T).all()), D.diagonal().tolist()
    ((3, 3), True, [0.0, 0.0, 0.0])
    """
    spaces = as_spaces(matrices)
    chosen = model_of(model, alpha, spaces, own_cost=False)
    if unit is None:
        unit = unit_of(chosen, spaces)
    check_range("unit", unit, low=0, high=float("inf"), strict=True, whole=False)
    settings = settings_of(chosen, unit, parameters)
    graphs = as_graph_set(spaces, chosen.feature_factor)
    gram = compute_gram(graphs, store=store, executor=executor, memory=memory, **settings.asdict())
    return gram.discrepancy()
