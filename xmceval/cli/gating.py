"""Gates of commands: their options, and exit code 3, after all output, where one did not pass."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from xmceval.cli import options
from xmceval.cli.messages import say
from xmceval.errors import DataError

if TYPE_CHECKING:
    from xmceval.metrics.measure import Measure
    from xmceval.report.forms.layout import Layout
    from xmceval.report.gates import Gate
    from xmceval.report.scored import GateOutcome

BREACH = 3

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


def not_worse(texts: Sequence[str]) -> list[Gate]:
    """Parse gates of differences; without any nothing is loaded."""
    if not texts:
        return []
    from xmceval.report.gates import parse_worse

    return [parse_worse(text) for text in texts]


def required(texts: Sequence[str], measures: Sequence[Measure], layout: Layout) -> list[Gate]:
    """Parse gates of values, and check that these are computed; without any nothing is loaded."""
    if not texts:
        return []
    from xmceval.report.gates import check_computed, parse_required

    gates = [parse_required(text, in_percent=layout.percent) for text in texts]
    check_computed(gates, measures)
    return gates


@contextmanager
def enforced(outcomes: Sequence[GateOutcome], failures: Sequence[str] = ()) -> Iterator[None]:
    """Report gates that did not pass, and other failures, after the output is written, even if nobody reads it."""
    try:
        yield
    except BrokenPipeError:
        if all(outcome.passed for outcome in outcomes) and not failures:
            raise
        sys.stdout = io.StringIO()  # nothing more may be written there, not even at exit
    breaches = [outcome.why for outcome in outcomes if outcome.is_decided and not outcome.passed]
    for line in breaches:
        say(f"breach: {line}")
    errors = dict.fromkeys([*failures, *(outcome.why for outcome in outcomes if not outcome.is_decided)])
    if errors:
        raise DataError(*errors)
    if breaches:
        raise click.exceptions.Exit(BREACH)
