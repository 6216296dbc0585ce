"""``xmceval benchmark``: systems on several data sets, of which only what changed is scored."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

import click

from xmceval.cli import options, progressbar
from xmceval.cli.messages import by_kind, say, warn
from xmceval.cli.runner import engine_of, start, watch
from xmceval.errors import DataError, counted
from xmceval.report.benchmark import FAILED, KEPT, MISSING, PUBLISHED, SCORED
from xmceval.report.forms.registry import render_benchmark

if TYPE_CHECKING:
    from xmceval.api.benchmark.plan import Plan
    from xmceval.api.benchmark.running import Runner
    from xmceval.api.benchmark.store import Store
    from xmceval.report.benchmark import Benchmark, DatasetOutcome

FILE = "benchmark.toml"
PATIENCE = 1.0  # seconds, after which a data set has a line of its own


@click.command("benchmark", cls=options.GroupedCommand, short_help="Score and compare systems on several data sets.")
@click.argument("file", type=options.FILE, default=FILE)
@options.option("--force", is_flag=True, help="Score again what is kept.")
@options.option("--verify", is_flag=True, help="Read all files to see whether they changed.")
@options.option(
    "--cache", type=options.FILE, metavar="DIR", help="Keep results in this folder.  [default: .xmceval beside FILE]"
)
@options.option("--prune", is_flag=True, help="Remove kept results that FILE does not use.")
@options.threads
@options.report_form
@options.layout
@options.dask
@options.strict
@options.quiet
@options.verbose
def command(file: str, form: str, **arguments: Any) -> None:
    """Score the systems of FILE on its data sets, and compare them.

    FILE is TOML, by default ./benchmark.toml: it says which files belong together, and has the options of scoring and
    testing; see xmceval guide benchmark. Only what changed since the last run is scored.

    \b
    Examples:
      xmceval benchmark
      xmceval benchmark runs.toml -o latex
    """
    layout = options.take_layout(arguments, form)
    since = time.monotonic()
    from xmceval.api.benchmark.benchmark import describe_unkept, list_failures, list_warnings
    from xmceval.api.benchmark.readplan import read_plan

    overrides = {} if arguments["threads"] is None else {"threads": arguments["threads"]}
    plan = read_plan(file, strict=arguments["strict"], overrides=overrides)
    found, runner = _run(plan, arguments)
    failures, warnings = list(list_failures(found)), list(list_warnings(found))
    if arguments["strict"] and warnings:
        raise DataError(*failures, *warnings, "with --strict warnings are errors")
    warn(warnings if arguments["verbose"] else by_kind(warnings, {*found.systems}), quiet=arguments["quiet"])
    warn(describe_unkept(runner.scorer.unkept), quiet=arguments["quiet"])
    click.echo(render_benchmark(form, found, layout), nl=False)
    if not arguments["quiet"]:
        kept = _describe_store(runner.store, arguments["verbose"])
        say(" · ".join([_count_cells(found.datasets), f"{time.monotonic() - since:.1f} s", *kept]))
    if failures:
        raise DataError(*failures)


def _run(plan: Plan, arguments: Mapping[str, Any]) -> tuple[Benchmark, Runner]:
    """Run a plan, and show how far it is."""
    from xmceval.api.benchmark.benchmark import open_store, run_plan
    from xmceval.api.benchmark.running import Runner
    from xmceval.api.benchmark.scorecells import CellScorer

    quiet, dask = arguments["quiet"], arguments["dask"]
    store, unkept = open_store(plan, arguments["cache"], verify=arguments["verify"])
    with ExitStack() as stack:

        def begin() -> Mapping[str, Any]:
            start(quiet, ahead=True)
            return stack.enter_context(engine_of(dask))

        scorer = CellScorer(plan.testing, begin, watch=watch(quiet), unkept=unkept)
        runner = Runner(plan.systems, scorer, store, force=arguments["force"], keeps_runs=dask is None)
        stack.enter_context(progressbar.shown(quiet))
        return run_plan(plan, runner, _line_writer(quiet), prune=arguments["prune"]), runner


def _line_writer(quiet: bool) -> Callable[[DatasetOutcome], None]:
    """Return what writes a line on each data set that took long."""
    since = time.monotonic()

    def write(dataset: DatasetOutcome) -> None:
        nonlocal since
        seconds, since = time.monotonic() - since, time.monotonic()
        if seconds >= PATIENCE and not quiet:
            progressbar.clear()
            say(f"{dataset.name}  {_count_cells([dataset])} · {seconds:.1f} s")

    return write


def _describe_store(store: Store | None, verbose: bool) -> Iterator[str]:
    """Yield where results are kept."""
    if store is not None:
        size = f" ({store.n_bytes / 1e6:,.1f} MB)" if verbose else ""
        yield f"kept in {store.folder}{size}"


def _count_cells(datasets: Sequence[DatasetOutcome]) -> str:
    """Return how many cells there are of each status."""
    n = Counter(cell.status for dataset in datasets for cell in dataset.cells)
    facts = [f"{counted(n[SCORED], 'cell')} scored, {n[KEPT]:,} kept"]
    return " · ".join([*facts, *(f"{n[each]:,} {each}" for each in (FAILED, MISSING, PUBLISHED) if n[each])])
