"""Warnings that name the user's own line, however deep in rwk their reason was found."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from types import FrameType
from typing import Final

_PACKAGE: Final = str(Path(__file__).parents[1]) + os.sep  # as in the code objects of its modules
_BETWEEN: Final = ("sklearn", "joblib")  # which call rwk on behalf of the user


def warn_user(sentence: str, category: type[Warning] = UserWarning) -> None:
    """Warn, and name the line outside rwk that led to it.

    Python tells a warning once per line, so a warning that named a line of rwk would be told to the first caller alone.

    >>> with warnings.catch_warnings(record=True) as found:
    ...     warnings.simplefilter("always")
    ...     warn_user("labels are left out")
    >>> str(found[0].message), found[0].filename.startswith(_PACKAGE)
    ('labels are left out', False)
    """
    frame, level = sys._getframe(), 1
    while frame.f_back is not None and not _is_of_the_user(frame):
        frame, level = frame.f_back, level + 1
    warnings.warn(sentence, category, stacklevel=level)


def _is_of_the_user(frame: FrameType) -> bool:
    if frame.f_code.co_filename.startswith(_PACKAGE):
        return False
    return str(frame.f_globals.get("__name__", "")).split(".")[0] not in _BETWEEN
