"""What commands share: names of systems, compiling kernels, progress, and what goes to stderr."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import click

from xmceval.errors import UsageError, counted

if TYPE_CHECKING:
    from xmceval.api.setup import Named
    from xmceval.report.result import Result

COMPILING = "compiling kernels: on the first run only, takes some seconds"


def system_names(paths: Sequence[str], names: Sequence[str]) -> list[str]:
    """Return the name of each system: as passed, or the shortest path ending that no other shares.

    Raises
    ------
    UsageError
        More names than paths.
    """
    if len(names) > len(paths):
        raise UsageError(f"{counted(len(names), 'name')} for {counted(len(paths), 'file')} of predictions")
    return numbered([*names, *short_names(paths)[len(names) :]])


def named_systems(preds: Sequence[str], names: Sequence[str], fused: Sequence[str]) -> list[Named]:
    """Return the systems of the command line: files, then fusions ``NAME=A,B`` or ``NAME=RULE:A,B``.

    Raises
    ------
    UsageError
        A fusion without a name, or of an unknown rule.
    """
    from xmceval.api.fuse import fuse
    from xmceval.api.setup import Named

    systems = [Named(Path(path), name) for path, name in zip(preds, names, strict=True)]
    for text in fused:
        name, is_named, files = text.partition("=")
        if not (name and is_named and files):
            raise UsageError(f"--fuse {text}: expected NAME=A,B or NAME=RULE:A,B")
        rule, has_rule, rest = files.partition(":")
        paths = [Path(each) for each in (rest if has_rule else files).split(",")]
        systems.append(Named(fuse(paths, by=rule if has_rule else "score"), name))
    return systems


def systems_of_runs(texts: Sequence[str]) -> list[Named]:
    """Return the systems of ``--runs NAME=A,B,C``.

    Raises
    ------
    UsageError
        A system without a name, or with fewer than two runs.
    """
    from xmceval.api.setup import Named

    systems = []
    for text in texts:
        name, _, files = text.partition("=")
        paths = [Path(each) for each in files.split(",") if each]
        if not name or len(paths) < 2:
            raise UsageError(f"--runs {text}: expected NAME=A,B with at least two files")
        systems.append(Named(paths, name))
    return systems


def short_names(paths: Sequence[str]) -> list[str]:
    """Return the shortest ending of each path that no other shares."""
    parts = [Path(path).parts for path in paths]
    names = []
    for own in parts:
        endings = [own[-length:] for length in range(1, len(own) + 1)]
        unique = (ending for ending in endings if sum(other[-len(ending) :] == ending for other in parts) == 1)
        names.append(str(Path(*next(unique, own))))
    return names


def numbered(names: Sequence[str]) -> list[str]:
    """Number names that appear more than once: ``a.txt (1)``, ``a.txt (2)``."""
    return [f"{name} ({names[: i + 1].count(name)})" if names.count(name) > 1 else name for i, name in enumerate(names)]


def report(results: Sequence[Result], *, quiet: bool, verbose: bool, warnings: Sequence[str] = ()) -> None:
    """Write warnings, and with `verbose` notes, to stderr; those that systems share appear once."""
    for line in () if quiet else warnings:
        click.echo(f"warning: {line}", err=True)
    for kind, is_wanted in (("notes", verbose), ("warnings", not quiet)):
        systems: dict[str, list[str]] = {}
        for result in results:
            for line in getattr(result, kind):
                systems.setdefault(line, []).append(result.name)
        for line, names in systems.items() if is_wanted else ():
            prefix = f"{', '.join(names)}: " if len(names) < len(results) else ""
            click.echo(f"{kind[:-1]}: {prefix}{line}", err=True)


def refuse_warnings(results: Sequence[Result], more: Sequence[str] = ()) -> None:
    """Turn warnings into an error.

    Raises
    ------
    DataError
        All of them.
    """
    from xmceval.errors import DataError

    warnings = dict.fromkeys([*more, *(line for result in results for line in result.warnings)])
    if warnings:
        raise DataError("\n".join([*warnings, "with --strict warnings are errors"]))


def start(quiet: bool, *, ahead: bool = False) -> None:
    """Load numba, and when kernels have to be compiled first, report it on stderr.

    With `ahead`, a second process then compiles the kernels of the default metrics.
    """
    from xmceval.kernels import start_quickly

    start_quickly()
    _report_compilation(quiet, ahead)


@cache
def _report_compilation(quiet: bool, ahead: bool) -> None:
    from xmceval.kernels.cache import on_compilation

    def report_it() -> None:
        if not quiet:
            click.echo(COMPILING, err=True)
        if ahead:
            from xmceval.cli.ahead import start_ahead

            start_ahead()

    on_compilation(report_it)


@contextmanager
def progress(name: str, quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """Show rows done on a terminal, from the first second on."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    lock, start, done, shown = threading.Lock(), time.monotonic(), 0, 0.0

    def update(n_rows: int) -> None:
        nonlocal done, shown
        with lock:
            done += n_rows
            now = time.monotonic() - start
            if now > 1 and now - shown > 0.1:
                shown = now
                click.echo(f"\r{name}: {done:,} instances, {done / now:,.0f} per second", nl=False, err=True)

    try:
        yield update
    finally:
        if shown:
            click.echo("\r\x1b[K", nl=False, err=True)
