"""Arrays of strings that numpy pickled, read without running any code that a pickle could ask for."""

from __future__ import annotations

import io
import pickle
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

MOST_DIMENSIONS = 4


class RefusedError(ValueError):
    """A pickle with anything other than an array of strings in it."""


class _StandIn:
    """What a pickle made of a class or function of numpy: its arguments and its state, and nothing that runs."""

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Array(_StandIn):
    """That of an array."""


class _Dtype(_StandIn):
    """That of a dtype."""


def _encode(text: Any, encoding: Any = "utf-8") -> bytes:
    if type(text) is not str or encoding != "latin1":
        raise RefusedError("it holds more than an array of strings")
    return text.encode("latin1")


# All that a pickle may name; the real objects of these names are never touched.
_ADMITTED = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,
    ("numpy", "ndarray"): _Array,
    ("numpy", "dtype"): _Dtype,
    ("_codecs", "encode"): _encode,
}


class _Unpickler(pickle.Unpickler):
    def __init__(self, text: bytes) -> None:
        self.stream = io.BytesIO(text)
        super().__init__(self.stream)
        self._room = len(text)  # for bytes: a pickle may ask any number of times for those of the same string

    def find_class(self, module: str, name: str) -> Any:
        """Return a stand-in, and refuse anything else."""
        if (module, name) not in _ADMITTED:
            raise RefusedError(f"it asks for {module}.{name}")
        return self._encode if name == "encode" else _ADMITTED[module, name]

    def _encode(self, text: Any, encoding: Any = "utf-8") -> bytes:
        content = _encode(text, encoding)
        self._room -= len(content)
        if self._room < 0:
            raise RefusedError("it asks for more bytes than it has")
        return content

    def persistent_load(self, pid: Any) -> Any:
        """Refuse references to external objects."""
        raise RefusedError(f"it refers to an external object, {pid!r:.40}")


def load_strings(stream: BinaryIO) -> NDArray[np.object_]:
    """Read the pickle in an npy file of dtype object: an array of str, and nothing else."""
    from xmceval.kernels.text import pickles as kernels

    try:
        text = stream.read()
        code = kernels.check_pickle(np.frombuffer(text, dtype=np.uint8))
        if code == kernels.WILD_MEMO:  # the unpickler would ask for any amount of memory
            raise RefusedError("the objects in it are not numbered one after the other")
        if code == kernels.DAMAGED:
            raise RefusedError("it is damaged or truncated")
        unpickler = _Unpickler(text)
        content = unpickler.load()
    except RefusedError:
        raise
    except Exception as error:  # a damaged pickle may raise anything at all
        raise RefusedError(f"it is damaged ({type(error).__name__})") from None
    if unpickler.stream.read(1):
        raise RefusedError("more follows it")
    if type(content) is not _Array or type(content.state) is not tuple or len(content.state) != 5:
        raise RefusedError("it holds something other than an array")
    _, shape, dtype, is_fortran, items = content.state
    if type(dtype) is not _Dtype or dtype.arguments[:1] not in (("O8",), ("O4",), ("O",)) or type(items) is not list:
        raise RefusedError("its array is not one of strings")
    sizes = shape if type(shape) is tuple and len(shape) <= MOST_DIMENSIONS else (-1,)
    if any(type(n) is not int or n < 0 for n in sizes) or int(np.prod([1, *sizes], dtype=object)) != len(items):
        raise RefusedError("its shape does not fit its contents")
    other_types = {type(item).__name__ for item in items if type(item) is not str}
    if other_types:
        raise RefusedError(f"it holds an object of type {min(other_types)}")
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array.reshape(sizes, order="F" if is_fortran is True else "C")
