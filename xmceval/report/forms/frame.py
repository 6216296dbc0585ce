"""Frames: results and comparisons as pandas DataFrames; pandas is imported only here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from xmceval.errors import missing_package
from xmceval.report.comparison import Comparison
from xmceval.report.records import list_differences, list_values
from xmceval.report.result import Result

if TYPE_CHECKING:
    from pandas import DataFrame

# Columns with their types; those of text have none.
VALUES = dict.fromkeys(("value", "low", "high", "tie_low", "tie_high", "ceiling"), "float64")
DIFFERENCES = {
    **dict.fromkeys(("difference", "low", "high", "p", "p_adjusted", "effect", "detectable"), "float64"),
    **dict.fromkeys(("wins", "ties", "losses", "n"), "Int64"),
    "unit": "",
}


def make_frame(results: Sequence[Result], *, bins: bool = False) -> DataFrame:
    """Make a frame with one line per value of each system, indexed by metric, k and system."""
    columns = {**({"kind": ""} if bins else {}), **VALUES}
    return build_frame(list_values(results), ["system"], columns, bins=bins)


def make_comparison_frame(comparison: Comparison, *, bins: bool = False) -> DataFrame:
    """Make a frame with one line per difference, indexed by metric, k, system and baseline."""
    return build_frame(list_differences(comparison), ["system", "baseline"], DIFFERENCES, bins=bins)


def build_frame(
    lines: Iterable[Mapping[str, Any]],
    systems: Sequence[str],
    columns: Mapping[str, str],
    *,
    bins: bool,
    outer: Sequence[str] = (),
) -> DataFrame:
    """Build a frame in the order of its index: metrics and systems as they were passed, cutoffs ascending.

    The levels are in that order too, so that pandas finds lines quickly, and keeps it where it turns levels to columns.
    """
    try:
        import pandas
    except ImportError:
        raise missing_package("to_frame()", "pandas", "pandas") from None
    names = [*outer, "metric", "k", *(["bin"] if bins else []), *systems]
    shown = [line for line in lines if bins or not line["bin"]]
    index = [tuple(line[name] for name in names) for line in shown]
    levels = [list(dict.fromkeys(place[i] for place in index)) for i in range(len(names))]
    levels[names.index("k")].sort(key=lambda k: (isinstance(k, str), k))
    ranks = [{value: rank for rank, value in enumerate(level)} for level in levels]
    codes = [tuple(rank[value] for rank, value in zip(ranks, place, strict=True)) for place in index]
    order = sorted(range(len(codes)), key=codes.__getitem__)
    in_order = [[codes[i][place] for i in order] for place in range(len(names))]
    places = pandas.MultiIndex(levels, in_order, names=names)
    cells = [{name: shown[i][name] for name in columns} for i in order]
    types = {name: dtype for name, dtype in columns.items() if dtype}
    return pandas.DataFrame(cells, index=places, columns=list(columns)).astype(types)
