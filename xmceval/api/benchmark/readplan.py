"""Read the plan of a benchmark from its file, or from a dict of the same form."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from xmceval.api.benchmark.plan import Plan

NO_OVERRIDES: Mapping[str, Any] = MappingProxyType({})


def read_plan(
    source: str | Path | Mapping[str, Any], *, strict: bool = False, overrides: Mapping[str, Any] = NO_OVERRIDES
) -> Plan:
    """Read a benchmark, find its files, and report all of its mistakes at once.

    Parameters
    ----------
    source : path or mapping
        A TOML file, or a dict of the same form, in which matrices may stand for files. Relative paths are relative to
        the file, those of a dict to the current folder.
    strict : bool
        Whether predictions that are missing are a mistake.
    overrides : mapping
        Options of scoring and of testing by name, such as ``{"against": "PECOS"}``, which replace those at the top.
        Their relative paths are relative to the current folder.

    Raises
    ------
    DataError
        The mistakes of the file, one per line.
    UsageError
        Those of the overrides.
    """
    raise NotImplementedError
