"""``xmceval threshold``: thresholds of decisions, chosen on validation data, as a file."""

from __future__ import annotations

import sys
from typing import Any

import click

from xmceval.cli import options
from xmceval.cli.messages import say, warn
from xmceval.cli.runner import long_work


@options.command("threshold", short_help="Choose the thresholds that are best on validation data.")
@click.argument("truth", type=options.FILE)
@click.argument("preds", type=options.FILE)
@click.argument("dst", type=options.FILE)
@click.option(
    "--for",
    "target",
    default="microF1",
    show_default=True,
    metavar="TARGET",
    help="microF1, macroF1, F1 (mean over instances), precision=X or recall=X.",
)
@click.option("--per-label", is_flag=True, help="Choose a threshold for each label.")
@options.scoring_option("n_labels")
@options.scoring_option("labels")
@options.scoring_option("filter")
@options.scoring_option("filter_truth")
@options.force
@options.max_line
@options.threads
@options.quiet
def command(truth: str, preds: str, dst: str, force: bool, quiet: bool, **settings: Any) -> None:
    """Choose thresholds on TRUTH and PREDS, validation data, and write them to DST.

    A label is predicted where its stored score is at least the threshold. precision=X is the highest recall with a
    precision of at least X; recall=X the highest precision with a recall of at least X. All scores are held in memory.

    DST has one number, or with --per-label one per label and line; inf is a label that is never predicted. score and
    compare take it as --thresholds. DST is an npy array if it ends in .npy; - is standard output.

    \b
    Example:
      xmceval threshold val.txt preds.txt thresholds.txt --for macroF1
    """
    from xmceval.api.choosethresholds import choose_thresholds
    from xmceval.files.io.shardfiles import find_shards
    from xmceval.files.sidecars.numbers import check_numbers_target
    from xmceval.rows.shards import parts_of

    named = [each for each in (truth, preds, settings["labels"], settings["filter"]) if each is not None]
    inputs = [part for each in named for part in parts_of(find_shards(each))]
    if dst != "-":
        check_numbers_target(dst, force=force, inputs=inputs)
    with long_work(quiet):
        chosen = choose_thresholds(truth, preds, **settings)
        chosen.write(sys.stdout.buffer if dst == "-" else dst, force=force)
    warn(chosen.warnings, quiet=quiet)
    if not quiet:
        for line in str(chosen).splitlines():
            say(f"{dst}: {line}")
