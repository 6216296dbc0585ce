"""The sheet of a comparison: a table with significance marks, verdicts in words, and lists of differences."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

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
from xmceval.comparison.options import BETTER, MARKS, NONE, WORSE, Testing
from xmceval.comparison.paired import DRAWS, LEVEL
from xmceval.errors import agreeing, counted, listed, plural
from xmceval.kernels.metrics.sums import FEW_DIFFER
from xmceval.metrics.measure import Measure
from xmceval.report.score_sheet import Signs, SystemLine, build_systems_sheet, join_letters, name_letters
from xmceval.report.sheet import ASCII_MARKS, DEFAULT, MINUS, SD, Layout, Listing, Sheet

DETECTED = "*"
WAYS = {  # how label-wise metrics are tested, and where intervals are from
    ("randomization", True): "p is from {draws:,} exchanges of systems in random {rows}; "
    "the interval is from random weights of {rows}; seed {seed}",
    ("randomization", False): "p is from {draws:,} exchanges of systems in random {rows}; seed {seed}",
    ("bootstrap", True): "the t test and the interval are from random weights of {rows}; seed {seed}",
}
MOST_PAIRS = 3  # pairs with their own sentences and lists


def build_comparison_sheet(comparison: Compared, layout: Layout) -> Sheet:
    """Build the sheet of a comparison: a line for each system; with pairs also for each run, and what was tested."""
    layout = settle_runs(layout.settle(comparison.results[0].nouns), [comparison])
    runs = {of_system.name: of_system.results for of_system in comparison.runs}
    values = {result.name: result.by_bin for result in comparison.results}
    lines = list[SystemLine]()
    for name, result in comparison.systems.items():
        lines.append(SystemLine(name, result.by_bin))
        if layout.pairs:
            lines += [SystemLine(run, values[run], is_ranked=False) for run in runs.get(name, ())]
    if comparison.testing.against:
        signs = mark_against(comparison, layout)
    else:
        signs = _mark_beaten(comparison, lines, layout)
    sheet = build_systems_sheet(comparison.results, lines, layout, signs)
    above = sheet.above
    if comparison.source:
        above = (comparison.source,)
    about = [
        *describe_runs([comparison], layout),
        *describe_tests(comparison.testing, {"": comparison}),
        *list_untested(comparison),
    ]
    below = list(sheet.below)
    if not layout.is_quiet:
        below.extend(comparison.facts)
    listings = list[Listing]()
    if layout.pairs:
        listings = [*list_runs(comparison.runs, layout), *list_differences(comparison, layout)]
    return replace(
        sheet,
        above=above,
        below=tuple(below),
        notes=(*sheet.notes, *about),
        verdicts=tuple(write_verdicts(comparison, layout)),
        listings=tuple(listings),
    )


def settle_runs(layout: Layout, comparisons: Iterable[Compared]) -> Layout:
    """Hide intervals where ± is the standard deviation over runs, unless they are asked for."""
    if layout.intervals is None and any(comparison.runs for comparison in comparisons):
        return replace(layout, intervals=False)
    return layout


def describe_runs(comparisons: Iterable[Compared], layout: Layout) -> Iterator[str]:
    """Say over how many runs of which systems values are means."""
    numbers: dict[str, list[int]] = {}
    for comparison in comparisons:
        for runs in comparison.runs:
            numbers.setdefault(runs.name, []).append(len(runs.results))
    systems: dict[str, list[str]] = {}
    for name, of_system in numbers.items():
        systems.setdefault(_write_range(of_system), []).append(name)
    if systems:
        sd = "" if layout.intervals else f" {SD}sd"
        of = (f"{n} runs of {listed(names, 'and')}" for n, names in systems.items())
        yield f"mean{sd} over {', '.join(of)}"


def list_runs(systems: Sequence[RunsOf], layout: Layout) -> Iterator[Listing]:
    """List the mean and the spread of each system over its runs, for all labels, then for each bin."""
    for runs in systems:
        for bin_name, spreads in itertools.groupby((*runs.spreads, *runs.spreads_in_bins), lambda spread: spread.bin):
            rows = []
            for spread in spreads:
                values = (spread.mean, spread.sd, spread.lowest, spread.highest)
                rows.append((spread.measure.name, *(layout.format(spread.measure, value) for value in values)))
            title = f"{runs.name} · {counted(len(runs.results), 'run')}"
            if bin_name:
                title += f" · {bin_name}"
            yield Listing(title, ("", "mean", "sd", "lowest", "highest"), tuple(rows), frozenset({1, 2, 3, 4}))


def find_signs(layout: Layout) -> dict[str, str]:
    """Return the signs for values that are better and worse than the baseline's."""
    signs = ASCII_MARKS if layout.is_unicode else ASCII_MARKS.values()
    return dict(zip((BETTER, WORSE), signs, strict=True))


