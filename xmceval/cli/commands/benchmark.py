"""``xmceval benchmark``: systems on several data sets, of which only what changed is scored."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from xmceval.api.benchmark.plan import FILE_NAME
from xmceval.cli import options, progressbar
from xmceval.cli.commandline import passed_flags
from xmceval.cli.gating import enforced, fail_if_worse, not_worse
from xmceval.cli.messages import by_kind, say, say_written, warn
from xmceval.cli.plotting import Plots, plot_options
from xmceval.cli.runner import engine_of, long_work, start, watch
from xmceval.errors import DataError, UsageError, counted, listed
from xmceval.report.forms.registry import render_benchmark
from xmceval.report.pictures import BENCHMARK

if TYPE_CHECKING:
    from pathlib import Path

    from xmceval.api.benchmark.plan import BenchmarkPlan
    from xmceval.api.benchmark.running import Runner
    from xmceval.api.benchmark.store import Store
    from xmceval.report.benchmark import Benchmark, DatasetOutcome
    from xmceval.report.forms.layout import Layout

PATIENCE = 1.0  # seconds, after which a data set has a line of its own


@options.command("benchmark", short_help="Score and compare systems on several data sets.")
@click.argument("file", type=options.FILE, default=FILE_NAME)
@options.option(
    "--init",
    type=options.FILE,
    metavar="DIR",
    help="Write DIR/benchmark.toml for the files found in DIR, without scoring.",
)
@options.option("--force", is_flag=True, help="With --init: overwrite the file.")
@options.option("--rescore", is_flag=True, help="Score everything again, even what has not changed.")
@options.option("--verify", is_flag=True, help="Compare the content of files, not only sizes and times.")
@options.option(
    "--cache", type=options.FILE, metavar="DIR", help="Keep results in this folder.  [default: .xmceval beside FILE]"
)
@options.option("--prune", is_flag=True, help="Remove kept results that FILE no longer uses.")
@options.option(
    *("-m", "metric"),
    metavar="METRIC",
    group="Output",
    help="With --plot: the metric to show.  [default: the first at its largest cutoff]",
)
@options.option(
    "--wins", is_flag=True, group="Output", help="Show on how many data sets each system beats each other one."
)
@options.option(
    "--pages",
    type=options.FILE,
    metavar="DIR",
    group="Output",
    help="Write a leaderboard: index.html, and a report of each data set.",
)
@fail_if_worse
@options.threads
@options.report_form
@options.layout
@plot_options(BENCHMARK, "cd")
@options.dask
@options.strict
@options.quiet
@options.verbose
def command(file: str, form: str, plots: tuple[str, ...], **arguments: Any) -> None:
    """Score the systems of FILE on its data sets, and compare them.

    FILE is TOML, by default ./benchmark.toml: it says which files belong together, and has the options of scoring and
    testing; see xmceval/guide/benchmark.md. Only what changed since the last run is scored.

    \b
    Examples:
      xmceval benchmark
      xmceval benchmark runs.toml -o latex
      xmceval benchmark --init .
      xmceval benchmark --pages leaderboard
    """
    if arguments["init"] is not None:
        _write_proposal(arguments["init"], force=arguments["force"], quiet=arguments["quiet"])
        return
    _refuse_folder(file)
    layout = replace(options.take_layout(arguments, form), wins=arguments["wins"])
    pictures = Plots.of(plots, ())
    _check_flags(plots)
    began, quiet = time.monotonic(), arguments["quiet"]
    from xmceval.api.benchmark.benchmark import describe_unkept, list_failures, list_notes, list_warnings
    from xmceval.api.benchmark.readplan import read_plan

    overrides = {} if arguments["threads"] is None else {"threads": arguments["threads"]}
    plan = read_plan(file, strict=arguments["strict"], overrides=overrides)
    pages = list(_open_pages(arguments["pages"], layout))
    found, runner = _run(plan, layout, arguments)
    failures, warnings = list(list_failures(found)), list(list_warnings(found))
    if arguments["strict"] and warnings:
        raise DataError(*failures, *warnings, "with --strict warnings are errors")
    for line in list_notes(found) if arguments["verbose"] else ():
        say(f"note: {line}")
    names = {*found.systems, *(dataset.name for dataset in plan.datasets)}
    warn(warnings if arguments["verbose"] else by_kind(warnings, names), quiet=quiet)
    warn(describe_unkept(runner.scorer.unkept), quiet=quiet)
    with enforced(found.gates, failures):
        click.echo(render_benchmark(form, found, layout), nl=False)
        pictures.write(found, arguments["metric"])
        for write in pages:
            *reports, index = sizes = write(found)
            what = f"{index} and {counted(len(reports), 'report')}"
            say_written(what, sum(sizes.values()), quiet=quiet)
        facts = _count_cells(found.datasets), f"{time.monotonic() - began:.1f} s"
        summary = " · ".join([*facts, *_describe_store(runner.store, arguments["verbose"])])
        if not quiet:
            say(summary)


def _refuse_folder(path: str) -> None:
    """Refuse a folder in place of the file, with what was probably meant.

    Raises
    ------
    UsageError
        Always for a folder.
    """
    if os.path.isdir(path):
        file = os.path.join(path, FILE_NAME)
        meant = file if os.path.exists(file) else f"--init {path}, which writes one"
        raise UsageError(f"{path}: is a folder; expected the file of a benchmark (hint: xmceval benchmark {meant})")


def _open_pages(folder: str | None, layout: Layout) -> Iterator[Callable[[Benchmark], Mapping[Path, int]]]:
    """Yield what writes pages to a folder, if there is one, which is made before anything is scored."""
    if folder is not None:
        from xmceval.report.leaderboard.pagefiles import open_folder, write_pages

        open_folder(folder)
        yield partial(write_pages, folder=folder, layout=layout)


def _write_proposal(folder: str, *, force: bool, quiet: bool) -> None:
    """Write the file of a benchmark from what is in a folder, and print why."""
    from xmceval.api.benchmark.initfile import propose, write_proposal

    context = click.get_current_context()
    others = {each.name or "" for each in context.command.params} - {"init", "force", "quiet"}
    if passed := passed_flags(context, others):
        raise UsageError(f"{listed(passed)} {'has' if len(passed) == 1 else 'have'} no effect with --init")
    with long_work(quiet):
        proposal = propose(folder, force=force)
    for line in (*proposal.lines, write_proposal(proposal)):
        click.echo(line)


def _check_flags(plots: Sequence[str]) -> None:
    """Refuse what has no effect.

    Raises
    ------
    UsageError
        Names the options.
    """
    context = click.get_current_context()
    if passed_flags(context, {"force"}):
        raise UsageError("--force: has no effect without --init (hint: --rescore scores everything again)")
    if not plots and passed_flags(context, {"metric"}):
        raise UsageError("-m has no effect without --plot (hint: metrics are named in the file)")


def _run(plan: BenchmarkPlan, layout: Layout, arguments: Mapping[str, Any]) -> tuple[Benchmark, Runner]:
    """Run a plan, and show how far it is."""
    from xmceval.api.benchmark.benchmark import check_gates, open_store, run_plan
    from xmceval.api.benchmark.running import Runner
    from xmceval.api.benchmark.scorecells import CellScorer

    quiet, dask = arguments["quiet"], arguments["dask"]
    gates = not_worse(arguments)
    check_gates(plan, gates)
    store, unkept = open_store(plan, arguments["cache"], verify=arguments["verify"])
    with ExitStack() as stack:

        def begin() -> Mapping[str, Any]:
            start(quiet, ahead=True)
            return stack.enter_context(engine_of(dask))

        scorer = CellScorer(plan.testing, begin, watch=watch(quiet), unkept=unkept)
        runner = Runner(plan.systems, scorer, store, rescore=arguments["rescore"], keeps_runs=dask is None)
        stack.enter_context(progressbar.shown(quiet))
        found = run_plan(*(plan, runner, _line_writer(quiet)), gates=gates, layout=layout, prune=arguments["prune"])
    return found, runner


def _line_writer(quiet: bool) -> Callable[[DatasetOutcome], None]:
    """Return what writes why cells of a data set were scored again, and a line on each data set that took long."""
    since = time.monotonic()

    def write(dataset: DatasetOutcome) -> None:
        nonlocal since
        seconds, since = time.monotonic() - since, time.monotonic()
        lines = list(_list_changes(dataset))
        if seconds >= PATIENCE:
            lines.append(f"{dataset.name}: {_count_cells([dataset])} · {seconds:.1f} s")
        for line in () if quiet else lines:
            progressbar.clear()
            say(line)

    return write


def _list_changes(dataset: DatasetOutcome) -> Iterator[str]:
    """Yield why cells were scored again, once for all that share a reason."""
    from xmceval.report.benchmark import SCORED

    for why, systems in dataset.group_reasons(SCORED).items():
        if why not in {"", "new"}:
            yield f"{dataset.name}, {listed(systems)}: {why}"


def _describe_store(store: Store | None, verbose: bool) -> Iterator[str]:
    """Yield where results are kept."""
    if store is not None:
        size = f" ({store.n_bytes / 1e6:,.1f} MB)" if verbose else ""
        yield f"kept in {store.folder}{size}"


def _count_cells(datasets: Sequence[DatasetOutcome]) -> str:
    """Return how many cells there are of each status."""
    from xmceval.report.benchmark import FAILED, KEPT, MISSING, PUBLISHED, SCORED

    n = Counter(cell.status for dataset in datasets for cell in dataset.cells)
    facts = [f"{counted(n[SCORED], 'cell')} scored, {n[KEPT]:,} kept"]
    return " · ".join([*facts, *(f"{n[each]:,} {each}" for each in (FAILED, MISSING, PUBLISHED) if n[each])])
