"""The table of several systems: one line per system, one column per metric and cutoff, the best values marked."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from string import ascii_lowercase

from xmceval.errors import listed
from xmceval.metrics.measure import Measure
from xmceval.report.forms.layout import Layout
from xmceval.report.scored import Scored
from xmceval.report.sheet.model import BEST, SECOND, Cell, Row, Section
from xmceval.scoring.summary import Figure, Slice
from xmceval.statistics.intervals import FEW_ROWS, FEWEST_ROWS, ONE_ROW

CEILING = "ceiling"
LEAST_WITH_SECOND = 3  # systems: of two, the second is the worse one
MOST_NAMED = 8  # groups of rows that a caution names
LEAST_RUN = 4  # letters in a row that are written as a range


@dataclass(frozen=True)
class Signs:
    """What tests of differences add to a table: marks after values, letters before names, and notes on them."""

    marks: Mapping[tuple[str, str, str], str] = field(default_factory=dict)  # by bin, metric and system
    letters: Mapping[str, str] = field(default_factory=dict)  # by system
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SystemLine:
    """A system of a table, or one of its runs, which is not ranked."""

    name: str
    figures: tuple[Figure, ...]
    slices: tuple[Slice, ...] = ()
    is_ranked: bool = True
    shown: str = ""  # instead of the name

    @classmethod
    def of(cls, result: Scored) -> SystemLine:
        """Take the line of a result."""
        return cls(result.name, result.figures, result.slices)

    def figures_of(self, bin_name: str) -> dict[str, Figure]:
        """Return the figures of a bin of labels by the names of their measures, or with an empty name of all labels."""
        parts = [part.figures for part in self.slices if part.bin.name == bin_name] if bin_name else [self.figures]
        return {figure.name: figure for figures in parts for figure in figures}


def name_letters(names: Collection[str]) -> dict[str, str]:
    """Return a letter for each system, by name; numbers where there are more systems than letters."""
    signs = ascii_lowercase if len(names) <= len(ascii_lowercase) else [str(i + 1) for i in range(len(names))]
    return dict(zip(names, signs, strict=False))


def make_columns(lines: Sequence[SystemLine]) -> tuple[dict[str, Measure], tuple[int, ...]]:
    """Return the measures of a table by name, and how many consecutive ones are of the same metric."""
    measures = {figure.name: figure.measure for line in lines for figure in line.figures}
    groups = groupby(measures.values(), lambda measure: measure.head)
    return measures, tuple(len(list(group)) for _, group in groups)


def make_section(
    lines: Sequence[SystemLine], layout: Layout, signs: Signs, *, bin_name: str = "", title: str = ""
) -> Section:
    """Make the rows of all systems over all labels, or within a bin of labels, which has a name and a title."""
    figures = [line.figures_of(bin_name) for line in lines]
    places = _rank(lines, figures, layout)
    rows = []
    for line, by_name in zip(lines, figures, strict=True):
        cells = {}
        for name, figure in by_name.items():
            value = layout.format(figure.measure, figure.estimate.value)
            is_placed = line.is_ranked and _is_defined(figure)
            emphasis = places[name].get(value, "") if is_placed else ""
            marks = signs.marks.get((bin_name, name, line.name), "")
            cells[name] = Cell(value, format_interval(figure, layout), emphasis, marks)
        rows.append(Row(head_of(line, signs.letters), cells))
    return Section(title, (*rows, *_ceilings(lines, figures, layout)), bin_name)


def head_of(line: SystemLine, letters: Mapping[str, str]) -> str:
    """Return the head of a system's line: its name, after its letter if it has one."""
    letter = letters.get(line.name, "") if line.is_ranked else ""
    name = line.shown or line.name
    return f"({letter}) {name}" if letter else name


def explain_table(measures: Mapping[str, Measure], signs: Signs) -> Iterator[str]:
    """Explain which metrics are better where they are lower, and the signs of a table."""
    lower = dict.fromkeys(measure.head for measure in measures.values() if not measure.metric.higher_is_better)
    if lower:
        yield f"lower is better: {listed(lower)}"
    yield from signs.notes


def describe_cautions(lines: Sequence[SystemLine]) -> Iterator[str]:
    """Say which intervals may be off, and why: in words, and of which systems where it is not all of them."""
    systems: dict[str, list[str]] = {}
    for line in lines:
        parts = {"": line.figures, **{part.bin.name: part.figures for part in line.slices}}
        of_parts = (text for bin_name, figures in parts.items() for text in _list_cautions(figures, bin_name))
        for text in (*_describe_small_groups(line), *of_parts):
            systems.setdefault(text, []).append(line.name)
    n_systems = sum(any(figure.estimate.low is not None for figure in line.figures) for line in lines)
    for text, names in systems.items():
        yield f"caution: {text}" + (f" ({listed(names)})" if len(names) < n_systems else "")


