"""Compile kernels to object files with numba."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any

Function = Callable[..., Any]

SYMBOL = "kernel"  # the name of the function in each object file


@cache
def _with_numba(function: Function, *, are_called: bool) -> Any:
    """Return a function for numba to compile, with the helpers it calls; their modules keep the plain functions.

    Kernels that are compiled in one process share their helpers. Functions that Python does not call need no
    wrappers.
    """
    import numba

    names = function.__globals__ | {
        name: _with_numba(function.__globals__[name], are_called=False)
        for name in function.__code__.co_names
        if getattr(function.__globals__.get(name), "is_helper", False)
    }
    copy = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
    wrappers = {} if are_called else {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return numba.njit(nogil=True, error_model="numpy", **wrappers)(copy)


def compile_in_process(function: Function) -> Any:
    """Return a function compiled by numba for this process alone."""
    return _with_numba(function, are_called=True)


def compile_object(function: Function, types: tuple[Any, ...], returns: str | None) -> bytes:
    """Return the object file of a kernel, a function with declared types.

    Numba compiles it as a function of C, to which pointers and sizes are passed. What the code declares of numba
    and Python, for errors and references that kernels do not have, becomes a trap: nothing is to be found in the
    process that loads it.
    """
    import numba
    from llvmlite import binding

    signature: list[str] = []
    parameters: list[str] = []

    def declare(found: re.Match[str]) -> str:
        """Add the parameters of a number or array; return the expression that it is for the kernel."""
        dtype, _, axes = found[1].partition("[")
        name = f"x{len(parameters)}"
        sizes = [f"{name}_{axis}" for axis in range(axes.count(":"))]
        parameters.extend([name, *sizes])
        if not sizes:
            signature.append(dtype)
            return name
        signature.extend([f"CPointer({dtype})", *["intp"] * len(sizes)])
        return f"carray({name}, ({', '.join(sizes)},))"

    arguments = re.sub("'(.+?)'", declare, repr(types))
    names = {"run": _with_numba(function, are_called=False), "carray": numba.carray}
    exec(f"def flat({', '.join(parameters)}):\n    return run(*{arguments})\n", names)  # noqa: S102
    compiled = numba.cfunc(f"{returns or 'void'}({', '.join(signature)})")(names["flat"])
    text = compiled.inspect_llvm().replace(compiled.native_name, SYMBOL)
    text = re.sub(
        r"(?m)^declare (.*@(?:numba_\w+|_?Py\w+|NRT_Free|NRT_MemInfo_call_dtor)\(.*)$",
        r"define \1 {\n  call void @llvm.trap()\n  unreachable\n}",
        text,
    )
    text = re.sub(
        r"(?m)^(@_?Py\w+ = )external (?:local_unnamed_addr )?global (\S+?)(,.*)?$", r"\1internal global \2 0", text
    )
    if "declare void @llvm.trap()" not in text:
        text += "\ndeclare void @llvm.trap()\n"
    module = binding.parse_assembly(text)
    values = [*module.functions, *module.global_variables]
    missing = [value.name for value in values if value.is_declaration and not value.name.startswith("llvm.")]
    if missing:
        raise NotImplementedError(f"{function.__name__} needs {', '.join(missing)}")
    return target_machine().emit_object(module)


def target_machine() -> Any:
    """Return what LLVM compiles for."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    features = binding.get_host_cpu_features().flatten()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(), features=features, opt=3, codemodel="jitdefault", jit=True
    )
