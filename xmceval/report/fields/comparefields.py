"""The fields of what ``compare`` writes: those of ``score``, and the differences between the systems."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from xmceval.report.fields.field import NUMBER, PLAIN, UNLESS_EMPTY, WHOLE, by, document, inside, many, record
from xmceval.report.fields.gatefields import OUTCOMES
from xmceval.report.fields.scorefields import SYSTEM, TRUTH
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.options import specs
from xmceval.version import COMPARE_SCHEMA

if TYPE_CHECKING:
    from xmceval.report.comparison import Comparison, RunsOf, RunSpread
    from xmceval.report.result import Result

TESTING = dict.fromkeys(specs(Testing), PLAIN)

MARKED = by(PLAIN)

DIFFERENCE = {
    "system": PLAIN,
    "baseline": PLAIN,
    "metric": PLAIN.of("measure.name"),
    "bin": UNLESS_EMPTY,
    "difference": NUMBER,
    "low": NUMBER,
    "high": NUMBER,
    "p": NUMBER,
    "p_adjusted": NUMBER,
    "effect": NUMBER,
    "detectable": NUMBER,
    "wins": WHOLE,
    "ties": WHOLE,
    "losses": WHOLE,
    "n": WHOLE,
    "caution": PLAIN,
    "unit": PLAIN,
}

TESTED = {
    "error": NUMBER,
    "degrees": NUMBER,
    "n_differing": WHOLE,
}

SPREADS = by(record(mean=NUMBER, sd=NUMBER, lowest=NUMBER, highest=NUMBER))


def _name_spreads(spreads: Iterable[RunSpread]) -> dict[str, RunSpread]:
    return {each.measure.name: each for each in spreads}


def _list_bins(runs: RunsOf) -> list[dict[str, Any]]:
    by_bin = groupby(runs.spreads_in_bins, lambda each: each.bin)
    return [{"bin": name, "metrics": _name_spreads(spreads)} for name, spreads in by_bin]


RUNS = {
    "name": PLAIN,
    "systems": many(PLAIN).of("results"),
    "metrics": SPREADS.of(lambda runs: _name_spreads(runs.spreads)),
    "slices": many(record(bin=PLAIN, metrics=SPREADS)).of(_list_bins),
}


def _mark_systems(comparison: Comparison) -> list[tuple[Result, dict[str, str] | None]]:
    """Return each system with how it compares with the common baseline; runs do so together."""
    of_runs = {name for each in comparison.runs for name in each.results}
    return [(each, None if each.name in of_runs else comparison.marks(each.name)) for each in comparison.results]


def _mark_runs(comparison: Comparison) -> list[tuple[RunsOf, dict[str, str] | None]]:
    return [(each, comparison.marks(each.name)) for each in comparison.runs]


def _write_verdicts(comparison: Comparison) -> list[str]:
    from xmceval.report.sheet.verdicts import write_verdicts

    return write_verdicts(comparison)


COMPARE = document(
    COMPARE_SCHEMA,
    {
        **inside(lambda comparison: comparison.results[0], TRUTH),
        "systems": many(record(**inside(itemgetter(0), SYSTEM), marks=MARKED.of(itemgetter(1)))).of(_mark_systems),
        **inside("testing", TESTING),
        "comparisons": many(record(**DIFFERENCE, **TESTED)).of("differences"),
        "verdicts": many(PLAIN).of(_write_verdicts),
        "runs": many(
            record(
                **inside(itemgetter(0), RUNS),
                marks=MARKED.of(itemgetter(1)),
            )
        ).of(_mark_runs),
        "warnings": many(PLAIN),
        "source": UNLESS_EMPTY,
        "gates": OUTCOMES.of(lambda comparison: comparison.gates or None),
    },
)
