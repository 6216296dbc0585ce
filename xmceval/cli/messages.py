"""Messages: what goes to stderr, warnings and notes above all; with ``--strict`` warnings are errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from xmceval.errors import DataError, escaped

if TYPE_CHECKING:
    from xmceval.report.result import Result


def say(line: str) -> None:
    """Write a line to stderr; what names of files may hold, such as control characters, is escaped."""
    click.echo(escaped(line), err=True)


def warn(lines: Iterable[str], *, quiet: bool) -> None:
    """Write warnings."""
    for line in () if quiet else lines:
        say(f"warning: {line}")


def warn_of_results(arguments: Mapping[str, Any], results: Sequence[Result], more: Sequence[str] = ()) -> None:
    """Write the warnings on results, and with --verbose notes; those that systems share appear once.

    Raises
    ------
    DataError
        All warnings, with --strict.
    """
    from xmceval.report.result import shared_lines

    warnings = dict.fromkeys([*more, *(line for result in results for line in result.warnings)])
    if arguments["strict"] and warnings:
        raise DataError(*warnings, "with --strict warnings are errors")
    warn(more, quiet=arguments["quiet"])
    for line in shared_lines(results, "notes") if arguments["verbose"] else ():
        say(f"note: {line}")
    warn(shared_lines(results, "warnings"), quiet=arguments["quiet"])
