"""The commands ``xmceval metrics`` and ``xmceval datasets``, which list what is available or show details."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import click

from xmceval.cli import options
from xmceval.labels import catalogue
from xmceval.metrics.table import METRICS
from xmceval.report.dataset_list import write_datasets
from xmceval.report.metric_list import write_metrics


def _listing(
    name: str,
    names: Callable[[], Iterable[str]],
    write: Callable[[Sequence[str], str, int], str],
    text: str,
    *,
    short_help: str,
) -> click.Command:
    """Make a command that lists `names`, which shells complete; `write` formats them, `text` is the help."""

    @options.command(name, help=text, short_help=short_help)
    @click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=options.completing(names))
    @options.form_option(["table", "md", "json"])
    def command(names: tuple[str, ...], form: str) -> None:
        click.echo(write(names, form, options.terminal_width()), nl=False)

    return command


metrics = _listing(
    "metrics",
    lambda: METRICS,
    write_metrics,
    """List all metrics, or explain NAME: formula, options, conventions, source.

NAME is written as in score -m. Names that other tools use, such as ndcg_cut_5, also work.

\b
Example:
  xmceval metrics nDCG
""",
    short_help="List the metrics, or explain some of them.",
)

datasets = _listing(
    "datasets",
    catalogue.datasets,
    write_datasets,
    """List all public data sets, or show NAME in detail.

The details are sizes, A and B of the propensity model, whether a filter is used, and published results.

\b
Example:
  xmceval datasets Amazon-670K
""",
    short_help="List the public data sets, or show some of them.",
)
