"""Build the table of a comparison, with significance marks, and the lists of differences below it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from xmceval.comparison.difference import (
    ADJUSTED,
    DETECTABLE,
    Compared,
    Difference,
    RunsOf,
    describe_pairs,
    list_lines,
    signed,
)
from xmceval.comparison.options import BETTER, WORSE, Testing
from xmceval.comparison.verdicts import (
    describe_level,
    find_beaten,
    has_many_pairs,
    list_untested,
    summarise,
    write_verdicts,
)
from xmceval.errors import counted
from xmceval.metrics.measure import Measure
from xmceval.report.forms.layout import DEFAULT, Layout
from xmceval.report.score_sheet import build_systems_sheet
from xmceval.report.sheet import ASCII_MARKS, MINUS, Listing, Sheet, transpose
from xmceval.report.system_table import Signs, SystemLine, join_letters, name_letters

DETECTED = "*"


def build_comparison_sheet(comparison: Compared, layout: Layout = DEFAULT) -> Sheet:
    """Build the sheet of a comparison: a line for each system, and after the mean of several runs one for each."""
    runs = {name: of_system for of_system in comparison.runs for name in of_system.results}
    lines, shows_pairs = list[SystemLine](), layout.pairs is not False
    for result in comparison.results:
        of_system = runs.get(result.name)
        if of_system is None:
            lines.append(SystemLine.of(result))
            continue
        if result.name == of_system.results[0]:
            shown = f"{of_system.name}, mean of {counted(len(of_system.results), 'run')}"
            lines.append(replace(SystemLine.of(comparison.systems[of_system.name]), shown=shown))
        if shows_pairs:
            lines.append(replace(SystemLine.of(result), is_ranked=False))
    signs = mark_against(comparison, layout) if comparison.testing.against else _mark_beaten(comparison, lines)
    sheet = build_systems_sheet(comparison.results, lines, layout, signs)
    verdicts = summarise(comparison) if has_many_pairs(comparison) else write_verdicts(comparison, layout)
    untested = [] if shows_pairs else list_untested(comparison)
    listings = (*list_runs(comparison.runs, layout), *list_differences(comparison, layout)) if shows_pairs else ()
    return replace(
        transpose(sheet) if layout.transpose else sheet,
        above=(comparison.source,) if comparison.source else sheet.above,
        listings=listings,
        verdicts=tuple(sentence for sentence in verdicts if sentence not in untested),
        notes=(*sheet.notes, *describe_tests(comparison.testing, [comparison]), *untested),
        below=(*sheet.below, *comparison.facts),
    )


def list_runs(systems: Sequence[RunsOf], layout: Layout) -> Iterator[Listing]:
    """List the mean and the spread of each system over its runs: of all labels, then of each bin."""
    for runs in systems:
        for bin_name, spreads in groupby((*runs.spreads, *runs.spreads_in_bins), lambda spread: spread.bin):
            rows = [("", "mean", "sd", "lowest", "highest")]
            for spread in spreads:
                values = spread.mean, spread.sd, spread.lowest, spread.highest
                mean, sd, lowest, highest = (layout.format(spread.measure, value) for value in values)
                rows.append((spread.measure.name, mean, sd, lowest, highest))
            title = " · ".join([runs.name, counted(len(runs.results), "run"), *([bin_name] if bin_name else [])])
            yield Listing(title, tuple(rows), frozenset({1, 2, 3, 4}), has_head=True)


def find_signs(layout: Layout) -> dict[str, str]:
    """Return the signs of values that are better and worse than those of a baseline."""
    signs = ASCII_MARKS if layout.is_unicode else ASCII_MARKS.values()
    return dict(zip((BETTER, WORSE), signs, strict=True))


def _mark_beaten(comparison: Compared, lines: Sequence[SystemLine]) -> Signs:
    """Mark values by the letters of the systems that they are significantly better than."""
    if not comparison.differences:
        return Signs()
    letters, beaten = name_letters([line.name for line in lines if line.is_ranked]), find_beaten(comparison)
    marks = {key: join_letters([letters[name] for name in names]) for key, names in beaten.items()}
    notes = (f"letters after a value: significantly better than these systems, {describe_level(comparison)}",)
    return Signs(marks, letters, notes if beaten else ())


def mark_against(comparison: Compared, layout: Layout) -> Signs:
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


def mark_best(comparison: Compared, layout: Layout) -> Signs:
    """Mark the values that are the best of a metric, and significantly better than the second."""
    beaten, sign = find_beaten(comparison), find_signs(layout)[BETTER]
    by_measure: dict[tuple[str, Measure], dict[str, float]] = {}
    for name, result in comparison.systems.items():
        for bin_name, figures in result.by_bin.items():
            for figure in figures:
                by_measure.setdefault((bin_name, figure.measure), {})[name] = figure.estimate.value
    marks = {}
    for (bin_name, measure), values in by_measure.items():
        ordered = sorted(values, key=values.__getitem__, reverse=measure.metric.higher_is_better)
        best, seconds = ordered[0], [name for name in ordered[1:] if values[name] == values[ordered[1]]]
        key = bin_name, measure.name, best
        if seconds and set(seconds) <= set(beaten.get(key, ())):
            marks[key] = sign
    return Signs(marks)


def describe_tests(testing: Testing, comparisons: Sequence[Compared]) -> Iterator[str]:
    """Describe how differences were tested and what varies in these tests, and over which tests p is adjusted."""
    differences = [difference for comparison in comparisons for difference in comparison.differences]
    if not differences:
        return
    units = {difference.unit for difference in differences if difference.p is not None}
    units = units or {difference.unit for difference in differences}
    how = (
        "paired t test"
        if testing.test == "t"
        else f"randomization, {testing.resamples:,} resamples, seed {testing.seed}"
    )
    if units == {"run"}:
        yield "differences: Welch's t test of runs · does not cover variance over instances"
    elif "run" in units:
        yield f"differences: {how} · Welch's t test for systems with runs"
    else:
        yield f"differences: {how} · does not cover training-seed variance"
    yield from describe_family(testing, comparisons)


def describe_family(testing: Testing, comparisons: Sequence[Compared]) -> Iterator[str]:
    """Describe which tests p is adjusted over, as intervals never are; nothing where there is one test only."""
    tested = [
        (i, difference)
        for i, comparison in enumerate(comparisons)
        for difference in comparison.differences
        if difference.p is not None
    ]
    if len(tested) < 2:
        return
    families = {(i, difference.measure, difference.bin) for i, difference in tested}
    nouns = {part.bin.noun for comparison in comparisons for part in comparison.results[0].slices}
    on_each = " on each data set" if len(comparisons) > 1 else ""
    within = f" in each {min(nouns)}" if any(difference.bin for _, difference in tested) and nouns else ""
    family = f"each metric{within}{on_each} is a family of its own"
    if testing.adjust == "none":
        yield f"neither p nor intervals are adjusted for the number of tests ({len(tested):,})"
    elif testing.adjust_over == "all":
        tests = "the tests on each data set" if on_each else f"all {len(tested):,} tests"
        yield f"{tests} are one family: p (Holm) is adjusted for their number, intervals are not"
    elif len(families) == len(tested):
        yield f"{family}: neither p nor intervals are adjusted for the number of metrics"
    else:
        yield f"{family}: {ADJUSTED} is adjusted for its pairs, intervals are not"


def list_differences(comparison: Compared, layout: Layout) -> Iterator[Listing]:
    """List the differences: by pair and bin; of many pairs by metric, and with no common baseline as matrices."""
    adjusted = ADJUSTED if comparison.testing.adjust == "holm" else None
    if not has_many_pairs(comparison):
        for pair in comparison.pairs:
            of_pair = [difference for difference in comparison.differences if difference.pair == pair]
            for _, group in groupby(of_pair, lambda difference: difference.bin):
                differences = list(group)
                heads = [difference.measure.name for difference in differences]
                yield list_lines(f" {MINUS} ".join(pair), heads, differences, layout, adjusted)
        return
    by_measure: dict[tuple[str, str], list[Difference]] = {}
    for difference in comparison.differences:
        by_measure.setdefault((difference.bin, difference.measure.name), []).append(difference)
    against = comparison.testing.against
    for (_, name), differences in by_measure.items():
        if against is None:
            yield _list_matrix(comparison, differences, layout)
        else:
            heads = [(set(difference.pair) - {against}).pop() for difference in differences]
            yield list_lines(f"{name} · system {MINUS} {against}", heads, differences, layout, adjusted)


def _list_matrix(comparison: Compared, differences: Sequence[Difference], layout: Layout) -> Listing:
    """List the differences of all pairs in one metric: the system in the row minus that in the column."""
    letters = name_letters(dict.fromkeys(name for pair in comparison.pairs for name in reversed(pair)))
    systems, baselines = (dict.fromkeys(names) for names in zip(*comparison.pairs, strict=True))
    texts = {
        difference.pair: signed(difference, difference.difference, layout)
        + (DETECTED if difference.is_detected else " ")
        for difference in differences
    }
    head = ("", *(f"({letters[baseline]}) " for baseline in baselines))
    rows = [
        (f"({letters[system]}) {system}", *(texts.get((system, baseline), "") for baseline in baselines))
        for system in systems
    ]
    measure = differences[0].measure
    about = *describe_pairs(differences, layout), f"{DETECTED} {describe_level(comparison)}"
    sizes = [difference.detectable for difference in differences if difference.detectable]
    lines = []
    if sizes:
        least, most = layout.format(measure, min(sizes)), layout.format(measure, max(sizes))
        lines.append(f"{DETECTABLE}: {least if least == most else f'{least} to {most}'}")
    title = " · ".join([f"{measure.name} · row {MINUS} column", *about])
    return Listing(title, (head, *rows), frozenset(range(1, len(head))), tuple(lines), has_head=True)
