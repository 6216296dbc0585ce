"""``xmceval benchmark``: systems on several data sets."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from xmceval.cli import options, progressbar
from xmceval.cli.gating import enforced, fail_if_worse, not_worse
from xmceval.cli.messages import by_kind, say, say_written, warn
from xmceval.cli.plotting import Plots
from xmceval.cli.runner import executor_of, start, watch
from xmceval.errors import DataError, UsageError, counted
from xmceval.files.io.paths import to_path
from xmceval.report.forms.layout import Layout
from xmceval.report.pictures import save

if TYPE_CHECKING:
    from xmceval.benchmarks.outcome import Benchmark
    from xmceval.benchmarks.plan import BenchmarkPlan

FILE_NAME = "benchmark.toml"  # where no other name is passed


@options.command("benchmark", short_help="Score and compare systems on several data sets.")
@click.argument("file", type=options.FILE, default=FILE_NAME)
@options.option(
    "--init",
    type=options.FILE,
    metavar="DIR",
    help="Write DIR/benchmark.toml for the files in DIR and its folders, without scoring.",
)
@options.option(
    "--plot", type=options.FILE, group="Output", metavar="FILE", help="Draw all metrics: .svg, .png or .pdf."
)
@options.force
@fail_if_worse
@options.threads
@options.report_form
@options.derived(Layout, without=["pairs", "transpose"])
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
      xmceval benchmark --init .
      xmceval benchmark
      xmceval benchmark runs.toml -o latex --plot runs.svg
    """
    if arguments["init"] is not None:
        _write_proposal(arguments["init"], force=arguments["force"], quiet=arguments["quiet"])
        return
    _refuse_folder(file)
    layout = options.take_layout(arguments, form)
    plots = [arguments["plot"]] if arguments["plot"] else []
    picture = Plots.of(plots, [], force=arguments["force"], inputs=[file])
    began, quiet = time.monotonic(), arguments["quiet"]
    from xmceval.benchmarks.benchmark import list_failures, list_notes, list_warnings
    from xmceval.benchmarks.plan import read_plan
    from xmceval.benchmarks.render import render_benchmark

    plan = read_plan(file, strict=arguments["strict"], threads=arguments["threads"])
    outcome = _run(plan, layout, arguments)
    failures, warnings = list(list_failures(outcome)), list(list_warnings(outcome))
    if arguments["strict"] and warnings:
        raise DataError(*failures, *warnings, "with --strict warnings are errors")
    for line in list_notes(outcome) if arguments["verbose"] else ():
        say(f"note: {line}")
    names = {*outcome.systems, *(dataset.name for dataset in plan.datasets)}
    warn(warnings if arguments["verbose"] else by_kind(warnings, names), quiet=quiet)
    with enforced(outcome.gates, failures):
        click.echo(render_benchmark(form, outcome, layout), nl=False)
        for path in picture.files:
            save(outcome.plot(), path, force=picture.force)
        if not quiet:
            say(f"{_count_cells(outcome)} · {time.monotonic() - began:.1f} s")


def _write_proposal(folder: str, *, force: bool, quiet: bool) -> None:
    """Write the file of a benchmark into a folder, and say what was left out of it."""
    from xmceval.benchmarks.init import propose
    from xmceval.files.io.outputs import check_output, write_output

    home = to_path(folder)
    if not home.is_dir():
        raise UsageError(f"{folder}: is not a folder")
    target = home / FILE_NAME
    check_output(target, force=force)
    text, left_out = propose(home)
    write_output(target, text, force=force)
    for line in () if quiet else left_out:
        say(f"left out: {line}")
    say_written(target, len(text.encode()), quiet=quiet)


def _refuse_folder(path: str) -> None:
    """Refuse a folder in place of the file, with what was probably meant."""
    if to_path(path).is_dir():
        has_file = (to_path(path) / FILE_NAME).exists()
        hint = f"{path}/{FILE_NAME}" if has_file else f"--init {path}"
        raise UsageError(f"{path}: is a folder; expected the file of a benchmark (hint: xmceval benchmark {hint})")


def _run(plan: BenchmarkPlan, layout: Layout, arguments: Mapping[str, Any]) -> Benchmark:
    """Run a plan, and show how far it is."""
    from xmceval.benchmarks.benchmark import run_plan

    quiet, gates = arguments["quiet"], not_worse(arguments["fail_if_worse"])
    start(quiet, ahead=True)
    with executor_of(arguments["dask"]) as executor, progressbar.shown(quiet):
        return run_plan(plan, gates=gates, layout=layout, executor=executor, watch=watch(quiet))


def _count_cells(outcome: Benchmark) -> str:
    """Return how many cells there are of each status."""
    from xmceval.benchmarks.outcome import FAILED, MISSING, PUBLISHED, SCORED

    n = Counter(cell.status for dataset in outcome.datasets for cell in dataset.cells)
    facts = (f"{n[status]:,} {status}" for status in (FAILED, MISSING, PUBLISHED) if n[status])
    return " · ".join([f"{counted(n[SCORED], 'cell')} scored", *facts])
