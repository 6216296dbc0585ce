"""Systems of a benchmark: their predictions on each data set, or the values that were published for them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Real
from typing import Any

from xmceval.api.comparing.runs import are_runs
from xmceval.benchmarks.config import PLACEHOLDER, Config, Keys, is_path, show
from xmceval.benchmarks.datasets import ABOVE, DatasetPlan
from xmceval.errors import DataError, UsageError, counted, listed
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import parse
from xmceval.rows.shards import parts_of
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.options import Options, specs

SYSTEM_KEYS = ("path", "runs", "paths", "published", "source")


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
    config.check_keys(keys, table, SYSTEM_KEYS)
    source = table.get("source", "")
    if not isinstance(source, str):
        config.refuse(keys, f"source must be a string, got {show(source)}")
        source = ""
    origins = [origin for origin in ("path", "runs", "published") if origin in table]
    if "published" in table and "paths" in table:
        origins.append("paths")
    if len(origins) > 1:
        config.refuse(keys, f"{name} has {listed(origins, 'and')}: expected one of them")
    elif "published" in table:
        return SystemPlan(name, published=_read_published(config, keys, table, datasets, columns), source=source)
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
    everywhere = [table[origin] for origin in ("path", "runs") if origin in table]
    for value in [*everywhere, *paths.values()]:
        if not (is_path(value) or _is_list_of_runs(config, value) or config.is_matrix(value)):
            config.refuse(keys, f"{name} must be a path, a list of paths or a table, got {show(value)}")
            return SystemPlan(name)
    predictions, missing = {}, {}
    for dataset in datasets:
        is_own = dataset.name in paths
        if not (is_own or everywhere):
            missing[dataset.name] = "no path is given"
            continue
        value = paths[dataset.name] if is_own else everywhere[0]
        try:
            predictions[dataset.name] = _find_predictions(config, value, dataset.folder)
        except DataError as error:
            missing[dataset.name] = str(error)
            continue
        if "runs" in table and not is_own and is_path(value):  # a pattern stands for runs there, and not for shards
            predictions[dataset.name] = list(parts_of(predictions[dataset.name]))
    if missing and not predictions:  # as a typing mistake in the path gives
        first, *others = dict.fromkeys(missing.values())
        more = f" and {counted(len(others), 'other')}" if others else ""
        config.refuse(keys, f"{name} has no predictions: {first}{more}{_hint_at_option(name, everywhere)}")
    return SystemPlan(name, predictions, missing)


def _find_predictions(config: Config, value: Any, folder: str) -> Any:
    """Return the predictions of a system on a data set, as `xmceval.compare` takes them."""
    if _is_list_of_runs(config, value):
        return [_find_predictions(config, run, folder) for run in value]
    return config.find_file(value, folder) if is_path(value) else value


def _is_list_of_runs(config: Config, value: Any) -> bool:
    """Return whether a value is a list of runs: of paths, in a dict also of matrices."""
    return isinstance(value, (list, tuple)) and are_runs(value) and (config.path is None or all(map(is_path, value)))


def _hint_at_option(name: str, values: Sequence[Any]) -> str:
    """Return a hint for what may be an option of the benchmark that got into [systems]."""
    is_option = name in {*specs(Options), *specs(Testing)}
    looks_like_path = any(mark in str(value) for value in values for mark in ("/", PLACEHOLDER))
    return f"; {name} is an option{ABOVE}" if is_option and not looks_like_path else ""


def _read_published(
    config: Config, keys: Keys, table: Mapping[str, Any], datasets: Sequence[DatasetPlan], columns: Sequence[Measure]
) -> dict[str, dict[str, float]]:
    """Read values that were typed into the file, by data set and metric; shares become fractions."""
    keys = (*keys, "published")
    rows = config.table(keys, table["published"], 'values by data set, such as { Bibtex = { "P@1" = 64.53 } }')
    config.check_keys(keys, rows, [dataset.name for dataset in datasets])
    return {
        name: _read_values(config, (*keys, name), config.table((*keys, name), row, "values by metric"), columns)
        for name, row in rows.items()
    }


def _read_values(config: Config, keys: Keys, row: Mapping[str, Any], columns: Sequence[Measure]) -> dict[str, float]:
    """Read the published values of a system on a data set, whose shares are in percent."""
    values: dict[str, float] = {}
    shares: list[float] = []
    for name, value in row.items():
        try:
            measures = parse(name)
        except UsageError as error:
            config.refuse(keys, str(error))
            continue
        if len(measures) != 1 or measures[0] not in columns:
            config.refuse(keys, f"{name} is none of the columns {listed(columns)}")
        elif isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
            config.refuse(keys, f"{name} must be a number, got {show(value)}")
        elif measures[0].metric.unit == "share":
            shares.append(float(value))
            values[measures[0].name] = float(Fraction(repr(value)) / 100)  # 64.53 is 0.6453, not 0.64530000001
        else:
            values[measures[0].name] = float(value)
    largest = max(shares, key=abs, default=0.0)
    if 0 < largest <= 1:
        hint = f"(hint: {100 * largest:.4g})"
        config.refuse(keys, f"{largest} looks like a fraction, and published shares are in percent {hint}")
    return values
