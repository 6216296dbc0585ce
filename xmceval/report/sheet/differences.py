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
    """List the differences: by pair; of many pairs by metric, and with no common baseline as matrices."""
    if not has_many_pairs(comparison):
        for pair in comparison.pairs:
            yield from list_pair(comparison, pair, layout)
        return
    by_measure: dict[tuple[str, str], list[Difference]] = {}
    for each in comparison.differences:
        by_measure.setdefault((each.bin, each.measure.name), []).append(each)
    for (_, name), differences in by_measure.items():
        if comparison.testing.against is None:
            yield _list_matrix(comparison, differences, layout)
        else:
            about = f"{name} · system {MINUS} {comparison.testing.against}"
            heads = [_other(each, comparison) for each in differences]
            yield _list_lines(about, heads, differences, layout, _name_adjusted(comparison))


def list_pair(comparison: Comparison, pair: tuple[str, str], layout: Layout) -> Iterator[Listing]:
    """List the differences of a system from its baseline: over all labels, then within each bin."""
    own = [each for each in comparison.differences if (each.system, each.baseline) == pair]
    for _, group in groupby(own, lambda each: each.bin):
        differences = list(group)
        heads = [each.measure.name for each in differences]
        yield _list_lines(f" {MINUS} ".join(pair), heads, differences, layout, _name_adjusted(comparison))


def _name_adjusted(comparison: Comparison) -> str | None:
    return ADJUSTED if comparison.testing.adjust == "holm" else None


def list_difference(difference: Difference, layout: Layout) -> Listing:
    """List one difference, of which it is not known how p was adjusted."""
    pair = f"{difference.system} {MINUS} {difference.baseline}"
    adjusted = None if difference.p_adjusted is None else "p adjusted"
    return _list_lines(pair, [difference.measure.name], [difference], layout, adjusted)


def _other(difference: Difference, comparison: Comparison) -> str:
    is_baseline = difference.baseline == comparison.testing.against
    return difference.system if is_baseline else difference.baseline


def _list_lines(
    pair: str, heads: Sequence[str], differences: Sequence[Difference], layout: Layout, adjusted: str | None
) -> Listing:
    """List differences with their intervals and tests, one per line; `adjusted` is the head of adjusted p."""
    title = " · ".join([pair, *_describe(differences, layout)])
    counts = ["wins/ties/losses"] if any(each.wins is not None for each in differences) else []
    head = ("", "difference", "95% interval", "p", *([adjusted] if adjusted else []), *counts)
    rows = [
        (name, *_cells(each, layout, is_adjusted=adjusted is not None)[: len(head) - 1])
        for name, each in zip(heads, differences, strict=True)
    ]
    numeric = frozenset({1, 3, 4}) if adjusted else frozenset({1, 3})
    sizes = [
        f"{name} {layout.format(each.measure, each.detectable)}"
        for name, each in zip(heads, differences, strict=True)
        if each.detectable
    ]
    lines = [f"{DETECTABLE}: {', '.join(sizes)}"] if sizes else []
    lines += _describe_cautions(differences)
    detected = frozenset(i for i, each in enumerate(differences) if each.is_detected)
    return Listing(title, (head, *rows), numeric, tuple(lines), has_head=True, detected=detected)


def _describe_cautions(differences: Sequence[Difference]) -> Iterator[str]:
    """Describe why intervals may be off."""
    if any(each.caution == FEW_ROWS for each in differences):
        yield f"caution: the intervals are from fewer than {FEWEST_ROWS} instances"


def _list_matrix(comparison: Comparison, differences: Sequence[Difference], layout: Layout) -> Listing:
    """List the differences of all pairs in one metric: the system in the row minus that in the column."""
    letters = name_letters(dict.fromkeys(name for pair in comparison.pairs for name in reversed(pair)))
    by_pair = {(each.system, each.baseline): each for each in differences}
    systems, baselines = (dict.fromkeys(names) for names in zip(*comparison.pairs, strict=True))
    rows = [
        (
            f"({letters[system]}) {system}",
            *(_signed_and_marked(by_pair.get((system, baseline)), layout) for baseline in baselines),
        )
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
    sizes = [each.detectable for each in differences if each.detectable]
    lines = []
    if sizes:
        least, most = (layout.format(differences[0].measure, size) for size in (min(sizes), max(sizes)))
        lines.append(f"{DETECTABLE}: {least if least == most else f'{least} to {most}'}")
    return Listing(title, (head, *rows), frozenset(range(1, len(head))), tuple(lines), has_head=True)


def _describe(differences: Sequence[Difference], layout: Layout) -> Iterator[str]:
    """Describe what was compared, in which unit, and in which bin."""
    first = differences[0]
    how = "Welch's t test of" if first.unit == "run" else "paired over"
    n = max(each.n for each in differences)  # 0 where nothing was tested
    if n:
        yield f"{how} {counted(n, UNITS[first.unit])}"
    if layout.percent:
        are_shares = all(each.measure.metric.unit == "share" for each in differences)
        yield "points" if are_shares else "points or units"
    if first.bin:
        yield first.bin


def _cells(each: Difference, layout: Layout, *, is_adjusted: bool) -> tuple[str, ...]:
    interval = ""
    if each.low is not None and each.high is not None:
        interval = f"{_signed(each, each.low, layout)}..{_signed(each, each.high, layout)}"
    counts = "" if each.wins is None else f"{each.wins}/{each.ties}/{each.losses}"
    adjusted = [format_p(each.p_adjusted)] if is_adjusted else []
    return _signed(each, each.difference, layout), interval, format_p(each.p), *adjusted, counts


def _signed(each: Difference, value: float, layout: Layout) -> str:
    text = layout.format(each.measure, value)
    return f"{MINUS}{text[1:]}" if text.startswith("-") else f"+{text}"


def _signed_and_marked(each: Difference | None, layout: Layout) -> str:
    if each is None:
        return ""
    return _signed(each, each.difference, layout) + (DETECTED if each.is_detected else " ")
