"""Messages: what goes to stderr, warnings and notes above all; with ``--strict`` warnings are errors."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from xmceval.cli.progressbar import clear
from xmceval.errors import DataError, escaped

if TYPE_CHECKING:
    from xmceval.report.result import Result

NUMBER = frozenset({"is", "are", "has", "have"})  # words that depend on how many there are


def say(line: str) -> None:
    """Write a line to stderr; what names of files may hold, such as control characters, is escaped."""
    clear()
    click.echo(escaped(line), err=True)


def say_written(what: object, n_bytes: int, *, quiet: bool) -> None:
    """Say which file was written, and how large it is."""
    if not quiet:
        say(f"wrote {what} ({n_bytes / 1e6:,.1f} MB)")


def warn(lines: Iterable[str], *, quiet: bool) -> None:
    """Write warnings."""
    for line in () if quiet else lines:
        say(f"warning: {line}")


def by_kind(lines: Iterable[str], names: Collection[str]) -> Iterator[str]:
    """Yield the first line of each kind, and how many more there are, which differ in numbers and names only."""
    kinds: dict[tuple[str, ...], list[str]] = {}
    for line in lines:
        words = re.findall(r"(?<![^\s(])[a-z]+(?![^\s,;:.)])", line)
        kind = (word.removesuffix("s") for word in words if word not in names and word not in NUMBER)
        kinds.setdefault(tuple(kind), []).append(line)
    for first, *others in kinds.values():
        yield f"{first} (and {len(others):,} more of this kind; -v shows all)" if others else first


def warn_of_results(arguments: Mapping[str, Any], results: Sequence[Result], more: Sequence[str] = ()) -> None:
    """Write the warnings on results, and with --verbose notes; those that systems share appear once."""
    from xmceval.report.result import shared_lines

    warnings = dict.fromkeys([*more, *(line for result in results for line in result.warnings)])
    if arguments["strict"] and warnings:
        raise DataError(*warnings, "with --strict warnings are errors")
    warn(more, quiet=arguments["quiet"])
    for line in shared_lines(results, "notes") if arguments["verbose"] else ():
        say(f"note: {line}")
    warn(shared_lines(results, "warnings"), quiet=arguments["quiet"])
