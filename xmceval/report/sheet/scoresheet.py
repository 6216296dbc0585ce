"""The sheet of results: one or more systems that were scored on the same truth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from xmceval.errors import averaged, counted, listed
from xmceval.labels.propensity import Propensities
from xmceval.report.forms.layout import DEFAULT, Layout
from xmceval.report.scored import Scored, shared_lines
from xmceval.report.sheet.model import Cell, Row, Section, Sheet, transpose
from xmceval.report.sheet.systemtable import (
    CEILING,
    Signs,
    SystemLine,
    describe_cautions,
    explain_table,
    format_interval,
    make_columns,
    make_section,
)
from xmceval.scoring.options import specs
from xmceval.scoring.summary import Figure, Slice

NO_SIGNS = Signs()
ELSEWHERE = ("table", "propensities")  # where options are shown; propensities that no metric uses change no number


def build_sheet(results: Sequence[Scored], layout: Layout = DEFAULT) -> Sheet:
    """Build the sheet of one or more systems that were scored on the same truth."""
    if len(results) == 1:
        sheet = _build_single(results[0], layout)
    else:
        sheet = build_systems_sheet(results, [SystemLine.of(result) for result in results], layout)
    return transpose(sheet) if layout.transpose else sheet


def _build_single(result: Scored, layout: Layout) -> Sheet:
    """Build the sheet of one system: one line per metric, one column per cutoff."""
    bins = (Section(_describe_bin(result, part), _rows(part.figures, layout), part.bin.name) for part in result.slices)
    sections = (Section("", _rows(result.figures, layout)), *bins)
    return Sheet(
        above=tuple(_describe_input([result])),
        columns=tuple(dict.fromkeys(column for section in sections for row in section.rows for column in row.cells)),
        sections=sections,
        below=(
            *shared_lines([result], "facts"),
            *_describe_intervals([SystemLine.of(result)], layout),
            *_describe_scoring([result]),
            *_describe_system(result, layout),
        ),
        layout=layout,
    )


def build_systems_sheet(
    results: Sequence[Scored], lines: Sequence[SystemLine], layout: Layout, signs: Signs = NO_SIGNS
) -> Sheet:
    """Build the sheet of several systems: a line for each result and mean over runs, a column per metric and cutoff."""
    measures, groups = make_columns(lines)
    bins = {part.bin.name: _describe_bin(result, part) for result in results for part in result.slices}
    return Sheet(
        above=tuple(_describe_input(results)),
        columns=tuple(measures),
        sections=(
            make_section(lines, layout, signs),
            *(make_section(lines, layout, signs, bin_name=name, title=title) for name, title in bins.items()),
        ),
        below=(
            *shared_lines(results, "facts"),
            *_describe_intervals(lines, layout),
            *_describe_scoring(results),
            *(f"{result.name}: {line}" for result in results for line in _describe_system(result, layout)),
        ),
        layout=layout,
        notes=tuple(explain_table(measures, signs)),
        groups=groups,
    )


def _describe_input(results: Sequence[Scored]) -> Iterator[str]:
    """Describe the size of the truth and of the predictions, by system where it differs."""
    counts = results[0].counts
    predictions = {
        result.name: _mean_per_instance(result, result.counts.n_predictions, "prediction") for result in results
    }
    is_known = all(result.counts.are_known for result in results)
    is_common = len(set(predictions.values())) == 1 or not is_known
    truth = _mean_per_instance(results[0], counts.n_true, "true label")
    size = f"{counted(counts.n_instances, 'instance')} · {counted(counts.n_labels, 'label')}"
    yield f"{size} · {f'{truth} and {predictions[results[0].name]}' if is_common else truth} per instance"
    if not is_common:
        systems: dict[str, list[str]] = {}
        for name, mean in predictions.items():
            systems.setdefault(mean, []).append(name)
        yield f"per instance: {'; '.join(f'{mean} of {listed(names)}' for mean, names in systems.items())}"


def _describe_intervals(lines: Sequence[SystemLine], layout: Layout) -> Iterator[str]:
    """Say which intervals may be off, where they are shown."""
    yield from () if layout.intervals is False else describe_cautions(lines)


def _describe_scoring(results: Sequence[Scored]) -> Iterator[str]:
    """Explain values of bins, and describe propensities and options, which systems mostly share."""
    yield from explain_bins(results)
    yield from describe_propensities(results)
    yield from dict.fromkeys(line for result in results for line in _describe_options(result))


def _rows(figures: Iterable[Figure], layout: Layout) -> tuple[Row, ...]:
    """Build one row per metric, and one per ceiling below it."""
    rows: dict[str, dict[str, Cell]] = {}
    ceilings: dict[str, str] = {}
    for figure in figures:
        head, column, estimate = figure.measure.head, _column(figure), figure.estimate
        value = layout.format(figure.measure, estimate.value)
        rows.setdefault(head, {})[column] = Cell(value, format_interval(figure, layout))
        if estimate.ceiling is not None:
            ceilings[f"{head} {CEILING}"] = head
            rows.setdefault(f"{head} {CEILING}", {})[column] = Cell(layout.format(figure.measure, estimate.ceiling))
    return tuple(Row(head, cells, ceilings.get(head)) for head, cells in rows.items())


def _column(figure: Figure) -> str:
    return f"@{figure.measure.cutoff}" if figure.measure.cutoff else ""


def _mean_per_instance(result: Scored, number: int, noun: str) -> str:
    mean = averaged(number / max(result.counts.n_instances, 1))
    return f"{mean} {noun}" if mean == "1" else f"{mean} {noun}s"


def _describe_bin(result: Scored, part: Slice) -> str:
    propensities = result.propensities
    return part.bin.describe(propensities.source if propensities is not None and propensities.from_truth else "")


def explain_bins(results: Sequence[Scored]) -> Iterator[str]:
    """Explain which values of bins add up to the values above them, and which do not."""
    kinds: dict[str, list[str]] = {"share": [], "average": [], "group": []}
    for figure in (figure for result in results for part in result.slices for figure in part.figures):
        if figure.measure.head not in kinds[figure.kind]:
            kinds[figure.kind].append(figure.measure.head)
    shares, averages = kinds["share"], kinds["average"]
    texts = [f"{listed(shares)} {'adds' if len(shares) == 1 else 'add'} up to the total"] if shares else []
    if averages:
        texts.append(f"{listed(averages)} {'is' if len(averages) == 1 else 'are'} averaged within each bin")
    if kinds["group"]:
        yield "in groups: values are of the instances of each group alone, and do not add up to the total"
    if texts:
        yield f"in bins: {'; '.join(texts)}"


def describe_propensities(results: Sequence[Scored]) -> list[str]:
    """Describe the constants and the source of propensities, which systems mostly share."""
    models = [result.propensities for result in results if result.propensities is not None]
    return list(dict.fromkeys(map(_describe_propensities, models)))


def _describe_propensities(propensities: Propensities) -> str:
    source = propensities.source
    if propensities.n is None:
        return f"inverse propensities from {source}"
    warning = " itself: not comparable with published values" if propensities.from_truth else ""
    return f"propensities: A={propensities.a:g} B={propensities.b:g}, N={propensities.n:,} from {source}{warning}"


def _describe_options(result: Scored) -> Iterator[str]:
    """Describe the options that were not the default and are shown nowhere else."""
    texts = [
        describe_option(name, result.options[name])
        for name, spec in specs().items()
        if name in result.options and spec.shown not in ELSEWHERE
    ]
    if texts:
        yield f"options: {' · '.join(texts)}"


def describe_option(name: str, value: Any) -> str:
    """Write an option with its value; a flag as its name."""
    if value is True:
        return name
    return f"{name}={','.join(map(str, value)) if isinstance(value, list) else value}"


def _describe_system(result: Scored, layout: Layout) -> Iterator[str]:
    """Describe the ties of a system, and what a filter removed."""
    yield from describe_ties(result, layout)
    if result.filtered is not None:
        yield str(result.filtered)


def describe_ties(result: Scored, layout: Layout) -> Iterator[str]:
    """Describe the ties of a system: how many instances have any, then what they could move furthest."""
    counts = " · ".join(_count_ties(result))
    if counts:
        yield counts
    moves = ", ".join(_largest_moves(result, layout))
    if moves:
        yield f"ties could move {moves}"


def _count_ties(result: Scored) -> Iterator[str]:
    """Count the instances with ties that matter."""
    counts = result.counts
    across = [(k, rows) for k, rows in counts.tied_rows.items() if rows]
    if across:
        (k, rows), *others = across
        numbers = [f"{counted(rows, 'instance')} @{k}", *(f"{rows:,} @{k}" for k, rows in others)]
        yield f"ties across a cutoff: {', '.join(numbers)}"
    if counts.inside_ties:
        inside = "inside only" if across else "ties inside the cutoffs only"
        yield f"{inside}: {counts.inside_ties:,}"


def _largest_moves(result: Scored, layout: Layout) -> Iterator[str]:
    """Find for each cutoff the metric that ties could move furthest, with its bounds."""
    by_cutoff: dict[str, list[tuple[float, str]]] = {figure.measure.cutoff: [] for figure in result.figures}
    for figure, size, low, high in _find_moves(result, layout):
        by_cutoff[figure.measure.cutoff].append((size, f"{figure.name} {low}..{high}"))
    yield from (max(moves, key=lambda move: move[0])[1] for moves in by_cutoff.values() if moves)


def _find_moves(result: Scored, layout: Layout) -> Iterator[tuple[Figure, float, str, str]]:
    """Find the values that ties could move: by how much, and their bounds, where these differ as printed."""
    for figure in result.figures:
        least, greatest = figure.estimate.tie_low, figure.estimate.tie_high
        if least is None or greatest is None:
            continue
        low, high = layout.format(figure.measure, least), layout.format(figure.measure, greatest)
        if low != high:
            yield figure, greatest - least, low, high
