"""Numba's settings: variables, a file, and what a program may have changed; the key of the cache has them."""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Any

from xmceval.errors import DataError

FILE = ".numba_config.yaml"  # in the current directory; it needs PyYAML, and numba's own reading

# What does not change compiled code.
INDIFFERENT = {"CACHE_DIR", "CACHE_LOCATOR_CLASSES", "NUM_THREADS", "NUMBA_NUM_THREADS", "NUMBA_DEFAULT_NUM_THREADS"}

MACHINE = "magic_tuple"  # the processor and its features, as numba's own cache has them


def _is_set(name: str) -> bool:
    return os.environ.get(name, "").strip() not in {"", "0"}


# Whether kernels are compiled, saved and called in the way that numba documents, not in the faster one of this package.
WITH_NUMBA = _is_set("XMCEVAL_PLAIN_NUMBA")


def import_numba() -> Any:
    """Import numba, and let it read its settings."""
    try:
        import numba

        numba.config.reload_config()
    except Exception as error:
        if isinstance(error, ImportError) or not os.path.isfile(FILE):
            raise
        reason = str(error).partition("\n")[0]
        raise DataError(
            f"{os.path.abspath(FILE)}: numba cannot read its settings: {reason} (hint: correct or remove this file, or"
            " work in another directory)"
        ) from None
    return numba


def is_plain() -> bool:
    """Whether numba leaves functions as they are; found out without numba, unless it is loaded or has a file."""
    if _is_numbas():
        return bool(import_numba().config.DISABLE_JIT)
    return _is_set("NUMBA_DISABLE_JIT")


def _is_numbas() -> bool:
    return "numba" in sys.modules or os.path.isfile(FILE)


@cache
def compiled_with() -> dict[str, str]:
    """Return the settings that compiled code depends on, as they are when first asked for.

    They are the variables of the environment, without numba. Where it is loaded, a program may have changed others, and
    where it has a file, only numba knows what that means: then they are what numba says.
    """
    return _numbas_settings() if _is_numbas() else _variables()


@cache
def loaded_values() -> dict[str, str] | None:
    """Return what numba's settings are when this package loads it; None where something else had done so before."""
    return None if MACHINE not in compiled_with() and "numba" in sys.modules else _values()


def are_unchanged() -> bool:
    """Whether numba compiles with the settings that `compiled_with` returned: only then may its code be saved."""
    if MACHINE in compiled_with():
        return _numbas_settings() == compiled_with()
    return _variables() == compiled_with() and not os.path.isfile(FILE) and _values() == loaded_values()


def _variables() -> dict[str, str]:
    names = (name for name in os.environ if name.startswith("NUMBA_"))
    return {name: os.environ[name] for name in names if name.removeprefix("NUMBA_") not in INDIFFERENT}


def _values() -> dict[str, str]:
    values = vars(import_numba().config)
    return {name: repr(values[name]) for name in values if name.isupper() and name not in INDIFFERENT}


def _numbas_settings() -> dict[str, str]:
    return {**_values(), MACHINE: machine()}


def machine() -> str:
    """Return the processor and its features that numba compiles for; nothing where numba does not tell."""
    try:
        from numba.core.registry import cpu_target

        return str(cpu_target.target_context.codegen().magic_tuple())
    except (ImportError, AttributeError):
        return ""
