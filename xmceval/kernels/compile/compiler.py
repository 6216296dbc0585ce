"""Compile kernels to forms that are called without numba: imported only when one is not in the cache."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba.np.arrayobj import populate_array

from xmceval.kernels.compile.dispatchers import OPTIONS, load_numba, rebound
from xmceval.kernels.compile.forms import PYTHONS, Form
from xmceval.kernels.compile.pipeline import Pipeline, resolving_once

# Ways to compile, the shortest first: without numba's runtime, with it.
OURS = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True, "pipeline_class": Pipeline}
WAYS: tuple[dict[str, Any], ...] = ({**OURS, "_nrt": False}, OURS)

WORD, BYTE, DOUBLE = ir.IntType(64), ir.IntType(8), ir.DoubleType()

# Where an array has its data, its shape and its strides: after the head that every Python object has.
DATA, SHAPE, STRIDES = (object.__basicsize__ + 8 * i for i in (0, 2, 3))

# What LLVM may call for an operation of its own.
LIBRARY = {"memcpy", "memmove", "memset", "pow", "exp", "exp2", "log", "log2", "floor", "ceil", "trunc"}
RUNTIME_ARGUMENTS = "__excinfo_unwrap_args"  # makes Python objects for an exception, which needs the GIL


def compile_form(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Form | None:
    """Compile a function for arguments like these; return None where it returns anything but numbers."""
    load_numba()
    signature = tuple(map(numba.typeof, arguments))
    *others, last = WAYS
    with global_compiler_lock, resolving_once():
        for way in others:
            with suppress(Exception):  # it needs what is not on this way; if anything is wrong, the last one says so
                return _compile(function, signature, way)
        return _compile(function, signature, last)


def _compile(function: Callable[..., Any], signature: tuple[Any, ...], way: dict[str, Any]) -> Form | None:
    dispatcher = numba.njit(**OPTIONS, **way)(rebound(function, way))
    dispatcher.compile(signature)
    compiled = dispatcher.overloads[signature]
    results = _results(compiled.signature.return_type)
    if results is None:
        return None
    symbol, entry = _make_entry(compiled, signature, results)
    defined, called, code = compiled.library.compile(entry)
    if any(name.startswith(RUNTIME_ARGUMENTS) for name in defined):
        return None
    return Form(symbol, results, tuple(sorted(filter(None, map(_linked, called)))), code)


def _linked(name: str) -> str:
    """Return the symbol that machine code has for a name of LLVM's code; nothing where it has none."""
    if not name.startswith("llvm."):
        return name
    operation, _, kind = name.removeprefix("llvm.").partition(".")
    return f"{operation}{'f' if kind == 'f32' else ''}" if operation in LIBRARY else ""


def _results(kind: Any) -> str | None:
    """Return what a kernel returns, as a form has it, or None for what only numba can pass on."""
    if kind == types.none:
        return ""
    if not isinstance(kind, (types.UniTuple, types.Tuple)):
        return _result(kind)
    each = [_result(part) for part in kind.types]
    return "".join(["T", *each]) if each and all(each) else None  # type: ignore[list-item]


def _result(kind: Any) -> str | None:
    if isinstance(kind, types.Boolean):
        return "?"
    if isinstance(kind, types.Integer) and kind.bitwidth <= WORD.width:
        return "q" if kind.signed else "Q"
    return "d" if kind in {types.float32, types.float64} else None


def _make_entry(compiled: Any, signature: tuple[Any, ...], results: str) -> tuple[str, Any]:
    """Return the symbol and the module of a function that gives a compiled one what it finds in Python's arrays.

    It calls as numba does, whatever arguments look like in machine code. Each result takes eight bytes: narrower
    numbers are extended, with their sign if they have one.
    """
    context, result = compiled.target_context, compiled.signature.return_type
    callee = compiled.fndesc.llvm_func_name
    module = ir.Module("entry")
    module.triple, module.data_layout = llvm.get_process_triple(), str(context.codegen().target_data)
    entry = ir.Function(module, ir.FunctionType(WORD, [WORD, WORD]), f"entry.{callee}")
    builder = ir.IRBuilder(entry.append_basic_block())
    result_at, words_at = entry.args
    offsets = itertools.count(0, 8)

    def load(address: Any, offset: int, kind: Any) -> Any:
        return builder.load(builder.inttoptr(builder.add(address, WORD(offset)), kind.as_pointer()))

    def value(kind: Any) -> Any:
        if isinstance(kind, types.BaseTuple):
            return context.make_tuple(builder, kind, [value(each) for each in kind])
        word = load(words_at, next(offsets), DOUBLE if isinstance(kind, types.Float) else WORD)
        if isinstance(kind, types.Float):
            return word
        if not isinstance(kind, types.Array):
            wanted = context.get_value_type(kind)
            return word if wanted == WORD else builder.trunc(word, wanted)
        array = context.make_array(kind)(context, builder)
        lengths = {}
        for name, offset in (("shape", SHAPE), ("strides", STRIDES)):
            numbers = load(word, offset, WORD)
            lengths[name] = [load(numbers, 8 * i, WORD) for i in range(kind.ndim)]
        size = context.get_abi_sizeof(context.get_data_type(kind.dtype))
        data = load(word, DATA, array.data.type)
        populate_array(array, data=data, **lengths, itemsize=WORD(size), meminfo=None)
        return array._getvalue()

    values = [value(kind) for kind in signature]
    function = ir.Function(module, context.call_conv.get_function_type(result, signature), callee)
    status, returned = context.call_conv.call_function(builder, function, result, signature, values)
    kinds = results.removeprefix("T")
    for i, kind in enumerate(kinds):
        number = builder.extract_value(returned, i) if results.startswith("T") else returned
        extended = _extend(builder, number, kind)
        builder.store(extended, builder.inttoptr(builder.add(result_at, WORD(8 * i)), extended.type.as_pointer()))
    raised = builder.select(status.is_user_exc, builder.ptrtoint(status.excinfoptr, WORD), WORD(PYTHONS))
    builder.ret(builder.select(status.is_ok, WORD(0), raised))
    return entry.name, llvm.parse_assembly(str(module))


def _extend(builder: Any, number: Any, kind: str) -> Any:
    """Emit the conversion of a number to the eight bytes of a result; of a truth value, to one."""
    if kind == "d":
        return number if number.type == DOUBLE else builder.fpext(number, DOUBLE)
    wanted = BYTE if kind == "?" else WORD
    if number.type.width >= wanted.width:
        return number
    return builder.sext(number, wanted) if kind == "q" else builder.zext(number, wanted)
