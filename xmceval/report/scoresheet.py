"""The sheet of results: one or more systems that were scored on the same truth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from xmceval.errors import counted, listed
from xmceval.labels.catalogue import Published
from xmceval.labels.standings import Standings
from xmceval.report.datasets import SUSPECT
from xmceval.report.layout import DEFAULT, Layout
from xmceval.report.result import Result
from xmceval.report.sheet import Cell, Listing, Row, Section, Sheet
from xmceval.scoring.finish import Figure, Slice
from xmceval.scoring.options import specs

# The published metrics that a sheet shows, where there are values of any of them.
PUBLISHED_SHOWN = ("P@1", "P@3", "P@5", "nDCG@5", "PSP@1", "PSP@3", "PSP@5")


def build_sheet(results: Sequence[Result], layout: Layout = DEFAULT) -> Sheet:
    """Build the sheet of one or more systems that were scored on the same truth."""
    is_one = len(results) == 1
    predictions = [_mean_per_instance(result, result.counts.n_predictions, "prediction") for result in results]
    is_known = all(result.counts.n_labels for result in results)  # saved rows of other tools have no counts
    is_common = len(set(predictions)) == 1 or not is_known
    truth = _mean_per_instance(results[0], results[0].counts.n_true, "true label")
    sections: list[Section] = []
    for result, predicted in zip(results, predictions, strict=True):
        title = result.name if is_common else f"{result.name} · {predicted} per instance"
        sections.extend(_sections(result, layout, title="" if is_one else title))
    lines = (
        line
        for describe in (_describe_propensities, _describe_options)
        for result in results
        for line in describe(result)
    )
    counts = results[0].counts
    size = f"{counted(counts.n_instances, 'instance')} · {counted(counts.n_labels, 'label')}"
    return Sheet(
        above=(f"{size} · {f'{truth} and {predictions[0]}' if is_common else truth} per instance",),
        columns=tuple(dict.fromkeys(column for section in sections for row in section.rows for column in row.cells)),
        sections=tuple(sections),
        below=(
            *_explain_bins(results),
            *dict.fromkeys(lines),
            *(_describe_system(results[0], layout) if is_one else ()),
        ),
        listings=tuple(
            _list_standings(result.published, "" if is_one else result.name)
            for result in results
            if result.published is not None
        ),
        layout=layout,
    )


def _sections(result: Result, layout: Layout, title: str) -> list[Section]:
    """Build the section of a system and those of its bins; lines on one of several systems follow its last section."""
    sections = [Section(title, _rows(result.figures, layout))]
    sections.extend(Section(_describe_bin(result, part), _rows(part.figures, layout)) for part in result.slices)
    if title:
        last = sections.pop()
        sections.append(Section(last.title, last.rows, tuple(_describe_system(result, layout))))
    return sections


def _rows(figures: Iterable[Figure], layout: Layout) -> tuple[Row, ...]:
    """Build one row per metric, and one per ceiling below it."""
    rows: dict[str, dict[str, Cell]] = {}
    for figure in figures:
        head, column, estimate = figure.measure.head, _column(figure), figure.estimate
        margin = "" if estimate.high is None else layout.format(figure.measure, estimate.high - estimate.value)
        rows.setdefault(head, {})[column] = Cell(layout.format(figure.measure, estimate.value), margin)
        if estimate.ceiling is not None:
            rows.setdefault(f"{head} ceiling", {})[column] = Cell(layout.format(figure.measure, estimate.ceiling))
    return tuple(Row(head, cells) for head, cells in rows.items())


def _column(figure: Figure) -> str:
    return f"@{figure.measure.cutoff}" if figure.measure.cutoff else ""


def _mean_per_instance(result: Result, number: int, noun: str) -> str:
    mean = f"{number / max(result.counts.n_instances, 1):.3g}"
    return f"{mean} {noun}" if mean == "1" else f"{mean} {noun}s"


def _describe_bin(result: Result, part: Slice) -> str:
    propensities = result.propensities
    return part.bin.describe(propensities.source if propensities is not None and propensities.from_truth else "")


def _explain_bins(results: Sequence[Result]) -> Iterator[str]:
    """Explain which values of bins add up to the values above them, and which do not."""
    kinds: dict[str, list[str]] = {"share": [], "average": []}
    for figure in (figure for result in results for part in result.slices for figure in part.figures):
        if figure.measure.head not in kinds[figure.kind_in_bin]:
            kinds[figure.kind_in_bin].append(figure.measure.head)
    texts = []
    if kinds["share"]:
        texts.append(f"shares that add up to the total: {listed(kinds['share'])}")
    if kinds["average"]:
        texts.append(f"averages within the bin: {listed(kinds['average'])}")
    if texts:
        yield f"values of bins: {'; '.join(texts)}"


def _describe_propensities(result: Result) -> Iterator[str]:
    propensities = result.propensities
    if propensities is None:
        return
    source = propensities.source
    if propensities.n is None:
        yield f"inverse propensities from {source}"
        return
    warning = " itself: not comparable with published values" if propensities.from_truth else ""
    yield f"propensities: A={propensities.a:g} B={propensities.b:g}, N={propensities.n:,} from {source}{warning}"


def _describe_options(result: Result) -> Iterator[str]:
    """Describe the options that were not the default and are shown nowhere else."""
    elsewhere = {"table"} if result.propensities is None else {"table", "propensities"}
    texts = [
        _describe_option(name, result.options[name])
        for name, spec in specs().items()
        if name in result.options and spec.shown not in elsewhere
    ]
    if texts:
        yield f"options: {' · '.join(texts)}"


def _describe_option(name: str, value: Any) -> str:
    if value is True:
        return name
    return f"{name}={','.join(map(str, value)) if isinstance(value, list) else value}"


def _describe_system(result: Result, layout: Layout) -> Iterator[str]:
    """Describe the ties of a system, and what a filter removed."""
    ties = [*_count_ties(result)]
    moves = ", ".join(_largest_moves(result, layout))
    if moves:
        ties.append(moves if ties else f"ties: {moves}")
    if ties:
        yield " · ".join(ties)
    if result.filtered is not None:
        yield str(result.filtered)


def _count_ties(result: Result) -> Iterator[str]:
    """Count the instances with ties that matter."""
    counts = result.counts
    across = [(k, rows) for k, rows in counts.tied_rows.items() if rows]
    if across:
        (k, rows), *others = across
        numbers = [f"{counted(rows, 'instance')} @{k}", *(f"{rows:,} @{k}" for k, rows in others)]
        yield f"ties across a cutoff: {', '.join(numbers)}"
    if counts.inside_ties:
        yield f"ties inside the cutoffs only: {counts.inside_ties:,}"


def _largest_moves(result: Result, layout: Layout) -> list[str]:
    """Find for each cutoff the metric that ties could move furthest, with its bounds where they differ as printed."""
    moves = {_column(figure): (0.0, "") for figure in result.figures}
    for figure in result.figures:
        bounds = figure.estimate.tie_low, figure.estimate.tie_high
        if bounds[0] is None or bounds[1] is None:
            continue
        low, high = (layout.format(figure.measure, bound) for bound in bounds if bound is not None)
        column, move = _column(figure), bounds[1] - bounds[0]
        if low != high and move > moves[column][0]:
            moves[column] = move, f"{figure.name} {low}..{high}"
    return [text for _, text in moves.values() if text]


def _list_standings(standings: Standings, system: str) -> Listing:
    """List ranks within published results, with the next higher and lower row."""
    about, name = f"{system}: " if system else "", standings.dataset
    if standings.not_ranked:
        return Listing(f"{about}not compared with published results for {name}: {standings.not_ranked}", ())
    if not standings.places:
        return Listing(f"{about}no published results for {name} to compare these values with", ())
    places = [place for place in standings.places if place.metric in PUBLISHED_SHOWN] or standings.places
    return Listing(
        f"{about}compared with published results for {name} ({SUSPECT} marks rows with suspect values)",
        tuple(
            (
                place.metric,
                f"{100 * place.value:.2f}",
                f"{place.rank - 1} of {place.n_published} {'is' if place.rank == 2 else 'are'} higher",
                _describe_neighbour("below", place.above, place.metric),
                _describe_neighbour("above", place.below, place.metric),
            )
            for place in places
        ),
    )


def _describe_neighbour(word: str, row: Published | None, metric: str) -> str:
    return f"{word} {row.method}{SUSPECT if row.suspect else ''} {100 * row.values[metric]:.2f}" if row else ""
