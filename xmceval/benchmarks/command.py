"""The command ``xmceval benchmark``, which compares systems on several data sets."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import click

from xmceval.benchmarks import FILE_NAME
from xmceval.cli import options
from xmceval.cli.inputs import Inputs, executor_of, watch
from xmceval.cli.messages import enforce, long_work, print_output, refuse_doubts, say, say_written, warn
from xmceval.cli.outputs import check_plots, prepare_outputs
from xmceval.errors import DataError, UsageError, counted
from xmceval.files.io.paths import to_path
from xmceval.report.forms import load_form
from xmceval.report.pictures import save
from xmceval.report.renderable import render


@options.command("benchmark", short_help="Score and compare systems on several data sets.")
@click.argument("file", type=options.FILE, default=FILE_NAME)
@options.file_option(
    "--init", metavar="DIR", help="Write DIR/benchmark.toml for the files in DIR and its folders, without scoring."
)
@options.file_option("--plot", group="Output", help="Draw all metrics: .svg, .png or .pdf.")
@options.page
@options.force
@options.fail_if_worse
@options.fail_if_drop
@options.require
@options.threads
@options.report_form
@options.layout_of_results
@options.dask
@options.strict
@options.quiet
@options.option("-v", "--verbose", is_flag=True, help="Also print how files were read.")
def command(file: str, form: str, **arguments: Any) -> None:
    """Score the systems of FILE on its data sets, and compare them.

    FILE, in TOML, says which files belong together and has the options of scoring and testing; the guide start.md
    describes it. The default is ./benchmark.toml.

    \b
    Examples:
      xmceval benchmark --init .
      xmceval benchmark
      xmceval benchmark runs.toml -o latex --plot runs.svg
    """
    quiet = arguments["quiet"]
    verbose = arguments["verbose"]
    if arguments["init"] is not None:
        _write_proposal(arguments["init"], force=arguments["force"], quiet=quiet)
        return
    if to_path(file).is_dir():
        meant = f"{file}/{FILE_NAME}" if to_path(f"{file}/{FILE_NAME}").exists() else f"--init {file}"
        raise UsageError(f"{file}: is a folder; expected the file of a benchmark (hint: xmceval benchmark {meant})")
    if file == FILE_NAME and not to_path(file).exists():
        raise DataError(f"{file}: no such file (hint: xmceval benchmark --init . writes one)")
    layout = options.take_layout(arguments, form)
    plots = [arguments["plot"]] if arguments["plot"] else []
    check_plots(plots, [], force=arguments["force"], inputs=[file])
    began = time.monotonic()
    from xmceval.benchmarks.benchmark import read_plan, run_plan
    from xmceval.benchmarks.result import by_kind, list_failures, list_lines

    plan = read_plan(file, strict=arguments["strict"], threads=arguments["threads"])
    inputs = [("benchmark", to_path(file))]
    for dataset in plan.datasets:
        inputs += Inputs(dataset.truth, plan.list_systems(dataset.name), dataset.options, {}).list_files()
    write_page = prepare_outputs({**arguments, "plots": (), "plot_kinds": ()}, inputs)
    with executor_of(arguments["dask"]) as executor, long_work(quiet):
        outcome = run_plan(
            plan,
            fail_if_worse=arguments["fail_if_worse"],
            fail_if_drop=arguments["fail_if_drop"],
            require=arguments["require"],
            layout=layout,
            executor=executor,
            watch=watch(quiet),
        )
    failures = list(list_failures(outcome))
    doubts = list(list_lines(outcome, "doubts"))
    if arguments["strict"]:
        refuse_doubts(doubts, failures)
    for line in list_lines(outcome, "notes") if verbose else ():
        say(f"note: {line}")
    warn(doubts if verbose else by_kind(doubts, outcome, "; -v shows all"))
    print_output(render(outcome, form, layout))
    for path in plots:
        save(outcome.plot(), path, force=arguments["force"])
    if outcome:
        write_page((), render=partial(load_form("page").render_benchmark, outcome, doubts))
    if not quiet:
        n = outcome.count_cells()
        facts = [f"{counted(n['scored'], 'cell')} scored"]
        if n["error"]:
            facts.append(counted(n["error"], "error"))
        facts += [f"{n[status]:,} {status}" for status in ("missing", "published") if n[status]]
        say(" · ".join([*facts, f"{time.monotonic() - began:.1f} s"]))
    enforce(outcome.gates, failures, quiet=quiet)


def _write_proposal(folder: str, *, force: bool, quiet: bool) -> None:
    """Write a benchmark file into a folder, and report which files and systems were left out."""
    from xmceval.benchmarks.init import propose
    from xmceval.files.io.write import check_output, write_output

    home = to_path(folder)
    if not home.is_dir():
        raise UsageError(f"{folder}: is not a folder")
    target = home / FILE_NAME
    check_output(target, force=force)
    text, left_out = propose(home)
    write_output(target, text, force=force)
    if not quiet:
        for line in left_out:
            say(f"note: {line}")
    say_written(target, len(text.encode()), quiet=quiet)
