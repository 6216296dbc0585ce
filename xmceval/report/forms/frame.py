"""Frames: results and comparisons as pandas DataFrames; pandas is imported only here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from xmceval.errors import missing_package
from xmceval.report.comparison import Comparison
from xmceval.report.fields.comparefields import DIFFERENCE
from xmceval.report.fields.field import Fields, find_numbers
from xmceval.report.fields.lines import DIFFERENCES, VALUES, list_differences, list_values
from xmceval.report.fields.scorefields import FIGURE
from xmceval.report.result import Result

if TYPE_CHECKING:
    from pandas import DataFrame


def make_frame(results: Sequence[Result], *, bins: bool = False) -> DataFrame:
    """Make a frame with one line per value of each system, indexed by metric, k and system."""
    columns = [*(["kind"] if bins else []), *find_numbers(FIGURE)]
    return build_frame(VALUES, list_values(results), ["system"], columns, bins=bins)


def make_comparison_frame(comparison: Comparison, *, bins: bool = False) -> DataFrame:
    """Make a frame with one line per difference, indexed by metric, k, system and baseline."""
    columns = [*find_numbers(DIFFERENCE), "unit"]
    return build_frame(DIFFERENCES, list_differences(comparison), ["system", "baseline"], columns, bins=bins)


def build_frame(
    fields: Fields,
    lines: Iterable[Any],
    systems: list[str],
    columns: list[str],
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
    find = {name: fields[name].finder(name) for name in ("bin", *names, *columns)}
    shown = [line for line in lines if bins or not find["bin"](line)]
    index = [tuple(find[name](line) for name in names) for line in shown]
    cells = [{name: find[name](line) for name in columns} for line in shown]
    levels = [list(dict.fromkeys(place[i] for place in index)) for i in range(len(names))]
    levels[names.index("k")].sort(key=lambda k: (isinstance(k, str), k))
    ranks = [{value: rank for rank, value in enumerate(level)} for level in levels]
    codes = [tuple(rank[value] for rank, value in zip(ranks, place, strict=True)) for place in index]
    order = sorted(range(len(codes)), key=codes.__getitem__)
    in_order = [[codes[i][place] for i in order] for place in range(len(names))]
    places = pandas.MultiIndex(levels, in_order, names=names)
    types = {name: fields[name].dtype for name in find_numbers(fields) if name in columns}
    return pandas.DataFrame([cells[i] for i in order], index=places, columns=columns).astype(types)
