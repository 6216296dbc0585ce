"""Compile kernels with numba: imported only when one is not in the cache."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from types import FunctionType
from typing import Any

import llvmlite.binding as llvm
import numba
from llvmlite import ir
from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba.np.arrayobj import populate_array

from xmceval.kernels import eightrows, eights, instructions, load_registries
from xmceval.kernels.forms import Form, Helper, Instruction
from xmceval.kernels.pipeline import Pipeline, resolving_once

OPTIONS = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}

# Ways to compile, the shortest first: without numba's runtime, with it.
OURS = {"no_cpython_wrapper": True, "pipeline_class": Pipeline}
WAYS: tuple[dict[str, Any], ...] = ({**OURS, "_nrt": False}, OURS)

WORD, STATUS, DOUBLE = ir.IntType(64), ir.IntType(32), ir.DoubleType()

# Where an array has its data, its shape and its strides: after the head that every Python object has.
DATA, SHAPE, STRIDES = (object.__basicsize__ + 8 * i for i in (0, 2, 3))

INSTRUCTIONS = {**vars(instructions), **vars(eights), **vars(eightrows)}

# What code may call and does not need numba's runtime for.
KNOWN = {"memcpy", "memmove", "memset", "pow", "exp", "exp2", "log", "log2", "floor", "ceil", "trunc"}


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
    dispatcher = numba.njit(**OPTIONS, **way)(_rebound(function, way))
    dispatcher.compile(signature)
    compiled = dispatcher.overloads[signature]
    result, n_results = _result(compiled.signature.return_type)
    if result is None:
        return None
    symbol, entry = _make_entry(compiled, signature)
    called, code = compiled.library.compile(entry)
    needs_numba = not {name for name in called if not name.startswith("llvm.")} <= KNOWN
    return Form(symbol, result, n_results, needs_numba, code)


def make_dispatcher(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return numba's own compiled function."""
    load_numba()
    return numba.njit(**OPTIONS)(_rebound(function, {}))  # type: ignore[no-any-return]


@cache
def load_numba() -> None:
    """Fill numba's registries, and let compiled code find its runtime."""
    load_registries()


def _result(kind: Any) -> tuple[str | None, int]:
    """Return what a kernel returns: a key of RESULTS, nothing, or None for what cannot be passed on; and how many."""
    if isinstance(kind, types.UniTuple):
        return _result(kind.dtype)[0] or None, kind.count
    if isinstance(kind, types.Integer):
        return "int" if kind.signed else "uint", 0
    names = {types.none: "", types.float64: "float", types.boolean: "bool"}
    return names.get(kind), 0


_spaces: dict[tuple[int, str], dict[str, Any]] = {}
_helpers: dict[tuple[int, str], Any] = {}


def _rebound(function: Callable[..., Any], way: dict[str, Any]) -> Callable[..., Any]:
    """Return a function with the globals that it is compiled with."""
    return _with_globals(function, _space(function.__globals__, way))


def _space(own: dict[str, Any], way: dict[str, Any]) -> dict[str, Any]:
    """Return the globals of a file with helpers compiled, those of other files with theirs, and instructions."""
    key = id(own), repr(way)
    if key not in _spaces:
        space = _spaces[key] = dict(own)
        for name, value in own.items():
            if isinstance(value, Instruction):
                space[name] = INSTRUCTIONS[value.name]
            elif isinstance(value, Helper):
                space[name] = _compiled_helper(value, way)
    return _spaces[key]


def _compiled_helper(value: Helper, way: dict[str, Any]) -> Any:
    key = id(value.function), repr(way)
    if key not in _helpers:
        _helpers[key] = numba.njit(**OPTIONS, **way, **value.options)(_rebound(value.function, way))
    return _helpers[key]


def _with_globals(function: Any, space: dict[str, Any]) -> Callable[..., Any]:
    return FunctionType(function.__code__, space, function.__name__, function.__defaults__, function.__closure__)


def _make_entry(compiled: Any, signature: tuple[Any, ...]) -> tuple[str, Any]:
    """Return the symbol and the module of a function that gives a compiled one what it finds in Python's arrays.

    It calls as numba does, whatever arguments look like in machine code.
    """
    context, result = compiled.target_context, compiled.signature.return_type
    callee = compiled.fndesc.llvm_func_name
    module = ir.Module("entry")
    module.triple, module.data_layout = llvm.get_process_triple(), str(context.codegen().target_data)
    entry = ir.Function(module, ir.FunctionType(STATUS, [WORD, WORD]), f"entry.{callee}")
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
    if result != types.none:
        data = context.get_data_type(result)
        as_data = context.data_model_manager[result].as_data(builder, returned)
        builder.store(as_data, builder.inttoptr(result_at, data.as_pointer()))
    builder.ret(builder.select(status.is_ok, STATUS(0), STATUS(1)))
    return entry.name, llvm.parse_assembly(str(module))
