"""The library's log, `logging.getLogger("rwk")`: the library prints nothing itself.

What explains a long silence (compiling) or a repair (a damaged tile) is a warning, so that Python shows it on stderr
even if nobody has configured logging. The command line shows every message from `INFO` on.
"""

from __future__ import annotations

import logging
from typing import Final

LOG: Final = logging.getLogger("rwk")
