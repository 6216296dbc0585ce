"""The sheet of a comparison: the table of results, one table of differences per pair, and verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from xmceval.errors import counted
from xmceval.report.comparison import Comparison, RunsOf
from xmceval.report.forms.layout import DEFAULT, Layout
from xmceval.report.sheet.differences import list_differences
from xmceval.report.sheet.model import Listing, Sheet, transpose
from xmceval.report.sheet.scoresheet import build_systems_sheet
from xmceval.report.sheet.significance import describe_tests, mark_against, mark_beaten
from xmceval.report.sheet.systemtable import SystemLine
from xmceval.report.sheet.verdicts import has_many_pairs, list_untested, summarise, write_verdicts


def build_comparison_sheet(comparison: Comparison, layout: Layout = DEFAULT) -> Sheet:
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


def _lines(comparison: Comparison) -> Iterator[SystemLine]:
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
