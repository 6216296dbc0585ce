"""Entries: how Python calls the compiled form of a kernel, loaded from the cache, or compiled and saved there."""

from __future__ import annotations

import ctypes
import gc
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

from xmceval.kernels.compile import settings
from xmceval.kernels.compile.cache import Slot, report_compilation, version_of_numba
from xmceval.kernels.compile.forms import PYTHONS, Form

Entry = Callable[[tuple[Any, ...], list[Any]], Any]

NUMBERS: dict[str, Any] = {"q": ctypes.c_int64, "Q": ctypes.c_uint64, "d": ctypes.c_double, "?": ctypes.c_bool}
SLOTS = {kind: f"{kind}7x" if kind == "?" else kind for kind in NUMBERS}  # each result takes eight bytes

RAISED = Struct("PiPPi")  # numba's description of an exception: first a pickle, its address and size

# Bits of an array's flags.
C_CONTIGUOUS, F_CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x2, 0x100, 0x400

compiled: list[str] = []  # by this process
fallen_back: list[str] = []  # to numba's own way, as this one could not be gone
_engines: list[Any] = []  # code lives as long as its engine


def make_entry(function: Callable[..., Any], key: tuple[Any, ...], arguments: tuple[Any, ...]) -> Entry:
    """Return what calls the compiled form of a function with arguments of these kinds.

    It takes the arguments, and the words that they are passed on as. What cannot be compiled, loaded or called in the
    way of this package goes through numba's dispatcher.
    """
    kinds = list(_split(key))
    arguments = tuple(map(_plain, arguments))
    slot = Slot(function, _machine(), " ".join(map(_describe, kinds)))
    entry = None
    if not settings.WITH_NUMBA and all(map(_is_native, kinds)):
        form = _read(slot) or (None if slot.is_numbas() else _compile(slot, function, arguments))
        entry = None if form is None else _load(form, kinds)
    if entry is not None:
        return entry
    if not settings.WITH_NUMBA:
        fallen_back.append(slot.name)
    return _through_numba(slot, function, arguments)


def load_dispatchers() -> Any:
    """Return the module that lets numba compile, which imports it."""
    settings.loaded_values()
    from xmceval.kernels.compile import dispatchers

    return dispatchers


def _compile(slot: Slot, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Form | None:
    """Compile a function and save its form, or wait for another process that does; return None if it cannot be."""
    report_compilation()
    with slot.locked():
        form = _read(slot)
        if form is None:
            compiled.append(slot.name)
            with _keeping_garbage(), suppress(Exception):  # the dispatcher says what is wrong
                load_dispatchers()
                from xmceval.kernels.compile.compiler import compile_form

                form = compile_form(function, arguments)
                if form is not None and settings.are_unchanged():
                    slot.write(form.to_bytes())
    return form


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
    """Return what numba distinguishes; nothing of an argument that is not passed on as a word."""
    if kind is None:
        return ""
    if not isinstance(kind, tuple):
        return str(kind) if isinstance(kind, int) else kind.__name__
    dtype, n_dimensions, flags = kind
    layout = "C" if flags & C_CONTIGUOUS else "F" if flags & F_CONTIGUOUS else "A"
    return f"{dtype.str}{n_dimensions}{layout}{flags & (ALIGNED | WRITEABLE):x}"


def _read(slot: Slot) -> Form | None:
    return next(filter(None, map(Form.from_bytes, slot.read())), None)


def _load(form: Form, kinds: list[Any]) -> Entry | None:
    """Load object code, and return what calls its entry; None if something that it needs is not there."""
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), _target().create_target_machine())
    if not _are_known(form.names):
        load_dispatchers().load_numba()
        if not _are_known(form.names):
            return None
    engine.add_object_file(llvm.ObjectFileRef.from_data(form.code))
    engine.finalize_object()
    _engines.append(engine)
    pack = Struct("".join(map(_code, kinds))).pack
    kind_of_call = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)
    call = kind_of_call(engine.get_function_address(form.symbol))
    if not form.results:

        def enter(_arguments: tuple[Any, ...], words: list[Any]) -> None:
            raised = call(None, pack(*words))
            if raised:
                raise _exception_at(raised)

        return enter
    kinds_of_results = form.results.removeprefix("T")
    is_tuple = kinds_of_results != form.results
    buffer = ctypes.c_int64 * len(kinds_of_results) if is_tuple else NUMBERS[form.results] * 1
    unpack = Struct(f"={''.join(map(SLOTS.__getitem__, kinds_of_results))}").unpack

    def enter_and_return(_arguments: tuple[Any, ...], words: list[Any]) -> Any:
        returned = buffer()
        raised = call(ctypes.addressof(returned), pack(*words))
        if raised:
            raise _exception_at(raised)
        return unpack(returned) if is_tuple else returned[0]

    return enter_and_return


def _are_known(names: tuple[str, ...]) -> bool:
    """Whether this process has what code needs; a call of what is missing would end it."""
    return all(llvm.address_of_symbol(name) for name in names)


def _exception_at(address: int) -> BaseException:
    """Return the exception that compiled code describes in the way of numba."""
    if address == PYTHONS:
        return SystemError("a kernel failed")
    content, size, *_ = RAISED.unpack(ctypes.string_at(address, RAISED.size))
    kind, arguments, _place = pickle.loads(ctypes.string_at(content, size))  # noqa: S301 - a part of code that has run
    exception: BaseException = kind(*arguments)
    return exception


def _code(kind: Any) -> str:
    """Return how a word is packed: an address, a number; a tuple has only the words of what is in it."""
    if isinstance(kind, tuple):
        return "q"
    if isinstance(kind, int):
        return ""
    return "d" if issubclass(kind, float) else "Q" if kind is np.uint64 else "q"


def _through_numba(slot: Slot, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Entry:
    """Return what calls a function through numba's dispatcher, which takes any argument and has a cache of its own."""
    dispatchers, is_new = load_dispatchers(), False

    def report() -> None:
        nonlocal is_new
        is_new = True
        report_compilation()

    folder = slot.folder_of_numba() if settings.are_unchanged() else None
    dispatcher = dispatchers.make_dispatcher(function, folder, slot.mark)
    with slot.locked(), _keeping_garbage(), dispatchers.reporting(report):
        dispatcher.compile(tuple(map(dispatchers.numba.typeof, arguments)))
    compiled.extend([slot.name] if is_new else [])
    return lambda arguments, _words: dispatcher(*map(_plain, arguments))


def _plain(argument: Any) -> Any:
    """Return a tuple of arrays as numba knows it."""
    return tuple(argument) if isinstance(argument, tuple) else argument


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
    parts = [
        version_of_numba(),
        *(llvmlite.__version__, f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"),
        *(llvm.get_process_triple(), llvm.get_host_cpu_name(), features, str(settings.WITH_NUMBA)),
        *(f"{name}={value}" for name, value in sorted(settings.compiled_with().items())),
    ]
    return "\n".join(parts)
