"""What every case must do: give a finite and valid answer, or one clear error."""

from __future__ import annotations

import linecache
import warnings
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Final

import numpy as np

ALLOWED: Final = (ValueError, TypeError, OSError, ImportError, IndexError)
LONGEST: Final = 600  # characters of a sentence
SPEAKERS: Final = ("sklearn", "typer", "click")  # their own checks are part of interfaces that follow theirs


class BrokenPromise(AssertionError):
    """An answer that is not finite or not valid."""


def outcome(run: Callable[[Any], object], recipe: Any) -> str:
    """Run a case: "answered", "refused", or what went wrong, in words that are the same for the same fault."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            run(recipe)
        except BrokenPromise as broken:
            return f"broken: {broken}"
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever it is, it is the outcome
            return _judged(error)
    return "answered"


def _judged(error: BaseException) -> str:
    """Whether an exception is a clear error of this package."""
    frames = _frames(error.__traceback__)
    place = next((f"{Path(file).stem}.{name}" for file, name, _ in reversed(frames) if "/rwk/" in file), "?")
    file, _, number = frames[-1]
    message = str(error)
    if not isinstance(error, ALLOWED):
        return f"broken: {type(error).__name__} in {place}"
    ours = "/rwk/" in file and linecache.getline(file, number).lstrip().startswith("raise ")
    if not ours and _library(file) not in SPEAKERS:
        return f"broken: {type(error).__name__} of {_library(file)} in {place}"
    if not message.strip() or "\n" in message.strip():
        return f"broken: {type(error).__name__} that is not one sentence in {place}"
    if len(message) > LONGEST:
        return f"broken: {type(error).__name__} of more than {LONGEST} characters in {place}"
    return "refused"


def _frames(at: TracebackType | None) -> list[tuple[str, str, int]]:
    """File, function and line of every frame, the innermost last; `traceback` would look at each file again."""
    found = []
    while at is not None:
        code = at.tb_frame.f_code
        found.append((code.co_filename, code.co_name, at.tb_lineno))
        at = at.tb_next
    return found


def _library(filename: str) -> str:
    parts = Path(filename).parts
    return parts[parts.index("site-packages") + 1] if "site-packages" in parts else Path(filename).stem


def finite(values: Any, what: str) -> Any:
    """The values; a broken promise unless all of them are finite numbers."""
    numbers = np.asarray(values.toarray() if hasattr(values, "toarray") else values)
    if numbers.dtype.kind not in "fiub" or not np.isfinite(numbers).all():
        raise BrokenPromise(f"{what} is not finite")
    return numbers


def holds(condition: object, what: str) -> None:
    """A broken promise unless the condition holds."""
    if not condition:
        raise BrokenPromise(what)
