"""Lists of differences in a comparison: one per pair, or where there are many pairs one per metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from xmceval.errors import counted
from xmceval.report.comparison import Comparison, Difference
from xmceval.report.forms.layout import Layout
from xmceval.report.sheet.model import MINUS, Listing
from xmceval.report.sheet.systemtable import name_letters
from xmceval.report.sheet.verdicts import ADJUSTED, describe_level, format_p, has_many_pairs
from xmceval.statistics.intervals import FEW_ROWS, FEWEST_ROWS

DETECTED = "*"
DETECTABLE = "smallest difference detectable with 80% power"
UNITS = {"row": "instance", "run": "run"}  # of a Difference, for people


def list_differences(comparison: Comparison, layout: Layout) -> Iterator[Listing]:
    """List the differences: by pair and bin; of many pairs by metric, and with no common baseline as matrices."""
    adjusted = ADJUSTED if comparison.testing.adjust == "holm" else None
    if not has_many_pairs(comparison):
        for pair in comparison.pairs:
            of_pair = [difference for difference in comparison.differences if difference.pair == pair]
            for _, group in groupby(of_pair, lambda difference: difference.bin):
                differences = list(group)
                heads = [difference.measure.name for difference in differences]
                yield _list_lines(f" {MINUS} ".join(pair), heads, differences, layout, adjusted)
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
            yield _list_lines(about, heads, differences, layout, adjusted)


def list_difference(difference: Difference, layout: Layout) -> Listing:
    """List one difference, of which it is not known how p was adjusted."""
    pair = f"{difference.system} {MINUS} {difference.baseline}"
    adjusted = None if difference.p_adjusted is None else "p adjusted"
    return _list_lines(pair, [difference.measure.name], [difference], layout, adjusted)


def _list_lines(
    pair: str, heads: Sequence[str], differences: Sequence[Difference], layout: Layout, adjusted: str | None
) -> Listing:
    """List differences with their intervals and tests, one per line; `adjusted` is the head of adjusted p."""
    title = " · ".join([pair, *_describe(differences, layout)])
    counts = ["wins/ties/losses"] if any(difference.wins is not None for difference in differences) else []
    head = ("", "difference", "95% interval", "p", *([adjusted] if adjusted else []), *counts)
    rows = [
        (name, *_cells(difference, layout, is_adjusted=adjusted is not None)[: len(head) - 1])
        for name, difference in zip(heads, differences, strict=True)
    ]
    numeric = frozenset({1, 3, 4}) if adjusted else frozenset({1, 3})
    sizes = [
        f"{name} {layout.format(difference.measure, difference.detectable)}"
        for name, difference in zip(heads, differences, strict=True)
        if difference.detectable
    ]
    lines = [f"{DETECTABLE}: {', '.join(sizes)}"] if sizes else []
    if any(difference.caution == FEW_ROWS for difference in differences):
        lines.append(f"caution: the intervals are from fewer than {FEWEST_ROWS} instances")
    detected = frozenset(i for i, difference in enumerate(differences) if difference.is_detected)
    return Listing(title, (head, *rows), numeric, tuple(lines), has_head=True, detected=detected)


def _list_matrix(comparison: Comparison, differences: Sequence[Difference], layout: Layout) -> Listing:
    """List the differences of all pairs in one metric: the system in the row minus that in the column."""
    letters = name_letters(dict.fromkeys(name for pair in comparison.pairs for name in reversed(pair)))
    by_pair = {difference.pair: difference for difference in differences}
    systems, baselines = (dict.fromkeys(names) for names in zip(*comparison.pairs, strict=True))
    texts = {
        pair: _signed(difference, difference.difference, layout) + (DETECTED if difference.is_detected else " ")
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
            *_describe(differences, layout),
            f"{DETECTED} {describe_level(comparison)}",
        ]
    )
    sizes = [difference.detectable for difference in differences if difference.detectable]
    lines = []
    if sizes:
        least, most = (layout.format(differences[0].measure, size) for size in (min(sizes), max(sizes)))
        lines.append(f"{DETECTABLE}: {least if least == most else f'{least} to {most}'}")
    return Listing(title, (head, *rows), frozenset(range(1, len(head))), tuple(lines), has_head=True)


def _describe(differences: Sequence[Difference], layout: Layout) -> Iterator[str]:
    """Describe what was compared, in which unit, and in which bin."""
    first = differences[0]
    how = "Welch's t test of" if first.unit == "run" else "paired over"
    n = max(difference.n for difference in differences)  # 0 where nothing was tested
    if n:
        yield f"{how} {counted(n, UNITS[first.unit])}"
    if layout.percent:
        are_shares = all(difference.measure.metric.unit == "share" for difference in differences)
        yield "points" if are_shares else "points or units"
    if first.bin:
        yield first.bin


def _cells(difference: Difference, layout: Layout, *, is_adjusted: bool) -> tuple[str, ...]:
    interval = ""
    if difference.low is not None and difference.high is not None:
        interval = f"{_signed(difference, difference.low, layout)}..{_signed(difference, difference.high, layout)}"
    counts = "" if difference.wins is None else f"{difference.wins}/{difference.ties}/{difference.losses}"
    adjusted = [format_p(difference.p_adjusted)] if is_adjusted else []
    return _signed(difference, difference.difference, layout), interval, format_p(difference.p), *adjusted, counts


def _signed(difference: Difference, value: float, layout: Layout) -> str:
    text = layout.format(difference.measure, value)
    return f"{MINUS}{text[1:]}" if text.startswith("-") else f"+{text}"
