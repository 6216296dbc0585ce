"""Inventory: all kernels, and which of them this process has compiled forms of."""

from __future__ import annotations

import importlib
import pkgutil

import xmceval.kernels as home
from xmceval.kernels.compile import entries
from xmceval.kernels.compile.decorators import Kernel


def find_kernels() -> dict[str, bool]:
    """Return by name whether this process has a compiled form of each kernel; empty where they run as Python."""
    modules = [
        importlib.import_module(each.name)
        for each in pkgutil.walk_packages(home.__path__, f"{home.__name__}.")
        if not each.ispkg and ".compile." not in each.name
    ]
    kernels = {value for module in modules for value in vars(module).values() if isinstance(value, Kernel)}
    return {f"{each.__module__.rpartition('.')[2]}.{each.__qualname__}": each.is_ready for each in kernels}


def count_compiled() -> int:
    """Return how many forms of kernels this process has compiled."""
    return len(entries.compiled)
