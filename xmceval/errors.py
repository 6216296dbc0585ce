"""What can go wrong for a user: one family of errors, each with its place, the thing and the hint."""

from __future__ import annotations

from dataclasses import dataclass


class XmcevalError(ValueError):
    """Base of every error that xmceval raises on purpose; the command line ends with exit code 1."""


class DataError(XmcevalError):
    """A file or matrix breaks its format, or does not fit the other inputs."""


class UsageError(XmcevalError):
    """A wrong option or argument value; the command line ends with exit code 2."""


@dataclass(frozen=True)
class Fault(Exception):  # noqa: N818 - it is caught on its way and becomes a DataError
    """A mistake found at one row of one input, before its place is known by name.

    Blocks are worked on in threads, so several faults may be found at once: they are told in the order of their rows.
    """

    row: int
    message: str


def listed(choices: object) -> str:
    """Join choices for a message: ``a, b, c``."""
    return ", ".join(str(choice) for choice in choices)  # type: ignore[attr-defined]


def counted(number: int, noun: str) -> str:
    """Say a number with its noun: ``1 row``, ``12,345 rows``."""
    several = f"{noun[:-1]}ies" if noun.endswith("ry") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else several}"
