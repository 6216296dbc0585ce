"""Build the sheet of one or more systems scored on the same truth; of several a line each, the best values marked."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from string import ascii_lowercase

from xmceval.errors import averaged, counted, listed, plural
from xmceval.labels.propensity import ITSELF
from xmceval.metrics.measure import Measure
from xmceval.report.scored import Scored, shared_lines
from xmceval.report.sheet import BEST, DEFAULT, SECOND, Cell, Layout, Row, Section, Sheet, transpose
from xmceval.scoring.estimates import FEW_ROWS, FEWEST_ROWS, ONE_ROW
from xmceval.scoring.options import IN_TABLE, OF_PROPENSITIES, specs
from xmceval.scoring.summary import Slice, Value

CEILING = "ceiling"
LEAST_WITH_SECOND = 3  # systems: of two, the second is the worse one
MOST_NAMED = 8  # groups of rows that a caution names
MOST_MOVES = 5  # values that ties could move, which a line names
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


def build_sheet(results: Sequence[Scored], layout: Layout = DEFAULT) -> Sheet:
    """Build the sheet of one or more systems that were scored on the same truth."""
    layout = layout.settle(results[0].nouns)
    if len(results) > 1:
        sheet = build_systems_sheet(results, [SystemLine.of(result) for result in results], layout, Signs())
    else:
        result = results[0]
        titles = _describe_bins(results)
        cutoffs = {(figure.measure.head, figure.measure.cutoff) for figure in result.figures}
        # With another cutoff for each metric, columns of cutoffs would have one value each: lines are named instead.
        is_list = len(cutoffs) == len({head for head, _ in cutoffs}) and len({cutoff for _, cutoff in cutoffs}) > 1
        column = result.name if is_list else None
        bins = (
            Section(titles[part.bin.name], _rows(part.figures, layout, column), part.bin.name) for part in result.slices
        )
        sections = (Section("", _rows(result.figures, layout, column)), *bins)
        columns = dict.fromkeys(column for section in sections for row in section.rows for column in row.cells)
        below = _describe_scoring(results, [SystemLine.of(result)], layout, are_named=False)
        sheet = Sheet(tuple(_describe_input(results)), tuple(columns), sections, tuple(below), layout=layout)
    return transpose(sheet) if layout.transpose else sheet


def build_systems_sheet(results: Sequence[Scored], lines: Sequence[SystemLine], layout: Layout, signs: Signs) -> Sheet:
    """Build the sheet of several systems: a line for each result and mean over runs, a column per metric and cutoff."""
    measures = {figure.measure.name: figure.measure for line in lines for figure in line.figures}
    bins = _describe_bins(results).items()
    return Sheet(
        above=tuple(_describe_input(results)),
        columns=tuple(measures),
        sections=(
            make_section(lines, layout, signs),
            *(make_section(lines, layout, signs, bin_name=name, title=title) for name, title in bins),
        ),
        below=tuple(_describe_scoring(results, lines, layout, are_named=True)),
        layout=layout,
        notes=(*explain_direction(measures.values()), *signs.notes),
        groups=tuple(len(list(group)) for _, group in groupby(measures.values(), lambda measure: measure.head)),
    )


def _describe_input(results: Sequence[Scored]) -> Iterator[str]:
    """Describe the size of the truth and of the predictions, from the fewest to the most of several systems."""
    counts, nouns = results[0].counts, results[0].nouns
    n = max(counts.n_instances, 1)
    true = averaged(counts.n_true / n)
    size = f"{counted(counts.n_instances, nouns.row)} · {counted(counts.n_labels, nouns.label)}"
    means = f"{true} {nouns.true_label}{'' if true == '1' else 's'}"
    known = sorted(result.counts.n_predictions for result in results if result.counts.are_known)
    if len(known) == len(results):
        ends = dict.fromkeys(averaged(number / n) for number in (known[0], known[-1]))
        predictions = " to ".join(ends)
        means += f" and {predictions} {nouns.prediction}{'' if predictions == '1' else 's'}"
    yield f"{size} · {means} per {nouns.row}"


def _describe_bins(results: Sequence[Scored]) -> dict[str, str]:
    """Return the titles of bins of labels or groups of rows, by name."""
    titles = {}
    for result in results:
        propensities = result.propensities
        source = propensities.source if propensities is not None and propensities.from_truth else ""
        titles.update({part.bin.name: part.bin.describe(source, result.nouns) for part in result.slices})
    return titles


def _describe_scoring(
    results: Sequence[Scored], lines: Sequence[SystemLine], layout: Layout, *, are_named: bool
) -> Iterator[str]:
    """Yield the lines below a table: facts, cautions, how bins add up, propensities, options, ties, filters."""
    yield from () if layout.is_quiet else shared_lines(results, "facts")
    if layout.intervals is not False:
        noun = results[0].nouns.row
        systems: dict[str, list[str]] = {}
        for line in lines:
            for text in _list_cautions(line, noun):
                systems.setdefault(text, []).append(line.name)
        n_systems = sum(any(figure.estimate.low is not None for figure in line.figures) for line in lines)
        for text, concerned in systems.items():
            yield f"caution: {text}" + (f" ({listed(concerned)})" if len(concerned) < n_systems else "")
    kinds: dict[str, dict[str, None]] = {"share": {}, "average": {}, "group": {}}
    for figure in (figure for result in results for part in result.slices for figure in part.figures):
        kinds[figure.kind][figure.measure.head] = None
    if kinds["group"]:
        rows = plural(results[0].nouns.row)
        yield f"values of a group are of its {rows} alone, and do not add up to the total"
    texts, shares, averages = [], kinds["share"], kinds["average"]
    if shares:
        texts.append(f"values of {listed(shares, 'and')} in the bins add up to the total")
    if averages:
        texts.append(f"{listed(averages, 'and')} {'is' if len(averages) == 1 else 'are'} averaged within each bin")
    yield from ["; ".join(texts)] if texts else []
    yield from dict.fromkeys(filter(None, map(describe_propensities, results)))
    names = [name for name in specs() if name not in {*IN_TABLE, *OF_PROPENSITIES}]
    texts = []
    for result in results:
        options = {name: result.options[name] for name in names if name in result.options}
        lists = {name: ",".join(map(str, value)) for name, value in options.items() if isinstance(value, list)}
        words = (name if value is True else f"{name}={lists.get(name, value)}" for name, value in options.items())
        texts.append(" · ".join(words))
    yield from (f"options: {text}" for text in dict.fromkeys(texts) if text)
    shown = {line.name for line in lines}  # not the runs of a system that is shown by their mean
    yield from () if layout.is_quiet else _describe_ties([result for result in results if result.name in shown], layout)
    for result in results:
        if result.filtered is not None:
            yield f"{result.name}: {result.filtered}" if are_named else str(result.filtered)


def describe_propensities(result: Scored) -> str:
    """Describe the constants and the source of propensities, or of the frequencies of labels if only bins need them."""
    model = result.propensities
    if model is None:
        return ""
    if model.n is None:
        return f"inverse propensities from {model.source}"
    if not any(figure.measure.needs_propensities for figure in result.figures):
        return f"label frequencies: N={model.n:,} from {model.source}{' itself' if model.from_truth else ''}"
    warning = f" {ITSELF}" if model.from_truth else ""
    return f"propensities: A={model.a:g} B={model.b:g}, N={model.n:,} from {model.source}{warning}"


def _rows(figures: Sequence[Value], layout: Layout, column_of_all: str | None) -> tuple[Row, ...]:
    """Build one row per metric, and one per ceiling below it, in columns by cutoff, or all in one that has a name."""
    rows: dict[str, dict[str, Cell]] = {}
    ceilings: dict[str, str] = {}
    for figure, (cell, ceiling) in zip(figures, layout.cells(figures), strict=True):
        measure = figure.measure
        head, column = measure.head, f"@{measure.cutoff}" if measure.cutoff else ""
        if column_of_all is not None:
            head, column = measure.name, column_of_all
        rows.setdefault(head, {})[column] = cell
        if ceiling is not None:
            ceilings[f"{head} {CEILING}"] = head
            rows.setdefault(f"{head} {CEILING}", {})[column] = ceiling
    return tuple(Row(head, cells, ceilings.get(head)) for head, cells in rows.items())


def _describe_ties(results: Sequence[Scored], layout: Layout) -> Iterator[str]:
    """Yield, of one system, how many instances have ties; then at each cutoff the metric that these could move most."""
    across = [(k, rows) for k, rows in results[0].counts.tied_rows.items() if rows] if len(results) == 1 else []
    if across:
        (k, rows), *others = across
        numbers = [f"{counted(rows, results[0].nouns.row)} at {k}", *(f"{rows:,} at {k}" for k, rows in others)]
        yield f"tied scores straddle the cutoff in {listed(numbers, 'and')}"
    moves = []
    for result in results:
        furthest: dict[str, tuple[float, str]] = {}  # by cutoff, with bounds that differ as printed
        of = f" of {result.name}" if len(results) > 1 else ""
        for measure, estimate in ((figure.measure, figure.estimate) for figure in result.figures):
            largest, _ = furthest.setdefault(measure.cutoff, (0.0, ""))
            if estimate.tie_low is None or estimate.tie_high is None:
                continue
            size = estimate.tie_high - estimate.tie_low
            low, high = layout.format(measure, estimate.tie_low), layout.format(measure, estimate.tie_high)
            if size > largest and low != high:
                furthest[measure.cutoff] = size, f"{measure.name}{of} {low}..{high}"
        moves += [(size, text) for size, text in furthest.values() if text]
    widest = sorted(moves, key=lambda move: -move[0])[:MOST_MOVES]
    texts = [text for move in moves for text in move[1:] if move in widest]
    if len(moves) > len(texts):
        texts.append(counted(len(moves) - len(texts), "other value"))
    if texts:
        yield f"tied scores could move {listed(texts, 'and')}"


def name_letters(names: Collection[str]) -> dict[str, str]:
    """Return a letter for each system, by name; numbers where there are more systems than letters."""
    signs = ascii_lowercase if len(names) <= len(ascii_lowercase) else [str(i + 1) for i in range(len(names))]
    return dict(zip(names, signs, strict=False))


def make_section(
    lines: Sequence[SystemLine], layout: Layout, signs: Signs, *, bin_name: str = "", title: str = ""
) -> Section:
    """Make the rows of all systems over all labels, or within a bin of labels, which has a name and a title."""
    of_lines, ranked = [], dict[str, list[tuple[float, str]]]()  # the values of a metric, with their texts
    for line in lines:
        by_bin = {"": line.figures, **{part.bin.name: part.figures for part in line.slices}}
        figures = by_bin.get(bin_name, ())
        of_lines.append(list(zip(figures, layout.cells(figures), strict=True)))
        for figure, (cell, _) in of_lines[-1]:
            if line.is_ranked and _is_defined(figure):
                sign = -1.0 if figure.measure.metric.higher_is_better else 1.0
                ranked.setdefault(figure.measure.name, []).append((sign * figure.estimate.value, cell.value))
    emphases = {name: _find_best(values) for name, values in ranked.items()}
    rows, ceilings = [], []
    for line, of_figures in zip(lines, of_lines, strict=True):
        cells, of_line = {}, {}
        for figure, (cell, ceiling) in of_figures:
            name = figure.measure.name
            emphasis = emphases[name].get(cell.value, "") if line.is_ranked and _is_defined(figure) else ""
            marks = signs.marks.get((bin_name, name, line.name), "")
            cells[name] = Cell(cell.value, cell.interval, emphasis, marks)
            if ceiling is not None:
                of_line[name] = ceiling
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


def _find_best(values: Sequence[tuple[float, str]]) -> dict[str, str]:
    """Return the texts of the least and the second value: those printed alike share their place."""
    if len(values) < 2:
        return {}
    texts = dict.fromkeys(text for _, text in sorted(values, key=itemgetter(0)))
    return dict(zip(texts, (BEST, SECOND) if len(values) >= LEAST_WITH_SECOND else (BEST,), strict=False))


def explain_direction(measures: Iterable[Measure]) -> Iterator[str]:
    """Say which metrics are better where they are lower."""
    lower = dict.fromkeys(measure.head for measure in measures if not measure.metric.higher_is_better)
    if lower:
        yield f"lower is better: {listed(lower)}"


def _list_cautions(line: SystemLine, noun: str) -> Iterator[str]:
    """Yield which intervals are from few rows, group by group and over all rows, and where one row decides."""
    few = f"are from fewer than {FEWEST_ROWS} {plural(noun)}"
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
            yield f"a single {noun} carries more than a fifth of the variance of {_join_cutoffs(one)}{where}"


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
