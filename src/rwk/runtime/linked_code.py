"""Functions that only compiled code calls are linked into their callers, and become machine code there alone.

Numba optimises every function and turns it into machine code, then links it into its caller, and optimises and
translates all of it once more: a function five calls deep is compiled five times. With the `Linked` compiler it stays
as numba's lowering leaves it, until a function that Python calls is compiled around it.
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering


class _NoEnvironments:
    """The code generator, except that it sets up no environment: that needs machine code."""

    def __init__(self, codegen: Any) -> None:
        self._codegen = codegen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._codegen, name)

    def set_env(self, name: str, environment: Any) -> None:
        """Do nothing."""


class LinkedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is neither optimised nor translated by itself."""

    @property
    def codegen(self) -> Any:
        """The code generator."""
        return _NoEnvironments(self._codegen)

    def add_llvm_module(self, ll_module: Any) -> None:
        """Take over a module as it is."""
        ll_module.data_layout = self._codegen._data_layout
        self._final_module.link_in(ll_module)

    def finalize(self) -> None:
        """Link in what this code calls."""
        self._raise_if_finalized()
        for library in dict.fromkeys(self._linking_libraries):
            if hasattr(library, "_reload_init"):  # numba 0.60 has none
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """No function can be called by its address."""
        self._ensure_finalized()
        return 0


@register_pass(mutates_CFG=True, analysis_only=False)
class _LinkedLowering(NativeLowering):  # type: ignore[misc]
    _name = "linked_lowering"

    def run_pass(self, state: Any) -> bool:
        """Lower into a `LinkedLibrary`."""
        state.library = LinkedLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return bool(super().run_pass(state))


class Linked(CompilerBase):  # type: ignore[misc]
    """Numba's usual compiler up to the machine code, which it leaves to the caller of a function."""

    def define_pipelines(self) -> list[Any]:
        """The usual passes, the lowering excepted."""
        usual = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes = PassManager("linked")
        for kind, description in usual.passes:
            passes.add_pass(_LinkedLowering if kind is NativeLowering else kind, description)
        passes.finalize()
        return [passes]
