"""The command ``xmceval merge``, which makes one table from totals saved by separate jobs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from xmceval.cli import options
from xmceval.cli.messages import enforce, print_output, warn_of_results


@options.command("merge", short_help="Merge the totals that separate jobs saved.")
@click.argument("states", nargs=-1, required=True, type=options.FILE)
@options.report_form
@options.option("--name", group="Output", metavar="NAME", help="Name of the system.  [default: the names in STATES]")
@options.layout_of_results
@options.require
@options.option(
    "--save-state",
    type=options.FILE,
    group="Output",
    metavar="FILE",
    help="Write the merged totals, to merge them with others later; shards may then be missing.",
)
@options.force
@options.strict
@options.quiet
@options.verbose
def command(
    states: tuple[str, ...], form: str, name: str | None, save_state: str | None, force: bool, **arguments: Any
) -> None:
    """Merge STATES, written by `xmceval score --save-state`, one for each shard of truth and predictions.

    The values equal one run over all instances, to the last bit, for any order of STATES. All must have the same
    metrics, options, propensities and version of xmceval. If they were saved with --shard, a missing or repeated one is
    refused. A quoted pattern stands for the files that match it.

    \b
    Example:
      xmceval score t1.npz p1.npz -m P --save-state 1.state.npz --shard 1/2
      xmceval score t2.npz p2.npz -m P --save-state 2.state.npz --shard 2/2
      xmceval merge 1.state.npz 2.state.npz -o json
    """
    layout = options.take_layout(arguments, form)
    from xmceval.files.shards import find_shards
    from xmceval.loops.merge import merge_states
    from xmceval.report.gates import check_computed, judge_values, parse_required
    from xmceval.report.renderable import render
    from xmceval.rows.shards import parts_of

    for text in arguments["require"]:  # the unit of shares is known with the states
        parse_required(text, in_percent=layout.percent)
    paths = [part for state in states for part in parts_of(find_shards(state))]
    result = merge_states(paths, name=name, save_state=save_state, force=force)
    in_percent = layout.settle(result.nouns).percent
    gates = [parse_required(text, in_percent=in_percent) for text in arguments["require"]]
    check_computed(gates, [figure.measure for figure in result.figures])
    result = replace(result, gates=tuple(judge_values(gates, result, layout)))
    warn_of_results(arguments, [result], form=form)
    print_output(render(result, form, layout))
    enforce(result.gates)
