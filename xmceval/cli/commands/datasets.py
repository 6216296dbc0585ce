"""``xmceval datasets``: the catalogue of public data sets."""

from __future__ import annotations

import click

from xmceval.cli import completion, options
from xmceval.labels.catalogue import datasets, find_dataset
from xmceval.report.forms.registry import render_listings


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
    from xmceval.report.listings import datasetlist as catalogue

    entries = [find_dataset(name) for name in names]
    if form == "json":
        text = catalogue.datasets_json(entries or datasets().values(), with_published=bool(entries))
    elif form == "csv":
        text = catalogue.published_csv(entries) if entries else catalogue.datasets_csv(datasets().values())
    elif form != "table":
        details = [each for entry in entries for each in catalogue.list_dataset(entry)]
        text = render_listings(form, details or [catalogue.list_datasets()])
    elif entries:
        text = "\n".join(catalogue.dataset_text(entry, options.terminal_width()) for entry in entries)
    else:
        text = catalogue.datasets_table()
    click.echo(text, nl=False)
