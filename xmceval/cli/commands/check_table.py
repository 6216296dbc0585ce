"""``xmceval check-table``: what in a table of results cannot be right."""

from __future__ import annotations

import click

from xmceval.cli import options
from xmceval.scoring.options import GROUPS


@options.command("check-table", short_help="Find impossible values in a table of results.")
@click.argument("file", type=options.FILE)
@options.scoring_option("dataset", group=GROUPS[0], help="Public data set of the whole table, whose size bounds P@k.")
@options.form
def command(file: str, dataset: str | None, form: str) -> None:
    """Check FILE, a table of results, for values that contradict their definitions.

    FILE is TSV, CSV, Markdown, LaTeX or text in columns: a table of a paper, or of score, compare and benchmark.

    P@1 is nDCG@1 and PSP@1 is PSnDCG@1; the hits within k never decrease with k; nDCG@k has a least value for a given
    P@k; P@k cannot exceed the labels per instance divided by k. Exit 1 if anything is impossible.

    \b
    Example:
      xmceval check-table results.tex --dataset EURLex-4K
    """
    from xmceval.api.files.checktable import check_table

    check = check_table(file, dataset=dataset)
    click.echo(check.to_json() if form == "json" else str(check), nl=form != "json")
    if not check.is_possible:
        raise click.exceptions.Exit(1)
