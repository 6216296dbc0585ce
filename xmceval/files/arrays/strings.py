"""Arrays of strings that numpy pickled: read without running anything that a pickle could ask for."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

MOST_DIMENSIONS = 4


class RefusedError(ValueError):
    """A pickle with anything in it but an array of strings."""


@dataclass(init=False)
class _Dtype:
    """Stands in for numpy.dtype; holds what it was asked for."""

    code: Any
    state: Any = None

    def __init__(self, *asked: Any) -> None:
        self.code = asked[0] if asked else None

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Array:
    """Stands in for numpy.ndarray; holds its state."""

    state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


def _reconstruct(*_: Any) -> _Array:
    return _Array()


def _encode(text: Any, encoding: Any = "utf-8") -> bytes:
    if type(text) is not str or encoding != "latin1":
        raise RefusedError("it holds more than an array of strings")
    return text.encode("latin1")


# All that may be named; the real objects of these names are never touched.
_ADMITTED = {
    ("numpy.core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy._core.multiarray", "_reconstruct"): _reconstruct,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
    ("_codecs", "encode"): _encode,
}


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        """Admit the stand-ins and nothing else."""
        if (module, name) not in _ADMITTED:
            raise RefusedError(f"it asks for {module}.{name}")
        return _ADMITTED[module, name]

    def persistent_load(self, pid: Any) -> Any:
        """Refuse references to things outside."""
        raise RefusedError(f"it refers to something outside, {pid!r:.40}")


def load_strings(stream: BinaryIO) -> NDArray[np.object_]:
    """Read the pickle in a npy file of dtype object: an array of str, and nothing else.

    Raises
    ------
    RefusedError
        Anything else in it, or a damaged one.
    """
    try:
        found = _Unpickler(stream).load()
    except RefusedError:
        raise
    except Exception as error:  # a damaged pickle may raise anything at all
        raise RefusedError(f"it is damaged ({type(error).__name__})") from None
    if type(found) is not _Array or type(found.state) is not tuple or len(found.state) != 5:
        raise RefusedError("it holds something else than an array")
    _, shape, dtype, is_fortran, items = found.state
    if type(dtype) is not _Dtype or dtype.code not in {"O8", "O4", "O"} or type(items) is not list:
        raise RefusedError("it holds another array than one of strings")
    sizes = shape if type(shape) is tuple and len(shape) <= MOST_DIMENSIONS else (-1,)
    if any(type(n) is not int or n < 0 for n in sizes) or int(np.prod([1, *sizes], dtype=object)) != len(items):
        raise RefusedError("its shape and its contents differ")
    odd = {type(each).__name__ for each in items if type(each) is not str}
    if odd:
        raise RefusedError(f"it holds {sorted(odd)[0]} among its strings")
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array.reshape(sizes, order="F" if is_fortran is True else "C")
