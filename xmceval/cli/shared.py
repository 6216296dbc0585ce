"""What commands share: names of systems, compiling kernels, and what goes to stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from xmceval.cli import progressbar
from xmceval.errors import UsageError, counted, escaped, listed
from xmceval.files.io.addresses import is_address
from xmceval.files.io.paths import to_path

if TYPE_CHECKING:
    from xmceval.api.comparing.pairtests import Cost, Watch
    from xmceval.api.scoring.setup import Named
    from xmceval.report.result import Result

COMPILING = "compiling kernels that are needed for the first time on this machine: takes some seconds"
UNSAVED = (
    "compiling kernels: takes some seconds on each run, as no folder for them can be written by this user only (hint:"
    " set NUMBA_CACHE_DIR)"
)
LONG = 300_000_000  # rows drawn in resamples, which take about a second


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


def shards_of(path: Any, shards: bool) -> Any:
    """Return the files of a directory where they are shards; anything else as it is."""
    if not shards:
        return path
    from xmceval.files.io.shardfiles import find_shards

    return find_shards(path, directories=True)


def named_systems(
    preds: Sequence[str], names: Sequence[str], fused: Sequence[str], *, shards: bool = False
) -> list[Named]:
    """Return the systems of the command line: files, then fusions ``NAME=A,B`` or ``NAME=RULE:A,B``.

    What is fused are files, or systems by their names. With `shards`, the files of a directory are the shards of a
    system.

    Raises
    ------
    UsageError
        A fusion without a name, of fewer than two files, or of an unknown rule.
    """
    from xmceval.api.files.fuse import fuse
    from xmceval.api.scoring.setup import Named
    from xmceval.files.arrays.npypairs import has_pair
    from xmceval.rows.fusion import RULES

    systems = [Named(shards_of(path, shards), name) for path, name in zip(preds, names, strict=True)]
    by_name = dict(zip(names, preds, strict=True))
    for text in fused:
        name, is_named, files = text.partition("=")
        rule, has_rule, rest = files.partition(":")
        has_rule = "" if is_address(files) and rule not in RULES else has_rule
        found = [each for each in (rest if has_rule else files).split(",") if each]
        found = [
            each if is_address(each) or Path(each).exists() or has_pair(Path(each)) else by_name.get(each, each)
            for each in found
        ]
        paths = [shards_of(each, shards) for each in found]
        if not (name and is_named) or len(paths) < 2:
            raise UsageError(f"--fuse {text}: expected NAME=A,B or NAME=RULE:A,B with at least two files")
        if has_rule and rule not in RULES:
            raise UsageError(f"--fuse {text}: the rule must be one of {listed(RULES)}, got {rule!r}")
        systems.append(Named(fuse(paths, by=rule if has_rule else "score"), name))
    return systems


def systems_of_runs(texts: Sequence[str], *, shards: bool = False) -> list[Named]:
    """Return the systems of ``--runs NAME=A,B,C``; each run may have shards.

    Raises
    ------
    UsageError
        A system without a name, or with fewer than two runs.
    """
    from xmceval.api.scoring.setup import Named

    systems = []
    for text in texts:
        name, _, files = text.partition("=")
        paths = [shards_of(each, shards) for each in files.split(",") if each]
        if not name or len(paths) < 2:
            raise UsageError(f"--runs {text}: expected NAME=A,B with at least two files")
        systems.append(Named(paths, name))
    return systems


@contextmanager
def engine(dask: str | None) -> Iterator[dict[str, Any]]:
    """Return the arguments of Setup that choose where rows are scored: in this process, or with Dask."""
    if dask is None:
        yield {}
        return
    from xmceval.api.cluster.dasktasks import connect
    from xmceval.api.cluster.engine import Engine

    with connect(dask) as tasks:
        yield {"engine": Engine(tasks)}


def short_names(paths: Sequence[str]) -> list[str]:
    """Return the shortest ending of each path that no other path shares; a path that is passed twice has one name."""
    parts = [to_path(path).parts for path in paths]
    names = []
    for own in parts:
        endings = [own[-length:] for length in range(1, len(own) + 1)]
        unique = (ending for ending in endings if sum(other[-len(ending) :] == ending for other in set(parts)) == 1)
        names.append(str(Path(*next(unique, own))))
    return names


def numbered(names: Sequence[str]) -> list[str]:
    """Number names that appear more than once: ``a.txt (1)``, ``a.txt (2)``."""
    return [f"{name} ({names[: i + 1].count(name)})" if names.count(name) > 1 else name for i, name in enumerate(names)]


def say(line: str) -> None:
    """Write a line to stderr; what names of files may hold, such as control characters, is escaped."""
    click.echo(escaped(line), err=True)


def report(results: Sequence[Result], *, quiet: bool, verbose: bool, warnings: Sequence[str] = ()) -> None:
    """Write warnings, and with `verbose` notes, to stderr; those that systems share appear once."""
    from xmceval.report.result import shared_lines

    for line in () if quiet else warnings:
        say(f"warning: {line}")
    for kind, is_wanted in (("notes", verbose), ("warnings", not quiet)):
        for line in shared_lines(results, kind) if is_wanted else ():
            say(f"{kind[:-1]}: {line}")


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
        raise DataError(*warnings, "with --strict warnings are errors")


def start(quiet: bool, *, ahead: bool = False) -> None:
    """Load numba, and when kernels have to be compiled first, report it on stderr.

    With `ahead`, a second process then compiles the kernels of the default metrics.
    """
    from xmceval.kernels import start_quickly

    start_quickly()
    _report_compilation(quiet, ahead)


@cache
def _report_compilation(quiet: bool, ahead: bool) -> None:
    from xmceval.kernels.compile.cache import folder_to_write, is_compiled, on_compilation

    if ahead and not is_compiled("topk.compute_rows"):
        from xmceval.scoring.ahead import fork_ahead

        fork_ahead()

    def report_it() -> None:
        if not quiet:
            progressbar.clear()
            say(UNSAVED if folder_to_write() is None else COMPILING)
        if ahead:
            from xmceval.scoring.ahead import start_ahead

            start_ahead()

    on_compilation(report_it)


def watch(quiet: bool) -> Watch:
    """Return what writes the cost of long resampling to stderr before it starts, and shows its progress."""
    from xmceval.rows.progress import phase

    def watch_cost(cost: Cost) -> AbstractContextManager[Callable[[int], None] | None]:
        if cost.steps >= LONG and not quiet:
            say(f"note: {cost}")
        return phase(cost.what, cost.n_tests * cost.n_resamples, "resamples")

    return watch_cost
