"""Read from a benchmark file which data sets to score, with which options, and which systems to compare."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from numbers import Real
from typing import Any

from xmceval.benchmarks.config import Config, Keys, are_paths, is_path, show
from xmceval.comparison.options import Testing
from xmceval.errors import DataError, UsageError, agreeing, listed
from xmceval.labels.catalogue import find_dataset
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import parse
from xmceval.rows.shards import Shards, parts_of
from xmceval.scoring.compile import compile_program
from xmceval.scoring.options import SOURCES, Options, Spec, specs
from xmceval.scoring.setup.resolve import are_runs
from xmceval.scoring.setup.truth import has_queries, with_query_metrics

NO_PATH = "no path is given"  # why a system has no predictions for a data set that its paths leave out


@dataclass(frozen=True)
class DatasetPlan:
    """A data set and how its systems are scored."""

    name: str
    folder: str  # the text that {dataset} in paths stands for
    truth: Any  # a path, a matrix or Shards
    options: Options  # without the metrics and bins whose inputs the data set lacks
    columns: tuple[Measure, ...]  # all metrics asked for
    notes: tuple[str, ...] = ()  # the options left out, and the inputs they need
    why: str = ""  # it cannot be scored, since files are missing
    lacking: str = ""  # the missing file of training labels, without which some metrics cannot be computed
    has_columns: bool = True  # whether the metrics are known; the default ones depend on the truth


def read_datasets(config: Config, threads: int | None) -> list[DatasetPlan]:
    """Read the tables of the data sets; missing files are mistakes if there are others, or no data set has its own."""
    if not config.tables.get("datasets"):
        config.refuse((), 'there is no data set (hint: [datasets.NAME] with truth = "FILE")')
        return []
    tables = config.table(("datasets",), config.tables["datasets"], "tables such as [datasets.NAME]")
    datasets = [_read_dataset(config, name, table, threads) for name, table in tables.items()]
    if config.mistakes or all(dataset.why or dataset.lacking for dataset in datasets):
        for dataset in datasets:
            for line in (*dataset.why.splitlines(), *dataset.lacking.splitlines()):
                config.refuse(("datasets", dataset.name), line)
    return datasets


def _read_dataset(config: Config, name: str, value: Any, threads: int | None) -> DatasetPlan:
    """Read a data set: its truth and options; those in its table override those at the top of the file."""
    keys = ("datasets", name)
    table = config.table(keys, value, 'a table with truth = "FILE"')
    for key in [key for key in table if key in specs(Testing)]:
        config.refuse(keys, f"{key} is an option of the whole benchmark (hint: it belongs above the first table)")
    config.check_keys(keys, table, ["truth", "folder", *specs(), *specs(Testing)])
    folder = table.get("folder", name)
    if not isinstance(folder, str):
        config.refuse(keys, f"folder must be a string, got {show(folder)}")
        folder = name
    if isinstance(value, Mapping) and "truth" not in table:
        config.refuse(keys, 'there is no truth (hint: truth = "FILE")')
    passed = dict(config.tables)
    with suppress(UsageError):  # the catalogue has no data set with this name
        passed["dataset"] = find_dataset(name).name
    passed |= table
    inputs = {key: passed[key] for key in ("truth", *specs()) if key in passed}
    missing = list[str]()
    lacking = dict[str, str]()
    for key in [key for key in inputs if key == "truth" or (specs()[key].is_file and inputs[key] is not None)]:
        try:
            inputs[key] = _find_input(config, keys, key, inputs[key], folder)
        except DataError as error:  # the name of an option stays, since the columns do not depend on its file
            if key in SOURCES:
                lacking[key] = f"{key}: {error}"
                continue
            missing.append(f"{key}: {error}")
            if key == "truth":
                inputs[key] = None
    truth = inputs.pop("truth", None)
    are_queries = None  # unknown without a truth
    options = Options()  # the defaults, used after a mistake
    with config.noting(keys):  # checks that scoring would make before reading a file
        options = Options.of(check_types(config, keys, specs(), inputs))
        options.refuse_groups("benchmark", "use compare, which tests differences within groups")
        if options.dataset is not None:
            find_dataset(options.dataset)
        compile_program(options.measures).check_ties(options.ties)
        if truth is not None and options.metrics is None:
            are_queries = has_queries(truth, options)
        if are_queries:
            options = with_query_metrics(options)
    without: dict[str, Any] = dict.fromkeys(lacking)
    kept, notes = leave_out_lacking(replace(options, threads=threads or options.threads, **without))
    if kept is None:
        missing += lacking.values()
        if not lacking:
            config.refuse(keys, f"there is nothing to score: {'; '.join(notes)}")
    return DatasetPlan(
        name,
        folder,
        truth,
        kept or options,
        options.measures,
        notes,
        "\n".join(missing),
        "\n".join(lacking.values()),
        options.metrics is not None or are_queries is not None,
    )


def _find_input(config: Config, keys: Keys, name: str, value: Any, folder: str) -> Any:
    """Return an input of a data set: a path that exists, Shards, or a matrix; None after a mistake.

    A missing file is a DataError, since only this data set depends on it.
    """
    if is_path(value):
        return config.find_file(value, folder)
    if config.is_matrix(value):
        return value
    expected = "a path"
    if name in {"truth", "train"}:
        expected = "a path or a list of paths"
        if are_paths(value):
            return Shards([config.find_file(path, folder) for path in value])
    config.refuse(keys, f"{name} must be {expected}, got {show(value)}")
    return None


def check_types(config: Config, keys: Keys, expected: Mapping[str, Spec], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options whose values have the right type; note the others as mistakes."""
    right = {}
    for name, value in values.items():
        kind = expected[name].expect(value)
        if kind:
            config.refuse(keys, f"{name} must be {kind}, got {show(value)}")
        else:
            right[name] = value
    return right


