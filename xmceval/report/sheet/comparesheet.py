"""The sheet of a comparison: the table of results, one table of differences per pair, and verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from xmceval.errors import counted
from xmceval.report.comparison import Comparison, RunsOf
from xmceval.report.forms.layout import DEFAULT, Layout
from xmceval.report.result import Result
from xmceval.report.sheet.differences import list_differences
from xmceval.report.sheet.model import ASCII_MARKS, Listing, Sheet, transpose
from xmceval.report.sheet.overlaplists import list_examples, list_overlap
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
from xmceval.scoring.comparing.testoptions import BETTER, WORSE
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.summary import Figure, Slice

TESTS = {"t": "paired t test", "randomization": "randomization", "bootstrap": "bootstrap"}


def build_comparison_sheet(comparison: Comparison, layout: Layout = DEFAULT) -> Sheet:
    """Build the sheet of a comparison."""
    lines = [line for line in _lines(comparison) if line.is_ranked or layout.pairs is not False]
    signs = _mark_against(comparison, layout) if comparison.testing.against else _mark_beaten(comparison, lines)
    sheet = build_systems_sheet(comparison.results, lines, layout, signs)
    sheet = transpose(sheet) if layout.transpose else sheet
    verdicts = summarise(comparison) if has_many_pairs(comparison) else write_verdicts(comparison, layout)
    untested = list_untested(comparison) if layout.pairs is False else []
    return replace(
        sheet,
        above=(comparison.source,) if comparison.source else sheet.above,
        below=(*sheet.below, describe_test(comparison)),
        listings=() if layout.pairs is False else tuple(_list_pairs(comparison, layout)),
        verdicts=tuple(each for each in verdicts if each not in untested),
        notes=(*sheet.notes, *untested),
    )


def _list_pairs(comparison: Comparison, layout: Layout) -> Iterator[Listing]:
    """List what there is beside the table of systems."""
    yield from list_runs(comparison.runs, layout)
    yield from list_differences(comparison, layout)
    yield from (list_overlap(each, layout) for each in comparison.overlaps)
    yield from list_examples(comparison.examples, layout)


def _mark_beaten(comparison: Comparison, lines: Sequence[SystemLine]) -> Signs:
    """Mark values by the letters of the systems that they are significantly better than."""
    letters, beaten = name_letters([line.name for line in lines if line.is_ranked]), find_beaten(comparison)
    marks = {key: join_letters([letters[name] for name in names]) for key, names in beaten.items()}
    notes = (f"letters after a value: significantly better than these systems, {describe_level(comparison)}",)
    return Signs(marks, letters, notes if beaten else ())


def _mark_against(comparison: Comparison, layout: Layout) -> Signs:
    """Mark values that are significantly better or worse than those of the common baseline."""
    against, signs = comparison.testing.against, dict(zip((BETTER, WORSE), ASCII_MARKS, strict=True))
    if not layout.is_unicode:
        signs = {mark: ASCII_MARKS[sign] for mark, sign in signs.items()}
    marks = {
        (each.bin, each.measure.name, each.system): signs[each.mark]
        for each in comparison.differences
        if each.mark in signs
    }
    words = ", ".join(f"{sign} significantly {mark}" for mark, sign in signs.items())
    explained = (f"{words} than {against}, {describe_level(comparison)}",) if marks else ()
    return Signs(marks, notes=(*explained, f"only differences from {against} were tested"))


def _lines(comparison: Comparison) -> Iterator[SystemLine]:
    """Yield the lines of the table: systems, and after the mean of several runs each of them."""
    runs = {name: each for each in comparison.runs for name in each.results}
    for result in comparison.results:
        of_system = runs.get(result.name)
        if of_system is None:
            yield SystemLine.of(result)
            continue
        if result.name == of_system.results[0]:
            yield _average(of_system, result)
        yield replace(SystemLine.of(result), is_ranked=False)


def _average(runs: RunsOf, first: Result) -> SystemLine:
    """Make the line of the mean of several runs, over all labels and within the bins of the first run."""
    figures = [(each.bin, Figure(each.measure, Estimate(each.mean))) for each in (*runs.spreads, *runs.spreads_in_bins)]
    by_bin = {name: tuple(own for bin_name, own in figures if bin_name == name) for name, _ in figures}
    slices = tuple(Slice(part.bin, by_bin[part.bin.name]) for part in first.slices)
    return SystemLine(runs.name, by_bin[""], slices, shown=f"{runs.name}, mean of {counted(len(runs.results), 'run')}")


def list_runs(systems: Sequence[RunsOf], layout: Layout) -> Iterator[Listing]:
    """List the mean and the spread of each system over its runs: of all labels, then of each bin."""
    return (listing for runs in systems for listing in _list_runs(runs, layout))


def _list_runs(runs: RunsOf, layout: Layout) -> Iterator[Listing]:
    head = ("", "mean", "sd", "lowest", "highest")
    for bin_name, spreads in groupby((*runs.spreads, *runs.spreads_in_bins), lambda each: each.bin):
        rows = (
            (
                each.measure.name,
                *(layout.format(each.measure, value) for value in (each.mean, each.sd, each.lowest, each.highest)),
            )
            for each in spreads
        )
        title = " · ".join([runs.name, counted(len(runs.results), "run"), *([bin_name] if bin_name else [])])
        yield Listing(title, (head, *rows), frozenset({1, 2, 3, 4}), has_head=True)


def describe_test(comparison: Comparison) -> str:
    """Describe how differences were tested, and what so many rows could detect."""
    testing = comparison.testing
    units = {each.unit for each in comparison.differences}
    if units == {"run"}:
        return "differences: Welch's t test of runs · runs vary, instances do not"
    words = [f"differences: {TESTS[testing.test]}"]
    if testing.adjust == "tukey":
        words[0] += "; p (Tukey): randomized two-way test"
    if testing.test != "t" or testing.adjust == "tukey":
        words[0] += f", {testing.resamples:,} resamples, seed {testing.seed}"
    words.append("instances vary, training seeds do not" if "run" not in units else "of runs: Welch's t test")
    return " · ".join(words)
