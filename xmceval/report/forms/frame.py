"""Frames: results and comparisons as pandas DataFrames; pandas is imported only here."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from xmceval.errors import missing_package
from xmceval.metrics.measure import Measure
from xmceval.report.comparison import DIFFERENCE_NUMBERS, Comparison
from xmceval.scoring.estimates import Estimate

if TYPE_CHECKING:
    from xmceval.report.result import Result

NUMBERS = ("value", "low", "high", "tie_low", "tie_high", "ceiling")
COUNTS = ("wins", "ties", "losses", "n")


def make_frame(results: Sequence[Result], *, bins: bool = False) -> Any:
    """Make a frame with one line per value of each system, indexed by metric, k and system.

    Raises
    ------
    DataError
        pandas is not installed.
    """
    index: list[tuple[Any, ...]] = []
    lines: list[dict[str, Any]] = []
    for result in results:
        for measure, bin_name, kind, estimate in _values(result, bins=bins):
            index.append((*_split(measure), *([bin_name] if bins else []), result.name))
            own: dict[str, Any] = {"kind": kind} if bins else {}
            lines.append(own | {name: getattr(estimate, name) for name in NUMBERS})
    names = ["metric", "k", *(["bin"] if bins else []), "system"]
    return _build(index, names, lines, dict.fromkeys(NUMBERS, "float64"))


def _values(result: Result, *, bins: bool) -> Iterator[tuple[Measure, str, str, Estimate]]:
    for figure in result.figures:
        yield figure.measure, "", "total", figure.estimate
    for part in result.slices if bins else ():
        for figure in part.figures:
            yield figure.measure, part.bin.name, figure.kind_in_bin, figure.estimate


def make_comparison_frame(comparison: Comparison, *, bins: bool = False) -> Any:
    """Make a frame with one line per difference, indexed by metric, k, system and baseline.

    Raises
    ------
    DataError
        pandas is not installed.
    """
    shown = [each for each in comparison.differences if bins or not each.bin]
    index = [(*_split(each.measure), *([each.bin] if bins else []), each.system, each.baseline) for each in shown]
    lines = [{name: getattr(each, name) for name in (*DIFFERENCE_NUMBERS, "unit")} for each in shown]
    names = ["metric", "k", *(["bin"] if bins else []), "system", "baseline"]
    types = {name: "Int64" if name in COUNTS else "float64" for name in DIFFERENCE_NUMBERS}
    return _build(index, names, lines, types)


def _split(measure: Measure) -> tuple[str, int | str]:
    """Return the metric and its cutoff: a number, ``all``, ``n``, or nothing."""
    return measure.head, measure.cutoff if measure.k is None else measure.k


def _build(index: list[tuple[Any, ...]], names: list[str], lines: list[dict[str, Any]], types: dict[str, str]) -> Any:
    """Build a frame in the order of its index: metrics and systems as they were passed, cutoffs ascending.

    The levels are in that order too, so that pandas finds lines quickly, and keeps it where it turns levels to columns.
    """
    try:
        import pandas
    except ImportError:
        raise missing_package("to_frame()", "pandas", "pandas") from None
    levels = [list(dict.fromkeys(values)) for values in zip(*index, strict=True)]
    levels[1].sort(key=lambda k: (isinstance(k, str), k))
    ranks = [{value: rank for rank, value in enumerate(level)} for level in levels]
    codes = [tuple(rank[value] for rank, value in zip(ranks, place, strict=True)) for place in index]
    order = sorted(range(len(codes)), key=codes.__getitem__)
    places = pandas.MultiIndex(levels, list(zip(*(codes[i] for i in order), strict=True)), names=names)
    return pandas.DataFrame([lines[i] for i in order], index=places).astype(types)
