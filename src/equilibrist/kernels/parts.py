"""Two kinds of compiled functions: kernels, which Python calls, and parts, which kernels call.

    @kernel
    def realize_team(member, tree, behaviour, plan): ...

    @part
    def _row(number, zero): ...

Numba compiles every function as if Python might call it: it adds two wrappers that unpack the
arguments, optimises the function with all that it calls, and generates machine code; then it does
so again in each function that calls this one. A *part* is typed and translated once and optimised
only within the kernels that call it. Python cannot call it, and it is not cached by itself.
Parts are inlined by LLVM unless they are marked `@part(forceinline=False)`, which is for
large ones that are called at several places.

Both are compiled without reference counting, so they must not allocate: a kernel that does is
marked `@kernel(_nrt=True)`, and so are the parts through which arrays that it allocated are
returned or kept. See docs/decisions/0008.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

from numba import _dynfunc, njit
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering
from numba.extending import overload

from equilibrist.kernels.cache import keep

# Called in place of a part by Python: raises TypeError.
_REFUSE = ctypes.cast(ctypes.pythonapi.PyErr_BadArgument, ctypes.c_void_p).value


class _PartLibrary(JITCodeLibrary):
    """Code of a part, stored as it was translated until a kernel links it."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


class _KernelLibrary(JITCodeLibrary):
    """Code of a kernel and its parts, optimised once, as a whole.

    Numba also optimises each function before linking, and the whole twice, so that references are
    counted less often. These kernels count none.
    """

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        passes, builder = self._codegen._module_pass_manager()
        with self._recorded_timings.record("Module passes (full optimization)", builder):
            passes.run(self._final_module, builder)


@register_pass(mutates_CFG=True, analysis_only=False)
class _PartLowering(NativeLowering):
    """Translation of a part for LLVM, without machine code."""

    _name = "equilibrist_part_lowering"

    def run_pass(self, state: Any) -> bool:
        name = state.func_id.func_qualname
        state.library = library = _PartLibrary(state.targetctx.codegen(), name)
        library.enable_object_caching()
        flags = state.flags
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        super().run_pass(state)
        lowered = state["cr"]
        library.finalize()
        # Numba finds the code of a function that it calls by the object that Python would call.
        module, words = lowered.fndesc.lookup_module(), "Part of kernels; Python cannot call it."
        entry = _dynfunc.make_function(module, name, words, _REFUSE, lowered.env, (library,))
        state.targetctx.insert_user_function(entry, lowered.fndesc, [library])
        state["cr"] = lowered._replace(cfunc=entry)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _KernelLowering(NativeLowering):
    """Translation of a kernel to machine code."""

    _name = "equilibrist_kernel_lowering"

    def run_pass(self, state: Any) -> bool:
        if not state.flags.nrt:
            library = _KernelLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
            library.enable_object_caching()
            state.library = library
        return super().run_pass(state)


def _compiler(lowering: type[NativeLowering]) -> type[CompilerBase]:
    """Return a compiler class with Numba's usual passes, but another translation."""

    class Compiler(CompilerBase):
        def define_pipelines(self) -> list[PassManager]:
            usual = DefaultPassBuilder.define_nopython_pipeline(self.state)
            passes = PassManager(lowering._name)
            for step, words in usual.passes:
                passes.add_pass(lowering if step is NativeLowering else step, words)
            passes.finalize()
            return [passes]

    return Compiler


_PART = {"_nrt": False, "forceinline": True, "pipeline_class": _compiler(_PartLowering)}
_KERNEL = {
    "_nrt": False,
    "nogil": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": _compiler(_KernelLowering),
}


def part(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Mark a function that only compiled functions call."""
    return njit(function, **{**_PART, **options})


def part_by_type(stub: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a function that returns, given Numba's types of arguments, the part for `stub`.

    Compiled functions that call `stub` then contain that part. The parts are plain functions with
    the arguments of `stub`; only those that are chosen are compiled.
    """
    return overload(stub, jit_options=_PART)


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Mark a compiled function that Python calls; it holds no lock of Python."""
    if function is None:
        return functools.partial(kernel, **options)
    return keep(njit(function, **{**_KERNEL, **options}))
