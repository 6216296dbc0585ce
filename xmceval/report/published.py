"""Where a system's numbers would stand among the published ones of its data set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from xmceval.errors import UsageError
from xmceval.labels.catalogue import METRICS_PUBLISHED, Published, find
from xmceval.labels.standings import SHOWN, SUSPECT, Standings, _is_comparable, stand
from xmceval.report.columns import columns

if TYPE_CHECKING:
    from xmceval.report.result import Result


def among(dataset: str | None) -> Callable[[Result], Result]:
    """Return what adds to a result where its numbers would stand.

    Values weighted by other propensities than those of the set are left out.

    Raises
    ------
    UsageError
        No data set, or one that is not in the catalogue.
    """
    if dataset is None:
        raise UsageError("published values are those of a data set: name it (hint: --dataset NAME)")
    entry = find(dataset)

    def add(result: Result) -> Result:
        metrics = [
            name
            for name in METRICS_PUBLISHED
            if not name.startswith("PS") or _is_comparable(result.propensities, entry)
        ]
        return replace(result, published=stand(dict(result), entry.name, metrics))

    return add


def below_table(standings: Standings, system: str = "") -> Iterator[str]:
    """Write the places as lines to stand below a table of results, in percent."""
    about = f"{system}: " if system else ""
    if not standings.places:
        yield f"{about}nothing is published for {standings.dataset} that these values could be held against"
        return
    yield f"{about}among the published results for {standings.dataset} ({SUSPECT} marks rows with suspect figures)"
    shown = [place for place in standings.places if place.metric in SHOWN] or standings.places
    yield from columns(
        [
            (
                f"  {place.metric}",
                f"{100 * place.value:.2f}",
                f"{place.rank - 1} of {place.of} are higher",
                _neighbour("below", place.above, place.metric),
                _neighbour("above", place.below, place.metric),
            )
            for place in shown
        ],
        right=frozenset({1}),
    )


def _neighbour(word: str, row: Published | None, metric: str) -> str:
    return f"{word} {row.method}{SUSPECT if row.suspect else ''} {100 * row.values[metric]:.2f}" if row else ""
