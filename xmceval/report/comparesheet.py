"""The sheet of a comparison: the table of results, one table of differences per pair, and verdicts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from xmceval.errors import counted
from xmceval.report.comparison import Comparison, Difference, RunsOf
from xmceval.report.layout import DEFAULT, Layout
from xmceval.report.lists import list_examples, list_overlap
from xmceval.report.scoresheet import build_sheet
from xmceval.report.sheet import Listing, Sheet
from xmceval.report.verdicts import format_p, write_verdicts

NUMERIC = frozenset({1, 3, 4})
TESTS = {"t": "paired t test", "randomization": "randomization", "bootstrap": "bootstrap"}


def build_comparison_sheet(comparison: Comparison, layout: Layout = DEFAULT) -> Sheet:
    """Build the sheet of a comparison."""
    sheet = build_sheet(comparison.results, layout)
    listings = [
        _list_pair(comparison, comparison.of_pair(system, baseline, bin_), layout)
        for system, baseline in comparison.pairs
        for bin_ in _bins(comparison, system, baseline)
    ]
    listings = [
        *(_list_runs(each, layout) for each in comparison.runs),
        *listings,
        *(list_overlap(each, layout) for each in comparison.overlaps),
        *list_examples(comparison.examples, layout),
    ]
    below = (*sheet.below, describe_test(comparison))
    above = (comparison.source,) if comparison.source else sheet.above
    return replace(
        sheet, above=above, below=below, listings=tuple(listings), verdicts=tuple(write_verdicts(comparison, layout))
    )


def _bins(comparison: Comparison, system: str, baseline: str) -> list[str]:
    pairs = (each for each in comparison.differences if (each.system, each.baseline) == (system, baseline))
    return list(dict.fromkeys(each.bin for each in pairs))


def _list_pair(comparison: Comparison, differences: Sequence[Difference], layout: Layout) -> Listing:
    """List the differences of a pair, over all labels or within one bin."""
    first = differences[0]
    points = "points" if all(each.measure.metric.unit == "share" for each in differences) else "points or units"
    pair = f"{first.system} \N{MINUS SIGN} {first.baseline}"
    how = "Welch's t test of" if first.unit == "run" else "paired over"
    n = max(each.n for each in differences)  # 0 where nothing was tested
    title = " · ".join([pair, *([f"{how} {counted(n, first.unit)}"] if n else []), points])
    if first.bin:
        title += f" · {first.bin}"
    adjust = {"holm": "p (Holm)", "tukey": "p (Tukey)"}.get(comparison.testing.adjust)
    head = ("", "difference", "95% interval", "p", *([adjust] if adjust else []), "wins/ties/losses")
    rows = [head, *(_row(each, layout, is_adjusted=adjust is not None) for each in differences)]
    return Listing(
        title, tuple(rows), NUMERIC if adjust else frozenset({1, 3}), tuple(_describe_power(differences, layout))
    )


def _list_runs(runs: RunsOf, layout: Layout) -> Listing:
    """List the mean and the spread of a system over its runs."""
    head = ("", "mean", "sd", "lowest", "highest")
    rows = (
        (
            each.measure.name,
            *(layout.format(each.measure, value) for value in (each.mean, each.sd, each.lowest, each.highest)),
        )
        for each in runs.spreads
    )
    title = f"{runs.name} · {counted(len(runs.results), 'run')}"
    return Listing(title, (head, *rows), frozenset({1, 2, 3, 4}))


def _row(each: Difference, layout: Layout, *, is_adjusted: bool) -> tuple[str, ...]:
    interval = ""
    if each.low is not None and each.high is not None:
        interval = f"{_signed(each, each.low, layout)} .. {_signed(each, each.high, layout)}"
    counts = "" if each.wins is None else f"{each.wins}/{each.ties}/{each.losses}"
    adjusted = [format_p(each.p_adjusted)] if is_adjusted else []
    return each.measure.name, _signed(each, each.difference, layout), interval, format_p(each.p), *adjusted, counts


def _signed(each: Difference, value: float, layout: Layout) -> str:
    text = layout.format(each.measure, value)
    return text if text.startswith("-") else f"+{text}"


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


def _describe_power(differences: Sequence[Difference], layout: Layout) -> Iterator[str]:
    """Describe the smallest difference of each metric that would be detected."""
    sizes = [
        f"{each.measure.name} {layout.format(each.measure, each.detectable)}" for each in differences if each.detectable
    ]
    if sizes:
        yield f"detected with 80% power: {', '.join(sizes)} or more"
