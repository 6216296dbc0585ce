"""Data sets of a benchmark: their truth, and the options with which their systems are scored."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, TypeVar

from xmceval.benchmarks.config import Config, Keys, are_paths, show
from xmceval.errors import DataError, UsageError, listed
from xmceval.labels.catalogue import find_dataset
from xmceval.metrics.measure import Measure
from xmceval.rows.shards import Shards
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.scoring.options import Options, specs
from xmceval.scoring.program import compile_program
from xmceval.scoring.spec import Spec

T = TypeVar("T")

ABOVE = " (hint: it belongs above the first table)"

_COUNTS = "train or counts"
_SOURCES = "train, counts or inverse_propensities"


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
    """Read a data set; where there are mistakes in its options, it has the default ones."""
    keys = ("datasets", name)
    table = config.table(keys, value, 'a table with truth = "FILE"')
    for key in (key for key in table if key in specs(Testing)):
        config.refuse(keys, f"{key} is an option of the whole benchmark{ABOVE}")
    config.check_keys(keys, (key for key in table if key not in specs(Testing)), ["truth", "folder", *specs()])
    folder = table.get("folder", name)
    if not isinstance(folder, str):
        config.refuse(keys, f"folder must be a string, got {show(folder)}")
        folder = name
    truth = None
    if "truth" in table:
        truth = _find_input(config, keys, "truth", table["truth"], folder, may_be_sharded=True)
    elif isinstance(value, Mapping):
        config.refuse(keys, 'there is no truth (hint: truth = "FILE")')
    asked = _read_options(config, keys, table, folder)
    options, notes = leave_out_lacking(asked)
    if options is None:
        config.refuse(keys, f"there is nothing to score: {'; '.join(notes)}")
        options = asked
    options = replace(options, threads=threads or options.threads)
    return DatasetPlan(name, folder, truth, options, asked.measures, notes)


def _read_options(config: Config, keys: Keys, table: Mapping[str, Any], folder: str) -> Options:
    """Read how a data set is scored: the options in its table, over those at the top of the file."""
    values = {name: value for name, value in config.tables.items() if name in specs()}
    places: dict[str, Keys] = dict.fromkeys(values, ())
    catalogued = _find_in_catalogue(keys[-1])
    if catalogued:
        values["dataset"], places["dataset"] = catalogued, keys
    for name in (name for name in table if name in specs()):
        values[name], places[name] = table[name], keys
    for name in [name for name, value in values.items() if specs()[name].is_file and value is not None]:
        is_sharded = name == "train"
        values[name] = _find_input(config, places[name], name, values[name], folder, may_be_sharded=is_sharded)
    return build(config, values, places, keys, Options, _make_options)


def _find_in_catalogue(name: str) -> str:
    """Return the name in the catalogue of a data set; empty if it is not there."""
    try:
        return find_dataset(name).name
    except UsageError:
        return ""


def _make_options(**values: Any) -> Options:
    """Make options, and check what scoring would check before it reads a file."""
    options = Options(**values)
    options.refuse_groups("benchmark", "use compare, which tests differences within groups")
    if options.dataset is not None:
        find_dataset(options.dataset)
    compile_program(options.measures).check_ties(options.ties)
    return options


def _find_input(config: Config, keys: Keys, name: str, value: Any, folder: str, *, may_be_sharded: bool = False) -> Any:
    """Return an input of a data set: a path that exists, Shards, or a matrix; None after a mistake."""
    if config.is_matrix(value):
        return value
    is_list = may_be_sharded and are_paths(value)
    if not (is_list or are_paths([value])):
        config.refuse(keys, f"{name} must be a path{' or a list of paths' * may_be_sharded}, got {show(value)}")
        return None
    try:
        files = [config.find_file(path, folder) for path in (value if is_list else [value])]
    except DataError as error:
        config.refuse(keys, f"{name}: {error}")
        return None
    return Shards(files) if is_list else files[0]


def leave_out_lacking(options: Options) -> tuple[Options | None, tuple[str, ...]]:
    """Leave out metrics and bins that need training labels which there are not: nothing is estimated from the truth.

    The options are None where no metric is left; the notes say what is left out, and what it needs.
    """
    has_counts = not {"train", "counts"}.isdisjoint(options.sources)
    lacking: dict[str, list[Measure]] = {}
    for measure in options.measures:
        if measure.option("over") == "train" and not has_counts:
            lacking.setdefault(_COUNTS, []).append(measure)
        elif measure.needs_propensities and not options.sources:
            lacking.setdefault(_SOURCES, []).append(measure)
    left_out = [measure for measures in lacking.values() for measure in measures]
    kept = tuple(measure.name for measure in options.measures if measure not in left_out)
    notes = [
        f"{listed(measures)} {'needs' if len(measures) == 1 else 'need'} {need}" for need, measures in lacking.items()
    ]
    if not kept:
        return None, tuple(notes)
    if options.by_frequency is not None and not has_counts:
        notes.append(f"bins by frequency need {_COUNTS}")
        options = replace(options, by_frequency=None)
    return (replace(options, metrics=kept) if lacking else options), tuple(notes)


def build(
    config: Config,
    values: Mapping[str, Any],
    places: Mapping[str, Keys],
    keys: Keys,
    kind: type[T],
    make: Callable[..., T],
) -> T:
    """Make options of a kind; those with a mistake are noted, and left out until the rest can be made.

    The option to blame for a message is the last one without which the message is another; `places` are the tables of
    the options, and `keys` the table of a mistake that cannot be blamed on one of them.
    """
    fitting = dict(values)
    for name, value in values.items():
        expected = _expect(specs(kind)[name], value)
        if expected:
            config.refuse(places[name], f"{name} must be {expected}, got {show(value)}")
            del fitting[name]
    while message := _complain(make, fitting):
        blamed = [name for name in fitting if _complain(make, _without(fitting, name)) != message]
        config.refuse(places[blamed[-1]] if blamed else keys, message)
        if not blamed:
            return kind()
        fitting = _without(fitting, blamed[-1])
    return make(**fitting)


def _complain(make: Callable[..., Any], values: Mapping[str, Any]) -> str:
    """Return the message of what is wrong with options; empty if nothing is."""
    try:
        make(**values)
    except UsageError as error:
        return str(error)
    return ""


def _without(values: Mapping[str, Any], left_out: str) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name != left_out}


def _expect(spec: Spec, value: Any) -> str:
    """Return what the value of an option should be where its type is wrong; Options checks whole numbers itself."""
    if spec.kind is bool:
        return "" if isinstance(value, bool) else "true or false"
    if value is None:
        return ""
    if spec.kind is float:
        return "" if isinstance(value, Real) and not isinstance(value, bool) else "a number"
    if spec.kind is list and not isinstance(value, str):
        is_list = isinstance(value, Collection) and not isinstance(value, Mapping)
        return "" if is_list and all(isinstance(name, str) for name in value) else "a string or a list of strings"
    return "a string" if spec.metavar == "NAME" and not isinstance(value, str) else ""
