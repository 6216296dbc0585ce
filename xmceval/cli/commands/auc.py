"""``xmceval auc``: AUC of a flat file, whole and within groups."""

from __future__ import annotations

import click

from xmceval.cli import options
from xmceval.cli.messages import warn
from xmceval.cli.plotting import Plots, plot_options
from xmceval.cli.runner import long_work
from xmceval.report.pictures import AUC, kinds_of


@options.command("auc", short_help="Compute AUC and group AUC of a CSV of group,label,score.")
@click.argument("file", type=options.FILE)
@click.option(
    "--columns",
    metavar="GROUP,LABEL,SCORE",
    help="Header names or 1-based positions of the three columns.",
)
@options.form
@plot_options(AUC, "roc")
@options.quiet
def command(
    file: str, form: str, quiet: bool, columns: str | None, plots: tuple[str, ...], plot_kinds: tuple[str, ...]
) -> None:
    """Compute AUC and group AUC of FILE, a CSV of group,label,score.

    FILE may have a header and may be compressed. The first line is a header if both its label and its score are words:
    not empty, not a label, not a number. GAUC is the mean of the AUC within each group, weighted by the sizes
    of the groups; groups with only one class are left out and counted. A tie counts one half.

    \b
    Example:
      xmceval auc clicks.csv --columns user,clicked,score
    """
    from xmceval.api.groupauc import auc

    pictures = Plots.of(plots, plot_kinds)
    with long_work(quiet):
        result = auc(file, columns=columns, plots=kinds_of(AUC) if plots else ())
    warn(result.warnings, quiet=quiet)
    click.echo(result.to_json() if form == "json" else str(result), nl=False)
    pictures.write([result])
