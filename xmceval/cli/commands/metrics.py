"""``xmceval metrics``: what every metric is."""

from __future__ import annotations

import click

from xmceval.cli import completion, options
from xmceval.metrics.table import METRICS


@click.command("metrics", short_help="List the metrics, or explain some of them.")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=completion.of_names(lambda: METRICS))
@options.list_form
def command(names: tuple[str, ...], form: str) -> None:
    """List all metrics, or explain NAME: formula, options, conventions, source.

    NAME is written as in score -m. Names that other tools use, such as ndcg_cut_5, are understood too.

    \b
    Example:
      xmceval metrics nDCG
    """
    from xmceval.report.listings.namedlist import write_list

    click.echo(write_list("metrics", names, form, options.terminal_width()), nl=False)
