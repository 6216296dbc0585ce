"""The schema of what ``compare`` writes."""

from __future__ import annotations

from xmceval.report.schemas.collected import PAIR, density, label_wins
from xmceval.report.schemas.scoreschema import spine
from xmceval.report.schemas.words import (
    Schema,
    by,
    count,
    document,
    flag,
    many,
    maybe,
    number,
    record,
    share,
    text,
    whole,
)
from xmceval.scoring.comparing.testoptions import MARKS, Testing
from xmceval.scoring.options import specs
from xmceval.scoring.spec import Spec
from xmceval.statistics.intervals import FEW_ROWS
from xmceval.version import COMPARE_SCHEMA


def make_schema() -> Schema:
    """Make the schema of a document with the differences between systems."""
    return document(
        COMPARE_SCHEMA,
        "Differences between systems on the same truth: system minus baseline.",
        **spine(marks=_marks()),
        **{name: _testing(name, spec) for name, spec in specs(Testing).items()},
        comparisons=many("One per pair, metric, and bin of labels.", _difference()),
        verdicts=many("What the differences come to, one sentence per pair and metric.", text("A sentence.")),
        overlaps=many("How far the lists of pairs agree, where that was asked for.", _overlap()),
        examples=many("Rows that are lost and won most, where they were asked for.", _example()),
        runs=many("Systems that were trained several times.", _runs()),
        densities=many("One per pair and metric, where the picture `rows` was asked for.", density()),
        label_wins=many("One per pair, where values of labels are saved.", label_wins()),
        warnings=many("What a reader must know before trusting the differences.", text("A warning.")),
    )


def _marks() -> Schema:
    mark = text("Whether it was detected to be better or worse.", MARKS)
    return maybe(
        by("metric", "How the system compares with the baseline of `against`.", mark),
        "of that baseline, of a run, and where every pair is compared",
    )


def _testing(name: str, spec: Spec) -> Schema:
    if spec.kind is int:
        return whole(spec.help, minimum=spec.low or 0)
    schema = text(spec.help, spec.choices)
    return maybe(schema, "where every pair is compared") if name == "against" else schema


def _difference() -> Schema:
    untested, uncounted = "where the metric is not tested", "where rows are not compared one by one"
    no_t = f"{untested}, or where fewer than 6 rows differ or all differ alike, so that p is that of all exchanges"
    return record(
        "The difference of one metric between two systems.",
        **PAIR,
        metric=text("The canonical name of the metric."),
        bin=maybe(text("The bin of labels that it is of."), "for all labels"),
        difference=number(
            "Value of the system minus that of the baseline; fractions of 1 where the metric is a share."
        ),
        low=maybe(number("Lower end of its 95% interval."), no_t),
        high=maybe(number("Upper end of its 95% interval."), no_t),
        p=maybe(share("Two-sided p value."), untested),
        p_adjusted=maybe(share("The same, adjusted for the number of pairs."), f"{untested} or p is not adjusted"),
        effect=maybe(number("Effect size, t / sqrt(n)."), no_t),
        detectable=maybe(
            number("Smallest difference that as many tests by t find with a power of 80% on so many rows."),
            f"{no_t}, and where the test is not by t",
        ),
        wins=maybe(count("Rows in which the system is better."), uncounted),
        ties=maybe(count("Rows in which they are equal; those with a value in one only are not."), uncounted),
        losses=maybe(count("Rows in which the baseline is better."), uncounted),
        n=count("Rows with a value in at least one, or runs, that were compared; 0 where nothing was tested."),
        caution=maybe(
            text("Why the interval may be off: of fewer than 30 rows.", (FEW_ROWS,)), "where nothing is known"
        ),
        unit=text("What was compared one by one.", ("row", "run")),
    )


def _overlap() -> Schema:
    cutoff = record(
        "How far the k best labels agree; means over rows unless said otherwise.",
        k=whole("The cutoff.", minimum=1),
        jaccard=share("Labels in both lists / labels in at least one."),
        hits_both=share("Of the hits of all rows: the share that both systems find."),
        hits_system=share("The share that only the system finds."),
        hits_baseline=share("The share that only the baseline finds."),
        union_precision=share("Hits / labels of the union of the lists."),
        union_recall=share("Hits of the union / true labels of the row."),
        oracle_precision=share("P@k of the best k labels of the union."),
    )
    biased = record(
        "Rank-biased overlap, extrapolated.",
        value=share("Its mean over rows."),
        p=share("Its persistence."),
        depth=whole("The labels of each list that it is computed from.", minimum=1),
    )
    return record(
        "How far the lists of a pair agree.",
        **PAIR,
        cutoffs=many("One per cutoff.", cutoff),
        rank_biased=biased,
    )


def _example() -> Schema:
    label = {
        "label": count("The label."),
        "name": maybe(text("Its name."), "where names of labels were not passed"),
    }
    ranked = record("A label of a list.", **label, hit=flag("Whether it is true."))
    return record(
        "A row that the system wins or loses.",
        **PAIR,
        kind=text("How the system does.", ("loss", "win")),
        metric=text("The canonical name of the metric that decides."),
        row=count("The row, counted from 0."),
        value=number("The value of the system in this row."),
        baseline_value=number("The value of the baseline in this row."),
        text=maybe(text("The text of the row."), "where texts were not passed"),
        true=many("The true labels.", record("A label.", **label)),
        ranked=many("The best labels of the system, best first.", ranked),
        baseline_ranked=many("The best labels of the baseline, best first.", ranked),
    )


def _runs() -> Schema:
    spread = record(
        "How far the values of a metric are apart over the runs.",
        mean=number("Mean."),
        sd=number("Standard deviation, with divisor n - 1.", minimum=0),
        lowest=number("Lowest value."),
        highest=number("Highest value."),
    )
    return record(
        "A system that is the mean of several runs.",
        name=text("Its name."),
        systems=many("The names of its runs among the systems.", text("A name.")),
        metrics=by("canonical name", "Spreads.", spread),
        marks=_marks(),
        slices=many(
            "One per bin of labels.",
            record("Spreads within a bin.", bin=text("Its name."), metrics=by("canonical name", "Spreads.", spread)),
        ),
    )
