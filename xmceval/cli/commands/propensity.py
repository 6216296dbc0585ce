"""``xmceval propensity``: inverse propensities of training labels as a file."""

from __future__ import annotations

import sys
from typing import Any

import click

from xmceval.cli import options
from xmceval.cli.messages import say, warn
from xmceval.cli.runner import long_work


@options.command("propensity", short_help="Write the inverse propensities of training labels.")
@click.argument("train", type=options.FILE)
@click.argument("dst", type=options.FILE)
@options.scoring_option("a")
@options.scoring_option("b")
@options.scoring_option("dataset")
@click.option(
    "--write-counts", is_flag=True, help="Write the training count of each label instead, for score --counts."
)
@click.option(
    "--n-labels", type=click.IntRange(min=1), metavar="N", help="Number of labels, if TRAIN does not declare it."
)
@options.force
@options.max_line
@options.threads
@options.quiet
def command(train: str, dst: str, quiet: bool, **settings: Any) -> None:
    """Write the inverse propensity 1/p of each label of TRAIN to DST.

    DST has one number per line, or is an npy array if it ends in .npy; - is standard output. The values of score
    --inverse-propensities DST are then the same, to the last bit, as those of score --train TRAIN.

    \b
    Example:
      xmceval propensity trn_X_Y.txt inv_prop.txt -A 0.6 -B 2.6
    """
    from xmceval.api.files.propensityfile import write_inverse_propensities
    from xmceval.errors import counted

    with long_work(quiet):
        written = write_inverse_propensities(train, sys.stdout.buffer if dst == "-" else dst, **settings)
    warn(written.warnings, quiet=quiet)
    if quiet:
        return
    size = f"{counted(written.n_labels, 'label')}, N={written.n_train:,}"
    if written.a is None:
        say(f"{dst}: counts of {size} (hint: score --counts {dst} --n-train {written.n_train})")
    else:
        say(f"{dst}: 1/p of {size}, A={written.a:g} B={written.b:g}")
