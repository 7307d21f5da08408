"""What a file or folder contains, before conversion: `Contents`; and how its text and values are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwk.graphs import GraphError


@dataclass(frozen=True)
class TableColumns:
    """Names of columns as the user gave them; None means that the usual names are tried."""

    smiles: str | None = None
    target: str | None = None


@dataclass(frozen=True)
class Contents:
    """Graphs in any form that a converter takes, with their targets and names if the file has them."""

    items: list[Any]
    targets: NDArray[Any] | None = None
    names: list[str] | None = None


def read_text(path: Path) -> str:
    """The text of a file; a `GraphError` if it cannot be opened or is not text."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise GraphError(f"{path} cannot be opened ({error.strerror or error}); check the path") from error
    except UnicodeDecodeError as error:
        raise GraphError(f"{path} is not a text file in UTF-8; save it as one") from error


def numbers_or_text(values: Sequence[Any]) -> NDArray[Any]:
    """Targets as integers if all are whole numbers without a decimal point, else as floats, else as text.

    >>> [numbers_or_text(values).tolist() for values in (["1", "2"], ["1.0", "2"], ["a", 2])]
    [[1, 2], [1.0, 2.0], ['a', '2']]
    """
    for kind in (np.int64, np.float64):
        try:
            texts = [value if kind is np.float64 or isinstance(value, str) else _whole(value) for value in values]
            return np.array([kind(value) for value in texts])
        except (TypeError, ValueError):
            continue
    return np.array([str(value) for value in values])


def _whole(value: Any) -> int:
    if isinstance(value, float | np.floating):
        raise ValueError
    return int(value)
