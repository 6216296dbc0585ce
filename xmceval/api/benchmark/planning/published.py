"""Published results in a benchmark: which data set of the catalogue one is, and the rows that are shown beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from xmceval.api.benchmark.plan import PlannedDataset
from xmceval.api.benchmark.planning.predictionfiles import SystemEntry
from xmceval.errors import UsageError, listed
from xmceval.files.text.configfile import ConfigFile, header, show_value, suggest
from xmceval.labels.catalogue import METRICS_PUBLISHED, Dataset, Published, Sizes, datasets, find_dataset, published
from xmceval.labels.propensity import constants
from xmceval.scoring.options import Options


def find_entry(config: ConfigFile, key: str, catalogue: Any) -> Dataset | None:
    """Find the data set of the catalogue that a key means, or the value of ``catalogue``; False means none."""
    keys = ("datasets", key, "catalogue")
    if catalogue is not None and catalogue is not False and not isinstance(catalogue, str):
        config.refuse(keys, f"catalogue in {header(keys[:-1])} must be a name or false, got {show_value(catalogue)}")
    if catalogue is False:
        return None
    try:
        return find_dataset(catalogue if isinstance(catalogue, str) else key)
    except UsageError:
        if isinstance(catalogue, str):
            hint = suggest(catalogue, list(datasets())) or " (hint: xmceval datasets lists all)"
            config.refuse(keys, f"the catalogue has no data set {catalogue!r}{hint}")
        return None


def add_published(
    config: ConfigFile, planned: Sequence[PlannedDataset], systems: Sequence[SystemEntry]
) -> list[PlannedDataset]:
    """Return data sets with the published rows of systems; one that has none of them is a mistake."""
    shown = [each for each in systems if each.method]
    found = [_with_rows(dataset, shown) for dataset in planned]
    for system in shown:
        if not (any(system.name in each.published for each in found) or config.is_broken(system.keys)):
            message = f"{system.method} is published for none of these data sets"
            config.refuse(system.keys, message + _hint_at_rows(system, found))
    return found


def _with_rows(dataset: PlannedDataset, systems: Sequence[SystemEntry]) -> PlannedDataset:
    entry = dataset.entry
    if not systems:
        return dataset
    if entry is None:
        return replace(dataset, unpublished={each.name: "not in the catalogue" for each in systems})
    columns = {measure.name for measure in dataset.options.measures}
    metrics = columns & set(_comparable_metrics(dataset.options, entry))
    table, rows, whys = published(entry.name), {}, {}
    for each in systems:
        row = _find_row(each.method, table)
        if row is None:
            whys[each.name] = f"{entry.name} has no published results of {each.method}"
            continue
        values = {name: value for name, value in row.values.items() if name in metrics}
        if values:
            rows[each.name] = replace(row, values=MappingProxyType(values))
        else:
            whys[each.name] = "none of these metrics is published"
    return replace(dataset, published=rows, unpublished=whys, notes=(*dataset.notes, *_doubt(columns - metrics, entry)))


def _doubt(columns: Set[str], entry: Dataset) -> Iterator[str]:
    """Yield which published values are left out of columns because of other A and B."""
    names = [name for name in METRICS_PUBLISHED if name in columns]
    if names:
        yield f"no published {listed(names)}: those of {entry.name} have {entry.constants}"


def _comparable_metrics(options: Options, entry: Dataset) -> Sequence[str]:
    """Return the published metrics that are comparable: with other A and B those without propensities.

    The origin of 1/p that is passed is unknown.
    """
    if options.inverse_propensities is not None:
        return METRICS_PUBLISHED
    used = constants(None if options.dataset is None else find_dataset(options.dataset), options.a, options.b)
    return [name for name in METRICS_PUBLISHED if used == (entry.a, entry.b) or not name.startswith("PS")]


def _find_row(method: str, table: Sequence[Published]) -> Published | None:
    """Return the row of a method, of several the best; capitals need not be as published."""
    rows = [row for row in table if row.method == method] or [
        row for row in table if row.method.lower() == method.lower()
    ]
    return rows[0] if rows else None


def _hint_at_rows(system: SystemEntry, planned: Sequence[PlannedDataset]) -> str:
    entries = [dataset.entry for dataset in planned if dataset.entry is not None]
    if not entries:
        return ' (hint: catalogue = "NAME" in a data set says which one of the catalogue it is)'
    rows = [row for entry in entries if (row := _find_row(system.method, published(entry.name)))]
    if rows:
        values = next((row.values for row in rows if row.values), {})
        return f": it has other metrics only ({listed(values)})" if values else ": its row has no values"
    return suggest(system.method, {row.method: row.method for entry in entries for row in published(entry.name)})


def keep_comparable(dataset: PlannedDataset, sizes: Sizes) -> PlannedDataset:
    """Return a data set without published rows where its sizes, as scored, are not those of the catalogue."""
    why = "" if dataset.entry is None else dataset.entry.forbids_ranking(sizes)
    if not why:
        return dataset
    whys: Mapping[str, str] = {**dict.fromkeys(dataset.published, why), **dataset.unpublished}
    return replace(dataset, published={}, unpublished=whys)