def _mark_beaten(comparison: Compared, lines: Sequence[SystemLine], layout: Layout) -> Signs:
    """Mark values by the letters of the systems that they are significantly better than; of two systems by a sign."""
    beaten = find_beaten(comparison)
    if not beaten:
        return Signs()
    if len(comparison.systems) == 2:
        sign = find_signs(layout)[BETTER]
        return Signs(dict.fromkeys(beaten, sign), notes=(f"{sign} significantly better",))
    letters = name_letters([line.name for line in lines if line.is_ranked])
    marks = {key: join_letters([letters[name] for name in names]) for key, names in beaten.items()}
    ranges = (part for mark in marks.values() for part in re.findall("(.)-(.)", mark))
    example = next((f"; {first}-{last} means ({first}) to ({last})" for first, last in ranges), "")
    return Signs(marks, letters, (f"letters: significantly better than these systems{example}",))


def mark_against(comparison: Compared, layout: Layout) -> Signs:
    """Mark values that are significantly better or worse than the common baseline's."""
    against = comparison.testing.against
    signs = find_signs(layout)
    marks = {
        (difference.bin, difference.measure.name, difference.system): signs[difference.mark]
        for difference in comparison.differences
        if difference.mark in signs
    }
    words = ", ".join(f"{sign} significantly {mark}" for mark, sign in signs.items())
    notes = []
    if marks:
        notes.append(f"{words} than {against}")
    if comparison.differences:
        notes.append(f"every system was tested against {against} only")
    return Signs(marks, notes=tuple(notes))


def mark_best(comparison: Compared, layout: Layout) -> Signs:
    """Mark the values that are the best of a metric, and significantly better than the second."""
    beaten = find_beaten(comparison)
    sign = find_signs(layout)[BETTER]
    by_measure: dict[tuple[str, Measure], dict[str, float]] = {}
    for name, result in comparison.systems.items():
        for bin_name, figures in result.by_bin.items():
            for figure in figures:
                by_measure.setdefault((bin_name, figure.measure), {})[name] = figure.estimate.value
    marks = {}
    for (bin_name, measure), values in by_measure.items():
        ordered = sorted(values, key=values.__getitem__, reverse=measure.metric.higher_is_better)
        best = ordered[0]
        seconds = [name for name in ordered[1:] if values[name] == values[ordered[1]]]
        key = bin_name, measure.name, best
        if seconds and set(seconds) <= set(beaten.get(key, ())):
            marks[key] = sign
    return Signs(marks)


def describe_tests(testing: Testing, comparisons: Mapping[str, Compared]) -> Iterator[str]:
    """Describe how differences were tested, over how many rows, at which level, and what the tests do not cover.

    Comparisons are by data set; a single one has no name.
    """
    every = list[Difference]()
    sizes = list[str]()  # numbers of rows, by data set
    for name, comparison in comparisons.items():
        tested = [difference for difference in comparison.differences if difference.p is not None]
        every += tested
        numbers = [difference.n for difference in tested if difference.unit == "row" and not difference.bin]
        if numbers:
            sizes.append(f"{_write_range(numbers)} on {name}".removesuffix(" on "))
    if not every:
        return
    units = {difference.unit for difference in every if not difference.test}
    level = describe_level(list(comparisons.values()))
    rows = listed(map(plural, dict.fromkeys(difference.nouns.row for difference in every)), "or")
    paired = rows
    if sizes:
        paired += f" (n = {listed(sizes)})"
    how = f"paired t test over {paired}"
    if testing.test != "t":
        how = f"randomization test over {paired} with {testing.resamples:,} resamples and seed {testing.seed}"
    if not units:
        how = f"tests by random draws over {paired}"
    if units == {"run"}:
        yield f"Welch's t test over runs, {level}; says nothing about other {rows}"
    elif "run" in units:
        yield f"{how}, and Welch's t test over runs for systems with several, {level}"
    else:
        yield f"{how}, {level}; says nothing about retraining"
    drawn = [difference for difference in every if difference.n_differing is None]  # otherwise p is exact
    drawn.sort(key=lambda difference: difference.low is not None)  # the last of a metric, with an interval, says how
    ways = {difference.measure.head: WAYS.get((difference.test, difference.low is not None)) for difference in drawn}
    for way in dict.fromkeys(ways.values()):
        if way:
            heads = [head for head, of_head in ways.items() if of_head == way]
            yield f"{listed(heads, 'and')}: {way.format(draws=DRAWS, rows=rows, seed=testing.seed)}"