def leave_out_lacking(options: Options) -> tuple[Options | None, tuple[str, ...]]:
    """Leave out metrics and bins whose training labels are missing: nothing is estimated from the truth.

    The options are None if no metric is left; the notes name those left out and the inputs they need.
    """
    has_counts = not {"train", "counts"}.isdisjoint(options.sources)
    kept = list[str]()
    lacking: dict[str, list[Measure]] = {}
    for measure in options.measures:
        if measure.option("over") == "train" and not has_counts:
            lacking.setdefault("train or counts", []).append(measure)
        elif measure.needs_propensities and not options.sources:
            lacking.setdefault("train, counts or inverse_propensities", []).append(measure)
        else:
            kept.append(measure.name)
    notes = [f"{listed(names)} {agreeing(len(names), 'needs', 'need')} {inputs}" for inputs, names in lacking.items()]
    if not kept:
        return None, tuple(notes)
    if options.by_frequency is not None and not has_counts:
        notes.append("bins by frequency need train or counts")
        options = replace(options, by_frequency=None)
    if lacking:
        options = replace(options, metrics=tuple(kept))
    return options, tuple(notes)


@dataclass(frozen=True)
class SystemPlan:
    """A system: its predictions on each data set, or values that were published for it."""

    name: str
    predictions: Mapping[str, Any] = field(default_factory=dict)  # by data set, as xmceval.compare takes them
    missing: Mapping[str, str] = field(default_factory=dict)  # the reason, by data set without predictions
    published: Mapping[str, Mapping[str, float]] | None = None  # by data set and metric; or None
    source: str = ""  # where the values were published


