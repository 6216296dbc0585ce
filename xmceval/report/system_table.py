"""Build the table of several systems, one line each, with the best value of each column marked."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_lowercase

from xmceval.errors import listed
from xmceval.metrics.measure import Measure
from xmceval.report.forms.layout import Layout
from xmceval.report.scored import Scored
from xmceval.report.sheet import BEST, SECOND, Cell, Row, Section
from xmceval.scoring.intervals import FEW_ROWS, FEWEST_ROWS, ONE_ROW
from xmceval.scoring.summary import Slice, Value

CEILING = "ceiling"
LEAST_WITH_SECOND = 3  # systems: of two, the second is the worse one
MOST_NAMED = 8  # groups of rows that a caution names
LEAST_RUN = 4  # letters in a row that are written as a range


@dataclass(frozen=True)
class Signs:
    """The marks of significance tests in a table: marks after values, letters before names, and notes on them."""

    marks: Mapping[tuple[str, str, str], str] = field(default_factory=dict)  # by bin, metric and system
    letters: Mapping[str, str] = field(default_factory=dict)  # by system
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SystemLine:
    """A system of a table, or one of its runs, which is not ranked."""

    name: str
    figures: tuple[Value, ...]
    slices: tuple[Slice, ...] = ()
    is_ranked: bool = True
    shown: str = ""  # instead of the name

    @classmethod
    def of(cls, result: Scored) -> SystemLine:
        """Take the line of a result."""
        return cls(result.name, result.figures, result.slices)

    def figures_of(self, bin_name: str) -> dict[str, Value]:
        """Return the figures of a bin of labels by the names of their measures, or with an empty name of all labels."""
        parts = {"": self.figures, **{part.bin.name: part.figures for part in self.slices}}
        return {figure.name: figure for figure in parts.get(bin_name, ())}


def name_letters(names: Collection[str]) -> dict[str, str]:
    """Return a letter for each system, by name; numbers where there are more systems than letters."""
    signs = ascii_lowercase if len(names) <= len(ascii_lowercase) else [str(i + 1) for i in range(len(names))]
    return dict(zip(names, signs, strict=False))


def make_section(
    lines: Sequence[SystemLine], layout: Layout, signs: Signs, *, bin_name: str = "", title: str = ""
) -> Section:
    """Make the rows of all systems over all labels, or within a bin of labels, which has a name and a title."""
    of_lines = [line.figures_of(bin_name) for line in lines]
    ranked: dict[str, list[Value]] = {}
    for line, figures in zip(lines, of_lines, strict=True):
        for name, figure in figures.items():
            if line.is_ranked and _is_defined(figure):
                ranked.setdefault(name, []).append(figure)
    emphases = {name: _find_best(of_name, layout) for name, of_name in ranked.items()}
    rows, ceilings = [], []
    for line, figures in zip(lines, of_lines, strict=True):
        cells, of_line = {}, {}
        for name, figure in figures.items():
            value = layout.format(figure.measure, figure.estimate.value)
            emphasis = emphases[name].get(value, "") if line.is_ranked and _is_defined(figure) else ""
            marks = signs.marks.get((bin_name, name, line.name), "")
            cells[name] = Cell(value, format_interval(figure, layout), emphasis, marks)
            if figure.estimate.ceiling is not None:
                of_line[name] = Cell(layout.format(figure.measure, figure.estimate.ceiling))
        letter, shown = signs.letters.get(line.name, "") if line.is_ranked else "", line.shown or line.name
        rows.append(Row(f"({letter}) {shown}" if letter else shown, cells))
        if of_line:
            ceilings.append((line.name, of_line))
    if all(cells == ceilings[0][1] for _, cells in ceilings):  # they are of the truth
        ceilings = [("", cells) for _, cells in ceilings[:1]]
    rows += [Row(f"{name} {CEILING}".lstrip(), cells, ceiling_of=name) for name, cells in ceilings]
    return Section(title, tuple(rows), bin_name)


def _is_defined(figure: Value) -> bool:
    return math.isfinite(figure.estimate.value) and not figure.estimate.undefined


def _find_best(figures: Sequence[Value], layout: Layout) -> dict[str, str]:
    """Return the printed values that are best and second of a metric: those printed alike share their place."""
    if len(figures) < 2:
        return {}
    sign = 1.0 if figures[0].measure.metric.higher_is_better else -1.0
    ordered = sorted(figures, key=lambda figure: -sign * figure.estimate.value)
    texts = dict.fromkeys(layout.format(figure.measure, figure.estimate.value) for figure in ordered)
    return dict(zip(texts, (BEST, SECOND) if len(figures) >= LEAST_WITH_SECOND else (BEST,), strict=False))


def format_interval(figure: Value, layout: Layout) -> str:
    """Write the interval of a value; empty without one, or if intervals are left out."""
    estimate = figure.estimate
    if layout.intervals is False:
        return ""
    return layout.format_interval(figure.measure, estimate.value, estimate.low, estimate.high)


def explain_direction(measures: Iterable[Measure]) -> Iterator[str]:
    """Say which metrics are better where they are lower."""
    lower = dict.fromkeys(measure.head for measure in measures if not measure.metric.higher_is_better)
    if lower:
        yield f"lower is better: {listed(lower)}"


def describe_cautions(lines: Sequence[SystemLine]) -> Iterator[str]:
    """Say which intervals may be off and why, naming the systems unless all are concerned."""
    systems: dict[str, list[str]] = {}
    for line in lines:
        for text in _list_cautions(line):
            systems.setdefault(text, []).append(line.name)
    n_systems = sum(any(figure.estimate.low is not None for figure in line.figures) for line in lines)
    for text, names in systems.items():
        yield f"caution: {text}" + (f" ({listed(names)})" if len(names) < n_systems else "")


def _list_cautions(line: SystemLine) -> Iterator[str]:
    """Yield which intervals are from few rows, group by group and over all rows, and where one row decides."""
    few = f"are from fewer than {FEWEST_ROWS} instances"
    groups: dict[str, list[str]] = {}
    for part in line.slices if any(part.bin.noun == "group" for part in line.slices) else ():
        for about in _name_few(part.figures):
            groups.setdefault(about, []).append(part.bin.name)
    for about, names in groups.items():
        where = listed(names) if len(names) <= MOST_NAMED else f"{len(names)} of {len(line.slices)} groups"
        yield f"the intervals{about} in {where} {few}"
    yield from (f"the intervals{about} {few}" for about in _name_few(line.figures))  # bins of labels have as many rows
    for bin_name, figures in {"": line.figures, **{part.bin.name: part.figures for part in line.slices}}.items():
        one = [figure for figure in figures if figure.estimate.caution == ONE_ROW]
        if one:
            where = f" in {bin_name}" if bin_name else ""
            yield f"a single instance carries more than a fifth of the variance of {_join_cutoffs(one)}{where}"


def _name_few(figures: Sequence[Value]) -> Iterator[str]:
    """Yield which intervals are from few rows, if any is: nothing if all are."""
    few = [figure for figure in figures if figure.estimate.caution == FEW_ROWS]
    if few:
        n_intervals = sum(figure.estimate.low is not None for figure in figures)
        yield "" if len(few) == n_intervals else f" of {_join_cutoffs(few)}"


def _join_cutoffs(figures: Sequence[Value]) -> str:
    """List metrics, each with its cutoffs together: P@1,3,5."""
    cutoffs: dict[str, list[str]] = {}
    for measure in (figure.measure for figure in figures):
        cutoffs.setdefault(measure.head, []).append(measure.cutoff)
    return listed([f"{head}@{','.join(of_head)}" if of_head[0] else head for head, of_head in cutoffs.items()])


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