def _write_range(numbers: Collection[int]) -> str:
    return " to ".join(dict.fromkeys(f"{number:,}" for number in (min(numbers), max(numbers))))


def describe_level(comparisons: Sequence[Compared]) -> str:
    """Describe when a difference is significant, and which tests p is adjusted over."""
    testing = comparisons[0].testing
    families = [  # of each test
        (i, difference.measure.name, difference.bin)
        for i, comparison in enumerate(comparisons)
        for difference in comparison.differences
        if difference.p is not None
    ]
    n_tests = len(families)
    level = f"p < {LEVEL:g}"
    if n_tests <= 1:
        return level
    if testing.adjust == "none":
        return f"{level}, not adjusted for {counted(n_tests, 'test')}"
    if testing.adjust_over == "all":
        tests = "all tests of each data set" if len(comparisons) > 1 else f"all {n_tests:,} tests"
        return f"{level} (Holm, over {tests})"
    if len(set(families)) == n_tests:
        return f"{level}, not adjusted across metrics"
    within = []
    if len(comparisons) > 1:
        within.append("data set")
    nouns = {part.bin.noun for comparison in comparisons for part in comparison.results[0].slices}
    if nouns and any(bin_name for _, _, bin_name in families):
        within.append(min(nouns))
    return f"{level} (Holm, within each {listed([*within, 'metric'], 'and')})"


def list_differences(comparison: Compared, layout: Layout) -> Iterator[Listing]:
    """List the differences by pair and bin; many pairs by metric, as matrices if they share no baseline."""
    adjusted = None
    if any(difference.p_adjusted not in {None, difference.p} for difference in comparison.differences):
        adjusted = ADJUSTED
    if not has_many_pairs(comparison):
        for pair, of_pair in _group(comparison.differences, attrgetter("pair")).items():
            for differences in _group(of_pair, attrgetter("bin")).values():
                heads = [difference.measure.name for difference in differences]
                yield list_lines(f" {MINUS} ".join(pair), heads, differences, layout, adjusted)
        return
    against = comparison.testing.against
    for (_, measure), differences in _group(comparison.differences, attrgetter("bin", "measure")).items():
        if against is None:
            yield _list_matrix(comparison, differences, layout)
        else:
            heads = [(set(difference.pair) - {against}).pop() for difference in differences]
            yield list_lines(f"{measure} · system {MINUS} {against}", heads, differences, layout, adjusted)


def _list_matrix(comparison: Compared, differences: Sequence[Difference], layout: Layout) -> Listing:
    """List the differences of all pairs in one metric: the system in the row minus that in the column."""
    letters = name_letters(dict.fromkeys(name for pair in comparison.pairs for name in reversed(pair)))
    systems, baselines = (dict.fromkeys(names) for names in zip(*comparison.pairs, strict=True))
    texts = {}
    for difference in differences:
        star = DETECTED if difference.is_detected else " "
        texts[difference.pair] = signed(difference, difference.difference, layout) + star
    head = ("", *(f"({letters[baseline]}) " for baseline in baselines))
    rows = [
        (f"({letters[system]}) {system}", *(texts.get((system, baseline), "") for baseline in baselines))
        for system in systems
    ]
    measure = differences[0].measure
    sizes = [difference.detectable for difference in differences if difference.detectable]
    lines = []
    if sizes:
        ends = dict.fromkeys(layout.format(measure, size) for size in (min(sizes), max(sizes)))
        lines.append(f"{DETECTABLE}: {' to '.join(ends)}")
    about = [*describe_pairs(differences, layout), f"{DETECTED} {describe_level([comparison])}"]
    title = " · ".join([f"{measure.name} · row {MINUS} column", *about])
    return Listing(title, head, tuple(rows), frozenset(range(1, len(head))), tuple(lines))


def has_many_pairs(comparison: Compared) -> bool:
    """Return whether there are too many pairs for one list per pair, so that the table has one per metric."""
    return len(comparison.pairs) > MOST_PAIRS


