"""``xmceval datasets``: the catalogue of public sets."""

from __future__ import annotations

import click


@click.command("datasets", short_help="List the public data sets, or show some of them.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("-o", "form", type=click.Choice(["table", "json"]), default="table", help="Form of the output.")
def command(names: tuple[str, ...], form: str) -> None:
    """List every public data set, or show NAME: sizes, A and B, filter, published results."""
    from xmceval.labels.catalogue import datasets, find_dataset
    from xmceval.report import datasets as catalogue

    found = [find_dataset(name) for name in names]
    if form == "json":
        text = catalogue.datasets_json(found or datasets().values(), with_published=bool(found))
    elif found:
        text = "\n".join(catalogue.dataset_text(entry) for entry in found)
    else:
        text = catalogue.datasets_table()
    click.echo(text, nl=False)
