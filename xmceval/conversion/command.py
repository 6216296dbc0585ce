"""The command ``xmceval convert``, which writes the same rows in another format."""

from __future__ import annotations

import sys
from typing import Any

import click

from xmceval.cli import options
from xmceval.cli.messages import long_work, say, warn


@options.command("convert", short_help="Convert truth or predictions to another format.")
@click.argument("src", type=options.FILE)
@click.argument("dst", type=options.FILE)
@click.option("--as", "kind", type=click.Choice(["truth", "scores"]), help="What SRC is.  [default: by content]")
@click.option("--top", type=click.IntRange(min=1), metavar="K", help="Keep the K best labels of each row, best first.")
@click.option(
    "--n-labels", type=click.IntRange(min=1), metavar="N", help="Number of labels, if SRC does not declare it."
)
@options.file_option("--labels", help="Names of labels, one per line, if SRC has names instead of numbers.")
@options.force
@options.threads
@options.quiet
@options.verbose
def command(src: str, dst: str, quiet: bool, verbose: bool, **settings: Any) -> None:
    """Convert SRC, truth or predictions, to the format of DST.

    The ending of DST names the format: .npz is a scipy CSR matrix; .npy a dense array, in which 0 is not true and -inf
    not predicted; .txt or none is text with a header 'rows cols', then rows of idx:value (XMLRepository), and may be
    compressed (.gz, .bz2, .xz, .zst). - is standard output. All formats read back as the same numbers. The matrix is
    held in memory.

    DST appears once it is complete. An existing file is overwritten only with --force.

    \b
    Example:
      xmceval convert score_mat.npz score_mat.txt.gz --top 100
    """
    from xmceval.conversion.convert import convert
    from xmceval.errors import counted
    from xmceval.files.io.paths import without_secrets

    output: Any = dst
    if dst == "-":
        output = sys.stdout.buffer
    with long_work(quiet):
        written = convert(src, output, **settings)
    if verbose:
        rows = counted(written.n_rows, "row")
        labels = counted(written.n_labels, "label")
        say(f"note: {without_secrets(src)}: {written.description}")
        say(f"note: {without_secrets(dst)}: {rows}, {labels}, {counted(written.n_entries, 'entry')}")
    if not quiet:
        warn(written.warnings)
