"""Build the sheet of one or more systems scored on the same truth: one line per system, best values marked."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from string import ascii_lowercase

from xmceval.errors import agreeing, averaged, counted, listed, plural
from xmceval.labels.propensity import ITSELF
from xmceval.metrics.measure import Measure
from xmceval.report.scored import Scored, shared_lines
from xmceval.report.sheet import BEST, DEFAULT, SECOND, Cell, Layout, Row, Section, Sheet
from xmceval.scoring.estimates import FEW_ROWS, FEWEST_ROWS, ONE_ROW
from xmceval.scoring.options import IN_TABLE, OF_PROPENSITIES, specs
from xmceval.scoring.summary import Value

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
    by_bin: Mapping[str, Sequence[Value]]  # its values over all labels, with an empty name, and in each bin
    is_ranked: bool = True
    shown: str = ""  # instead of the name


def build_sheet(results: Sequence[Scored], layout: Layout = DEFAULT) -> Sheet:
    """Build the sheet of one or more systems that were scored on the same truth."""
    layout = layout.settle(results[0].nouns)
    if len(results) == 1:
        return _build_system_sheet(results[0], layout)
    lines = [SystemLine(result.name, result.by_bin) for result in results]
    return build_systems_sheet(results, lines, layout, Signs())


def _build_system_sheet(result: Scored, layout: Layout) -> Sheet:
    """Build the sheet of one system: a row for each metric, a column for each cutoff."""
    places = {(figure.measure.head, figure.measure.cutoff) for figure in result.figures}
    n_heads = len({head for head, _ in places})
    n_cutoffs = len({cutoff for _, cutoff in places})
    only_column = None
    if len(places) == n_heads and n_cutoffs > 1:
        # With another cutoff for each metric, columns of cutoffs would have one value each: lines are named instead.
        only_column = result.name
    titles = _describe_bins([result])
    sections = [
        Section(titles[name], _make_rows(figures, layout, only_column), name) for name, figures in result.by_bin.items()
    ]
    columns = dict.fromkeys(column for section in sections for row in section.rows for column in row.cells)
    line = SystemLine(result.name, result.by_bin)
    below = _describe_scoring([result], [line], layout)
    return Sheet((_describe_input([result]),), tuple(columns), tuple(sections), tuple(below), layout=layout)


def build_systems_sheet(results: Sequence[Scored], lines: Sequence[SystemLine], layout: Layout, signs: Signs) -> Sheet:
    """Build the sheet of several systems: a line for each result and mean over runs, a column per metric and cutoff."""
    measures = {figure.measure.name: figure.measure for line in lines for figure in line.by_bin[""]}
    titles = _describe_bins(results)
    return Sheet(
        above=(_describe_input(results),),
        columns=tuple(measures),
        sections=tuple(
            make_section(lines, layout, signs, bin_name=name, title=title) for name, title in titles.items()
        ),
        below=tuple(_describe_scoring(results, lines, layout)),
        layout=layout,
        notes=(*explain_direction(measures.values()), *signs.notes),
        groups=tuple(len(list(group)) for _, group in groupby(measures.values(), lambda measure: measure.head)),
    )


def _describe_input(results: Sequence[Scored]) -> str:
    """Describe the size of the truth and of the predictions, from the fewest to the most of several systems."""
    counts = results[0].counts
    nouns = results[0].nouns
    n = max(counts.n_instances, 1)
    means = _name_mean(averaged(counts.n_true / n), nouns.true_label)
    if all(result.counts.are_known for result in results):
        sizes = [result.counts.n_predictions for result in results]
        ends = dict.fromkeys([averaged(min(sizes) / n), averaged(max(sizes) / n)])
        means += f" and {_name_mean(' to '.join(ends), nouns.prediction)}"
    size = f"{counted(counts.n_instances, nouns.row)} · {counted(counts.n_labels, nouns.label)}"
    return f"{size} · {means} per {nouns.row}"


def _name_mean(mean: str, noun: str) -> str:
    return f"{mean} {noun if mean == '1' else plural(noun)}"


def _describe_bins(results: Sequence[Scored]) -> dict[str, str]:
    """Return the titles by name: of all labels, which are empty, then of bins of labels or groups of rows."""
    titles = {"": ""}
    for result in results:
        source = ""
        if result.propensities is not None and result.propensities.from_truth:
            source = result.propensities.source
        for part in result.slices:
            titles[part.bin.name] = part.bin.describe(source, result.nouns)
    return titles


def _describe_scoring(results: Sequence[Scored], lines: Sequence[SystemLine], layout: Layout) -> Iterator[str]:
    """Yield the lines below a table: facts, cautions, how bins add up, propensities, options, ties, filters."""
    noun = results[0].nouns.row
    if not layout.is_quiet:
        yield from shared_lines(results, "facts")
    if layout.intervals is not False:
        yield from _describe_cautions(lines, noun)
    heads: dict[str, dict[str, None]] = {}  # of metrics, by the kind of their values in bins
    for result in results:
        for part in result.slices:
            for figure in part.figures:
                heads.setdefault(figure.kind, {})[figure.measure.head] = None
    if "group" in heads:
        yield f"values of a group are of its {plural(noun)} alone, and do not add up to the total"
    texts = []
    if "share" in heads:
        texts.append(f"values of {listed(heads['share'], 'and')} in the bins add up to the total")
    if "average" in heads:
        averages = heads["average"]
        texts.append(f"{listed(averages, 'and')} {agreeing(len(averages), 'is', 'are')} averaged within each bin")
    if texts:
        yield "; ".join(texts)
    yield from dict.fromkeys(filter(None, map(describe_propensities, results)))
    yield from dict.fromkeys(filter(None, map(_describe_options, results)))
    if not layout.is_quiet:
        shown = {line.name for line in lines}  # not the runs of a system that is shown by their mean
        yield from _describe_ties([result for result in results if result.name in shown], layout)
    for result in results:
        about = f"{result.name}: " if len(results) > 1 else ""
        if result.filtered is not None:
            yield f"{about}{result.filtered}"
        if layout.is_verbose and result.held_labels:
            from xmceval.report.labels import describe_labels  # not loaded by other scores

            yield from (about + line for line in describe_labels(result, layout))


def _describe_cautions(lines: Sequence[SystemLine], noun: str) -> Iterator[str]:
    """Yield the cautions about intervals, each with its systems if some systems with intervals lack it."""
    systems: dict[str, list[str]] = {}
    n_systems = 0
    for line in lines:
        n_systems += any(figure.estimate.low is not None for figure in line.by_bin[""])
        for text in _list_cautions(line, noun):
            systems.setdefault(text, []).append(line.name)
    for text, concerned in systems.items():
        about = f" ({listed(concerned)})" if len(concerned) < n_systems else ""
        yield f"caution: {text}{about}"


def _describe_options(result: Scored) -> str:
    """Describe the options that neither the table nor the line on propensities shows."""
    words = []
    for name in specs():
        if name in IN_TABLE or name in OF_PROPENSITIES or name not in result.options:
            continue
        value = result.options[name]
        if isinstance(value, list):
            value = ",".join(map(str, value))
        words.append(name if value is True else f"{name}={value}")
    if not words:
        return ""
    return f"options: {' · '.join(words)}"


def describe_propensities(result: Scored) -> str:
    """Describe the constants and the source of propensities, or of the frequencies of labels if only bins need them."""
    model = result.propensities
    if model is None:
        return ""
    if model.n is None:
        return f"inverse propensities from {model.source}"
    if not any(figure.measure.needs_propensities for figure in result.figures):
        itself = " itself" if model.from_truth else ""
        return f"label frequencies: N={model.n:,} from {model.source}{itself}"
    warning = f" {ITSELF}" if model.from_truth else ""
    return f"propensities: A={model.a:g} B={model.b:g}, N={model.n:,} from {model.source}{warning}"


def _make_rows(figures: Sequence[Value], layout: Layout, only_column: str | None) -> tuple[Row, ...]:
    """Make one row per metric, and one per ceiling below it, in columns by cutoff, or all in one that has a name."""
    rows: dict[str, dict[str, Cell]] = {}
    ceilings: dict[str, str] = {}
    for figure, (cell, ceiling) in zip(figures, layout.cells(figures), strict=True):
        measure = figure.measure
        if only_column is None:
            head = measure.head
            column = f"@{measure.cutoff}" if measure.cutoff else ""
        else:
            head = measure.name
            column = only_column
        rows.setdefault(head, {})[column] = cell
        if ceiling is not None:
            ceilings[f"{head} {CEILING}"] = head
            rows.setdefault(f"{head} {CEILING}", {})[column] = ceiling
    return tuple(Row(head, cells, ceilings.get(head)) for head, cells in rows.items())


def _describe_ties(results: Sequence[Scored], layout: Layout) -> Iterator[str]:
    """Yield, of one system, how many instances have ties; then at each cutoff the metric that these could move most."""
    across = []
    if len(results) == 1:
        across = [(k, rows) for k, rows in results[0].counts.tied_rows.items() if rows]
    if across:
        (k, rows), *others = across
        numbers = [f"{counted(rows, results[0].nouns.row)} at {k}", *(f"{rows:,} at {k}" for k, rows in others)]
        yield f"tied scores straddle the cutoff in {listed(numbers, 'and')}"
    furthest: dict[tuple[str, str], tuple[float, str]] = {}  # by system and cutoff, with bounds that differ as printed
    for result in results:
        of = f" of {result.name}" if len(results) > 1 else ""
        for figure in result.figures:
            measure = figure.measure
            place = result.name, measure.cutoff
            largest, _ = furthest.setdefault(place, (0.0, ""))
            low, high = figure.estimate.tie_bounds  # NaN where they are unknown
            if high - low > largest:
                first = layout.format(measure, low)
                last = layout.format(measure, high)
                if first != last:
                    furthest[place] = high - low, f"{measure.name}{of} {first}..{last}"
    moves = [move for move in furthest.values() if move[1]]
    widest = sorted(moves, key=lambda move: -move[0])[:MOST_MOVES]
    texts = [text for size, text in moves if (size, text) in widest]
    if len(moves) > len(texts):
        texts.append(counted(len(moves) - len(texts), "other value"))
    if texts:
        yield f"tied scores could move {listed(texts, 'and')}"


def name_letters(names: Collection[str]) -> dict[str, str]:
    """Return a letter for each system, by name; numbers where there are more systems than letters."""
    signs: Iterable[str] = ascii_lowercase
    if len(names) > len(ascii_lowercase):
        signs = map(str, range(1, len(names) + 1))
    return dict(zip(names, signs, strict=False))


def make_section(lines: Sequence[SystemLine], layout: Layout, signs: Signs, *, bin_name: str, title: str) -> Section:
    """Make the rows of all systems over all labels, or within a bin of labels, which has a name and a title."""
    of_lines = []
    ranked: dict[str, list[tuple[float, str, str]]] = {}  # by metric: the values that compete, texts, and systems
    for line in lines:
        figures = line.by_bin.get(bin_name, ())
        cells_of_line = layout.cells(figures)
        of_lines.append((figures, cells_of_line))
        for figure, (cell, _) in zip(figures, cells_of_line, strict=True):
            value = figure.estimate.value
            if line.is_ranked and math.isfinite(value) and not figure.estimate.undefined:
                if figure.measure.metric.higher_is_better:
                    value = -value
                ranked.setdefault(figure.measure.name, []).append((value, cell.value, line.name))
    emphases = {
        (name, system): emphasis for name, values in ranked.items() for system, emphasis in _find_best(values).items()
    }
    rows = []
    ceilings = []
    for line, (figures, cells_of_line) in zip(lines, of_lines, strict=True):
        cells: dict[str, Cell] = {}
        ceiling_cells: dict[str, Cell] = {}
        for figure, (cell, ceiling) in zip(figures, cells_of_line, strict=True):
            name = figure.measure.name
            emphasis = ""
            if line.is_ranked:
                emphasis = emphases.get((name, line.name), "")
            marks = signs.marks.get((bin_name, name, line.name), "")
            cells[name] = Cell(cell.value, cell.interval, emphasis, marks)
            if ceiling is not None:
                ceiling_cells[name] = ceiling
        head = line.shown or line.name
        if line.is_ranked and line.name in signs.letters:
            head = f"({signs.letters[line.name]}) {head}"
        rows.append(Row(head, cells))
        if ceiling_cells:
            ceilings.append((line.name, ceiling_cells))
    if all(cells == ceilings[0][1] for _, cells in ceilings):  # they are of the truth
        ceilings = [("", cells) for _, cells in ceilings[:1]]
    rows += [Row(f"{name} {CEILING}".lstrip(), cells, ceiling_of=name) for name, cells in ceilings]
    return Section(title, tuple(rows), bin_name)


def _find_best(values: Sequence[tuple[float, str, str]]) -> dict[str, str]:
    """Return which systems have the least and the second value: those printed alike share their place."""
    if len(values) < 2:
        return {}
    texts = list(dict.fromkeys(text for _, text, _ in sorted(values, key=itemgetter(0))))
    places = {texts[0]: BEST}
    if len(values) >= LEAST_WITH_SECOND and len(texts) > 1:
        places[texts[1]] = SECOND
    return {system: places[text] for _, text, system in values if text in places}


def explain_direction(measures: Iterable[Measure]) -> Iterator[str]:
    """Say which metrics are better where they are lower."""
    lower = dict.fromkeys(measure.head for measure in measures if not measure.metric.higher_is_better)
    if lower:
        yield f"lower is better: {listed(lower)}"


def _list_cautions(line: SystemLine, noun: str) -> Iterator[str]:
    """Yield which intervals are from few rows, group by group and over all rows, and where one row decides."""
    few = f"are from fewer than {FEWEST_ROWS} {plural(noun)}"
    groups: dict[str, list[str]] = {}
    for name, figures in line.by_bin.items():
        if any(figure.kind == "group" for figure in figures):
            for about in _name_few(figures):
                groups.setdefault(about, []).append(name)
    for about, names in groups.items():
        where = listed(names)
        if len(names) > MOST_NAMED:
            where = f"{len(names)} of {len(line.by_bin) - 1} groups"
        yield f"the intervals{about} in {where} {few}"
    for about in _name_few(line.by_bin[""]):  # bins of labels have as many rows
        yield f"the intervals{about} {few}"
    for name, figures in line.by_bin.items():
        one = [figure for figure in figures if figure.estimate.caution == ONE_ROW]
        if one:
            where = f" in {name}" if name else ""
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
