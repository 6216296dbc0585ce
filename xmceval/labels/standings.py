"""Where a system's numbers would stand among the published ones of its data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from xmceval.labels.catalogue import METRICS_PUBLISHED, Dataset, Published, find, published

if TYPE_CHECKING:
    from xmceval.labels.propensity import Propensities


SHOWN = ("P@1", "P@5", "nDCG@5", "PSP@1", "PSP@5")

SUSPECT = "!"


@dataclass(frozen=True)
class Standing:
    """The place of one value among published ones: at `rank` 1 none of the `of` is higher.

    ``above`` and ``below`` are the rows next to it, None at either end.
    """

    metric: str
    value: float
    rank: int
    of: int
    above: Published | None
    below: Published | None

    def as_dict(self) -> dict[str, Any]:
        """Return what the JSON report says of it."""
        return {
            "rank": self.rank,
            "of": self.of,
            **{
                side: row and {"method": row.method, "value": row.values[self.metric], "suspect": row.suspect or None}
                for side, row in (("above", self.above), ("below", self.below))
            },
        }


@dataclass(frozen=True)
class Standings:
    """Places of a system's values in the published table of a data set."""

    dataset: str
    places: tuple[Standing, ...]

    def as_dict(self) -> dict[str, Any]:
        """Return what the JSON report says of them."""
        return {"dataset": self.dataset, "metrics": {place.metric: place.as_dict() for place in self.places}}


def stand(values: Mapping[str, float], dataset: str, metrics: Sequence[str] = METRICS_PUBLISHED) -> Standings:
    """Find the places of those values, fractions by canonical name, that are also published for a data set."""
    entry = find(dataset)
    table = published(entry.name)
    found = (_place(metric, values[metric], table) for metric in metrics if metric in values)
    return Standings(entry.name, tuple(place for place in found if place.of))


def _is_comparable(known: Propensities | None, entry: Dataset) -> bool:
    """Whether propensities are the set's own, as far as one can tell."""
    return known is not None and not known.from_truth and (known.n is None or (known.a, known.b) == (entry.a, entry.b))


def _place(metric: str, value: float, table: Sequence[Published]) -> Standing:
    rows = sorted((row for row in table if metric in row.values), key=lambda row: -row.values[metric])
    above = [row for row in rows if row.values[metric] > value]
    below = rows[len(above) :]
    return Standing(metric, value, len(above) + 1, len(rows), above[-1] if above else None, below[0] if below else None)
