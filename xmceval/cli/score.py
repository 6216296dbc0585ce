"""The command ``xmceval score``, which prints one table of metrics for one or more systems."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from xmceval.cli import options
from xmceval.cli.inputs import find_inputs, open_inputs
from xmceval.cli.messages import enforce, print_output, say, warn_of_results
from xmceval.cli.outputs import output_options, prepare_outputs
from xmceval.report.pictures import OF_RESULTS
from xmceval.scoring.options import Saving

MAIN = (*options.MAIN, "form", "plots", "page", "require", "quiet")


@options.command("score", short_help="Score predictions against the truth.", main_options=MAIN)
@click.argument("truth", type=options.FILE)
@click.argument("preds", nargs=-1, required=True, type=options.FILE)
@options.scoring
@options.report_form
@options.layout_of_results
@options.require
@options.save_rows
@options.save_labels
@options.file_option("--save-state", group="Output", help="Write the totals of one system, for xmceval merge.")
@options.option("--shard", group="Output", metavar="I/N", help="Number of this shard, such as 2/8, for --save-state.")
@options.option(
    "--max-weight",
    type=float,
    group="Input",
    metavar="W",
    help="Largest sample weight in any shard, for --save-state.",
)
@output_options(OF_RESULTS, "bins with --by-frequency or --by-group, else curves")
@options.force
@options.dask
@options.strict
@options.quiet
@options.verbose
def command(form: str, **arguments: Any) -> None:
    """Score PREDS, files or NAME=FILE, against TRUTH.

    Formats are detected: XMLRepository text, npz, npy, JSON lines, Parquet, TREC runs and more, compressed or not. An
    input that could be read in two ways is refused; the message says how to decide. A quoted pattern, such as
    'preds-*.npz', stands for the shards of one input; - is standard input.

    \b
    Examples:
      xmceval score tst_X_Y.txt score_mat.txt --train trn_X_Y.txt -k 1,3,5
      xmceval score tst_X_Y.txt a=a.npz b=b.npz --train trn_X_Y.txt -o latex
      xmceval score qrels.txt run.txt -m nDCG@10,AP,RR@10
    """
    layout = options.take_layout(arguments, form)
    inputs = find_inputs(arguments)
    from xmceval.api.score import score_systems
    from xmceval.report.gates import check_computed, judge_values, parse_required
    from xmceval.report.renderable import render
    from xmceval.report.result import Results

    for text in arguments["require"]:  # the unit of shares may not be known before the truth is opened
        parse_required(text, in_percent=layout.percent)
    write_files = prepare_outputs(arguments, inputs.list_files(), inputs.options)
    saving = Saving(
        save_rows=arguments["save_rows"],
        save_labels=arguments["save_labels"],
        save_state=arguments["save_state"],
        shard=arguments["shard"],
        force=arguments["force"],
    )
    with open_inputs(inputs, arguments, saving) as truth:
        in_percent = layout.settle(truth.setup.nouns).percent
        gates = [parse_required(text, in_percent=in_percent) for text in arguments["require"]]
        if gates:
            check_computed(gates, truth.setup.options.measures)
        results = score_systems(truth, inputs.systems, saving)
    if gates:
        results = tuple(replace(result, gates=tuple(judge_values(gates, result, layout))) for result in results)
    warn_of_results(arguments, results, form=form)
    if len(results) > 1 and not arguments["quiet"]:
        say("note: xmceval compare tests whether the differences between systems could be chance")
    print_output(render(Results(results), form, layout))
    write_files(results)
    enforce([outcome for result in results for outcome in result.gates])
