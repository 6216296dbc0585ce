"""``xmceval score``: one table of metrics for one or more systems."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from xmceval.cli import options
from xmceval.cli.gating import enforced, require, required
from xmceval.cli.messages import warn_of_results
from xmceval.cli.plotting import Plots, plot_options
from xmceval.cli.runner import find_inputs, open_inputs
from xmceval.report.pictures import OF_RESULTS


@options.command("score", short_help="Score predictions against the truth.")
@click.argument("truth", type=options.FILE)
@click.argument("preds", nargs=-1, required=True, type=options.FILE)
@options.scoring
@options.report_form
@options.names
@options.layout_of_results
@require
@options.shards
@options.save_rows
@options.option(
    "--save-state",
    type=options.FILE,
    group="Output",
    metavar="FILE",
    help="Write the totals of one system, for xmceval merge.",
)
@options.option(
    "--shard",
    group="Output",
    metavar="I/N",
    help="With --save-state: this is shard I of N, so that merge notices missing ones.",
)
@options.option(
    "--max-weight",
    type=float,
    group="Input",
    metavar="W",
    help="With --save-state: the largest sample weight in any shard.",
)
@plot_options(OF_RESULTS, "bins with --by-frequency or --by-group, else curves")
@options.force
@options.dask
@options.strict
@options.quiet
@options.verbose
def command(form: str, plots: tuple[str, ...], plot_kinds: tuple[str, ...], **arguments: Any) -> None:
    """Score PREDS, one file or NAME=FILE per system, against TRUTH.

    TRUTH has the true labels of each instance: text of XMLRepository, lists of labels or their names, fastText, JSON
    lines, npz, npy or qrels. PREDS have its predicted labels: text with idx:score, tab-separated pairs, ranked
    lists, JSON lines, npz, npy, a TREC run, or a pair NAME-labels.npy and NAME-scores.npy. The format is detected
    by content. Files may be compressed (gz, xz, bz2, zst), and one may be -, standard input.

    An input may be in shards, which are scored as one: a quoted pattern stands for the files that match, in natural
    order, and @LIST for the files listed in LIST, one path per line. Each shard of TRUTH needs a shard of PREDS with as
    many rows, or one file for all.

    \b
    Examples:
      xmceval score tst_X_Y.txt score_mat.txt --train trn_X_Y.txt -k 1,3,5
      xmceval score 'truth-*.npz' 'preds-*.txt.gz'
      xmceval score 'truth-*.txt' 'preds-*.txt' --dask tcp://scheduler:8786
    """
    layout = options.take_layout(arguments, form)
    files = [arguments["truth"], *arguments["preds"]]
    pictures = Plots.of(plots, plot_kinds, force=arguments["force"], inputs=files)
    inputs = find_inputs(arguments)
    from xmceval.api.scoring.score import score_systems
    from xmceval.report.displayed import render
    from xmceval.report.results import Results

    pictures.check(OF_RESULTS, inputs.options)
    gates = required(arguments["require"], inputs.options.measures, layout)
    with open_inputs(inputs, arguments) as truth:
        results = score_systems(
            truth,
            inputs.systems,
            save_rows=arguments["save_rows"],
            save_state=arguments["save_state"],
            shard=arguments["shard"],
            force=arguments["force"],
        )
    if gates:
        from xmceval.report.gates import judge_values  # it loads comparisons too

        results = tuple(replace(result, gates=tuple(judge_values(gates, result, layout))) for result in results)
    warn_of_results(arguments, results, form=form)
    with enforced([outcome for result in results for outcome in result.gates]):
        click.echo(render(Results(results), form, layout), nl=False)
        pictures.write(results)
