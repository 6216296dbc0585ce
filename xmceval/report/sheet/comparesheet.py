"""The sheet of a comparison: the table of results with its marks, and lists of differences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from xmceval.errors import counted
from xmceval.metrics.measure import Measure
from xmceval.report.compared import (
    ADJUSTED,
    DETECTABLE,
    Compared,
    Difference,
    RunsOf,
    describe_pairs,
    list_lines,
    signed,
)
from xmceval.report.forms.layout import DEFAULT, Layout
from xmceval.report.sheet.model import ASCII_MARKS, MINUS, Listing, Sheet, transpose
from xmceval.report.sheet.scoresheet import build_systems_sheet
from xmceval.report.sheet.systemtable import Signs, SystemLine, join_letters, name_letters
from xmceval.report.sheet.verdicts import (
    describe_level,
    find_beaten,
    has_many_pairs,
    list_untested,
    summarise,
    write_verdicts,
)
from xmceval.scoring.comparing.testoptions import BETTER, WORSE, Testing


def build_comparison_sheet(comparison: Compared, layout: Layout = DEFAULT) -> Sheet:
    """Build the sheet of a comparison."""
    lines = [line for line in _lines(comparison) if line.is_ranked or layout.pairs is not False]
    signs = mark_against(comparison, layout) if comparison.testing.against else mark_beaten(comparison, lines)
    sheet = build_systems_sheet(comparison.results, lines, layout, signs)
    sheet = transpose(sheet) if layout.transpose else sheet
    verdicts = summarise(comparison) if has_many_pairs(comparison) else write_verdicts(comparison, layout)
    untested = list_untested(comparison) if layout.pairs is False else []
    return replace(
        sheet,
        above=(comparison.source,) if comparison.source else sheet.above,
        listings=()
        if layout.pairs is False
        else (*list_runs(comparison.runs, layout), *list_differences(comparison, layout)),
        verdicts=tuple(sentence for sentence in verdicts if sentence not in untested),
        notes=(*sheet.notes, *describe_tests(comparison.testing, [comparison]), *untested),
        below=(*sheet.below, *comparison.facts),
    )


def _lines(comparison: Compared) -> Iterator[SystemLine]:
    """Yield the lines of the table: systems, and after the mean of several runs each of them."""
    runs = {name: of_system for of_system in comparison.runs for name in of_system.results}
    for result in comparison.results:
        of_system = runs.get(result.name)
        if of_system is None:
            yield SystemLine.of(result)
            continue
        if result.name == of_system.results[0]:
            shown = f"{of_system.name}, mean of {counted(len(of_system.results), 'run')}"
            yield replace(SystemLine.of(comparison.systems[of_system.name]), shown=shown)
        yield replace(SystemLine.of(result), is_ranked=False)


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


def mark_beaten(comparison: Compared, lines: Sequence[SystemLine]) -> Signs:
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
    marks = {}
    for (bin_name, measure), values in _group_values(comparison).items():
        ordered = sorted(values, key=values.__getitem__, reverse=measure.metric.higher_is_better)
        best, seconds = ordered[0], [name for name in ordered[1:] if values[name] == values[ordered[1]]]
        key = bin_name, measure.name, best
        if seconds and set(seconds) <= set(beaten.get(key, ())):
            marks[key] = sign
    return Signs(marks)


def _group_values(comparison: Compared) -> dict[tuple[str, Measure], dict[str, float]]:
    """Return the values of systems by bin of labels and measure."""
    values: dict[tuple[str, Measure], dict[str, float]] = {}
    for name, result in comparison.systems.items():
        for bin_name, figures in [("", result.figures), *((part.bin.name, part.figures) for part in result.slices)]:
            for figure in figures:
                values.setdefault((bin_name, figure.measure), {})[name] = figure.estimate.value
    return values


def describe_tests(testing: Testing, comparisons: Sequence[Compared]) -> Iterator[str]:
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


def describe_family(testing: Testing, comparisons: Sequence[Compared]) -> Iterator[str]:
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


DETECTED = "*"


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
    for (_, name), differences in by_measure.items():
        if comparison.testing.against is None:
            yield _list_matrix(comparison, differences, layout)
        else:
            against = comparison.testing.against
            about = f"{name} · system {MINUS} {against}"
            heads = [
                difference.system if difference.baseline == against else difference.baseline
                for difference in differences
            ]
            yield list_lines(about, heads, differences, layout, adjusted)


def _list_matrix(comparison: Compared, differences: Sequence[Difference], layout: Layout) -> Listing:
    """List the differences of all pairs in one metric: the system in the row minus that in the column."""
    letters = name_letters(dict.fromkeys(name for pair in comparison.pairs for name in reversed(pair)))
    by_pair = {difference.pair: difference for difference in differences}
    systems, baselines = (dict.fromkeys(names) for names in zip(*comparison.pairs, strict=True))
    texts = {
        pair: signed(difference, difference.difference, layout) + (DETECTED if difference.is_detected else " ")
        for pair, difference in by_pair.items()
    }
    rows = [
        (f"({letters[system]}) {system}", *(texts.get((system, baseline), "") for baseline in baselines))
        for system in systems
    ]
    head = ("", *(f"({letters[baseline]}) " for baseline in baselines))
    title = " · ".join(
        [
            f"{differences[0].measure.name} · row {MINUS} column",
            *describe_pairs(differences, layout),
            f"{DETECTED} {describe_level(comparison)}",
        ]
    )
    sizes = [difference.detectable for difference in differences if difference.detectable]
    lines = []
    if sizes:
        least, most = (layout.format(differences[0].measure, size) for size in (min(sizes), max(sizes)))
        lines.append(f"{DETECTABLE}: {least if least == most else f'{least} to {most}'}")
    return Listing(title, (head, *rows), frozenset(range(1, len(head))), tuple(lines), has_head=True)
