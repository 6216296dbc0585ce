"""Rank values of a system within the published results of its data set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xmceval.errors import UsageError, argument
from xmceval.labels.catalogue import METRICS_PUBLISHED, Dataset, Published, find_dataset, published

if TYPE_CHECKING:
    from xmceval.labels.propensity import Propensities


@dataclass(frozen=True)
class Standing:
    """The rank of one value within published ones.

    Attributes
    ----------
    metric : str
    value : float
    rank : int
        1 where no published value is higher.
    n_published : int
    above, below : Published or None
        The rows with the next higher and the next lower (or equal) value.
    """

    metric: str
    value: float
    rank: int
    n_published: int
    above: Published | None
    below: Published | None


@dataclass(frozen=True)
class Standings:
    """The ranks of a system's values within the published results of a data set.

    ``not_ranked`` is why there are none, where the values are not comparable; otherwise empty.
    """

    dataset: str
    places: tuple[Standing, ...]
    not_ranked: str = ""


def require_dataset(name: str | None) -> Dataset:
    """Find the data set whose published results are asked for.

    Raises
    ------
    UsageError
        No name, or one that is not in the catalogue.
    """
    if name is None:
        raise UsageError(f"published results are those of a data set (hint: pass {argument('dataset', kind='NAME')})")
    return find_dataset(name)


def rank_among_published(
    values: Mapping[str, float], dataset: str, metrics: Sequence[str] = METRICS_PUBLISHED
) -> Standings:
    """Rank values, fractions by canonical name of the metric, within the published results of a data set.

    Only `metrics` that have a value and published ones are ranked.
    """
    entry = find_dataset(dataset)
    rows = published(entry.name)
    places = (_rank_value(metric, values[metric], rows) for metric in metrics if metric in values)
    return Standings(entry.name, tuple(place for place in places if place.n_published))


def find_comparable_metrics(propensities: Propensities | None, entry: Dataset) -> tuple[str, ...]:
    """Return the published metrics that values with these propensities may be compared with.

    Propensity-scored ones are comparable only with the propensities of the data set itself: those of its training
    labels with its A and B, or given ones, whose origin is unknown.
    """
    is_comparable = (
        propensities is not None
        and not propensities.from_truth
        and (propensities.n is None or (propensities.a, propensities.b) == (entry.a, entry.b))
    )
    return tuple(name for name in METRICS_PUBLISHED if is_comparable or not name.startswith("PS"))


def _rank_value(metric: str, value: float, table: Sequence[Published]) -> Standing:
    rows = sorted((row for row in table if metric in row.values), key=lambda row: -row.values[metric])
    above = [row for row in rows if row.values[metric] > value]
    below = rows[len(above) :]
    return Standing(metric, value, len(above) + 1, len(rows), above[-1] if above else None, below[0] if below else None)
