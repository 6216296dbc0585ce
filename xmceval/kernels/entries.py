"""Entries: how Python calls the compiled form of a kernel, loaded from the cache, or compiled and saved there."""

from __future__ import annotations

import ctypes
import gc
import os
import pickle
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from struct import Struct
from typing import Any

import llvmlite
import llvmlite.binding as llvm
import numpy as np

from xmceval.kernels.cache import Slot, report_compilation, version_of_numba
from xmceval.kernels.forms import Form

Entry = Callable[[tuple[Any, ...], list[Any]], Any]

RESULTS: dict[str, Any] = {
    "int": ctypes.c_int64,
    "uint": ctypes.c_uint64,
    "bool": ctypes.c_bool,
    "float": ctypes.c_double,
}

# Bits of an array's flags.
C_CONTIGUOUS, F_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x2, 0x100, 0x400

INDIFFERENT = {"NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS"}  # settings of numba that do not change what it compiles

compiled: list[str] = []  # by this process
_engines: list[Any] = []  # code lives as long as its engine


def make_entry(function: Callable[..., Any], key: tuple[Any, ...], arguments: tuple[Any, ...]) -> Entry:
    """Return what calls the compiled form of a function with arguments of these kinds.

    It takes the arguments, and the words that they are passed on as.
    """
    kinds = list(_split(key))
    if not all(map(_is_native, kinds)):
        return _through_numba(function)
    slot = Slot(function, f"{_machine()}\n{' '.join(map(_describe, kinds))}")
    form = _read(slot)
    if form is None:
        report_compilation()
        with slot.locked():
            form = _read(slot)
            if form is None:
                compiled.append(slot.name)
                with _keeping_garbage(), suppress(Exception):  # the dispatcher says what is wrong
                    from xmceval.kernels.compiler import compile_form

                    form = compile_form(function, arguments)
                if form is None:
                    return _through_numba(function)
                slot.write(pickle.dumps(form))
    return _load(form, kinds)


@contextmanager
def _keeping_garbage() -> Iterator[None]:
    """Pause the garbage collector: what is compiled leaves little garbage, and looking for it takes up to a tenth."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _split(key: tuple[Any, ...]) -> Iterator[Any]:
    """Yield what each argument is: a tuple for an array, a length for a tuple, or the type of a number."""
    parts = iter(key)
    for part in parts:
        yield (part, next(parts), next(parts)) if isinstance(part, np.dtype) else part


def _is_native(kind: Any) -> bool:
    """Whether an argument can be passed on as a word."""
    return kind is not None and (not isinstance(kind, tuple) or (kind[0].kind in "biuf" and kind[0].isnative))


def _describe(kind: Any) -> str:
    """Return what numba distinguishes."""
    if not isinstance(kind, tuple):
        return str(kind) if isinstance(kind, int) else kind.__name__
    dtype, n_dimensions, flags = kind
    layout = "C" if flags & C_CONTIGUOUS else "F" if flags & F_CONTIGUOUS else "A"
    return f"{dtype.str}{n_dimensions}{layout}{flags & (ALIGNED | WRITEABLE):x}"


def _read(slot: Slot) -> Form | None:
    for payload in slot.read():
        with suppress(Exception):  # whatever is wrong with a file, the kernel can be compiled
            form = pickle.loads(payload)  # noqa: S301
            if isinstance(form, Form):
                return form
    return None


def _load(form: Form, kinds: list[Any]) -> Entry:
    """Load object code, and return what calls its entry."""
    if form.needs_numba:
        from xmceval.kernels.compiler import load_numba

        load_numba()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target().create_target_machine())
    engine.add_object_file(llvm.ObjectFileRef.from_data(form.code))
    engine.finalize_object()
    _engines.append(engine)
    pack = Struct("".join(map(_code, kinds))).pack
    kind_of_call = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.c_char_p)
    call = kind_of_call(engine.get_function_address(form.symbol))
    kind_of_result = RESULTS.get(form.result)
    if kind_of_result is None:

        def enter(_arguments: tuple[Any, ...], words: list[Any]) -> None:
            if call(None, pack(*words)):
                raise MemoryError

        return enter
    buffer = kind_of_result * (form.n_results or 1)

    def enter_and_return(_arguments: tuple[Any, ...], words: list[Any]) -> Any:
        returned = buffer()
        if call(ctypes.addressof(returned), pack(*words)):
            raise MemoryError
        return tuple(returned) if form.n_results else returned[0]

    return enter_and_return


def _code(kind: Any) -> str:
    """Return how a word is packed: an address, a number; a tuple has only the words of what is in it."""
    if isinstance(kind, tuple):
        return "q"
    if isinstance(kind, int):
        return ""
    return "d" if issubclass(kind, float) else "Q" if kind is np.uint64 else "q"


def _through_numba(function: Callable[..., Any]) -> Entry:
    """Return what calls a function through numba's dispatcher, which takes any argument; it is not saved."""
    from xmceval.kernels.compiler import make_dispatcher

    dispatcher = make_dispatcher(function)
    return lambda arguments, _words: dispatcher(*arguments)


@cache
def _target() -> Any:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_triple(llvm.get_process_triple())


@cache
def _machine() -> str:
    """Return what compiled code depends on: versions, the processor, and numba's settings."""
    try:
        features = llvm.get_host_cpu_features().flatten()
    except RuntimeError:  # not known of every processor
        features = ""
    settings = {name: value for name, value in os.environ.items() if name.startswith("NUMBA_")}
    parts = [
        version_of_numba(),
        *(llvmlite.__version__, f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"),
        *(llvm.get_process_triple(), llvm.get_host_cpu_name(), features),
        *(f"{name}={value}" for name, value in sorted(settings.items()) if name not in INDIFFERENT),
    ]
    return "\n".join(parts)
