"""Significance: the marks of values in a table of systems, and how differences were tested."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from xmceval.metrics.measure import Measure
from xmceval.report.comparison import Comparison, Difference
from xmceval.report.forms.layout import Layout
from xmceval.report.sheet.model import ASCII_MARKS
from xmceval.report.sheet.systemtable import Signs, SystemLine, join_letters, name_letters
from xmceval.report.sheet.verdicts import ADJUSTED, describe_level, find_beaten
from xmceval.scoring.comparing.testoptions import BETTER, WORSE, Testing


def find_signs(layout: Layout) -> dict[str, str]:
    """Return the signs of values that are better and worse than those of a baseline."""
    signs = ASCII_MARKS if layout.is_unicode else ASCII_MARKS.values()
    return dict(zip((BETTER, WORSE), signs, strict=True))


def mark_beaten(comparison: Comparison, lines: Sequence[SystemLine]) -> Signs:
    """Mark values by the letters of the systems that they are significantly better than."""
    if not comparison.differences:
        return Signs()
    letters, beaten = name_letters([line.name for line in lines if line.is_ranked]), find_beaten(comparison)
    marks = {key: join_letters([letters[name] for name in names]) for key, names in beaten.items()}
    notes = (f"letters after a value: significantly better than these systems, {describe_level(comparison)}",)
    return Signs(marks, letters, notes if beaten else ())


def mark_against(comparison: Comparison, layout: Layout) -> Signs:
    """Mark values that are significantly better or worse than those of the common baseline."""
    against, signs = comparison.testing.against, find_signs(layout)
    marks = {
        (difference.bin, difference.measure.name, difference.system): signs[difference.mark]
        for difference in comparison.differences
        if difference.mark in signs
    }
    words = ", ".join(f"{sign} significantly {mark}" for mark, sign in signs.items())
    explained = (f"{words} than {against}, {describe_level(comparison)}",) if marks else ()
    tested = (f"only differences from {against} were tested",) if comparison.differences else ()
    return Signs(marks, notes=(*explained, *tested))


def mark_best(comparison: Comparison, layout: Layout) -> Signs:
    """Mark the values that are the best of a metric, and significantly better than the second."""
    beaten, sign = find_beaten(comparison), find_signs(layout)[BETTER]
    marks = {}
    for (bin_name, measure), values in _group_values(comparison).items():
        ordered = sorted(values, key=values.__getitem__, reverse=measure.metric.higher_is_better)
        best, seconds = ordered[0], [name for name in ordered[1:] if values[name] == values[ordered[1]]]
        key = bin_name, measure.name, best
        if seconds and set(seconds) <= set(beaten.get(key, ())):
            marks[key] = sign
    return Signs(marks)


def _group_values(comparison: Comparison) -> dict[tuple[str, Measure], dict[str, float]]:
    """Return the values of systems by bin of labels and measure."""
    values: dict[tuple[str, Measure], dict[str, float]] = {}
    for name, result in comparison.systems.items():
        for bin_name, figures in [("", result.figures), *((part.bin.name, part.figures) for part in result.slices)]:
            for figure in figures:
                values.setdefault((bin_name, figure.measure), {})[name] = figure.estimate.value
    return values


def describe_tests(testing: Testing, comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Describe how differences were tested, and over which tests p is adjusted: of one data set, or of several."""
    differences = [difference for comparison in comparisons for difference in comparison.differences]
    if differences:
        yield describe_test(
            testing, [difference for difference in differences if difference.p is not None] or differences
        )
        yield from describe_family(testing, comparisons)


def describe_test(testing: Testing, differences: Iterable[Difference]) -> str:
    """Describe how differences were tested, and what varies in these tests."""
    units = {difference.unit for difference in differences}
    if units == {"run"}:
        return "differences: Welch's t test of runs · does not cover variance over instances"
    of_resampling = f"randomization, {testing.resamples:,} resamples, seed {testing.seed}"
    words = [f"differences: {'paired t test' if testing.test == 't' else of_resampling}"]
    has_runs = "run" in units
    words.append("Welch's t test for systems with runs" if has_runs else "does not cover training-seed variance")
    return " · ".join(words)


def describe_family(testing: Testing, comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Describe which tests p is adjusted over, as intervals never are; nothing where there is one test only."""
    tested = [
        (i, difference)
        for i, part in enumerate(comparisons)
        for difference in part.differences
        if difference.p is not None
    ]
    families = {(i, difference.measure, difference.bin) for i, difference in tested}
    on_each = " on each data set" if len(comparisons) > 1 else ""
    nouns = {part.bin.noun for comparison in comparisons for part in comparison.results[0].slices}
    within = f" in each {min(nouns)}" if any(difference.bin for _, difference in tested) and nouns else ""
    family = f"each metric{within}{on_each}"
    if len(tested) < 2:
        return
    if testing.adjust == "none":
        yield f"neither p nor intervals are adjusted for the number of tests ({len(tested):,})"
    elif testing.adjust_over == "all":
        tests = "the tests on each data set" if on_each else f"all {len(tested):,} tests"
        yield f"{tests} are one family: p (Holm) is adjusted for their number, intervals are not"
    elif len(families) == len(tested):
        yield f"{family} is a family of its own: neither p nor intervals are adjusted for the number of metrics"
    else:
        yield f"{family} is a family of its own: {ADJUSTED} is adjusted for its pairs, intervals are not"
