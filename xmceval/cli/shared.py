"""What commands share: the options of scoring, names of systems, and what goes to stderr."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from xmceval.metrics.names import check_cutoff
from xmceval.metrics.table import DEFAULT_CUTOFFS, DEFAULT_NAMES

if TYPE_CHECKING:
    from xmceval.report.result import Result

Function = TypeVar("Function", bound=Callable[..., Any])


def _cuts(_: click.Context, __: click.Parameter, value: str) -> list[int]:
    return [check_cutoff(each.strip()) for each in value.split(",")]


_SCORING = (
    click.option(
        "-k",
        "k",
        default=",".join(map(str, DEFAULT_CUTOFFS)),
        show_default=True,
        callback=_cuts,
        metavar="K,K...",
        help="Cuts of the metrics that name none.",
    ),
    click.option(
        "-m",
        "metrics",
        multiple=True,
        callback=lambda _, __, value: value or None,
        metavar="METRIC",
        help="A metric, such as PSP, P@1,3 or 'nDCG(gain=exp)@5'; may be repeated.  "
        f"[default: {', '.join(DEFAULT_NAMES)}; with --threshold those of decisions]",
    ),
    click.option("--train", metavar="FILE", help="Training labels: propensities come from their frequencies."),
    click.option("--counts", metavar="FILE", help="Instead: training rows of each label, one number a line."),
    click.option("--n-train", type=click.IntRange(min=1), help="Number of training rows, beside --counts."),
    click.option("--inverse-propensities", metavar="FILE", help="Instead: 1/p of each label, one number a line."),
    click.option("--dataset", metavar="NAME", help="A public data set, for its A, B and sizes: see xmceval datasets."),
    click.option("-A", "a", type=float, help="A of the propensity model.  [default: 0.55, or that of --dataset]"),
    click.option("-B", "b", type=float, help="B of the propensity model.  [default: 1.5, or that of --dataset]"),
    click.option("--n-labels", type=click.IntRange(1, 2**63 - 2), help="Number of labels, where TRUTH has no header."),
    click.option(
        "--labels", metavar="FILE", help="Names of labels, one a line, for files that have names in place of ids."
    ),
    click.option(
        "--duplicates",
        type=click.Choice(["error", "max"]),
        default="error",
        show_default=True,
        help="A label twice in a row is an error, or its greatest value counts.",
    ),
    click.option(
        "--empty-rows",
        type=click.Choice(["zero", "drop"]),
        default="zero",
        show_default=True,
        help="Instances without a true label count as 0, or are left out.",
    ),
    click.option(
        "--unscored",
        type=click.Choice(["bottom", "zero"]),
        default="bottom",
        show_default=True,
        help="Labels without a score stand below all others, or have score 0: for metrics of whole rows.",
    ),
    click.option(
        "--ties",
        type=click.Choice(["label", "expected", "best", "worst"]),
        default="label",
        show_default=True,
        help="Equal scores at a cut: the order by label, the mean over all orders, or the best or worst of them.",
    ),
    click.option(
        "--by-frequency",
        metavar="BINS",
        help="Shares by training frequency: a number of bins, names such as head,torso,tail, or counts.",
    ),
    click.option("--ceiling", is_flag=True, help="Add the best value that any ranking could reach on TRUTH."),
    click.option(
        "--threshold",
        type=float,
        help="Stored labels with a score of at least this are decisions: for f1_score, Jaccard, MCC and their like.",
    ),
    click.option("--filter", "filter", metavar="FILE", help="Pairs 'row label' taken out of the predictions."),
    click.option("--filter-truth", is_flag=True, help="Take the pairs of --filter out of TRUTH too."),
    click.option("--weights", "sample_weight", metavar="FILE", help="Sample weights, one number a line or npy."),
    click.option("--threads", type=click.IntRange(min=1), help="Number of threads.  [default: one per processor]"),
)


def scoring(function: Function) -> Function:
    """Add the options of scoring to a command."""
    for option in reversed(_SCORING):
        function = option(function)
    return function


def short_names(paths: Sequence[str]) -> list[str]:
    """Give each path its shortest ending that no other shares."""
    parts = [Path(path).parts for path in paths]
    names = []
    for own in parts:
        endings = [own[-length:] for length in range(1, len(own) + 1)]
        alone = (ending for ending in endings if sum(other[-len(ending) :] == ending for other in parts) == 1)
        names.append(str(Path(*next(alone, own))))
    return names


def numbered(names: Sequence[str]) -> list[str]:
    """Number names that stand there more than once: ``a.txt (1)``, ``a.txt (2)``."""
    return [f"{name} ({names[: i + 1].count(name)})" if names.count(name) > 1 else name for i, name in enumerate(names)]


def say(results: Sequence[Result], *, quiet: bool, verbose: bool) -> None:
    """Write warnings, and with `verbose` what was inferred, to stderr: what systems share once."""
    for kind, wanted in (("notes", verbose), ("warnings", not quiet)):
        seen: dict[str, list[str]] = {}
        for result in results:
            for line in getattr(result, kind):
                seen.setdefault(line, []).append(result.name)
        for line, names in seen.items() if wanted else ():
            about = f"{', '.join(names)}: " if len(names) < len(results) else ""
            click.echo(f"{kind[:-1]}: {about}{line}", err=True)


def refuse_warnings(results: Sequence[Result]) -> None:
    """Turn warnings into an error.

    Raises
    ------
    DataError
        All of them.
    """
    from xmceval.errors import DataError

    warnings = dict.fromkeys(line for result in results for line in result.warnings)
    if warnings:
        raise DataError("\n".join([*warnings, "with --strict warnings are errors"]))


def start(quiet: bool) -> None:
    """Load numba, and say on stderr when kernels have to be compiled first."""
    from xmceval.kernels import start_quickly

    start_quickly()
    _tell_compilation(quiet)


@cache
def _tell_compilation(quiet: bool) -> None:
    from xmceval.kernels import tell_compilation

    def tell() -> None:
        if not quiet:
            click.echo("compiling kernels: on the first run only, some seconds", err=True)
        # Numba compiles one kernel at a time, so a second process takes some of them: 3.8 seconds in place of 5.5.
        command = [sys.executable, "-c", "from xmceval.scoring.worker import compile_ahead; compile_ahead()"]
        with suppress(OSError):
            _beside.append(subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))  # noqa: S603

    tell_compilation(tell)


_beside: list[subprocess.Popen[bytes]] = []


def wait_for_kernels() -> None:
    """Wait for the kernels that a second process compiles, if there is one."""
    while _beside:
        _beside.pop().wait()


@contextmanager
def progress(name: str, quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """Show rows done on a terminal, from the first second on."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    lock, start, done, shown = threading.Lock(), time.monotonic(), 0, 0.0

    def tell(n_rows: int) -> None:
        nonlocal done, shown
        with lock:
            done += n_rows
            now = time.monotonic() - start
            if now > 1 and now - shown > 0.1:
                shown = now
                click.echo(f"\r{name}: {done:,} instances, {done / now:,.0f} a second", nl=False, err=True)

    try:
        yield tell
    finally:
        if shown:
            click.echo("\r\x1b[K", nl=False, err=True)
