"""``xmceval auc``: AUC of a flat file, whole and within groups."""

from __future__ import annotations

import click

from xmceval.cli import bars, options, shared


@click.command("auc", short_help="Compute AUC and group AUC of a CSV of group,label,score.")
@click.argument("file", type=options.FILE)
@click.option(
    "--columns",
    metavar="GROUP,LABEL,SCORE",
    help="Names in the header, or numbers from 1 on, of these columns, where there are others.",
)
@options.form
@options.quiet
def command(file: str, form: str, quiet: bool, columns: str | None) -> None:
    """Compute AUC and group AUC of FILE, a CSV of group,label,score.

    FILE may have a header and may be compressed. The first line is a header if both its label and its score are words:
    not empty, not a label, not a number. GAUC is the mean of the AUC within each group, weighted by the sizes
    of the groups; groups with only one class are left out and counted. A tie counts one half.

    \b
    Example:
      xmceval auc clicks.csv --columns user,clicked,score
    """
    from xmceval.api.grouped import auc

    shared.start(quiet)
    with bars.shown(quiet):
        result = auc(file, columns=columns)
    for warning in () if quiet else result.warnings:
        click.echo(f"warning: {warning}", err=True)
    click.echo(result.to_json() if form == "json" else str(result), nl=False)
