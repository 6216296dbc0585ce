"""``xmceval convert``: the same rows in another form."""

from __future__ import annotations

import sys
from typing import Any

import click

from xmceval.cli import options
from xmceval.cli.messages import say, warn
from xmceval.cli.runner import long_work


@options.command("convert", short_help="Write truth or predictions in another form.")
@click.argument("src", type=options.FILE)
@click.argument("dst", type=options.FILE)
@click.option("--to", metavar="FORM", help="Form of DST, one of those above.  [default: by the ending of DST]")
@click.option("--as", "kind", type=click.Choice(["truth", "scores"]), help="Kind of SRC.  [default: by content]")
@click.option("--top", type=click.IntRange(min=1), metavar="K", help="Keep the K best labels of each row, best first.")
@click.option(
    "--sort", "order", type=click.Choice(["score", "label"]), help="Order within each row.  [default: as in SRC]"
)
@click.option(
    "--n-labels", type=click.IntRange(min=1), metavar="N", help="Number of labels, if SRC does not declare it."
)
@click.option(
    "--labels",
    metavar="FILE",
    type=options.FILE,
    help="Names of labels, one per line, if SRC has names instead of numbers.",
)
@options.force
@options.max_line
@options.threads
@options.quiet
@options.verbose
def command(src: str, dst: str, quiet: bool, verbose: bool, **settings: Any) -> None:
    """Write SRC, truth or predictions, in another form as DST.

    A DST ending in .npz becomes a scipy CSR matrix, one ending in -labels.npy a pair of npy files, any other text with
    a header 'rows cols'; endings of other forms, such as .csv, are refused unless --to is passed. Text may be
    compressed (.gz, .bz2, .xz, .zst), and - is standard output. Numbers are written as the shortest text that reads
    back as the same double.

    DST appears when it is complete. A run that is killed leaves .DST.MACHINE.PROCESS.part beside it, which the next
    run removes.

    \b
    Forms:
      xmc      header 'rows cols', then rows of idx:value (XMLRepository)
      plain    rows of idx:value without a header (napkinXC)
      omikuji  rows of 'label value', separated by tabs; whole values end in .0
      lists    truth only: rows of labels, separated by commas
      npz      scipy CSR matrix
      npy      predictions only: NAME-labels.npy and NAME-scores.npy

    \b
    Example:
      xmceval convert score_mat.npz score_mat.txt.gz --top 100
    """
    from xmceval.api.files.convert import convert
    from xmceval.cli.commandline import without_secrets
    from xmceval.errors import counted

    with long_work(quiet):
        written = convert(src, sys.stdout.buffer if dst == "-" else dst, **settings)
    if verbose:
        rows, labels = counted(written.n_rows, "row"), counted(written.n_labels, "label")
        say(f"note: {without_secrets(src)}: {written.description}")
        say(f"note: {without_secrets(dst)}: {rows}, {labels}, {counted(written.n_entries, 'entry')}")
    warn(written.warnings, quiet=quiet)
