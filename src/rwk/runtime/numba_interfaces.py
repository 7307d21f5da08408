"""The interfaces of numba that it does not promise to keep, in one list, and what is said if one is gone.

The solver's vectors are written in LLVM's language through them (`transport/cpu/simd`), and compiled code is cached by
the content of its sources (`source_stamps`).
"""

from __future__ import annotations

import importlib
from typing import Final

TESTED: Final = "numba>=0.60,<0.69"
NEEDED: Final = (
    "numba.extending.intrinsic",
    "numba.extending.register_jitable",
    "numba.core.cgutils.alloca_once",
    "numba.core.cgutils.for_range",
    "numba.core.cgutils.get_or_insert_function",
    "numba.core.cgutils.if_unlikely",
    "numba.core.cgutils.unpack_tuple",
    "numba.core.codegen.JITCodeLibrary",
    "numba.core.compiler.CompilerBase",
    "numba.core.compiler.DefaultPassBuilder",
    "numba.core.compiler_machinery.PassManager",
    "numba.core.compiler_machinery.register_pass",
    "numba.core.imputils.lower_builtin",
    "numba.core.options.DefaultOptions._nrt",
    "numba.core.typed_passes.NativeLowering",
    "numba.core.typing.templates.AbstractTemplate",
    "numba.core.typing.templates.infer_global",
    "numba.core.typing.templates.signature",
    "llvmlite.binding.get_host_cpu_features",
    "llvmlite.ir.VectorType",
)


def check_numba() -> None:
    """Raise ImportError, in one sentence, if this numba lacks what the solver is compiled with.

    >>> check_numba()
    """
    for name in NEEDED:
        if not _exists(name):
            import numba

            raise ImportError(
                f"numba {numba.__version__} has no {name}, which rwk compiles its solver with; "
                f"install a version that rwk is tested with: pip install '{TESTED}'"
            )


def _exists(name: str) -> bool:
    """Whether a dotted name can be had: modules as far as there are any, then attributes."""
    parts = name.split(".")
    for length in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for attribute in parts[length:]:
            if not hasattr(found, attribute):
                return False
            found = getattr(found, attribute)
        return True
    return False
