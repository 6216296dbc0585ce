"""What decorators make of functions, and what compiling makes of kernels."""

from __future__ import annotations

from collections.abc import Callable
from struct import Struct
from typing import Any, NamedTuple

KINDS = {"q", "Q", "d", "?"}  # of results: int64, uint64, float64, bool
HEADER = Struct("<8sHHHQ")  # the mark, and the sizes of the symbol, the results, the names, and the code
PYTHONS = 1  # instead of the address of what is raised: it is known to Python only
MARK = b"\x7fxmceval"


class Helper(NamedTuple):
    """A function that kernels call, and nobody else; and numba's options for it."""

    function: Callable[..., Any]
    options: dict[str, bool]


class Instruction(NamedTuple):
    """What compiled code has under a name of the modules of `kernels/vector`."""

    name: str


class Form(NamedTuple):
    """The compiled form of a kernel for one signature.

    Attributes
    ----------
    symbol : str
        Of the function to call. It takes the addresses of the results, 8 bytes for each, and of words: the address of
        each array, as a Python object, and each number. It returns 0, or the address of what is raised.
    results : str
        The kind of each result, one of `KINDS`; after a "T" where the kernel returns a tuple.
    names : tuple of str
        What the code calls or reads that is defined elsewhere.
    code : bytes
        Object code.
    """

    symbol: str
    results: str
    names: tuple[str, ...]
    code: bytes

    def to_bytes(self) -> bytes:
        """Return the content of a file."""
        parts = [self.symbol.encode(), self.results.encode(), "\n".join(self.names).encode(), self.code]
        return b"".join([HEADER.pack(MARK, *map(len, parts)), *parts])

    @classmethod
    def from_bytes(cls, content: bytes) -> Form | None:
        """Return the form of which a file has the content, or None if it has no form's."""
        if len(content) < HEADER.size:
            return None
        mark, *sizes = HEADER.unpack_from(content)
        if mark != MARK or sum(sizes) != len(content) - HEADER.size:
            return None
        parts, at = [], HEADER.size
        for size in sizes:
            parts.append(content[at : at + size])
            at += size
        try:
            symbol, results, names = (part.decode() for part in parts[:3])
        except UnicodeDecodeError:
            return None
        if not set(results.removeprefix("T")) <= KINDS:
            return None
        return cls(symbol, results, tuple(names.split("\n")) if names else (), parts[3])
