"""Decorators of kernels, and how they are called: numba is imported only when one has to be compiled.

To import numba and to fill its registries takes longer than to score a small file. So what it compiled is saved as
object code, with an entry that takes numpy's arrays as they lie in memory; to load that takes llvmlite only.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from functools import update_wrapper
from typing import Any

import numpy as np
from numpy import memmap, ndarray

from xmceval.kernels.compile.cache import digest_of_source
from xmceval.kernels.compile.forms import Helper, Instruction
from xmceval.kernels.compile.settings import is_plain

INTEGERS = (int, bool, np.bool_, *(np.dtype(f"{kind}{size}").type for kind in "iu" for size in (1, 2, 4, 8)))
NUMBERS: dict[type, type] = {**dict.fromkeys(INTEGERS, int), float: float, np.float64: float}
OTHER = None  # an argument that only numba can take

PLAIN = is_plain()


class Arrays(tuple[Any, ...]):
    """Arrays that kernels take call after call: what a call has to know of them is found once, not each time."""

    kinds: list[Any]
    words: list[Any]

    def __new__(cls, arrays: Iterable[Any]) -> Arrays:
        """Keep arrays, which must not be given another type or memory from then on."""
        own = super().__new__(cls, arrays)
        own.kinds, own.words = [len(own)], []
        _scan(own, own.kinds, own.words)
        return own

    def __reduce__(self) -> tuple[Any, ...]:
        return Arrays, (tuple(self),)  # a copy has arrays at other addresses


class Kernel:
    """A compiled function of arrays, numbers, and tuples of these; `py_func` is the function in Python."""

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self._entries: dict[tuple[Any, ...], Callable[..., Any]] = {}
        self._lock = threading.Lock()
        digest_of_source(sys.modules[function.__module__])

    def __call__(self, *arguments: Any) -> Any:
        """Run the compiled form for arguments of these kinds."""
        kinds: list[Any] = []
        words: list[Any] = []
        _scan(arguments, kinds, words)
        key = tuple(kinds)
        entry = self._entries.get(key) or self._make_entry(key, arguments)
        return entry(arguments, words)

    def __reduce__(self) -> str:
        return self.__qualname__

    def _make_entry(self, key: tuple[Any, ...], arguments: tuple[Any, ...]) -> Callable[..., Any]:
        from xmceval.kernels.compile.entries import make_entry

        with self._lock:
            if key not in self._entries:
                self._entries[key] = make_entry(self.py_func, key, arguments)
            return self._entries[key]


def _scan(arguments: tuple[Any, ...], kinds: list[Any], words: list[Any]) -> None:
    """Append what the signature depends on, and the numbers and addresses to pass on.

    The kinds are, for an array, its type, number of dimensions and flags, for a tuple its length, for a number its
    type.
    """
    for argument in arguments:
        kind = type(argument)
        if kind is ndarray or kind is memmap:
            kinds += argument.dtype, argument.ndim, argument.flags.num
            words.append(id(argument))
        elif kind is Arrays:
            kinds += argument.kinds
            words += argument.words
        elif kind is tuple:
            kinds.append(len(argument))
            _scan(argument, kinds, words)
        elif kind in NUMBERS and (kind is not int or -(2**63) <= argument < 2**63):
            kinds.append(kind)
            words.append(NUMBERS[kind](argument))
        else:
            kinds.append(OTHER)


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a function when it is first called, or load what an earlier process compiled.

    It runs without the GIL and should return numbers only: others go through numba, which is slower. Numbers that
    overflow wrap around or become infinite without a warning, also where it runs as plain Python.
    """
    return np.errstate(over="ignore")(function) if PLAIN else Kernel(function)


def helper(function: Callable[..., Any]) -> Any:
    """Let kernels call a function, also those of other files, which import it; it becomes a part of each."""
    return function if PLAIN else Helper(function, {"forceinline": True})


def function(function: Callable[..., Any]) -> Any:
    """Let kernels call a function that is not small: it is compiled once for all calls by a kernel."""
    return function if PLAIN else Helper(function, {})


def instruction(function: Callable[..., Any] | str) -> Any:
    """Let compiled code have an instruction for a function, which gives the same in Python, or for a mere name."""
    if PLAIN:
        return function
    return Instruction(function if isinstance(function, str) else function.__name__.lstrip("_"))
