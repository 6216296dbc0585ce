"""Instructions of vector processors for functions of kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba

PLAIN = bool(numba.config.DISABLE_JIT)  # whether numba leaves functions as they are


def instruction(function: Callable[..., Any] | str) -> Any:
    """Return what compiled code has for a function, which gives the same in Python, or for a mere name."""
    if PLAIN:
        return function
    from xmceval.kernels.vector import eight_pairs, eight_rows, instructions

    name = function if isinstance(function, str) else function.__name__.lstrip("_")
    for module in (instructions, eight_pairs, eight_rows):
        if hasattr(module, name):
            return getattr(module, name)
    raise AttributeError(name)
