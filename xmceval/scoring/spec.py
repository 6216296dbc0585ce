"""Spec: how an option of scoring is shown on the command line, checked, and recorded in reports."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from numbers import Number, Real
from pathlib import Path
from typing import Any

from xmceval.errors import UsageError, argument
from xmceval.files.io.paths import to_path
from xmceval.rows.shards import Shards


@dataclass(frozen=True)
class Spec:
    """How the command line shows an option."""

    help: str
    group: str  # one of GROUPS
    flags: tuple[str, ...] = ()  # default: the name with dashes
    metavar: str = ""
    kind: type = str  # ``str``, ``int``, ``float``, ``bool`` (a flag), ``list`` (may be repeated)
    choices: tuple[str, ...] = ()
    low: int | None = None  # bounds of an int
    high: int | None = None
    # returns the names from which values are made, which a shell completes
    names: Callable[[], Iterable[str]] | None = None
    # where a table shows a value that is not the default: ``table`` (its rows and columns, the line above it),
    # ``propensities`` (the line on them), ``options`` (the line on all others), or ``nowhere``: it changes no number
    shown: str = "options"

    @property
    def is_file(self) -> bool:
        """Whether a value may be the path of a file."""
        return self.metavar == "FILE"

    def check_whole(self, name: str, value: Any) -> None:
        """Check the value of an int."""
        try:
            number = None if isinstance(value, bool) else operator.index(value)
        except TypeError:
            number = None
        low, high = self.low, self.high
        if number is None or (low is not None and number < low) or (high is not None and number > high):
            bounds = "" if low is None else f" of at least {low}"
            bounds += "" if high is None else f" and at most {high}"
            raise UsageError(f"{argument(name)} must be a whole number{bounds}, got {value!r}")

    def as_number(self, name: str, value: Any) -> float:
        """Return the value of a float, which may be in an array or a tensor without dimensions."""
        number = value.item() if getattr(value, "ndim", None) == 0 else value
        if not isinstance(number, Number) or isinstance(number, complex):
            raise UsageError(f"{argument(name)} must be a number, got {value!r}")
        return float(number)  # type: ignore[arg-type]

    def expect(self, value: Any) -> str:
        """Return what a value should be where its type is wrong, else nothing; check_whole has the whole numbers."""
        if self.kind is bool:
            return "" if isinstance(value, bool) else "true or false"
        if value is None:
            return ""
        if self.kind is float:
            return "" if isinstance(value, Real) and not isinstance(value, bool) else "a number"
        if self.kind is list and not isinstance(value, str):
            is_list = isinstance(value, Collection) and not isinstance(value, Mapping)
            return "" if is_list and all(isinstance(name, str) for name in value) else "a string or a list of strings"
        return "a string" if self.metavar == "NAME" and not isinstance(value, str) else ""

    def record(self, value: Any) -> Any:
        """Return a value as reports record it: a file by its name, an array as ``array``, the rest as JSON has it."""
        if self.is_file and not isinstance(value, (int, float)):
            return input_name(value)
        return bool(value) if self.kind is bool else _plain(value)


def input_name(value: Any) -> str:
    """Return how reports call an input: a file by its name, anything else ``array``."""
    if isinstance(value, Shards):
        return value.name
    return to_path(value).name if isinstance(value, (str, Path)) else "array"


def _plain(value: Any) -> Any:
    """Return numbers and strings as they are, and lists of them; anything else as text."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(each) for each in value]
    is_number = isinstance(value, (int, float)) and math.isfinite(value)
    return value if is_number else str(value)
