"""The table for people: percent, one row a metric, one column a cut, one block of rows a system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xmceval.report.result import Result
from xmceval.totals import Estimate

PLACES = 2


def as_table(results: Sequence[Result], places: int = PLACES) -> str:
    """Write results as a table in percent, with what was read above and how it was weighted below."""
    cuts = list(dict.fromkeys(_split(name)[1] for result in results for name in result))
    cells = [_cells(result, cuts, places) for result in results]
    heads = max(len(head) for block in cells for head in block)
    widths = [max(len(row[i]) for block in cells for row in block.values()) for i in range(len(cuts))]
    lines = [_read(results[0])]
    lines.append(
        " " * heads
        + "".join(
            f"  {cut:>{_middle(width, places)}}".ljust(width + 2) for cut, width in zip(cuts, widths, strict=True)
        ).rstrip()
    )
    for result, block in zip(results, cells, strict=True):
        if len(results) > 1:
            lines.append(result.name)
        for head, row in block.items():
            lines.append(
                (head.ljust(heads) + "".join(f"  {cell:<{w}}" for cell, w in zip(row, widths, strict=True))).rstrip()
            )
        lines.extend(_below(result, places))
    return "\n".join(lines) + "\n"


def _middle(width: int, places: int) -> int:
    """Where a column's head ends: above the end of the value."""
    return min(width, places + 4)


def _split(name: str) -> tuple[str, str]:
    head, _, cut = name.rpartition("@")
    return head, f"@{cut}"


def _cells(result: Result, cuts: list[str], places: int) -> dict[str, list[str]]:
    block: dict[str, list[str]] = {}
    for name, estimate in result.estimates.items():
        head, cut = _split(name)
        block.setdefault(head, [""] * len(cuts))[cuts.index(cut)] = _cell(estimate, places)
    return block


def _cell(estimate: Estimate, places: int) -> str:
    value = f"{100 * estimate.value:{places + 4}.{places}f}"
    return value if estimate.high is None else f"{value} ±{100 * (estimate.high - estimate.value):.{places}f}"


def _read(result: Result) -> str:
    counts = result.counts
    n = max(counts.n_instances, 1)
    return (
        f"{counts.n_instances:,} instances · {counts.n_labels:,} labels · "
        f"{counts.n_true / n:.3g} true labels and {counts.n_predictions / n:.3g} predictions per instance"
    )


def _below(result: Result, places: int) -> Iterator[str]:
    parts = [*_propensities(result), *_ties(result, places)]
    if parts:
        yield " · ".join(parts)


def _propensities(result: Result) -> Iterator[str]:
    known = result.propensities
    if known is None:
        return
    if known.n is None:
        yield f"inverse propensities from {known.source}"
    else:
        where = f"{known.source} itself, not comparable" if known.from_truth else known.source
        yield f"propensities: A={known.a:g} B={known.b:g}, N={known.n:,} from {where}"


def _ties(result: Result, places: int) -> Iterator[str]:
    """Say at which cuts ties matter, each with the first metric that they move."""
    for k, rows in result.counts.tied_rows.items():
        if rows == 0:
            continue
        told = f"{rows:,} instance{'s tie' if rows > 1 else ' ties'} across the cut at {k}"
        for name, estimate in result.estimates.items():
            low, high = (f"{100 * end:.{places}f}" for end in (estimate.tie_low, estimate.tie_high))
            if _split(name)[1] == f"@{k}" and low != high:
                told += f": {name} {low}..{high}"
                break
        yield told
