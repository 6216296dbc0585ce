"""The commands ``xmceval metrics``, ``datasets`` and ``guide``, which list what is available or show details."""

from __future__ import annotations

from importlib import resources

import click

from xmceval.cli import options
from xmceval.errors import UsageError, listed
from xmceval.labels import catalogue
from xmceval.metrics.table import METRICS
from xmceval.report.dataset_list import write_datasets
from xmceval.report.metric_list import write_metrics


@options.command("metrics", short_help="List the metrics, or explain some of them.")
@click.argument("names", nargs=-1, metavar="[NAME]...", shell_complete=options.completing(lambda: METRICS))
@options.form
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
@options.form
def datasets(names: tuple[str, ...], form: str) -> None:
    """List all public data sets, or show NAME in detail.

    The details are sizes, A and B of the propensity model, whether a filter is used, and published results.

    \b
    Example:
      xmceval datasets Amazon-670K
    """
    click.echo(write_datasets(names, form, options.terminal_width()), nl=False)


# In the order in which readers need them.
GUIDES = (
    *("start", "compare", "propensities", "loops", "search", "sklearn"),
    *("operations", "inputs", "metrics", "recipes", "changes", "design"),
)


@options.command("guide", short_help="Show a guide, such as start or inputs.")
@click.argument("name", required=False, metavar="[NAME]", shell_complete=options.completing(lambda: GUIDES))
def guide(name: str | None) -> None:
    """Show a guide, in a pager on a terminal; without NAME list all guides.

    \b
    Example:
      xmceval guide inputs
    """
    if name is None:
        width = max(map(len, GUIDES))
        click.echo("\n".join(f"{guide:{width}}  {_read(guide).partition(chr(10))[0].lstrip('# ')}" for guide in GUIDES))
    elif name.removesuffix(".md") not in GUIDES:
        raise UsageError(f"there is no guide {name!r}; expected one of {listed(GUIDES)}")
    else:
        click.echo_via_pager(_read(name.removesuffix(".md")))


def _read(name: str) -> str:
    return resources.files("xmceval").joinpath("guide", f"{name}.md").read_text(encoding="utf-8")
