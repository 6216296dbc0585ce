"""Build the sheet of results of one or more systems scored on the same truth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from xmceval.errors import averaged, counted, listed
from xmceval.labels.propensity import Propensities
from xmceval.report.forms.layout import DEFAULT, Layout
from xmceval.report.scored import Scored, shared_lines
from xmceval.report.sheet import Cell, Row, Section, Sheet, transpose
from xmceval.report.system_table import (
    CEILING,
    Signs,
    SystemLine,
    describe_cautions,
    explain_direction,
    format_interval,
    make_section,
)
from xmceval.scoring.options import specs
from xmceval.scoring.summary import Value

ELSEWHERE = ("table", "propensities")  # where options are shown; propensities that no metric uses change no number


def build_sheet(results: Sequence[Scored], layout: Layout = DEFAULT) -> Sheet:
    """Build the sheet of one or more systems that were scored on the same truth."""
    if len(results) > 1:
        sheet = build_systems_sheet(results, [SystemLine.of(result) for result in results], layout, Signs())
    else:
        result = results[0]
        titles = _describe_bins(results)
        bins = (Section(titles[part.bin.name], _rows(part.figures, layout), part.bin.name) for part in result.slices)
        sections = (Section("", _rows(result.figures, layout)), *bins)
        columns = dict.fromkeys(column for section in sections for row in section.rows for column in row.cells)
        below = _describe_scoring(results, [SystemLine.of(result)], layout, are_named=False)
        sheet = Sheet(tuple(_describe_input(results)), tuple(columns), sections, tuple(below), layout=layout)
    return transpose(sheet) if layout.transpose else sheet


def build_systems_sheet(results: Sequence[Scored], lines: Sequence[SystemLine], layout: Layout, signs: Signs) -> Sheet:
    """Build the sheet of several systems: a line for each result and mean over runs, a column per metric and cutoff."""
    measures = {figure.name: figure.measure for line in lines for figure in line.figures}
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
    """Describe the size of the truth and of the predictions, by system where it differs."""

    def mean_of(result: Scored, number: int, noun: str) -> str:
        mean = averaged(number / max(result.counts.n_instances, 1))
        return f"{mean} {noun}" if mean == "1" else f"{mean} {noun}s"

    counts = results[0].counts
    systems: dict[str, list[str]] = {}
    for result in results:
        systems.setdefault(mean_of(result, result.counts.n_predictions, "prediction"), []).append(result.name)
    is_common = len(systems) == 1 or not all(result.counts.are_known for result in results)
    truth = mean_of(results[0], counts.n_true, "true label")
    means = f"{truth} and {next(iter(systems))}" if is_common else truth
    yield f"{counted(counts.n_instances, 'instance')} · {counted(counts.n_labels, 'label')} · {means} per instance"
    if not is_common:
        yield f"per instance: {'; '.join(f'{mean} of {listed(names)}' for mean, names in systems.items())}"


def _describe_bins(results: Sequence[Scored]) -> dict[str, str]:
    """Return the titles of bins of labels or groups of rows, by name."""
    titles = {}
    for result in results:
        propensities = result.propensities
        source = propensities.source if propensities is not None and propensities.from_truth else ""
        titles.update({part.bin.name: part.bin.describe(source) for part in result.slices})
    return titles


def _describe_scoring(
    results: Sequence[Scored], lines: Sequence[SystemLine], layout: Layout, *, are_named: bool
) -> Iterator[str]:
    """Yield the lines below a table: facts, cautions, how bins add up, propensities, options, ties, filters."""
    yield from shared_lines(results, "facts")
    if layout.intervals is not False:
        yield from describe_cautions(lines)
    yield from _explain_bins(results)
    yield from dict.fromkeys(
        describe_propensities(result.propensities) for result in results if result.propensities is not None
    )
    names = [name for name, spec in specs().items() if spec.shown not in ELSEWHERE]
    texts = []
    for result in results:
        options = {name: result.options[name] for name in names if name in result.options}
        lists = {name: ",".join(map(str, value)) for name, value in options.items() if isinstance(value, list)}
        words = (name if value is True else f"{name}={lists.get(name, value)}" for name, value in options.items())
        texts.append(" · ".join(words))
    yield from (f"options: {text}" for text in dict.fromkeys(texts) if text)
    for result in results:
        name = f"{result.name}: " if are_named else ""
        yield from (f"{name}{line}" for line in _describe_ties(result, layout))
        if result.filtered is not None:
            yield f"{name}{result.filtered}"


def _explain_bins(results: Sequence[Scored]) -> Iterator[str]:
    """Explain which values of bins add up to the values above them, and which do not."""
    kinds: dict[str, dict[str, None]] = {"share": {}, "average": {}, "group": {}}
    for figure in (figure for result in results for part in result.slices for figure in part.figures):
        kinds[figure.kind][figure.measure.head] = None
    shares, averages = kinds["share"], kinds["average"]
    if kinds["group"]:
        yield "in groups: values are of the instances of each group alone, and do not add up to the total"
    texts = [f"{listed(shares)} {'adds' if len(shares) == 1 else 'add'} up to the total"] if shares else []
    texts += (
        [f"{listed(averages)} {'is' if len(averages) == 1 else 'are'} averaged within each bin"] if averages else []
    )
    if texts:
        yield f"in bins: {'; '.join(texts)}"


def describe_propensities(model: Propensities) -> str:
    """Describe the constants and the source of propensities."""
    if model.n is None:
        return f"inverse propensities from {model.source}"
    warning = " itself: not comparable with published values" if model.from_truth else ""
    return f"propensities: A={model.a:g} B={model.b:g}, N={model.n:,} from {model.source}{warning}"


def _rows(figures: Iterable[Value], layout: Layout) -> tuple[Row, ...]:
    """Build one row per metric, and one per ceiling below it."""
    rows: dict[str, dict[str, Cell]] = {}
    ceilings: dict[str, str] = {}
    for figure in figures:
        measure, estimate = figure.measure, figure.estimate
        head, column = measure.head, f"@{measure.cutoff}" if measure.cutoff else ""
        value = layout.format(measure, estimate.value)
        rows.setdefault(head, {})[column] = Cell(value, format_interval(figure, layout))
        if estimate.ceiling is not None:
            ceilings[f"{head} {CEILING}"] = head
            rows.setdefault(f"{head} {CEILING}", {})[column] = Cell(layout.format(measure, estimate.ceiling))
    return tuple(Row(head, cells, ceilings.get(head)) for head, cells in rows.items())


def _describe_ties(result: Scored, layout: Layout) -> Iterator[str]:
    """Yield how many instances have ties, then at each cutoff the metric that these could move furthest."""
    counts, texts = result.counts, []
    across = [(k, rows) for k, rows in counts.tied_rows.items() if rows]
    if across:
        (k, rows), *others = across
        numbers = [f"{counted(rows, 'instance')} @{k}", *(f"{rows:,} @{k}" for k, rows in others)]
        texts.append(f"ties across a cutoff: {', '.join(numbers)}")
    if counts.inside_ties:
        texts.append(f"{'inside only' if across else 'ties inside the cutoffs only'}: {counts.inside_ties:,}")
    if texts:
        yield " · ".join(texts)
    furthest: dict[str, tuple[float, str]] = {}  # by cutoff, with bounds that differ as printed
    for measure, estimate in ((figure.measure, figure.estimate) for figure in result.figures):
        furthest.setdefault(measure.cutoff, (-1.0, ""))
        if estimate.tie_low is None or estimate.tie_high is None:
            continue
        low, high = layout.format(measure, estimate.tie_low), layout.format(measure, estimate.tie_high)
        size = estimate.tie_high - estimate.tie_low
        if low != high and size > furthest[measure.cutoff][0]:
            furthest[measure.cutoff] = size, f"{measure.name} {low}..{high}"
    moves = ", ".join(text for _, text in furthest.values() if text)
    if moves:
        yield f"ties could move {moves}"
