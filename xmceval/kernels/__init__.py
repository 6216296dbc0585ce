"""Numba kernels: files that import numpy, their decorators, and helpers of one another."""

from __future__ import annotations

import sys

_is_quick = False


def start_quickly() -> None:
    """Let numba load, should it have to, without its look for a BLAS, which no kernel here uses.

    It would import scipy.linalg and half of scipy with it. For the command's own process only: numba then has no BLAS
    for anyone else's functions.
    """
    global _is_quick  # noqa: PLW0603 - for good
    _is_quick = True


def load_registries() -> None:
    """Fill numba's registries."""
    from numba.core.registry import cpu_target

    name = "scipy.linalg.cython_blas"
    hidden = _is_quick and name not in sys.modules
    if hidden:
        sys.modules[name] = None  # type: ignore[assignment]
    try:
        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()
    finally:
        if hidden:
            del sys.modules[name]
