"""The table for people: percent, one row a metric, one column a cut, one block of rows a system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xmceval.errors import counted
from xmceval.metrics.measure import split
from xmceval.report.published import below_table
from xmceval.report.result import Result
from xmceval.scoring.totals import Estimate

PLACES = 2

Cell = tuple[str, str]  # a value and the half width of its interval


def as_table(results: Sequence[Result], places: int = PLACES) -> str:
    """Write results as a table in percent: above it what was read, below it how it was weighted, and ties."""
    blocks = [_cells(result, result.estimates, places) for result in results]
    slices = [[_cells(result, each.estimates, places) for each in result.slices] for result in results]
    rows = [row for block in [*blocks, *(each for some in slices for each in some)] for row in block.values()]
    cutoffs = list(dict.fromkeys(cut for row in rows for cut in row))
    indent = max(len(head) for block in blocks for head in block)
    widths = {cut: _widths([row[cut] for row in rows if cut in row], cut, places) for cut in cutoffs}
    is_one = len(results) == 1
    predictions = [f"{_mean(result, result.counts.n_predictions)} predictions" for result in results]
    are_alike = len(set(predictions)) == 1
    lines = [_read(results[0]) + (f" and {predictions[0]}" if are_alike else "") + " per instance"]
    lines.append(_line("", {cut: (cut, "") for cut in cutoffs}, indent, widths))
    for result, block, parts, predicted in zip(results, blocks, slices, predictions, strict=True):
        if not is_one:
            lines.append(result.name + ("" if are_alike else f" · {predicted} per instance"))
        lines.extend(_line(head, row, indent, widths) for head, row in block.items())
        for each, part in zip(result.slices, parts, strict=True):
            known = result.propensities
            lines.append(each.bin.told(known.source if known is not None and known.from_truth else ""))
            lines.extend(_line(head, row, indent, widths) for head, row in part.items())
        lines.extend(_ties(result, places) if not is_one else ())
        lines.extend([str(result.filtered)] if result.filtered is not None and not is_one else ())
    lines.extend(dict.fromkeys(said for result in results for said in _propensities(result)))
    lines.extend(_ties(results[0], places) if is_one else ())
    lines.extend([str(results[0].filtered)] if results[0].filtered is not None and is_one else ())
    for result in results:
        if result.published is not None:
            lines.extend(["", *below_table(result.published, "" if len(results) == 1 else result.name)])
    return "\n".join(lines) + "\n"


def _cells(result: Result, estimates: Mapping[str, Estimate], places: int) -> dict[str, dict[str, Cell]]:
    """Return the cells of a system, or of one of its bins, by head and cut."""
    block: dict[str, dict[str, Cell]] = {}
    for name, estimate in estimates.items():
        head, cut = _split(name)
        value = _number(result, name, estimate.value, places)
        margin = None if estimate.high is None else _number(result, name, estimate.high - estimate.value, places)
        block.setdefault(head, {})[cut] = value, "" if margin is None else f"±{margin}"
        if estimate.ceiling is not None:
            block.setdefault(f"{head} ceiling", {})[cut] = _number(result, name, estimate.ceiling, places), ""
    return block


def _split(name: str) -> tuple[str, str]:
    head, cut = split(name)
    return head, f"@{cut}" if cut else ""


def _number(result: Result, name: str, value: float, places: int) -> str:
    unit = result.units.get(name)
    if unit == "cells":
        return f"{value:,.0f}"
    scale = 1 if unit == "count" else 100
    return f"{scale * value:.{places}f}"


def _widths(cells: Sequence[Cell], cut: str, places: int) -> tuple[int, int]:
    """Return the widths of a column's values, with room for 100 and for its head, and of its intervals."""
    return max(places + 4, len(cut), *(len(value) for value, _ in cells)), max(len(margin) for _, margin in cells)


def _line(head: str, row: Mapping[str, Cell], indent: int, widths: Mapping[str, tuple[int, int]]) -> str:
    line = head.ljust(indent)
    for cut, (wide, margin_wide) in widths.items():
        value, margin = row.get(cut, ("", ""))
        line += f"  {value:>{wide}} {margin:<{margin_wide}}"
    return line.rstrip()


def _read(result: Result) -> str:
    counts = result.counts
    read = counted(counts.n_instances, "instance"), counted(counts.n_labels, "label")
    return f"{' · '.join(read)} · {_mean(result, counts.n_true)} true labels"


def _mean(result: Result, number: int) -> str:
    return f"{number / max(result.counts.n_instances, 1):.3g}"


def _propensities(result: Result) -> Iterator[str]:
    known = result.propensities
    if known is None:
        return
    if known.n is None:
        yield f"inverse propensities from {known.source}"
    else:
        where = f"{known.source} itself: not comparable with published values" if known.from_truth else known.source
        yield f"propensities: A={known.a:g} B={known.b:g}, N={known.n:,} from {where}"


def _ties(result: Result, places: int) -> Iterator[str]:
    """Say how many instances have ties that matter, and for each cut the metric that they can move furthest."""
    counts = result.counts
    across = [(k, rows) for k, rows in counts.tied_rows.items() if rows]
    told = []
    if across:
        (k, rows), *others = across
        numbers = [f"{counted(rows, 'instance')} @{k}", *(f"{n:,} @{c}" for c, n in others)]
        told.append(f"ties across a cutoff: {', '.join(numbers)}")
    if counts.inside_ties:
        told.append(f"ties inside the cutoffs only: {counts.inside_ties:,}")
    furthest = {_split(name)[1]: (0.0, "") for name in result}
    for name, estimate in result.estimates.items():
        if estimate.tie_low is None or estimate.tie_high is None:
            continue
        low, high = (_number(result, name, end, places) for end in (estimate.tie_low, estimate.tie_high))
        cut, move = _split(name)[1], estimate.tie_high - estimate.tie_low
        if low != high and move > furthest[cut][0]:
            furthest[cut] = move, f"{name} {low}..{high}"
    moved = ", ".join(said for _, said in furthest.values() if said)
    if moved:
        told.append(moved if told else f"ties: {moved}")
    if told:
        yield " · ".join(told)
