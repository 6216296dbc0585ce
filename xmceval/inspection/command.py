"""The command ``xmceval inspect``, which shows what files contain and whether they are valid."""

from __future__ import annotations

from typing import Any

import click

from xmceval.cli import options
from xmceval.cli.messages import long_work, print_output


@options.command("inspect", short_help="Describe files and check whether they are valid.")
@click.argument("files", nargs=-1, required=True, type=options.FILE)
@click.option("--as", "kind", type=click.Choice(["truth", "scores"]), help="What FILES are.  [default: by content]")
@options.file_option(
    "--filter", help="Pairs 'row label', or 'query document', that the predictions should not contain."
)
@options.file_option("--train", help="Training labels, to compare with the truth.")
@click.option(
    "--n-labels", type=click.IntRange(min=1), metavar="N", help="Number of labels, if a file does not declare it."
)
@options.file_option("--labels", help="Names of labels, one per line, for files with names instead of numbers.")
@options.form
@options.option(
    "-v", "--verbose", is_flag=True, help="Also print headers, values, and how entries spread over rows and labels."
)
@options.threads
def command(files: tuple[str, ...], form: str, verbose: bool, **settings: Any) -> None:
    """Describe FILES and check whether score would accept them.

    The report says whether each file is valid, and shows its size, format and errors. The first truth, other than
    labels with trn or train in the name, is also compared with each other file, to find the usual mistakes: 1-based
    labels, shuffled rows, a transposed matrix, predictions for the training set, a filter that was not applied. For a
    state, written by --save-state, it shows what was scored.

    The exit code is 1 if score would refuse any of FILES, or if two of them clearly do not belong together.

    \b
    Example:
      xmceval inspect tst_X_Y.txt score_mat.txt --train trn_X_Y.txt
    """
    from xmceval.inspection.report import inspect

    with long_work(quiet=False):
        report = inspect(files, **settings)
    print_output(report.to_json() if form == "json" else report.to_text(verbose=verbose))
    if not report.is_sound:
        raise click.exceptions.Exit(1)
