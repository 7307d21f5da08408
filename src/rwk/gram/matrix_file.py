"""A matrix as one file: .npz with parameters and targets, or the discrepancies alone as .npy, .csv or .parquet."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rwk import __version__
from rwk.parameters import Parameters
from rwk.runtime.files import OutputError, check_writable, plain_value, write_arrays, write_whole
from rwk.runtime.finite import kernel_of


def check_matrix_file(path: str | os.PathLike[str]) -> Path:
    """The path, checked: a matrix is written as .npz, .npy, .csv or .parquet, to a folder that can be written.

    >>> check_matrix_file("K.txt")
    Traceback (most recent call last):
    rwk.runtime.files.OutputError: K.txt: a matrix is .npz (with everything), .npy, .csv or .parquet; choose one
    """
    path = Path(path)
    if path.suffix.lower() not in (".npz", ".npy", ".csv", ".parquet") and not path.is_dir():
        raise OutputError(f"{path}: a matrix is .npz (with everything), .npy, .csv or .parquet; choose one")
    if path.suffix.lower() == ".parquet" and find_spec("pyarrow") is None:
        raise OutputError(f"{path}: parquet files need pyarrow: pip install 'rwk[parquet]'")
    return check_writable(path)


def save_gram(
    path: str | os.PathLike[str],
    discrepancy: Any,
    parameters: Parameters,
    *,
    targets: Any = None,
    name: str = "",
    names: Sequence[str] | None = None,
) -> Path:
    """Write a Gram matrix to an .npz file: kernel, discrepancy, targets, names, and parameters and version as text.

    If the name ends in .npy, .csv or .parquet, the discrepancies alone are written; the last two have the names of the
    graphs, or their numbers, in the header and in the first column.

    >>> import tempfile
    >>> place = save_gram(tempfile.mkdtemp() + "/K.npz", np.zeros((2, 2)), Parameters())
    >>> sorted(np.load(place).files)
    ['checksum', 'discrepancy', 'kernel', 'name', 'parameters', 'version']
    """
    arrays: dict[str, Any] = {
        "kernel": kernel_of(discrepancy, parameters.eta),
        "discrepancy": discrepancy,
        "parameters": json.dumps(parameters.asdict(), default=plain_value),
        "version": __version__,
        "name": name,
    }
    if targets is not None:
        values = np.asarray(targets)
        arrays["targets"] = values.astype(str) if values.dtype == object else values
    if names is not None:
        arrays["names"] = np.array(names)

    ending = Path(path).suffix.lower()
    if ending in (".csv", ".parquet"):
        titles = _titles(names, len(discrepancy))
        write_table = _write_csv if ending == ".csv" else _write_parquet
        return write_whole(path, lambda beside: write_table(beside, np.asarray(discrepancy), titles))

    if ending == ".npy":
        return write_whole(path, lambda beside: np.save(beside, np.asarray(discrepancy)))
    return write_arrays(path, compressed=True, **arrays)


def _titles(names: Sequence[str] | None, n_graphs: int) -> list[str]:
    """One title per graph, no two alike: its name, its name and number if others share the name, or its number.

    >>> _titles(["a", "b", "a"], 3), _titles(None, 2)
    (['a #0', 'b', 'a #2'], ['0', '1'])
    """
    if names is None:
        return [str(i) for i in range(n_graphs)]
    counts = Counter(names)
    return [name if counts[name] == 1 else f"{name} #{i}" for i, name in enumerate(names)]


def _write_csv(path: Path, matrix: NDArray[Any], titles: Sequence[str]) -> None:
    """A table with all digits, so that reading it gives the same numbers."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["graph", *titles])
        writer.writerows([title, *map(repr, row)] for title, row in zip(titles, matrix.tolist(), strict=True))


def _write_parquet(path: Path, matrix: NDArray[Any], titles: Sequence[str]) -> None:
    import pyarrow
    from pyarrow import parquet

    columns = [pyarrow.array(titles), *(pyarrow.array(column) for column in matrix.T)]
    parquet.write_table(pyarrow.table(columns, names=["graph", *titles]), path)
