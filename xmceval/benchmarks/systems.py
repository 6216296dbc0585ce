"""Systems of a benchmark: their predictions on each data set, or the values that were published for them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from typing import Any

from xmceval.api.comparing.runs import are_runs
from xmceval.benchmarks.config import Config, Keys, is_path, show
from xmceval.benchmarks.datasets import DatasetPlan
from xmceval.errors import DataError, UsageError, listed
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import parse
from xmceval.rows.shards import parts_of


@dataclass(frozen=True)
class SystemPlan:
    """A system: its predictions on each data set, or values that were published for it."""

    name: str
    predictions: Mapping[str, Any] = field(default_factory=dict)  # by data set, as xmceval.compare takes them
    missing: Mapping[str, str] = field(default_factory=dict)  # by data set, why there are none
    published: Mapping[str, Mapping[str, float]] | None = None  # by data set and metric; None with predictions
    source: str = ""  # where the values were published


def read_systems(
    config: Config, datasets: Sequence[DatasetPlan], columns: Sequence[Measure], *, strict: bool
) -> list[SystemPlan]:
    """Read the systems in the order of the file; with `strict` missing predictions are mistakes."""
    if not config.tables.get("systems"):
        config.refuse((), 'there is no system (hint: [systems] NAME = "runs/{dataset}/NAME.npz")')
        return []
    systems = []
    for name, value in config.table(("systems",), config.tables["systems"], "a table of systems").items():
        is_table = isinstance(value, Mapping)
        keys: Keys = ("systems", name) if is_table else ("systems",)
        system = _read_system(config, keys, name, value if is_table else {"path": value}, datasets, columns)
        systems.append(system)
        for dataset, why in system.missing.items() if strict else ():
            config.refuse(keys, f"{system.name} on {dataset}: {why}")
    if systems and all(system.published is not None for system in systems):
        config.refuse(("systems",), "there are published values only, and nothing to score")
    return systems


def _read_system(
    config: Config,
    keys: Keys,
    name: str,
    table: Mapping[str, Any],
    datasets: Sequence[DatasetPlan],
    columns: Sequence[Measure],
) -> SystemPlan:
    """Read a system: ``path``, ``runs`` and ``paths`` name its predictions, ``published`` has values instead."""
    config.check_keys(keys, table, ["path", "runs", "paths", "published", "source"])
    source = table.get("source", "")
    if not isinstance(source, str):
        config.refuse(keys, f"source must be a string, got {show(source)}")
    exclusive = ("path", "runs", "published", "paths") if "published" in table else ("path", "runs")
    origins = [key for key in exclusive if key in table]
    if len(origins) > 1:
        config.refuse(keys, f"{name} has {listed(origins, 'and')}: expected one of them")
    elif "published" in table:
        keys = (*keys, "published")
        rows = config.table(keys, table["published"], 'values by data set, such as { Bibtex = { "P@1" = 64.53 } }')
        config.check_keys(keys, rows, [dataset.name for dataset in datasets])
        published = {dataset: _read_values(config, (*keys, dataset), row, columns) for dataset, row in rows.items()}
        return SystemPlan(name, published=published, source=source)
    elif not (origins or "paths" in table):
        config.refuse(keys, f"{name} has no predictions (hint: path, runs, paths or published)")
    else:
        return _find_system(config, keys, name, table, datasets)
    return SystemPlan(name)


def _find_system(
    config: Config, keys: Keys, name: str, table: Mapping[str, Any], datasets: Sequence[DatasetPlan]
) -> SystemPlan:
    """Find the predictions of a system on each data set."""
    paths = config.table((*keys, "paths"), table.get("paths", {}), "a table of paths by data set")
    config.check_keys((*keys, "paths"), paths, [dataset.name for dataset in datasets])
    everywhere = table.get("path", table.get("runs"))
    predictions, missing = {}, {}
    with config.noting(keys):
        for dataset in datasets:
            value = paths.get(dataset.name, everywhere)
            try:
                files = _find_predictions(config, name, value, dataset.folder)
            except DataError as error:
                missing[dataset.name] = str(error)
                continue
            is_pattern_of_runs = "runs" in table and dataset.name not in paths and is_path(value)
            predictions[dataset.name] = list(parts_of(files)) if is_pattern_of_runs else files
        if missing and not predictions:  # as a typing mistake in the path gives
            raise UsageError(f"{name} has no predictions: {next(iter(missing.values()))}")
    return SystemPlan(name, predictions, missing)


def _find_predictions(config: Config, name: str, value: Any, folder: str) -> Any:
    """Return the predictions of a system on a data set, as `xmceval.compare` takes them."""
    if value is None:
        raise DataError("no path is given")
    if isinstance(value, (list, tuple)) and are_runs(value) and (config.path is None or all(map(is_path, value))):
        return [_find_predictions(config, name, run, folder) for run in value]
    if is_path(value):
        return config.find_file(value, folder)
    if not config.is_matrix(value):
        raise UsageError(f"{name} must be a path, a list of paths or a table, got {show(value)}")
    return value


def _read_values(config: Config, keys: Keys, row: Any, columns: Sequence[Measure]) -> dict[str, float]:
    """Read the published values of a system on a data set, whose shares are in percent; no columns: unknown ones."""
    values: dict[Measure, float] = {}
    for name, value in config.table(keys, row, "values by metric").items():
        with config.noting(keys):
            measure, *others = parse(name)
            if others or (columns and measure not in columns):
                raise UsageError(f"{name} is none of the columns {listed(columns)}")
            if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
                raise UsageError(f"{name} must be a number, got {show(value)}")
            values[measure] = float(value)
    shares = {measure: value for measure, value in values.items() if measure.metric.unit == "share"}
    largest = max(shares.values(), key=abs, default=0.0)
    if 0 < largest <= 1:
        hint = f"(hint: {100 * largest:.4g})"
        config.refuse(keys, f"{largest} looks like a fraction, and published shares are in percent {hint}")
    fractions = {measure: float(Fraction(repr(value)) / 100) for measure, value in shares.items()}  # 64.53 is 0.6453
    return {measure.name: fractions.get(measure, value) for measure, value in values.items()}
