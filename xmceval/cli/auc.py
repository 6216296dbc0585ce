"""``xmceval auc``: AUC of a flat file, whole and within groups."""

from __future__ import annotations

import click

from xmceval.cli import options, shared


@click.command("auc", short_help="Compute AUC and group AUC of a CSV of group,label,score.")
@click.argument("file")
@options.form
@click.option("-q", "quiet", is_flag=True, help="Print no warnings.")
def command(file: str, form: str, quiet: bool) -> None:
    """Compute AUC and group AUC of FILE, a CSV of group,label,score.

    FILE may have a header and may be compressed. GAUC is the mean of the AUC within each group, weighted by the sizes
    of the groups; groups with only one class are left out and counted. A tie counts one half.

    \b
    Example:
      xmceval auc clicks.csv -o json
    """
    from xmceval.api.grouped import auc

    shared.start(quiet)
    result = auc(file)
    for warning in () if quiet else result.warnings:
        click.echo(f"warning: {warning}", err=True)
    click.echo(result.to_json() if form == "json" else str(result), nl=False)
