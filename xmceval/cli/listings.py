"""The commands ``xmceval metrics`` and ``xmceval datasets``, which list what is available or show details."""

from __future__ import annotations

import click

from xmceval.cli import options
from xmceval.labels import catalogue
from xmceval.metrics.table import METRICS
from xmceval.report.dataset_list import write_datasets
from xmceval.report.metric_list import write_metrics

form = options.form_option(["table", "md", "json"])


@options.command("metrics", short_help="List the metrics, or explain some of them.")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=options.completing(lambda: METRICS))
@form
def metrics(names: tuple[str, ...], form: str) -> None:
    """List all metrics, or explain NAME: formula, options, conventions, source.

    NAME is written as in score -m. Names that other tools use, such as ndcg_cut_5, also work.

    \b
    Example:
      xmceval metrics nDCG
    """
    click.echo(write_metrics(names, form, options.terminal_width()), nl=False)


@options.command("datasets", short_help="List the public data sets, or show some of them.")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=options.completing(catalogue.datasets))
@form
def datasets(names: tuple[str, ...], form: str) -> None:
    """List all public data sets, or show NAME in detail.

    The details are sizes, A and B of the propensity model, whether a filter is used, and published results.

    \b
    Example:
      xmceval datasets Amazon-670K
    """
    click.echo(write_datasets(names, form, options.terminal_width()), nl=False)
