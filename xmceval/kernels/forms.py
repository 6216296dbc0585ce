"""What decorators make of functions, and what compiling makes of kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Helper(NamedTuple):
    """A function that kernels call, and nobody else; and numba's options for it."""

    function: Callable[..., Any]
    options: dict[str, bool]


class Instruction(NamedTuple):
    """What compiled code has under a name of `instructions` or `eights`."""

    name: str


class Form(NamedTuple):
    """The compiled form of a kernel for one signature.

    Attributes
    ----------
    symbol : str
        Of the function to call. It takes the addresses of the result and of words: the address of each array, as a
        Python object, and each number. It returns 0 if all went well.
    result : str
        "int", "uint", "bool", "float", or empty where the kernel returns nothing.
    n_results : int
        How many the kernel returns as a tuple; 0 where it returns no tuple.
    needs_numba : bool
        Whether the code calls numba's runtime, as that of kernels does which allocate working space.
    code : bytes
        Object code.
    """

    symbol: str
    result: str
    n_results: int
    needs_numba: bool
    code: bytes