def write_verdicts(comparison: Compared, layout: Layout = DEFAULT) -> list[str]:
    """Write a sentence per pair, or of many pairs per metric: first over all labels, then the same in each bin."""
    tested = _find_tested(comparison)
    differences = [difference for difference in comparison.differences if difference.measure.name in tested]
    sentences = []
    for in_bin in _group(differences, attrgetter("bin")).values():
        if has_many_pairs(comparison):
            sentences += _summarise_metrics(in_bin, comparison.testing.against)
        else:
            sentences += _write_pairs(in_bin, layout)
    return sentences


def _find_tested(comparison: Compared) -> set[str]:
    """Return the names of the metrics that were tested for any pair, over all labels or in a bin."""
    return {difference.measure.name for difference in comparison.differences if difference.p is not None}


def _group(differences: Iterable[Difference], key: Callable[[Difference], Any]) -> dict[Any, list[Difference]]:
    groups: dict[Any, list[Difference]] = {}
    for difference in differences:
        groups.setdefault(key(difference), []).append(difference)
    return groups


def _summarise_metrics(differences: Sequence[Difference], against: str | None) -> list[str]:
    """Write by metric what the best system is better than, or how all compare with the baseline.

    Metrics share a sentence where that is the same.
    """
    metrics: dict[str, list[str]] = {}  # by what is said of them
    for measure, of_metric in _group(differences, attrgetter("measure")).items():
        if all(difference.p is None for difference in of_metric):
            sentence = "not tested"
        elif against is None:
            sentence = _summarise_best(of_metric)
        else:
            sentence = _summarise_marks(of_metric, against)
        metrics.setdefault(sentence, []).append(measure.name)
    in_bin = ""
    if differences[0].bin:
        in_bin = f"{differences[0].bin}, "
    return [f"{in_bin}{listed(names, 'and')}: {sentence}" for sentence, names in metrics.items()]


def _summarise_marks(differences: Sequence[Difference], against: str) -> str:
    """Write which systems are better and worse than the baseline, and for which nothing was detected or tested."""
    words = (f"better than {against}", f"worse than {against}", "no difference was detected", "not tested")
    by_mark = _group(differences, attrgetter("mark"))
    parts = []
    for mark, word in zip(MARKS, words, strict=True):
        if mark in by_mark:
            having = {difference.system: difference for difference in by_mark[mark]}
            parts.append(f"{word}: {listed(having)}")
            if mark == NONE:
                parts[-1] += _note_few(having)
    return "; ".join(parts)


def _write_pairs(differences: Sequence[Difference], layout: Layout) -> list[str]:
    """Write for each pair what was found, and in which metrics it was not tested."""
    in_bin = f"{differences[0].bin}: " if differences[0].bin else ""
    sentences = []
    for pair, of_pair in _group(differences, attrgetter("pair")).items():
        sentence = _write_pair(of_pair, layout)
        if sentence:
            sentences.append(f"{in_bin}{sentence}")
        untested = [difference.measure.name for difference in of_pair if difference.p is None]
        if untested:
            sentences.append(f"{in_bin}{_describe_untested(untested)} between {' and '.join(pair)}")
    return sentences


def _write_pair(differences: Sequence[Difference], layout: Layout) -> str:
    """Describe the differences of one pair in all metrics; empty where none was tested."""
    system, baseline = differences[0].pair
    sizes: dict[str, list[str]] = {BETTER: [], WORSE: []}
    undetected: dict[str, list[str]] = {"": []}  # by how few rows differ: first those tested as always
    for difference in differences:
        name = difference.measure.name
        few = describe_few(difference)
        if difference.mark == NONE:
            undetected.setdefault(few, []).append(name)
        elif difference.mark in sizes:
            size = f"{name} by {describe_size(difference, layout)}"
            sizes[difference.mark].append(f"{size} ({few})" if few else size)
    parts: list[str] = []
    for how, metrics in sizes.items():
        if metrics:
            than = "" if parts else f" than {baseline}"
            parts.append(f"{how}{than} on {listed(metrics, 'and')}")
    lists = []
    for few, metrics in undetected.items():
        where = f", where {few}" if few else ""
        if metrics:
            lists.append(f"{listed(metrics)}{where}")
    names = ", and on ".join(lists)
    if not parts and not names:
        return ""
    if not parts:
        return f"no difference between {system} and {baseline} was detected on {names}"
    if names:
        parts[-1] += f"; no difference was detected on {names}"
    return f"{system} is {', '.join(parts)}"


