"""Data sets of a benchmark: their truth, and the options with which their systems are scored."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from xmceval.benchmarks.config import Config, Keys, are_paths, show
from xmceval.errors import UsageError, listed
from xmceval.labels.catalogue import find_dataset
from xmceval.metrics.measure import Measure
from xmceval.rows.shards import Shards
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.compile import compile_program
from xmceval.scoring.options import Options, Spec, specs


@dataclass(frozen=True)
class DatasetPlan:
    """A data set and how its systems are scored."""

    name: str
    folder: str  # what {dataset} in paths stands for
    truth: Any  # a path, a matrix or Shards
    options: Options  # without the metrics and bins for which the data set lacks the inputs
    columns: tuple[Measure, ...]  # all metrics that are asked for
    notes: tuple[str, ...] = ()  # what is left out of the options, and what it needs


def read_datasets(config: Config, threads: int | None) -> list[DatasetPlan]:
    """Read the tables of the data sets."""
    if not config.tables.get("datasets"):
        config.refuse((), 'there is no data set (hint: [datasets.NAME] with truth = "FILE")')
        return []
    tables = config.table(("datasets",), config.tables["datasets"], "tables such as [datasets.NAME]")
    return [_read_dataset(config, name, table, threads) for name, table in tables.items()]


def _read_dataset(config: Config, name: str, value: Any, threads: int | None) -> DatasetPlan:
    """Read a data set: its truth, and the options in its table over those at the top of the file."""
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
    with suppress(UsageError):  # where the catalogue has no data set of this name
        passed["dataset"] = find_dataset(name).name
    passed |= table
    inputs = {key: passed[key] for key in ("truth", *specs()) if key in passed}
    for key in [key for key in inputs if key == "truth" or (specs()[key].is_file and inputs[key] is not None)]:
        inputs[key] = _find_input(config, keys, key, inputs[key], folder)
    truth = inputs.pop("truth", None)
    options = _read_options(config, keys, inputs, threads)
    kept, notes = leave_out_lacking(options)
    if kept is None:
        config.refuse(keys, f"there is nothing to score: {'; '.join(notes)}")
    return DatasetPlan(name, folder, truth, kept or options, options.measures, notes)


def _find_input(config: Config, keys: Keys, name: str, value: Any, folder: str) -> Any:
    """Return an input of a data set: a path that exists, Shards, or a matrix; None after a mistake."""
    if config.is_matrix(value):
        return value
    may_be_sharded = name in {"truth", "train"}
    is_list = may_be_sharded and are_paths(value)
    if not (is_list or are_paths([value])):
        config.refuse(keys, f"{name} must be a path{' or a list of paths' * may_be_sharded}, got {show(value)}")
        return None
    with config.noting(keys, f"{name}: "):
        files = [config.find_file(path, folder) for path in (value if is_list else [value])]
        return Shards(files) if is_list else files[0]
    return None


def _read_options(config: Config, keys: Keys, values: Mapping[str, Any], threads: int | None) -> Options:
    """Make the options of scoring, and check what scoring would check before it reads a file.

    After a mistake they are the default ones.
    """
    options = Options()
    with config.noting(keys):
        options = Options.of(check_types(config, keys, specs(), values))
        options.refuse_groups("benchmark", "use compare, which tests differences within groups")
        if options.dataset is not None:
            find_dataset(options.dataset)
        compile_program(options.measures).check_ties(options.ties)
    return replace(options, threads=threads or options.threads)


def check_types(config: Config, keys: Keys, expected: Mapping[str, Spec], values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options whose values are of the right type; the others are mistakes."""
    wrong = {name: kind for name, value in values.items() if (kind := expected[name].expect(value))}
    for name, kind in wrong.items():
        config.refuse(keys, f"{name} must be {kind}, got {show(values[name])}")
    return {name: value for name, value in values.items() if name not in wrong}


def leave_out_lacking(options: Options) -> tuple[Options | None, tuple[str, ...]]:
    """Leave out metrics and bins that need training labels which there are not: nothing is estimated from the truth.

    The options are None where no metric is left; the notes say what is left out, and what it needs.
    """
    has_counts = not {"train", "counts"}.isdisjoint(options.sources)
    lacking: dict[str, list[Measure]] = {}
    for measure in options.measures:
        if measure.option("over") == "train" and not has_counts:
            lacking.setdefault("train or counts", []).append(measure)
        elif measure.needs_propensities and not options.sources:
            lacking.setdefault("train, counts or inverse_propensities", []).append(measure)
    notes = [
        f"{listed(measures)} {'needs' if len(measures) == 1 else 'need'} {need}" for need, measures in lacking.items()
    ]
    left_out = [measure for measures in lacking.values() for measure in measures]
    metrics = tuple(measure.name for measure in options.measures if measure not in left_out)
    if not metrics:
        return None, tuple(notes)
    if options.by_frequency is not None and not has_counts:
        notes.append("bins by frequency need train or counts")
        options = replace(options, by_frequency=None)
    return (replace(options, metrics=metrics) if lacking else options), tuple(notes)
