"""Compile kernels in the way that numba documents; `compiler` has a faster one, and both see the same functions."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
from numba.core import event

from xmceval.kernels import load_registries
from xmceval.kernels.compile.forms import Helper, Instruction
from xmceval.kernels.vector import eight_pairs, eight_rows, instructions

OPTIONS = {"nogil": True, "error_model": "numpy"}

_CHOOSING = threading.Lock()  # of a folder for numba's cache

INSTRUCTIONS = {**vars(instructions), **vars(eight_pairs), **vars(eight_rows)}


def make_dispatcher(function: Callable[..., Any], folder: Path | None, mark: str) -> Any:
    """Return numba's own compiled function, which saves its forms in a folder, if there is one.

    Numba's cache knows of the file of a function only; a mark in its name says what else it depends on.
    """
    load_numba()
    function = rebound(function, {})
    if folder is None:
        return numba.njit(**OPTIONS)(function)
    function.__qualname__ += f"_{mark}"
    with _CHOOSING:
        chosen = numba.config.CACHE_DIR
        numba.config.CACHE_DIR = str(folder)
        try:
            return numba.njit(**OPTIONS, cache=True)(function)
        except RuntimeError:  # numba finds no place
            return numba.njit(**OPTIONS)(function)
        finally:
            numba.config.CACHE_DIR = chosen


@contextmanager
def reporting(report: Callable[[], None]) -> Iterator[None]:
    """Call `report` when numba compiles something, rather than finds it in its cache."""

    class Listener(event.Listener):
        def on_start(self, _event: Any) -> None:
            report()

        def on_end(self, _event: Any) -> None:
            pass

    with event.install_listener("numba:compile", Listener()):
        yield


@cache
def load_numba() -> None:
    """Fill numba's registries, and let compiled code find its runtime; a numba that does so later is left alone."""
    with suppress(ImportError, AttributeError):
        load_registries()


_spaces: dict[tuple[int, str], dict[str, Any]] = {}
_helpers: dict[tuple[int, str], Any] = {}


def rebound(function: Callable[..., Any], way: dict[str, Any]) -> Callable[..., Any]:
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
        _helpers[key] = numba.njit(**OPTIONS, **way, **value.options)(rebound(value.function, way))
    return _helpers[key]


def _with_globals(function: Any, space: dict[str, Any]) -> Callable[..., Any]:
    return FunctionType(function.__code__, space, function.__name__, function.__defaults__, function.__closure__)