def _summarise_best(differences: Sequence[Difference]) -> str:
    """Write which systems the best one is better than; the best are those that no other has a better value than."""
    by_pair = {frozenset(difference.pair): difference for difference in differences}
    names = list(dict.fromkeys(name for difference in differences for name in (difference.baseline, difference.system)))
    behind = {difference.loser for difference in differences if difference.difference != 0}
    best = [name for name in names if name not in behind] or names[:1]
    rest = [name for name in names if name not in best]
    if not rest:
        return "all systems have the same value"
    from_best = {name: [by_pair[pair] for top in best if (pair := frozenset((name, top))) in by_pair] for name in rest}
    beaten = [
        name for name in rest if from_best[name] and all(difference.is_detected for difference in from_best[name])
    ]
    others = [name for name in rest if from_best[name] and name not in beaten]
    apart = [name for name in rest if not from_best[name]]
    lead = f"{listed(best, 'and')} have equal values and are"
    if len(best) == 1:
        lead = f"{best[0]} is"
    elif not all(frozenset(pair) in by_pair for pair in itertools.combinations(best, 2)):  # their values may differ
        all_of_them = "all " if len(best) > 2 else ""
        lead = f"{listed(best, 'and')}, which are not {all_of_them}compared with each other, are"
    untested = ""
    if apart:
        untested = f"; {listed(apart, 'and')} {agreeing(len(apart), 'was', 'were')} not compared with it"
    if not others and beaten:
        return f"{lead} better than all others{untested}"
    after = f"{_note_few({name: from_best[name][0] for name in others})}{untested}"
    if not beaten:
        return f"{lead} best, but no difference from any other was detected{after}"
    if 1 < len(beaten) >= len(others) and not apart:  # the shorter list
        return f"{lead} better than all but {listed(others, 'and')}, from which no difference was detected{after}"
    return f"{lead} better than {listed(beaten, 'and')}; no difference from {listed(others, 'or')} was detected{after}"


def _note_few(differences: Mapping[str, Difference]) -> str:
    """Write how few rows differ, by name of the other system, after a sentence on undetected differences."""
    few = {name: difference for name, difference in differences.items() if difference.n_differing is not None}
    if not few:
        return ""
    if len(few) > MOST_PAIRS:
        rows = plural(next(iter(few.values())).nouns.row)
        return f" (few {rows} differ from {len(few)} of them)"
    return f" ({'; '.join(f'{name}: {describe_few(difference)}' for name, difference in few.items())})"


def describe_few(difference: Difference) -> str:
    """Say that few rows differ, or all by the same amount, if p is exact for that reason."""
    m = difference.n_differing
    noun = difference.nouns.row
    if m is None:
        return ""
    if m > FEW_DIFFER:
        return f"all {m:,} {plural(noun)} that differ do so by the same amount"
    if m == 0:
        return f"no {plural(noun)} differ"
    return f"only {counted(m, noun)} {agreeing(m, 'differs', 'differ')}"


def find_beaten(comparison: Compared) -> dict[tuple[str, str, str], list[str]]:
    """Return by (bin, metric, system) the systems that it is significantly better than."""
    beaten: dict[tuple[str, str, str], list[str]] = {}
    for difference in comparison.differences:
        if difference.is_detected:
            [winner] = set(difference.pair) - {difference.loser}
            beaten.setdefault((difference.bin, difference.measure.name, winner), []).append(difference.loser)
    return beaten


def list_untested(comparison: Compared) -> Iterator[str]:
    """Yield the metrics that were not tested for any pair, in one line."""
    tested = _find_tested(comparison)
    measures = [difference.measure for difference in comparison.differences]
    names = dict.fromkeys(measure.name for measure in measures if measure.name not in tested)
    if names:
        yield _describe_untested(list(names))


def _describe_untested(names: Sequence[str]) -> str:
    return f"{listed(names, 'and')} {agreeing(len(names), 'was', 'were')} not tested"


def describe_size(difference: Difference, layout: Layout) -> str:
    """Write how large a difference is, with its interval: ``2.05 ±3.00``, or ``2.05 (0.10..4.12)``."""
    measure = difference.measure
    low = difference.low
    high = difference.high
    size = layout.format(measure, abs(difference.difference))
    if low is None or high is None:
        return size
    if difference.is_symmetric:
        return f"{size} ±{layout.format(measure, (high - low) / 2)}"
    if difference.difference <= 0:
        low, high = -high, -low
    return f"{size} ({layout.format(measure, low)}..{layout.format(measure, high)})"
