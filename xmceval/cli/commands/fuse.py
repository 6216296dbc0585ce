"""``xmceval fuse``: the predictions of several systems as those of one."""

from __future__ import annotations

import sys
from typing import Any

import click

from xmceval.cli import options
from xmceval.cli.messages import say, warn
from xmceval.cli.runner import long_work

RULES = ("score", "normalized", "rank", "reciprocal-rank")


def parse_weights(_: click.Context, __: click.Parameter, value: str | None) -> list[float] | None:
    """Read numbers between commas."""
    try:
        return None if value is None else [float(part) for part in value.split(",")]
    except ValueError:
        raise click.BadParameter(f"expected numbers between commas, got {value!r}") from None


@options.command("fuse", short_help="Write the fused predictions of several systems.")
@click.argument("preds", nargs=-1, required=True, type=options.FILE)
@click.argument("dst", type=options.FILE)
@click.option("--by", type=click.Choice(RULES), default="score", show_default=True, help="How lists are fused.")
@click.option("--weights", metavar="W,W...", callback=parse_weights, help="One per system.  [default: 1 each]")
@click.option("--to", metavar="FORM", help="Form of DST, as in convert.  [default: by the ending of DST]")
@click.option("--top", type=click.IntRange(min=1), metavar="K", help="Keep the K best labels of each row.")
@click.option("--n-labels", type=click.IntRange(min=1), metavar="N", help="Number of labels, if no file declares it.")
@click.option(
    "--labels", type=options.FILE, metavar="FILE", help="Names of labels, one per line, if the files have names."
)
@options.force
@options.max_line
@options.threads
@options.quiet
@options.verbose
def command(
    preds: tuple[str, ...],
    dst: str,
    by: str,
    weights: list[float] | None,
    quiet: bool,
    verbose: bool,
    **settings: Any,
) -> None:
    """Fuse PREDS, the predictions of at least two systems, and write them to DST, best label first.

    \b
    Rules, and the value used for a label missing from a list:
      score            scores; the lowest score of that list in the row
      normalized       scores scaled to 0..1 within each row and list, equal ones
                       or a single one to 1; 0, as a label with -inf has
      rank             ranks, the lowest sum first; the rank below the last
      reciprocal-rank  1 / (60 + rank); 0

    \b
    Example:
      xmceval fuse a.txt b.npz fused.npz --by reciprocal-rank --top 100
    """
    from xmceval.api.files.fuse import fuse
    from xmceval.errors import counted

    with long_work(quiet):
        written = fuse(preds, by=by, weights=weights).write(sys.stdout.buffer if dst == "-" else dst, **settings)
    if verbose:
        rows, entries = counted(written.n_rows, "row"), counted(written.n_entries, "entry")
        say(f"note: {dst}: {written.description}; {rows}, {entries}")
    warn(written.warnings, quiet=quiet)
