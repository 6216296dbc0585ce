"""``xmceval datasets``: the catalogue of public data sets."""

from __future__ import annotations

import click

from xmceval.cli import completion, options
from xmceval.labels.catalogue import datasets


@click.command("datasets", short_help="List the public data sets, or show some of them.")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=completion.of_names(datasets))
@options.list_form
def command(names: tuple[str, ...], form: str) -> None:
    """List all public data sets, or show NAME in detail.

    The details are sizes, A and B of the propensity model, whether a filter is used, and published results.

    \b
    Example:
      xmceval datasets Amazon-670K
    """
    from xmceval.report.listings.namedlist import write_list

    click.echo(write_list("datasets", names, form, options.terminal_width()), nl=False)