def read_systems(
    config: Config, datasets: Sequence[DatasetPlan], columns: Sequence[Measure], *, strict: bool
) -> list[SystemPlan]:
    """Read the systems in the order of the file; with `strict`, missing predictions are mistakes."""
    if not config.tables.get("systems"):
        config.refuse((), 'there is no system (hint: [systems] NAME = "runs/{dataset}/NAME.npz")')
        return []
    systems = []
    for name, value in config.table(("systems",), config.tables["systems"], "a table of systems").items():
        keys: Keys = ("systems",)
        table = {"path": value}
        if isinstance(value, Mapping):
            keys = ("systems", name)
            table = dict(value)
        system = _read_system(config, keys, name, table, datasets, columns)
        systems.append(system)
        if strict:
            for dataset, why in system.missing.items():
                config.refuse(keys, f"{name} on {dataset}: {why}")
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
    """Read a system: ``path``, ``runs`` or ``paths`` name its predictions, or ``published`` gives values."""
    config.check_keys(keys, table, ["path", "runs", "paths", "published", "source"])
    names = [dataset.name for dataset in datasets]
    source = table.get("source", "")
    if not isinstance(source, str):
        config.refuse(keys, f"source must be a string, got {show(source)}")
    origins = [key for key in ("path", "runs", "published") if key in table]
    if "published" in table and "paths" in table:
        origins.append("paths")
    if len(origins) > 1:
        config.refuse(keys, f"{name} has {listed(origins, 'and')}: expected one of them")
        return SystemPlan(name)
    if "published" in table:
        keys = (*keys, "published")
        rows = config.table(keys, table["published"], 'values by data set, such as { Bibtex = { "P@1" = 64.53 } }')
        config.check_keys(keys, rows, names)
        published = {dataset: _read_values(config, (*keys, dataset), row, columns) for dataset, row in rows.items()}
        return SystemPlan(name, published=published, source=source)
    if not (origins or "paths" in table):
        config.refuse(keys, f"{name} has no predictions (hint: path, runs, paths or published)")
        return SystemPlan(name)
    paths = config.table((*keys, "paths"), table.get("paths", {}), "a table of paths by data set")
    config.check_keys((*keys, "paths"), paths, names)
    predictions = {}
    missing = {}
    with config.noting(keys):
        for dataset in datasets:
            value = paths.get(dataset.name, table.get("path", table.get("runs")))
            try:
                files = _find_predictions(config, name, value, dataset.folder)
            except DataError as error:
                missing[dataset.name] = str(error)
                continue
            if "runs" in table and dataset.name not in paths and is_path(value):  # a pattern of runs
                files = list(parts_of(files))
            predictions[dataset.name] = files
        if missing and not predictions:  # probably a typing mistake in the path
            raise UsageError(f"{name} has no predictions: {next(iter(missing.values()))}")
    return SystemPlan(name, predictions, missing)


def _find_predictions(config: Config, name: str, value: Any, folder: str) -> Any:
    """Return the predictions of a system on a data set, as `xmceval.compare` takes them."""
    if value is None:
        raise DataError(NO_PATH)
    if isinstance(value, (list, tuple)) and are_runs(value) and (config.path is None or all(map(is_path, value))):
        return [_find_predictions(config, name, run, folder) for run in value]
    if is_path(value):
        return config.find_file(value, folder)
    if not config.is_matrix(value):
        raise UsageError(f"{name} must be a path, a list of paths or a table, got {show(value)}")
    return value


def _read_values(config: Config, keys: Keys, row: Any, columns: Sequence[Measure]) -> dict[str, float]:
    """Read published values, with shares in percent, of a system on a data set; no `columns`: any metric."""
    values: dict[Measure, float] = {}
    for name, value in config.table(keys, row, "values by metric").items():
        with config.noting(keys):
            measure, *others = parse(name)
            if others or (columns and measure not in columns):
                raise UsageError(f"{name} is none of the columns {listed(columns)}")
            if isinstance(value, bool) or not isinstance(value, Real) or not math.isfinite(value):
                raise UsageError(f"{name} must be a number, got {show(value)}")
            values[measure] = float(value)
    shares = [measure for measure in values if measure.metric.unit == "share"]
    largest = max((values[measure] for measure in shares), key=abs, default=0.0)
    if 0 < largest <= 1:
        hint = f"(hint: {100 * largest:.4g})"
        config.refuse(keys, f"{largest} looks like a fraction, and published shares are in percent {hint}")
    for measure in shares:
        values[measure] = float(Fraction(repr(values[measure])) / 100)  # 64.53 is 0.6453
    return {measure.name: value for measure, value in values.items()}
