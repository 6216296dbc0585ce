"""``xmceval benchmark``: systems on several data sets."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from xmceval.api.benchmark.plan import FILE_NAME
from xmceval.cli import options, progressbar
from xmceval.cli.gating import enforced, fail_if_worse, not_worse
from xmceval.cli.messages import by_kind, say, warn
from xmceval.cli.runner import engine_of, start, watch
from xmceval.errors import DataError, UsageError, counted
from xmceval.report.forms.registry import render_benchmark

if TYPE_CHECKING:
    from xmceval.api.benchmark.plan import BenchmarkPlan
    from xmceval.report.benchmark import Benchmark, DatasetOutcome
    from xmceval.report.forms.layout import Layout

PATIENCE = 1.0  # seconds, after which a data set has a line of its own


@options.command("benchmark", short_help="Score and compare systems on several data sets.")
@click.argument("file", type=options.FILE, default=FILE_NAME)
@fail_if_worse
@options.threads
@options.report_form
@options.layout_of_results
@options.dask
@options.strict
@options.quiet
@options.verbose
def command(file: str, form: str, **arguments: Any) -> None:
    """Score the systems of FILE on its data sets, and compare them.

    FILE is TOML, by default ./benchmark.toml: it says which files belong together, and has the options of scoring and
    testing; see xmceval/guide/benchmark.md.

    \b
    Examples:
      xmceval benchmark
      xmceval benchmark runs.toml -o latex
    """
    _refuse_folder(file)
    layout = options.take_layout(arguments, form)
    began, quiet = time.monotonic(), arguments["quiet"]
    from xmceval.api.benchmark.benchmark import list_failures, list_notes, list_warnings
    from xmceval.api.benchmark.readplan import read_plan

    overrides = {} if arguments["threads"] is None else {"threads": arguments["threads"]}
    plan = read_plan(file, strict=arguments["strict"], overrides=overrides)
    found = _run(plan, layout, arguments)
    failures, warnings = list(list_failures(found)), list(list_warnings(found))
    if arguments["strict"] and warnings:
        raise DataError(*failures, *warnings, "with --strict warnings are errors")
    for line in list_notes(found) if arguments["verbose"] else ():
        say(f"note: {line}")
    names = {*found.systems, *(dataset.name for dataset in plan.datasets)}
    warn(warnings if arguments["verbose"] else by_kind(warnings, names), quiet=quiet)
    with enforced(found.gates, failures):
        click.echo(render_benchmark(form, found, layout), nl=False)
        if not quiet:
            say(f"{_count_cells(found.datasets)} · {time.monotonic() - began:.1f} s")


def _refuse_folder(path: str) -> None:
    """Refuse a folder in place of the file, with what was probably meant."""
    if os.path.isdir(path):
        file = os.path.join(path, FILE_NAME)
        hint = f" (hint: xmceval benchmark {file})" if os.path.exists(file) else ""
        raise UsageError(f"{path}: is a folder; expected the file of a benchmark{hint}")


def _run(plan: BenchmarkPlan, layout: Layout, arguments: Mapping[str, Any]) -> Benchmark:
    """Run a plan, and show how far it is."""
    from xmceval.api.benchmark.benchmark import check_gates, run_plan
    from xmceval.api.benchmark.scorecells import CellScorer

    quiet, gates = arguments["quiet"], not_worse(arguments)
    check_gates(plan, gates)
    start(quiet, ahead=True)
    with engine_of(arguments["dask"]) as engine, progressbar.shown(quiet):
        scorer = CellScorer(plan.testing, engine, watch=watch(quiet))
        return run_plan(plan, scorer, _line_writer(quiet), gates=gates, layout=layout)


def _line_writer(quiet: bool) -> Callable[[DatasetOutcome], None]:
    """Return what writes a line on each data set that took long."""
    since = time.monotonic()

    def write(dataset: DatasetOutcome) -> None:
        nonlocal since
        seconds, since = time.monotonic() - since, time.monotonic()
        if seconds >= PATIENCE and not quiet:
            progressbar.clear()
            say(f"{dataset.name}: {_count_cells([dataset])} · {seconds:.1f} s")

    return write


def _count_cells(datasets: Sequence[DatasetOutcome]) -> str:
    """Return how many cells there are of each status."""
    from xmceval.report.benchmark import FAILED, MISSING, PUBLISHED, SCORED

    n = Counter(cell.status for dataset in datasets for cell in dataset.cells)
    facts = (f"{n[each]:,} {each}" for each in (FAILED, MISSING, PUBLISHED) if n[each])
    return " · ".join([f"{counted(n[SCORED], 'cell')} scored", *facts])
