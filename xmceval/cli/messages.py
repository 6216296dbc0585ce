"""Messages: what goes to stderr, doubts and notes above all; with ``--strict`` doubts are errors."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from xmceval.cli.progressbar import clear
from xmceval.errors import DataError, escaped

if TYPE_CHECKING:
    from xmceval.report.result import Result


def say(line: str) -> None:
    """Write a line to stderr; what names of files may hold, such as control characters, is escaped."""
    clear()
    click.echo(escaped(line), err=True)


def say_written(what: object, n_bytes: int, *, quiet: bool) -> None:
    """Say which file was written, and how large it is."""
    if not quiet:
        say(f"wrote {what} ({n_bytes / 1e6:,.1f} MB)")


def warn(lines: Iterable[str]) -> None:
    """Write warnings."""
    for line in lines:
        say(f"warning: {line}")


def refuse_doubts(doubts: Sequence[str], failures: Sequence[str] = ()) -> None:
    """Refuse values that may be wrong, for ``--strict``."""
    if doubts:
        raise DataError(*failures, *doubts, "with --strict doubts are errors")


def warn_of_results(
    arguments: Mapping[str, Any], results: Sequence[Result], doubts: Sequence[str] | None = None, form: str = ""
) -> None:
    """Write the doubts about results, and with --verbose notes; those that systems share appear once.

    `doubts` are those about a comparison and its results. A CSV file has no room for facts, so they are notes too.
    """
    from xmceval.report.scored import shared_lines

    doubts = list(shared_lines(results, "doubts")) if doubts is None else doubts
    if arguments["strict"]:
        refuse_doubts(doubts)
    has_no_room = form == "csv" and not arguments["quiet"]
    is_verbose = arguments["verbose"]
    for kind, is_shown in (("facts", has_no_room), ("inputs", is_verbose), ("notes", is_verbose)):
        for line in shared_lines(results, kind) if is_shown else ():
            say(f"note: {line}")
    warn(doubts)
