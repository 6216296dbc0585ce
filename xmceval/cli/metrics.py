"""``xmceval metrics``: what every metric is."""

from __future__ import annotations

import click


@click.command("metrics", short_help="List the metrics, or explain some of them.")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("-o", "form", type=click.Choice(["table", "json"]), default="table", help="Form of the output.")
def command(names: tuple[str, ...], form: str) -> None:
    """List every metric, or explain NAME: formula, options, conventions, source.

    NAME is as in score -m; the words of other tools are understood, such as ndcg_cut_5.
    """
    from xmceval.report import metrics as definitions

    found = definitions.find_metrics(names)
    if form == "json":
        text = definitions.metrics_json([metric for metric, _ in found] or definitions.sort_by_family())
    elif found:
        text = "\n".join(definitions.metric_text(*each) for each in found)
    else:
        text = definitions.metrics_table()
    click.echo(text, nl=False)
