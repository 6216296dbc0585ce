"""Options of a data set in a benchmark: its own over those at the top, without the columns for which inputs lack."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple, TypeVar

from xmceval.api.benchmark.planning.namedfiles import NamedFiles
from xmceval.errors import UsageError, listed
from xmceval.files.text.configfile import OVERRIDE, ConfigFile, Keys, header, show_value
from xmceval.labels.catalogue import Dataset, find_dataset
from xmceval.metrics.measure import Measure
from xmceval.scoring.options import SOURCES, Options, specs
from xmceval.scoring.program import compile_program
from xmceval.scoring.spec import Spec

T = TypeVar("T")

# Options at the top that do nothing for a data set without another one.
_DEPENDENT = {"n_train": "counts", "filter_truth": "filter"}

_COUNTS = "train or counts"


class Setting(NamedTuple):
    """The value of an option, and where it stands."""

    value: Any
    keys: Keys


def settings_at_top(config: ConfigFile, overrides: Mapping[str, Any], of: type[Any]) -> dict[str, Setting]:
    """Return the options of a dataclass that stand at the top of the file, or were passed beside it, which wins."""
    own = {name: Setting(value, (name,)) for name, value in config.tables.items() if name in specs(of)}
    passed = {name: Setting(value, OVERRIDE) for name, value in overrides.items() if name in specs(of)}
    return {name: each for name, each in (own | passed).items() if has_type(config, each, name, specs(of)[name])}


def has_type(config: ConfigFile, setting: Setting, name: str, spec: Spec) -> bool:
    """Return whether the value of an option has a type that it takes; others are mistakes."""
    value, keys = setting
    expected = _expect_type(spec, value)
    if expected:
        place = f" in {header(keys[:-1])}" if len(keys) > 1 else ""
        config.refuse(keys, f"{name}{place} must be {expected}, got {show_value(value)}")
    return not expected


def _expect_type(spec: Spec, value: Any) -> str:
    """Return what a value should be, empty where it is; the options themselves check whole numbers and choices."""
    if spec.kind is bool and not isinstance(value, bool):
        return "true or false"
    if value is None:
        return ""
    if spec.kind is float and (isinstance(value, bool) or not isinstance(value, Real)):
        return "a number"
    if spec.kind is list and not isinstance(value, str):
        are_texts = isinstance(value, Collection) and not isinstance(value, Mapping)
        return "" if are_texts and all(isinstance(each, str) for each in value) else "a string or a list of strings"
    return "a string" if spec.metavar == "NAME" and not isinstance(value, str) else ""


def read_options(
    config: ConfigFile,
    dataset: str,
    table: Mapping[str, Any],
    top: Mapping[str, Setting],
    entry: Dataset | None,
    files: NamedFiles,
) -> Options | None:
    """Return the options with which a data set is scored; None where there are mistakes in them."""
    keys = ("datasets", dataset)
    own = {name: Setting(value, (*keys, name)) for name, value in table.items() if name in specs()}
    own = {name: each for name, each in own.items() if has_type(config, each, name, specs()[name])}
    named = {} if entry is None else {"dataset": Setting(entry.name, keys)}
    settings = {**_without_superseded(top, own), **named, **own}
    values = {name: setting.value for name, setting in settings.items()}
    for name, (value, place) in settings.items():
        if specs()[name].is_file and value is not None:
            what = f"{name} in {header(keys)}" if len(place) > 1 else f"{name} of {dataset}"
            found = files.input(place, value, what, may_have_shards=name == "train")
            values[name] = value if found is None else found
    return blame(_make_options, values, lambda name, why: config.refuse(settings[name].keys if name else keys, why))


def _make_options(**values: Any) -> Options:
    """Make options, and check what scoring would check before it reads a file."""
    options = Options(**values)
    options.refuse_groups("benchmark", "use compare, which tests differences within groups")
    if options.dataset is not None:
        find_dataset(options.dataset)
    compile_program(options.measures).check_ties(options.ties)
    return options


def _without_superseded(top: Mapping[str, Setting], own: Mapping[str, Setting]) -> dict[str, Setting]:
    """Leave out options at the top that what a data set has itself replaces or leaves without effect."""
    dropped = set[str]()
    if own.keys() & set(SOURCES):
        dropped |= {*SOURCES, "n_train"}
    if "inverse_propensities" in own:
        dropped |= {"a", "b"}
    present = (top.keys() - dropped) | own.keys()
    dropped |= {name for name, needed in _DEPENDENT.items() if needed not in present}
    return {name: setting for name, setting in top.items() if name not in dropped}


def without_lacking(config: ConfigFile, dataset: str, options: Options) -> tuple[Options, tuple[str, ...]]:
    """Leave out the metrics and bins for which a data set lacks the inputs: nothing is estimated from its truth.

    Returns
    -------
    options : Options
    notes : tuple of str
        What is left out, and what it needs.
    """
    lacking = {measure: needed for measure in options.measures if (needed := _find_needed(measure, options))}
    kept = [measure.name for measure in options.measures if measure not in lacking]
    notes = list[str]()
    for needed in dict.fromkeys(lacking.values()):
        names = [measure for measure in lacking if lacking[measure] == needed]
        notes.append(f"{listed(names)} {'needs' if len(names) == 1 else 'need'} {needed}")
    if not kept:
        keys = ("datasets", dataset)
        config.refuse(keys, f"{header(keys)} has nothing to score: {'; '.join(notes)}")
        return options, ()
    if options.by_frequency is not None and not _has_counts(options):
        notes.append(f"bins by frequency need {_COUNTS}")
        options = replace(options, by_frequency=None)
    return (replace(options, metrics=tuple(kept)) if lacking else options), tuple(notes)


def _has_counts(options: Options) -> bool:
    return not {"train", "counts"}.isdisjoint(options.sources)


def _find_needed(measure: Measure, options: Options) -> str:
    """Return which options a metric needs and does not have, in words."""
    if not measure.needs_propensities:
        return ""
    if measure.option("over") == "train":
        return "" if _has_counts(options) else _COUNTS
    return "" if options.sources else "train, counts or inverse_propensities"


def blame(make: Callable[..., T], values: Mapping[str, Any], refuse: Callable[[str, str], None]) -> T | None:
    """Make something of options; `refuse` gets each mistake and the option that it is in. None if there are any.

    What is to blame is what the mistake is not made without, of several the last.
    """
    rest = dict(values)
    is_fine = True
    while True:
        message = _try(make, rest)
        if not message:
            return make(**rest) if is_fine else None
        is_fine = False
        guilty = [name for name in rest if _try(make, {key: rest[key] for key in rest if key != name}) != message]
        refuse(guilty[-1] if guilty else "", message)
        if not guilty:
            return None
        del rest[guilty[-1]]


def _try(make: Callable[..., Any], values: Mapping[str, Any]) -> str:
    """Return the message of what is wrong with options; empty if nothing is."""
    try:
        make(**values)
    except UsageError as error:
        return str(error)
    return ""
