"""``xmceval datasets``: the catalogue of public data sets."""

from __future__ import annotations

import click

from xmceval.cli import completion, options
from xmceval.labels.catalogue import datasets, find_dataset


@click.command("datasets", short_help="List the public data sets, or show some of them.")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=completion.of_names(datasets))
@options.form
def command(names: tuple[str, ...], form: str) -> None:
    """List all public data sets, or show NAME in detail.

    The details are sizes, A and B of the propensity model, whether a filter is used, and published results.

    \b
    Example:
      xmceval datasets Amazon-670K
    """
    from xmceval.report import datasets as catalogue

    entries = [find_dataset(name) for name in names]
    if form == "json":
        text = catalogue.datasets_json(entries or datasets().values(), with_published=bool(entries))
    elif entries:
        text = "\n".join(catalogue.dataset_text(entry, options.terminal_width()) for entry in entries)
    else:
        text = catalogue.datasets_table()
    click.echo(text, nl=False)
