"""Errors: what can go wrong for a user; a message has the place, the offending thing and a hint."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterable

from xmceval.lazily import dataclass


class XmcevalError(ValueError):
    """Base of every error that xmceval raises on purpose; the command line ends with exit code 1."""


class DataError(XmcevalError):
    """A file or matrix breaks its format, or does not fit the other inputs."""


class UsageError(XmcevalError):
    """A wrong option or argument value; the command line ends with exit code 2."""


class XmcevalWarning(UserWarning):
    """What a reader must know before trusting the numbers; the Python functions issue the warnings of a result."""


def warn(messages: Iterable[str], category: type[Warning] = XmcevalWarning) -> None:
    """Issue warnings at the line that called the package."""
    frame, depth = inspect.currentframe(), 0
    while frame is not None and str(frame.f_globals.get("__name__", "")).startswith("xmceval."):
        frame, depth = frame.f_back, depth + 1
    for message in messages:
        warnings.warn(message, category, stacklevel=depth + 1)


@dataclass(eq=False)
class Fault(Exception):  # noqa: N818 - it is caught on its way and becomes a DataError
    """A mistake in one row of one input.

    Blocks are worked on in threads, so several faults may be found at once: they are reported in the order of rows.
    """

    row: int
    message: str


def missing_package(purpose: str, package: str, extra: str) -> DataError:
    """Return the error of a package that is not installed, with the command that installs it."""
    return DataError(f"{purpose} needs the package {package} (hint: pip install 'xmceval[{extra}]')")


def listed(choices: object) -> str:
    """Join choices for a message: ``a, b, c``."""
    return ", ".join(str(choice) for choice in choices)  # type: ignore[attr-defined]


def counted(number: int, noun: str) -> str:
    """Return a number with its noun: ``1 row``, ``12,345 rows``."""
    several = f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else several}"
