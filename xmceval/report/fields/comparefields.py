"""The fields of what ``compare`` writes: those of ``score``, and the differences between the systems."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from xmceval.errors import listed
from xmceval.metrics.names import restore_measure
from xmceval.metrics.table import METRICS
from xmceval.report.fields.collectedfields import DENSITY, PAIR, metric
from xmceval.report.fields.field import (
    Field,
    by,
    count,
    derived,
    document,
    inside,
    last,
    many,
    maybe,
    number,
    record,
    share,
    text,
    unless_empty,
    whole,
)
from xmceval.report.fields.gatefields import OUTCOMES
from xmceval.report.fields.scorefields import SYSTEM, TRUTH, list_systems, make_results
from xmceval.scoring.comparing.testoptions import MARKS, Testing
from xmceval.scoring.options import specs
from xmceval.scoring.spec import Spec
from xmceval.statistics.intervals import FEW_CLUSTERS, FEW_ROWS
from xmceval.version import COMPARE_SCHEMA

if TYPE_CHECKING:
    from xmceval.report.comparison import Comparison, RunsOf, RunSpread
    from xmceval.report.result import Result

UNTESTED, UNCOUNTED = "where the metric is not tested", "where rows are not compared one by one"
NO_T = f"{UNTESTED}, or where fewer than 6 rows differ or all differ alike, so that p is that of all exchanges"


def _describe_testing(name: str, spec: Spec) -> Field:
    if spec.kind is int:
        return whole(spec.help, minimum=spec.low or 0)
    described = text(spec.help, spec.choices)
    return maybe(described, "where every pair is compared") if name == "against" else described


TESTING = {name: _describe_testing(name, spec) for name, spec in specs(Testing).items()}

MARKED = derived(
    maybe(
        by(
            "metric",
            "How the system compares with the baseline of `against`.",
            text("Whether it was detected to be better or worse.", MARKS),
        ),
        "of that baseline, of a run, and where every pair is compared",
    )
)

DIFFERENCE = {
    **PAIR,
    "metric": metric("The canonical name of the metric."),
    "bin": unless_empty(text("The bin of labels, or the group of rows, that it is of."), "for all"),
    "difference": number("Value of the system minus that of the baseline; fractions of 1 where the metric is a share."),
    "low": maybe(number("Lower end of its 95% interval."), NO_T),
    "high": maybe(number("Upper end of its 95% interval."), NO_T),
    "p": maybe(share("Two-sided p value."), UNTESTED),
    "p_adjusted": maybe(share("The same, adjusted for the number of pairs."), f"{UNTESTED} or p is not adjusted"),
    "effect": maybe(number("Effect size, t / sqrt(n)."), NO_T),
    "detectable": maybe(
        number("Smallest difference that as many tests by t find with a power of 80% on so many rows."),
        f"{NO_T}, and where the test is not by t",
    ),
    "wins": maybe(count("Rows in which the system is better."), UNCOUNTED),
    "ties": maybe(count("Rows in which they are equal; those with a value in one only are not."), UNCOUNTED),
    "losses": maybe(count("Rows in which the baseline is better."), UNCOUNTED),
    "n": count("Rows with a value in at least one, or runs, that were compared; 0 where nothing was tested."),
    "caution": derived(
        maybe(
            text("Why the interval may be off: of fewer than 30 of them.", (FEW_ROWS, FEW_CLUSTERS)),
            "where nothing is known",
        )
    ),
    "unit": text("What was compared one by one.", ("row", "cluster", "run")),
}

TESTED = {
    "error": maybe(number("The standard error that t divides by."), NO_T),
    "degrees": maybe(number("The degrees of freedom of t."), NO_T),
    "n_differing": maybe(
        count("Rows that differ, where they are fewer than 6 or all differ alike, so that p is that of all exchanges."),
        "elsewhere",
    ),
}

SPREADS = by(
    "canonical name",
    "Spreads.",
    record(
        "How far the values of a metric are apart over the runs.",
        mean=number("Mean."),
        sd=number("Standard deviation, with divisor n - 1.", minimum=0),
        lowest=number("Lowest value."),
        highest=number("Highest value."),
    ),
)


def _name_spreads(spreads: Iterable[RunSpread]) -> dict[str, RunSpread]:
    return {each.measure.name: each for each in spreads}


def _take_spreads(spreads: dict[str, dict[str, float]], bin_name: str = "") -> tuple[RunSpread, ...]:
    from xmceval.report.comparison import RunSpread

    return tuple(RunSpread(restore_measure(name), **each, bin=bin_name) for name, each in spreads.items())


def _take_bins(bins: Iterable[dict[str, Any]]) -> tuple[RunSpread, ...]:
    return tuple(spread for each in bins for spread in _take_spreads(each["metrics"], each["bin"]))


def _list_bins(runs: RunsOf) -> list[dict[str, Any]]:
    by_bin = groupby(runs.spreads_in_bins, lambda each: each.bin)
    return [{"bin": name, "metrics": _name_spreads(spreads)} for name, spreads in by_bin]


RUNS = {
    "name": text("Its name."),
    "systems": many("The names of its runs among the systems.", text("A name.")).of("results"),
    "metrics": SPREADS.of(lambda runs: _name_spreads(runs.spreads), to="spreads").back(_take_spreads),
}
RUNS_IN_BINS = {
    "slices": many("One per bin of labels.", record("Spreads within a bin.", bin=text("Its name."), metrics=SPREADS))
    .of(_list_bins, to="spreads_in_bins")
    .back(_take_bins),
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


def _make_comparison(systems: Any, testing: dict[str, Any], **fields: Any) -> Comparison:
    """Make a comparison of what was read: `fields` are those of its own, and those that all systems have in common."""
    from xmceval.report.comparison import Comparison

    own = {name: fields.pop(name) for name in Comparison.__dataclass_fields__ if name in fields}
    results = tuple(make_results(systems, **fields))
    measures = [figure.measure for figure in results[0].figures]
    others = {each.name: each for each in measures if METRICS.get(each.metric.name) is not each.metric}
    if others:  # those of other tools, of which the values alone have the units
        for name in ("differences", "densities"):
            own[name] = tuple(replace(each, measure=others.get(each.measure.name, each.measure)) for each in own[name])
    comparison = Comparison(results, testing=Testing(**testing), **own)
    _check_names(comparison)
    return comparison


def _check_names(comparison: Comparison) -> None:
    """Refuse names of systems of which there are no results."""
    systems = dict.fromkeys(each.name for each in comparison.results)
    known = {**systems, **dict.fromkeys(each.name for each in comparison.runs)}
    named = [name for pair in comparison.pairs for name in pair] + [
        each for of in comparison.runs for each in of.results
    ]
    strange = [name for name in named if name not in known]
    if strange:
        raise ValueError(f"{strange[0]} is not one of the systems {listed(known)}")


COMPARE = document(
    COMPARE_SCHEMA,
    "Differences between systems on the same truth: system minus baseline.",
    {
        **inside(lambda comparison: comparison.results[0], TRUTH),
        "systems": list_systems(
            record("A system.", **inside(itemgetter(0), SYSTEM), marks=MARKED.of(itemgetter(1)))
        ).of(_mark_systems),
        **inside("testing", TESTING),
        "comparisons": many(
            "One per pair, metric, and bin of labels.",
            record("The difference of one metric between two systems.", **DIFFERENCE, **TESTED).into(
                "report.comparison:Difference"
            ),
        ).of("differences"),
        "verdicts": derived(
            many("What the differences come to, one sentence per pair and metric.", text("A sentence.")).of(
                _write_verdicts
            )
        ),
        "runs": many(
            "Systems that were trained several times.",
            record(
                "A system that is the mean of several runs.",
                **inside(itemgetter(0), RUNS),
                marks=last(MARKED.of(itemgetter(1))),
                **inside(itemgetter(0), RUNS_IN_BINS),
            ).into("report.comparison:RunsOf"),
        ).of(_mark_runs),
        "densities": many("One per pair and metric, where the picture `rows` was asked for.", DENSITY),
        "warnings": many("What a reader must know before trusting the differences.", text("A warning.")),
        "source": unless_empty(text("Where the values come from."), "where they were scored"),
        "gates": derived(OUTCOMES.of(lambda comparison: comparison.gates or None)),
    },
    kind=_make_comparison,
)
