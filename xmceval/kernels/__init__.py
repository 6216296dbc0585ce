"""Numba kernels: self-contained files that import numpy, numba and the cache of kernels only."""

from __future__ import annotations

import sys

from numba.core.registry import cpu_target


def start_quickly() -> None:
    """Load numba's registries without its look for a BLAS, which no kernel here uses.

    It would import scipy.linalg and half of scipy with it, 0.1 of the 0.5 seconds that a start takes. For the command's
    own process only: numba then has no BLAS for anyone else's functions.
    """
    name = "scipy.linalg.cython_blas"
    if name in sys.modules:
        return
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        cpu_target.typing_context.refresh()
        cpu_target.target_context.refresh()
    finally:
        del sys.modules[name]
