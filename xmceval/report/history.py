"""History: the values of a benchmark over time, of which each run has those that changed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from xmceval.errors import UsageError, counted, listed
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import parse
from xmceval.report.fields.historyfields import HISTORY, MOVE
from xmceval.report.forms.csvlines import write_lines
from xmceval.report.forms.layout import DEFAULT, MOST_PLACES, PLACES, Layout
from xmceval.report.forms.registry import render_listings
from xmceval.report.sheet.model import MINUS, Listing

MISSING = "–"
FEW = 3  # cells that are named, and not counted

Cells = Mapping[tuple[str, str], Mapping[str, float | None]]  # by data set and system, the value of each metric
Values = Mapping[str, Mapping[str, Mapping[str, float | None]]]


@dataclass(frozen=True)
class HistoryRun:
    """A run in which a value changed.

    Attributes
    ----------
    time : str
        In UTC, such as ``2026-11-22T20:31:04Z``.
    version : str
        Of xmceval.
    digest : str
        Of the file that describes the benchmark.
    values : mapping
        Those of the cells in which one changed, by data set, system and metric.
    why : mapping of str to mapping of str to str
        What had changed, by data set and system.
    """

    time: str
    version: str
    digest: str
    values: Values
    why: Mapping[str, Mapping[str, str]]

    @property
    def cells(self) -> Cells:
        """The values by data set and system."""
        return {(name, system): own for name, systems in self.values.items() for system, own in systems.items()}

    @property
    def reasons(self) -> list[str]:
        """What had changed, in words: for a few cells their names, for more their number."""
        cells: dict[str, list[str]] = {}
        for name, systems in self.why.items():
            for system, why in systems.items():
                cells.setdefault(why, []).append(f"{name}, {system}")
        return [
            f"{'; '.join(names) if len(names) <= FEW else counted(len(names), 'cell')}: {why}"
            for why, names in cells.items()
            if why
        ]

    @property
    def minute(self) -> str:
        """The time to the minute, as ``2026-11-22 20:31``."""
        return self.time[:16].replace("T", " ")


class RunValue(NamedTuple):
    """A value that a run has."""

    run: HistoryRun
    number: int
    dataset: str
    system: str
    metric: str
    value: float | None


@dataclass(frozen=True)
class History:
    """The runs of a benchmark in which a value changed, in their order.

    Attributes
    ----------
    file : str
        The name of the file that describes the benchmark.
    runs : tuple of HistoryRun
    warnings : tuple of str
        Lines that could not be read.
    start : str
        The time from which on runs are shown; empty: all.
    """

    file: str
    runs: tuple[HistoryRun, ...] = ()
    warnings: tuple[str, ...] = ()
    start: str = ""

    def since(self, date: str) -> History:
        """Return the history from a date on, such as ``2026-11-22`` or ``2026-11-22 20:15``, in UTC.

        Raises
        ------
        UsageError
            No date.
        """
        if not re.fullmatch(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d)?)?", date):
            raise UsageError(f"{date!r} is not a date such as 2026-11-22 or '2026-11-22 20:15'")
        return replace(self, start=date.replace(" ", "T"))

    @property
    def shown(self) -> tuple[HistoryRun, ...]:
        """The runs from the start on."""
        return tuple(run for run in self.runs if run.time >= self.start)

    @property
    def states(self) -> list[Cells]:
        """What all cells were after each run."""
        states, last = list[Cells](), dict[tuple[str, str], Mapping[str, float | None]]()
        for run in self.runs:
            last = {**last, **run.cells}
            states.append(last)
        return states

    def changed(self, values: Values) -> Values:
        """Return the cells of `values` in which a value is not that of the last run, or new."""
        last = self.states[-1] if self.runs else {}
        changed = {
            name: {system: own for system, own in systems.items() if last.get((name, system)) != own}
            for name, systems in _without_nan(values).items()
        }
        return {name: systems for name, systems in changed.items() if systems}

    def describe_changes(self, values: Values, layout: Layout = DEFAULT) -> tuple[str, ...]:
        """Return lines on the values that moved since the last run; none where none did."""
        last = self.states[-1] if self.runs else {}
        cells = {
            (name, system): ", ".join(_describe_moves(last[name, system], own, layout))
            for name, systems in self.changed(values).items()
            for system, own in systems.items()
            if (name, system) in last
        }
        moved = [f"  {name}  {system}  {moves}" for (name, system), moves in cells.items() if moves]
        return (f"moved since {self.runs[-1].minute}:", *moved) if moved else ()

    def render(self, form: str, layout: Layout = DEFAULT, *, metric: str | None = None, has_all: bool = False) -> str:
        """Write it in a form of reports.

        Parameters
        ----------
        form : str
        layout : Layout
        metric : str, optional
            The one that forms for people show; default the first one at its largest cutoff.
        has_all : bool
            Whether these also show the cells that did not move.

        Raises
        ------
        UsageError
            A metric that no run has.
        """
        if form == "json":
            return HISTORY.write(self)
        if form == "csv":
            return write_lines(list(MOVE.fields), map(MOVE.write, self._list_values()))
        return render_listings(form, list(self._list(layout, metric, has_all=has_all)), layout)

    def __str__(self) -> str:
        return self.render("table")

    def _list(self, layout: Layout, metric: str | None, *, has_all: bool) -> Iterator[Listing]:
        shown = self.shown
        runs = self.runs[-len(shown) - 1 :] if self.start else shown  # what they are compared with comes first
        if not shown:
            when = f" since {self.start.replace('T', ' ')}" if self.start else ""
            yield Listing(f"{self.file}: no value has changed{when}" if self.runs else f"{self.file}: no runs yet", ())
            return
        measure = self._choose(metric)
        states = self.states[-len(runs) :]
        cells = dict.fromkeys(cell for state in states for cell in state)
        lines = {cell: [state.get(cell, {}).get(measure.name) for state in states] for cell in cells}
        moved = {cell: values for cell, values in lines.items() if has_all or len(set(values)) > 1}
        n_still = len(lines) - len(moved)
        first, last = runs[0].minute, runs[-1].minute
        when = last if len(shown) == 1 else f"{shown[0].minute} to {last}"
        unit = f", {'percent' if layout.percent else 'fraction'}" if measure.metric.unit == "share" else ""
        head = ("", *(_shorten(run.minute, first, last) for run in runs), "")
        rows = [(", ".join(cell), *_write_line(values, measure, layout)) for cell, values in moved.items()]
        yield Listing(
            f"{counted(len(shown), 'run')}, {when} UTC · {measure}{unit}",
            (head, *rows) if rows else (),
            frozenset(range(1, len(head))),
            (f"{counted(n_still, 'cell')} did not move",) if n_still else (),
            has_head=bool(rows),
        )
        reasons = [(_shorten(run.minute, first, last), text) for run in shown for text in run.reasons]
        if reasons:
            yield Listing("what changed", tuple(reasons), frozenset())

    def _list_values(self) -> Iterator[RunValue]:
        """Yield each value of each run."""
        skipped = len(self.runs) - len(self.shown)
        for i, run in enumerate(self.shown, skipped + 1):
            for (name, system), own in run.cells.items():
                yield from (RunValue(run, i, name, system, metric, value) for metric, value in own.items())

    def _choose(self, metric: str | None) -> Measure:
        """Return the metric of a name, or the first one at its largest cutoff."""
        names = dict.fromkeys(name for run in self.runs for own in run.cells.values() for name in own)
        measures = [measure for name in names for measure in parse(name)]
        if metric is None:
            same = [each for each in measures if each.head == measures[0].head]
            return max(same, key=lambda each: math.inf if each.k is None else each.k)
        wanted = {each.name for each in parse(metric)}
        chosen = [each for each in measures if each.name in wanted]
        if not chosen:
            raise UsageError(f"no run has {metric}; expected one of {listed(names)}")
        return chosen[-1]


def _without_nan(values: Values) -> Values:
    """Return values with None for those that are not finite, which JSON has not."""
    return {
        name: {
            system: {
                metric: value if value is not None and math.isfinite(value) else None for metric, value in own.items()
            }
            for system, own in systems.items()
        }
        for name, systems in values.items()
    }


def _describe_moves(
    before: Mapping[str, float | None], now: Mapping[str, float | None], layout: Layout
) -> Iterator[str]:
    """Yield what each value was and is, with as many places as it takes to tell them apart."""
    for name, value in now.items():
        old = before.get(name)
        if value == old:
            continue
        [measure] = parse(name)
        for finer in (layout, *(replace(layout, places=places) for places in range(PLACES, MOST_PLACES + 1))):
            texts = [_write_value(each, measure, finer) for each in (old, value)]
            if texts[0] != texts[1]:
                break
        yield f"{name} {texts[0]} → {texts[1]}"


def _write_line(values: list[float | None], measure: Measure, layout: Layout) -> Iterator[str]:
    """Yield the value after each run, and the difference of the last one to the first."""
    yield from (_write_value(value, measure, layout) for value in values)
    known = [value for value in values if value is not None]
    difference = known[-1] - known[0] if known else 0.0
    text = layout.format(measure, abs(difference))
    yield f"{MINUS if difference < 0 else '+'}{text}" if difference else ""


def _write_value(value: float | None, measure: Measure, layout: Layout) -> str:
    return MISSING if value is None else layout.format(measure, value)


def _shorten(minute: str, first: str, last: str) -> str:
    """Leave out the year where all shown runs are of one."""
    return minute[5:] if first[:4] == last[:4] else minute
