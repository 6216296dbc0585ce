"""``xmceval metrics``: what every metric is."""

from __future__ import annotations

import click

from xmceval.cli import completion, options
from xmceval.metrics.table import METRICS
from xmceval.report.forms.registry import render_listings


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
    from xmceval.report.listings import metriclist as definitions

    entries = definitions.find_metrics(names)
    metrics = [metric for metric, _ in entries] or definitions.sort_by_family()
    if form == "json":
        text = definitions.metrics_json(metrics)
    elif form == "csv":
        text = definitions.metrics_csv(metrics)
    elif form != "table":
        facts = [definitions.list_facts(*entry) for entry in entries]
        text = render_listings(form, facts or [definitions.list_metrics(metrics)])
    elif entries:
        text = "\n".join(definitions.metric_text(*entry, width=options.terminal_width()) for entry in entries)
    else:
        text = definitions.metrics_table(options.terminal_width())
    click.echo(text, nl=False)