def _describe_small_groups(line: SystemLine) -> Iterator[str]:
    """Yield texts that name the groups of rows whose intervals are from few rows, and the metrics if not all are."""
    groups: dict[str, list[str]] = {}
    for part in line.slices if any(part.bin.noun == "group" for part in line.slices) else ():
        about = _name_few(part.figures)
        if about is not None:
            groups.setdefault(about, []).append(part.bin.name)
    for about, names in groups.items():
        where = listed(names) if len(names) <= MOST_NAMED else f"{len(names)} of {len(line.slices)} groups"
        yield f"the intervals{about} in {where} are from fewer than {FEWEST_ROWS} instances"


def _name_few(figures: Sequence[Figure]) -> str | None:
    """Return which intervals are from few rows: empty if all are, None if none is."""
    n_intervals = sum(figure.estimate.low is not None for figure in figures)
    few = [figure.measure for figure in figures if figure.estimate.caution == FEW_ROWS]
    if not few:
        return None
    return "" if len(few) == n_intervals else f" of {listed(join_cutoffs(few))}"


def _list_cautions(figures: Sequence[Figure], bin_name: str) -> Iterator[str]:
    """Yield a text for each caution that any of the figures of a bin has."""
    where = f" in {bin_name}" if bin_name else ""
    one = [figure.measure for figure in figures if figure.estimate.caution == ONE_ROW]
    about = None if bin_name else _name_few(figures)  # the bins have as many
    if about is not None:
        yield f"the intervals{about} are from fewer than {FEWEST_ROWS} instances"
    if one:
        yield f"a single instance carries more than a fifth of the variance of {listed(join_cutoffs(one))}{where}"


def join_cutoffs(measures: Sequence[Measure]) -> list[str]:
    """Write measures with the cutoffs of each metric together: P@1,3,5."""
    cutoffs: dict[str, list[str]] = {}
    for measure in measures:
        cutoffs.setdefault(measure.head, []).append(measure.cutoff)
    return [f"{head}@{','.join(of_head)}" if of_head[0] else head for head, of_head in cutoffs.items()]


def _rank(
    lines: Sequence[SystemLine], figures: Sequence[Mapping[str, Figure]], layout: Layout
) -> dict[str, dict[str, str]]:
    """Return the emphasis of printed values by measure: values that are printed alike share their place."""
    ranked: dict[str, list[Figure]] = {name: [] for by_name in figures for name in by_name}
    for line, by_name in zip(lines, figures, strict=True):
        for name, figure in by_name.items():
            if line.is_ranked and _is_defined(figure):
                ranked[name].append(figure)
    return {name: _places(of_name, layout) for name, of_name in ranked.items()}


def _places(figures: Sequence[Figure], layout: Layout) -> dict[str, str]:
    """Return the printed values that are best and second of a metric."""
    if len(figures) < 2:
        return {}
    sign = 1.0 if figures[0].measure.metric.higher_is_better else -1.0
    ordered = sorted(figures, key=lambda figure: -sign * figure.estimate.value)
    texts = list(dict.fromkeys(layout.format(figure.measure, figure.estimate.value) for figure in ordered))
    return dict(zip(texts, (BEST, SECOND) if len(figures) >= LEAST_WITH_SECOND else (BEST,), strict=False))


def _is_defined(figure: Figure) -> bool:
    return math.isfinite(figure.estimate.value) and not figure.estimate.undefined


def format_interval(figure: Figure, layout: Layout) -> str:
    """Write the interval of a value; empty where there is none, or intervals are left out."""
    estimate = figure.estimate
    if layout.intervals is False:
        return ""
    return layout.format_interval(figure.measure, estimate.value, estimate.low, estimate.high)


def _ceilings(lines: Sequence[SystemLine], figures: Sequence[Mapping[str, Figure]], layout: Layout) -> Iterator[Row]:
    """Yield one row of ceilings, which are of the truth; one per system where they differ."""
    rows = [
        {
            name: Cell(layout.format(figure.measure, figure.estimate.ceiling))
            for name, figure in by_name.items()
            if figure.estimate.ceiling is not None
        }
        for by_name in figures
    ]
    named = [(line.name, row) for line, row in zip(lines, rows, strict=True) if row]
    if all(row == named[0][1] for _, row in named):
        named = [("", row) for _, row in named[:1]]
    yield from (Row(f"{name} {CEILING}".lstrip(), row, ceiling_of=name) for name, row in named)


def join_letters(letters: Sequence[str]) -> str:
    """Join letters, four or more consecutive ones as a range: ``a``, ``bd``, ``a-e``; numbers by commas."""
    if any(len(letter) > 1 or letter.isdigit() for letter in letters):
        return ",".join(letters)
    runs: list[list[str]] = []
    for letter in sorted(letters):
        if runs and ord(letter) == ord(runs[-1][-1]) + 1:
            runs[-1].append(letter)
        else:
            runs.append([letter])
    return "".join(f"{run[0]}-{run[-1]}" if len(run) >= LEAST_RUN else "".join(run) for run in runs)
