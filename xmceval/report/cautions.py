"""Warn about doubtful numbers, and note how the input was counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xmceval.errors import Doubt, agreeing, argument, counted, listed, plural
from xmceval.labels.propensity import NO_PROPENSITIES, Propensities
from xmceval.metrics.metric import format_number
from xmceval.rows.nouns import OF_LABELS, Nouns
from xmceval.scoring.alignment import doubt_misses
from xmceval.scoring.options import Options
from xmceval.scoring.setup.setup import ranks_all_labels
from xmceval.scoring.summary import Counts, Summary, Value

BY_RETURNED = "min(k,m)"  # the divisor of metrics for which missing predictions are no misses
FEW_LABELS = 100  # true labels: in small data their number may be equal by chance
SHARES = 5  # equal ones, of a value: bounds over orders of ties that are wider than one of them are a doubt


def find_cautions(
    summary: Summary,
    options: Options,
    nouns: Nouns = OF_LABELS,
    propensities: Propensities = NO_PROPENSITIES,
    warnings: Sequence[str] = (),
) -> Iterator[str]:
    """Yield the doubts and facts about the numbers of a system under the options of its scoring.

    `warnings` are the ones so far.
    """
    counts = summary.counts
    figures = summary.figures
    yield from _describe_scores(counts, figures, nouns, has_label_ties=options.ties == "label")
    yield from _describe_short_rows(counts, figures, nouns, options.empty_rows)
    if counts.n_true == 0:
        yield Doubt(f"no {nouns.row} has a {nouns.true_label}: is this the right truth file?")
    if (
        counts.n_true >= FEW_LABELS
        and propensities.from_training
        and propensities.n == counts.n_instances
        and propensities.n_positives == counts.n_true
    ):
        yield Doubt(
            f"{propensities.source} has exactly as many {plural(nouns.row)} and {nouns.true_label}s as the truth: is "
            "it a copy? Values with the propensities of the test set are not comparable with published ones"
        )
    yield from doubt_misses(counts, figures, nouns, warnings)
    least, greatest = counts.grades
    graded = [figure.name for figure in figures if figure.measure.takes_grades]
    if graded and counts.grades != (1, 1):
        size = f"{least:,} to {greatest:,}" if least < greatest else f"all {greatest:,}"
        yield f"{listed(graded, 'and')} {agreeing(len(graded), 'uses', 'use')} the grades in the truth ({size})"
    n = counts.explicit_zeros
    if n and not nouns.are_of_queries:
        ignored = f"in the truth {agreeing(n, 'is', 'are')} ignored"
        yield f"{counted(n, 'stored zero')} {ignored}: labels with value 0 are not true"
    undefined = [figure for figure in figures if figure.estimate.undefined and counts.n_true]
    for has_ideal, what in ((True, "the ideal sums to 0"), (False, "the denominator is 0")):
        names = [figure.name for figure in undefined if figure.measure.metric.needs_propensities == has_ideal]
        if names:
            yield f"{listed(names)}: {what}, reported as 0"
    yield from _describe_what_is_missing(summary, options, nouns)


def _describe_scores(counts: Counts, figures: Sequence[Value], nouns: Nouns, *, has_label_ties: bool) -> Iterator[str]:
    """Yield doubts on masked labels, on rounded scores and on ties, and the fact that some scores are -inf."""
    n = counts.lowest_rows
    if n:
        yield Doubt(
            f"{counted(n, nouns.row)} {agreeing(n, 'has', 'have')} a {nouns.label} within the cutoffs whose score is "
            f"the lowest that floats can hold: is it masked? (hint: -inf says that a {nouns.label} is not predicted)"
        )
    n = counts.rounded_rows
    if n:
        yield Doubt(
            f"{counted(n, nouns.row)} {agreeing(n, 'has', 'have')} tied scores of 2^53 or more, where whole numbers "
            "are rounded when they are read: are they different? (hint: pass smaller numbers, or an array of 64-bit "
            "integers)"
        )
    moves = []
    if has_label_ties:
        for figure in figures:
            low, high = figure.estimate.tie_low, figure.estimate.tie_high
            if low is not None and high is not None and SHARES * (high - low) > abs(figure.estimate.value):
                moves.append((figure.measure.metric.unit == "share", high - low, figure))
    if moves:  # the order of equal scores decides values: name the one that it could move furthest
        *_, figure = max(moves, key=lambda move: move[:2])
        form = "{:,.4g}"
        if figure.measure.metric.unit == "share":
            form = "{:.4f}" if nouns.are_of_queries else "{:.2%}"
        value, least, greatest = map(form.format, (figure.estimate.value, *figure.estimate.tie_bounds))
        others = f" (and {counted(len(moves) - 1, 'other value')})" if len(moves) > 1 else ""
        yield Doubt(
            f"{figure.name}{others} depends on how ties are broken: {value} here, anywhere from {least} to {greatest}"
        )
    n = counts.unpredicted
    if n:
        those = agreeing(n, f"that {nouns.label} is", f"those {nouns.label}s are")
        yield f"{counted(n, 'score')} {agreeing(n, 'is', 'are')} -inf: {those} not predicted"


def _describe_short_rows(counts: Counts, figures: Sequence[Value], nouns: Nouns, empty_rows: str) -> Iterator[str]:
    """Yield how missing predictions at the deepest cutoff, and instances without a true label, were counted.

    Metrics that count these instances in different ways are listed by way.
    """
    k = max(counts.short_rows, default=0)
    n = counts.short_rows.get(k, 0)
    short = f"{n:,} of {counted(counts.n_instances, nouns.row)} {agreeing(n, 'has', 'have')}"
    if n and k == 1:
        yield f"{short} no {nouns.prediction}: {agreeing(n, 'it', 'each')} counts as a miss"
    elif n:
        lenient = dict.fromkeys(f.measure.head for f in figures if f.measure.norm.divisor == BY_RETURNED)
        divide = agreeing(len(lenient), "divides", "divide")
        but = f", but {listed(lenient)} {divide} by the number of {nouns.prediction}s" if lenient else ""
        yield f"{short} fewer than {k} {nouns.prediction}s: empty places count as misses{but}"
    n = counts.empty_rows
    if not n:
        return
    no_label = f"{counted(n, nouns.row)} {agreeing(n, 'has', 'have')} no {nouns.true_label}s"
    if empty_rows == "drop":
        yield f"{no_label}: {agreeing(n, 'it is', 'they are')} left out"
        return
    ways: dict[str, dict[str, None]] = {}
    for measure in (figure.measure for figure in figures):
        metric = measure.metric
        over = measure.norm.over
        if metric.left_out:  # those say themselves how many are left out
            continue
        if over == "ratio" or metric.cuts_at_n or (over == "micro" and measure.norm.divisor == "n"):
            way = "skipped by"
        elif over != "mean":  # cells are counted, and all cells of such an instance are false
            way = f"{agreeing(n, 'its', 'their')} predictions are misses for"
        else:
            is_best = metric.empty_value == metric.bounds[metric.higher_is_better]
            way = f"{'the best value ' if is_best else ''}{metric.empty_value} for"
        ways.setdefault(way, {})[measure.head] = None
    if ways:
        texts = [f"{way} {listed(names, 'and')}" for way, names in ways.items()]
        yield f"{no_label} ({'; '.join(texts)})"


def _describe_what_is_missing(summary: Summary, options: Options, nouns: Nouns) -> Iterator[str]:
    """Yield which metrics leave instances out, have another meaning elsewhere, or lack something, such as scores."""
    counts = summary.counts
    figures = summary.figures
    measures = {figure.measure.name: figure.measure for figure in figures}
    for name, n in counts.left_out.items():
        has_grade = f"has grade {format_number(measures[name].rel)} or above"
        reason = measures[name].metric.left_out or f"no {nouns.label} {has_grade}"
        if measures[name].rel:
            reason = reason.replace("is true", has_grade)
        left_out = f"{agreeing(n, 'is', 'are')} left out"
        yield f"{name}: {n:,} of {counted(counts.n_instances, nouns.row)} {left_out} because {reason}"
    for rel, unscored in counts.unscored.items():
        of_grade = [measure for measure in measures.values() if measure.rel == rel]
        tied = [measure.name for measure in of_grade if ranks_all_labels(measure)]
        lost = [measure.name for measure in of_grade if measure.metric.family == "column" and measure.name not in tied]
        effects = []
        if tied:
            effects.append(f"for {listed(tied)} they are tied with all other {nouns.label}s without a score")
        if lost:
            effects.append(f"for {listed(lost)} they are never retrieved")
        if effects and unscored.number:
            labels = f"{nouns.true_label}s"
            if rel:
                labels = f"{nouns.label}s of grade {format_number(rel)} or above"
            yield f"{unscored.number / unscored.n_true:.1%} of the {labels} have no score: {'; '.join(effects)}"
    names = [name for name, measure in measures.items() if measure.metric.takes_threshold and options.threshold is None]
    if names and counts.binary_rows:
        ranked = [name for name, measure in measures.items() if measure.needs_order]
        others = f"; {listed(ranked)} {agreeing(len(ranked), 'ranks', 'rank')} them as scores" if ranked else ""
        yield f"{listed(names)}: dense scores of 0 and 1 are decisions{others}"
    if names and counts.binary_rows < counts.n_instances:
        yield (
            f"{listed(names)}: without a threshold, every {nouns.label} with a score counts as predicted "
            f"(hint: pass {argument('threshold')})"
        )
    yield from (f"{name} {measure.metric.elsewhere}" for name, measure in measures.items() if measure.metric.elsewhere)
    for part in summary.slices[:1]:
        names = [name for name in measures if name not in part.estimates]
        if names:
            yield f"no share by frequency is available for {listed(names)}"
    names = [figure.name for figure in figures if options.ceiling and figure.estimate.ceiling is None]
    if names:
        yield f"no ceiling is available for {listed(names)}"
