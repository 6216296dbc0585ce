"""Options for the look of tables: decimal places, units, intervals, width, and terminal features."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from xmceval.metrics.measure import Measure
from xmceval.rows.nouns import Nouns
from xmceval.scoring.options import option, specs

WIDTH = 80  # columns of text without a terminal
PLACES = 2  # decimal places of percentages and of values that are not shares
MORE_IN_FRACTIONS = 2  # decimal places, so that 0.6860 has the digits of 68.60
MOST_PLACES = 12
ROUNDED = 8  # units in the last place by which value - margin and value + margin may be off


@dataclass(frozen=True, kw_only=True)
class Layout:
    """How a table for people looks; affects no numbers, and neither JSON nor CSV."""

    places: int | None = option(
        None,
        "Output",
        "Decimal places.  [default: 2, or 4 for fractions]",
        kind=int,
        low=0,
        high=MOST_PLACES,
        metavar="N",
    )
    # None: in percent, but where rows are queries as fractions
    percent: bool | None = option(
        None,
        "Output",
        "Show shares in percent or as fractions.  [default: percent; for qrels fraction]",
        kind=bool,
        flags=("--percent/--fraction",),
    )
    # None: shown for one truth, but not in LaTeX; for several data sets only in wide plain tables.
    intervals: bool | None = option(
        None,
        "Output",
        "Show or hide 95% confidence intervals.",
        kind=bool,
        flags=("--intervals/--no-intervals",),
    )
    pairs: bool = option(
        False, "Output", "Also show the differences by pair, with p, wins and losses, and the runs.", kind=bool
    )
    transpose: bool = False  # systems are columns and metrics are rows
    caption: str | None = None  # of the LaTeX table, itself in LaTeX
    label: str | None = None  # of the LaTeX table
    width: int = WIDTH  # columns of the terminal, to which plain tables are wrapped
    is_terminal: bool = False  # there sentences are wrapped at its width, elsewhere only long ones
    is_styled: bool = False  # whether it shows bold and underlined text
    is_unicode: bool = True  # whether it shows signs beyond ASCII

    def __post_init__(self) -> None:
        if self.places is not None:
            specs(type(self))["places"].check_whole("places", self.places)

    @classmethod
    def of(cls, arguments: Mapping[str, Any], **terminal: Any) -> Layout:
        """Take the options of the layout from a function's arguments; `terminal` has its width and style."""
        return cls(**{name: arguments[name] for name in specs(cls) if name in arguments}, **terminal)

    def settle(self, nouns: Nouns) -> Layout:
        """Return the layout with the unit of shares: where none was asked for, that of the rows that nouns are of."""
        return self if self.percent is not None else replace(self, percent=not nouns.are_of_queries)

    @property
    def is_in_percent(self) -> bool:
        """Whether shares are in percent."""
        return self.percent is not False

    def format(self, measure: Measure, value: float) -> str:
        """Format a value: shares in percent or as fractions, counts unchanged."""
        unit = measure.metric.unit
        if unit == "cells":
            return f"{value:,.0f}"
        return self.share(value) if unit == "share" else f"{value:.{PLACES if self.places is None else self.places}f}"

    def format_interval(self, measure: Measure, value: float, low: float | None, high: float | None) -> str:
        """Format an interval as ± its half width, or as both ends if it is asymmetric.

        Empty without an interval, or if intervals are not shown.
        """
        if low is None or high is None or self.intervals is False:
            return ""
        if abs((high - value) - (value - low)) > ROUNDED * math.ulp(max(abs(low), abs(high))):
            return f"{self.format(measure, low)}..{self.format(measure, high)}"
        return f"±{self.format(measure, high - value)}"

    def share(self, value: float) -> str:
        """Format a share in percent or as a fraction."""
        if self.is_in_percent:
            return f"{100 * value:.{PLACES if self.places is None else self.places}f}"
        return f"{value:.{PLACES + MORE_IN_FRACTIONS if self.places is None else self.places}f}"


DEFAULT = Layout()
