"""Gates on the command line: what is beyond a limit goes to stderr after all output, and ends with exit code 3."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from xmceval.cli import options
from xmceval.cli.messages import say
from xmceval.errors import DataError, UsageError, counted

if TYPE_CHECKING:
    from xmceval.report.forms.layout import Layout
    from xmceval.report.gateoutcomes import GateOutcome
    from xmceval.report.gates import Gate

BREACH = 3
MOST_UNDECIDED = 3  # gates, of which it is written why

fail_if_worse = options.option(
    "--fail-if-worse",
    multiple=True,
    group="Testing",
    metavar="METRIC[:X]",
    help="Exit with code 3 if a system is significantly worse than the baseline by more than X points (or X, for a "
    "metric that is not a share); may be repeated.",
)
require = options.option(
    "--require",
    multiple=True,
    group="Output",
    metavar="METRIC>=X",
    help="Exit with code 3 if a value is below X (with <=: above X), in the unit of the table; may be repeated.",
)


def not_worse(arguments: Mapping[str, Any]) -> list[Gate]:
    """Return the gates of differences that were asked for."""
    if not arguments["fail_if_worse"]:
        return []
    from xmceval.report.gates import parse_worse

    return [parse_worse(each) for each in arguments["fail_if_worse"]]


def required(arguments: Mapping[str, Any], layout: Layout) -> list[Gate]:
    """Return the gates of values that were asked for, in the unit of the table."""
    if not arguments["require"]:
        return []
    from xmceval.report.gates import parse_required

    gates = [parse_required(each, in_percent=layout.percent) for each in arguments["require"]]
    for gate in gates:
        if gate.in_hundredths is not None:
            raise UsageError(
                f"--require {gate}: limits of shares are in percent, as in the table (hint: pass {gate.in_hundredths}, "
                "or --fraction for limits and table as fractions)"
            )
    return gates


@contextmanager
def enforced(outcomes: Sequence[GateOutcome], failures: Sequence[str] = ()) -> Iterator[None]:
    """Report gates that were not passed after the output is written, also where nobody reads it to its end.

    `failures` are what else went wrong, which the output does not have.
    """
    from xmceval.report.gateoutcomes import find_breaches, find_undecided

    try:
        yield
    except BrokenPipeError:
        if all(each.passed for each in outcomes) and not failures:
            raise
        sys.stdout = io.StringIO()  # nothing more may be written there, not even at exit
    breaches, undecided = find_breaches(outcomes), find_undecided(outcomes)
    for line in breaches:
        say(f"breach: {line}")
    if failures or undecided:
        raise DataError(*failures, *_describe_undecided(undecided))
    if breaches:
        raise click.exceptions.Exit(BREACH)


def _describe_undecided(whys: Sequence[str]) -> Iterator[str]:
    """Write why gates cannot be decided, in one line; of many the first ones."""
    if whys:
        number = "a gate" if len(whys) == 1 else counted(len(whys), "gate")
        more = f"; and {len(whys) - MOST_UNDECIDED:,} more" if len(whys) > MOST_UNDECIDED else ""
        yield f"{number} cannot be decided: {'; '.join(whys[:MOST_UNDECIDED])}{more}"
