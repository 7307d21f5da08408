"""A matrix as one file: .npz with parameters and targets, or the discrepancies alone as .npy."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from rwk import __version__
from rwk.parameters import Parameters
from rwk.runtime.files import OutputError, check_writable, plain_value, write_whole


def check_matrix_file(path: str | os.PathLike[str]) -> Path:
    """The path, checked: a matrix is written as .npz or .npy, to a folder that can be written.

    >>> check_matrix_file("K.txt")
    Traceback (most recent call last):
    rwk.runtime.files.OutputError: K.txt: a matrix is .npz (with parameters and targets) or plain .npy; choose one
    """
    path = Path(path)
    if path.suffix.lower() not in (".npz", ".npy") and not path.is_dir():
        raise OutputError(f"{path}: a matrix is .npz (with parameters and targets) or plain .npy; choose one")
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

    If the name ends in .npy, the discrepancies alone are written.

    >>> import tempfile
    >>> place = save_gram(tempfile.mkdtemp() + "/K.npz", np.zeros((2, 2)), Parameters())
    >>> sorted(np.load(place).files)
    ['discrepancy', 'kernel', 'name', 'parameters', 'version']
    """
    arrays: dict[str, Any] = {
        "kernel": np.exp(-parameters.eta * discrepancy),
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

    def write(beside: Path) -> None:
        with open(beside, "wb") as file:
            if Path(path).suffix.lower() == ".npy":
                np.save(file, np.asarray(discrepancy))
            else:
                np.savez_compressed(file, **arrays)

    return write_whole(path, write)
