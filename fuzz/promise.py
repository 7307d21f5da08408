"""What every case must do: give a finite and valid answer, or one clear error."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
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
    frames = traceback.extract_tb(error.__traceback__)
    place = next((f"{Path(f.filename).stem}.{f.name}" for f in reversed(frames) if "/rwk/" in f.filename), "?")
    message = str(error)
    if not isinstance(error, ALLOWED):
        return f"broken: {type(error).__name__} in {place}"
    ours = "/rwk/" in frames[-1].filename and (frames[-1].line or "").startswith("raise ")
    if not ours and _library(frames[-1].filename) not in SPEAKERS:
        return f"broken: {type(error).__name__} of {_library(frames[-1].filename)} in {place}"
    if not message.strip() or "\n" in message.strip():
        return f"broken: {type(error).__name__} that is not one sentence in {place}"
    if len(message) > LONGEST:
        return f"broken: {type(error).__name__} of more than {LONGEST} characters in {place}"
    return "refused"


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
