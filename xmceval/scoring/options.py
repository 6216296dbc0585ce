"""All scoring options, each defined once with its default, choices, help and checks."""

# ruff: noqa: RUF009 - every default is a dataclasses.field

from __future__ import annotations

import difflib
import math
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache, cached_property
from numbers import Number, Real
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, get_args

from xmceval.errors import UsageError, argument, listed
from xmceval.files.io.paths import MAX_LINE, as_input, name_of, to_path
from xmceval.labels.bin_spec import read_bin_spec
from xmceval.labels.catalogue import datasets
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import parse, parse_cutoffs
from xmceval.metrics.table import DECISION_NAMES, DEFAULT_CUTOFFS, DEFAULT_NAMES, METRICS, QUERY_NAMES
from xmceval.rows.ids import RowIds
from xmceval.rows.shards import Shards

Duplicates = Literal["error", "max"]
EmptyRows = Literal["zero", "drop"]
Missing = Literal["error", "zero", "drop"]
UnknownLabels = Literal["error", "miss"]
Unscored = Literal["bottom", "zero"]
Ties = Literal["label", "expected", "best", "worst"]
BinSpec: TypeAlias = "int | str | Sequence[int | str]"

GROUPS = ("Common", "Propensities", "Input", "Rules", "Breakdown", "Testing", "Output")
UNRECORDED = ("max_line", "row_ids", "threads")  # they change no number
IN_TABLE = ("k", "metrics", "n_labels")  # shown as rows and columns of a table, or in the line above it
OF_PROPENSITIES = ("train", "counts", "n_train", "inverse_propensities", "a", "b")  # shown in the line on propensities
SOURCES = ("train", "counts", "inverse_propensities")  # of propensities; only one may be passed


@dataclass(frozen=True)
class Spec:
    """How the command line shows an option."""

    help: str
    group: str  # one of GROUPS
    flags: tuple[str, ...] = ()  # default: the name with dashes
    metavar: str = ""
    kind: type = str  # ``str``, ``int``, ``float``, ``bool`` (a flag), ``list`` (may be repeated)
    choices: tuple[str, ...] = ()
    low: int | None = None  # bounds of an int
    high: int | None = None
    # returns the names that values are made from, which a shell completes
    names: Callable[[], Iterable[str]] | None = None

    @cached_property
    def is_file(self) -> bool:
        """Whether a value may be the path of a file."""
        return self.metavar == "FILE"

    def check_whole(self, name: str, value: Any) -> None:
        """Check the value of an int."""
        try:
            number = None if isinstance(value, bool) else operator.index(value)
        except TypeError:
            number = None
        low = self.low
        high = self.high
        is_too_low = number is not None and low is not None and number < low
        is_too_high = number is not None and high is not None and number > high
        if number is None or is_too_low or is_too_high:
            bounds = ""
            if low is not None:
                bounds = f" of at least {low}"
            if high is not None:
                bounds += f" and at most {high}"
            raise UsageError(f"{argument(name)} must be a whole number{bounds}, got {value!r}")

    def as_number(self, name: str, value: Any) -> float:
        """Return the value of a float, which may be in an array or a tensor without dimensions."""
        number = value
        if getattr(value, "ndim", None) == 0:
            number = value.item()
        if not isinstance(number, Number) or isinstance(number, complex):
            is_list = isinstance(value, list) or getattr(value, "ndim", 0) == 1
            if name == "threshold" and is_list and len(value) > 2:
                raise UsageError(
                    f"threshold must be one number, got a list of {len(value):,} (hint: for one per label, drop the "
                    "scores below them: see the recipe in xmceval guide recipes)"
                )
            raise UsageError(f"{argument(name)} must be a number, got {value!r}")
        return float(number)  # type: ignore[arg-type]

    def expect(self, value: Any) -> str:
        """Return the type expected of a value, empty if it has it; `check_whole` checks integers."""
        is_text = isinstance(value, str)
        is_truth_value = isinstance(value, bool)
        if self.kind is bool:
            fits = is_truth_value
            expected = "true or false"
        elif value is None:
            return ""
        elif self.kind is float:
            fits = isinstance(value, Real) and not is_truth_value
            expected = "a number"
        elif self.kind is list and not is_text:
            is_list = isinstance(value, Collection) and not isinstance(value, Mapping)
            fits = is_list and all(isinstance(name, str) for name in value)
            expected = "a string or a list of strings"
        else:
            fits = is_text or self.metavar != "NAME"
            expected = "a string"
        return "" if fits else expected


def input_name(value: Any) -> str:
    """Return how reports call an input: a file by its name, shards by their common name, else ``array``."""
    if isinstance(value, Shards):
        return value.name
    if isinstance(value, (str, Path)):
        return name_of(to_path(value))
    return "array"


def _plain(value: Any) -> Any:
    """Return numbers, strings and lists of them unchanged; anything else as text."""
    value = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(item) for item in value]
    is_number = isinstance(value, (int, float)) and math.isfinite(value)
    return value if is_number else str(value)


def option(default: Any, group: str, help: str, **how: Any) -> Any:  # noqa: A002 - the command line's word
    """Return the field of an option; `literal` gives its choices, `how` the rest of its Spec."""
    choices = get_args(how.pop("literal", None))
    return field(default=default, metadata={"spec": Spec(help, group, choices=choices, **how)})


@dataclass(frozen=True, kw_only=True, eq=False)
class Options:
    """The options of scoring; `xmceval.score` documents them."""

    k: int | str | Iterable[int | str] | None = option(
        None,
        "Common",
        f"Cutoffs, such as 1,3,5 or 1-10.  [default: {','.join(map(str, DEFAULT_CUTOFFS))}]",
        flags=("-k",),
        metavar="CUTOFFS",
    )
    metrics: str | Iterable[str] | None = option(
        None,
        "Common",
        f"Metrics.  [default: {','.join(DEFAULT_NAMES)}; qrels: {','.join(QUERY_NAMES)}]",
        flags=("-m",),
        metavar="METRICS",
        kind=list,
        names=lambda: (name.removesuffix("k") if "@" in name else name for name in METRICS),
    )
    train: Any = option(None, "Common", "Training labels, for propensities and bins.", metavar="FILE")
    counts: Any = option(
        None, "Propensities", "Number of training instances of each label, in place of --train.", metavar="FILE"
    )
    n_train: int | None = option(
        None, "Propensities", "Number of training instances, for --counts.", kind=int, low=1, metavar="N"
    )
    inverse_propensities: Any = option(
        None, "Propensities", "1/p of each label, one per line, in place of --train.", metavar="FILE"
    )
    dataset: str | None = option(
        None, "Propensities", "Constants A and B of a public data set.", metavar="NAME", names=datasets
    )
    a: float | None = option(
        None,
        "Propensities",
        "Constant A of the propensity model.  [default: 0.55]",
        flags=("-A",),
        kind=float,
        metavar="A",
    )
    b: float | None = option(
        None,
        "Propensities",
        "Constant B of the propensity model.  [default: 1.5]",
        flags=("-B",),
        kind=float,
        metavar="B",
    )
    n_labels: int | None = option(
        None, "Input", "Number of labels, if TRUTH does not declare it.", kind=int, low=1, high=2**63 - 2, metavar="N"
    )
    grades: bool = option(False, "Input", "TRUTH has grades, not just 0 and 1.", kind=bool)
    labels: Any = option(None, "Input", "Names of the labels, one per line.", metavar="FILE")
    only_labels: Any = option(
        None, "Input", "Labels that count, ids or names, one per line; leave out all others.", metavar="FILE"
    )
    unknown_labels: UnknownLabels = option(
        "error",
        "Input",
        "Predicted names that are no label: an error, or wrong predictions.",
        literal=UnknownLabels,
    )
    duplicates: Duplicates = option(
        "error",
        "Input",
        "Labels repeated within an instance: an error, or keep the largest score.",
        literal=Duplicates,
    )
    max_line: int = option(
        MAX_LINE, "Input", "Longest line that a text file may have, in MiB.", kind=int, low=1, metavar="N"
    )
    sample_weight: Any = option(None, "Input", "Weight of each instance, one per line.", metavar="FILE")
    row_ids: Any = option(None, "Input", "Ids of the instances, one per line, for --save-rows.", metavar="FILE")
    missing: Missing = option(
        "zero", "Input", "Queries missing from a run: an error, count as 0, or leave out.", literal=Missing
    )
    filter: Any = option(None, "Input", "Pairs of row and label to leave out.", metavar="FILE")
    filter_truth: bool = option(False, "Input", "Leave the pairs of --filter out of TRUTH too.", kind=bool)
    empty_rows: EmptyRows = option(
        "zero", "Rules", "Instances without a true label: count as 0, or leave out.", literal=EmptyRows
    )
    unscored: Unscored = option(
        "bottom", "Rules", "Labels without a score: rank them last, or score them 0.", literal=Unscored
    )
    ties: Ties = option(
        "label",
        "Rules",
        "Tied scores: order them by label id, or report the expected, best or worst value.",
        literal=Ties,
    )
    threshold: float | None = option(
        None, "Rules", "Predict every label that scores at least T.", kind=float, metavar="T"
    )
    by_frequency: BinSpec | None = option(
        None, "Breakdown", "Also by label frequency, such as head,torso,tail.", metavar="BINS"
    )
    by_group: Any = option(None, "Breakdown", "Also by groups of instances, one group per line.", metavar="FILE")
    ceiling: bool = option(False, "Breakdown", "Add the best value that any ranking could reach.", kind=bool)
    threads: int | None = option(
        None, "Common", "Number of threads.  [default: one per processor]", kind=int, low=1, metavar="N"
    )

    def __post_init__(self) -> None:
        for name, spec, value in self._list_passed():
            if spec.is_file:
                object.__setattr__(self, name, as_input(value))
            if spec.choices and value not in spec.choices:
                raise UsageError(f"{name} must be one of {listed(spec.choices)}, got {value!r}")
            if spec.kind is int and value is not None:
                spec.check_whole(name, value)
            if spec.kind is float and not isinstance(value, (int, float)):
                object.__setattr__(self, name, spec.as_number(name, value))
            if spec.metavar == "NAME" and not isinstance(value, str):
                raise UsageError(f"{argument(name)} must be a name, got {value!r}")
        if self.row_ids is not None and not isinstance(self.row_ids, (str, Path, Shards, RowIds)):
            object.__setattr__(self, "row_ids", RowIds.of(self.row_ids))
        for name in ("labels", "only_labels"):
            labels = getattr(self, name)
            if labels is not None and not isinstance(labels, (str, Path)):
                from xmceval.files.sidecars.values import read_names  # it needs numpy, which help is listed without

                object.__setattr__(self, name, read_names(labels, name))
        groups = self.by_group
        is_named = isinstance(groups, (str, Path, Shards, Mapping)) or hasattr(groups, "to_numpy")
        if groups is not None and not is_named:  # groups by id are read once the ids are known
            from xmceval.rows.groups import RowGroups  # it needs numpy, which help is listed without

            object.__setattr__(self, "by_group", groups if isinstance(groups, RowGroups) else RowGroups.of(groups))
        _ = self.measures
        if self.by_frequency is not None and self.by_group is not None:
            raise UsageError(
                f"pass one of {argument('by_frequency')} and {argument('by_group')}: a table has bins of labels or "
                "groups of instances"
            )
        if self.by_frequency is not None:
            read_bin_spec(self.by_frequency)
        if self.by_frequency is not None and self.ties != "label":
            raise UsageError(
                f"{argument('by_frequency')} follows the order by label; it cannot be combined with "
                f"{argument('ties', self.ties)}"
            )
        if self.threshold is not None and math.isnan(self.threshold):
            raise UsageError("the threshold is NaN; expected a number")
        sources = self.sources
        if len(sources) > 1:
            raise UsageError(
                f"pass one of {listed(map(argument, SOURCES))}, not {' and '.join(map(argument, sources))}"
            )
        if self.n_train is not None and self.counts is None:
            raise UsageError(f"{argument('n_train')} has no effect without {argument('counts')}")
        if self.counts is not None and self.n_train is None:
            raise UsageError(f"counts need the number of training instances (hint: pass {argument('n_train')})")
        if self.inverse_propensities is not None and (self.a is not None or self.b is not None):
            raise UsageError("A and B have no effect on inverse propensities: pass one or the other")
        if self.filter is None and self.filter_truth:
            raise UsageError(
                f"{argument('filter_truth')} needs a filter (hint: pass {argument('filter', kind='FILE')})"
            )

    @cached_property
    def _passed(self) -> list[tuple[str, Spec, Any]]:
        """The options that are not the default: their names, how they are shown, and their values."""
        return self._list_passed()

    def _list_passed(self) -> list[tuple[str, Spec, Any]]:
        passed = list[tuple[str, Spec, Any]]()
        for name, spec in specs().items():
            value = getattr(self, name)
            if value is not getattr(Options, name):
                passed.append((name, spec, value))
        return passed

    def refuse_groups(self, what: str, hint: str = "score whole matrices or files") -> None:
        """Refuse groups of rows, and rules for missing queries, where all of them are unknown."""
        if self.by_group is not None:
            raise UsageError(f"{argument('by_group')} is not available for {what} (hint: {hint})")
        if self.missing != "zero":
            raise UsageError(f"{argument('missing', self.missing)} is not available for {what} (hint: {hint})")

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Options:
        """Take the options from a function's arguments."""
        return cls(**chosen(cls, arguments))

    @cached_property
    def cutoffs(self) -> list[int] | None:
        """The cutoffs of metrics that name none; None for the default."""
        if self.k is None:
            return None
        is_several = isinstance(self.k, Iterable) and not isinstance(self.k, str) and getattr(self.k, "ndim", 1) > 0
        values: list[Any] = list(self.k) if is_several else [self.k]  # type: ignore[arg-type]
        return [cutoff for value in values for cutoff in parse_cutoffs(value)]

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """The requested measures: metrics with their options and cutoffs, each once."""
        names = self.metrics
        if names is None:
            names = DEFAULT_NAMES if self.threshold is None else DECISION_NAMES
        return tuple(parse(names, self.cutoffs))

    def for_queries(self) -> Options:
        """Return the options with the default metrics of queries; where cutoffs were passed, each metric has these.

        A threshold, or a source of propensities, asks for the default metrics of labels.
        """
        if self.metrics is not None or self.threshold is not None or self.sources:
            return self
        names = [*QUERY_NAMES]
        if self.k is not None:
            names = [name.partition("@")[0] for name in names]
        measures = parse(names, self.cutoffs)
        return replace(self, metrics=tuple(measure.name for measure in measures))

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the sources of propensities that are passed; with none they are estimated from the truth."""
        return tuple(name for name in SOURCES if getattr(self, name) is not None)

    @property
    def needs_sources(self) -> str:
        """The metrics or option that need propensities while no source is passed, with a verb; or empty."""
        asking = [measure for measure in self.measures if measure.needs_propensities]
        if self.sources or not (asking or self.by_frequency is not None):
            return ""
        return f"{listed(asking) or argument('by_frequency')} {'need' if len(asking) > 1 else 'needs'}"

    @property
    def files(self) -> tuple[Any, ...]:
        """The values that may be paths, where any are passed."""
        return tuple([value for _, spec, value in self._passed if spec.is_file])

    def changed(self) -> dict[str, Any]:
        """Return the options that differ from the default and may change a value, by name, as reports record them.

        Files are recorded by their names, arrays as ``array``; everything else is a number, a string, a bool or a list.
        """
        changed: dict[str, Any] = {}
        for name, spec, value in self._passed:
            default = getattr(Options, name)
            is_default = default is not None and value == default
            if is_default or name in UNRECORDED:
                continue
            if name == "k":
                if self.cutoffs != [*DEFAULT_CUTOFFS]:  # metrics are recorded with their cutoffs
                    changed[name] = self.cutoffs
            elif name == "metrics":
                changed[name] = [measure.name for measure in self.measures]
            elif spec.is_file and not isinstance(value, (int, float)):
                changed[name] = input_name(value)
            elif spec.kind is bool:
                changed[name] = bool(value)
            else:
                changed[name] = _plain(value)
        return changed


@dataclass(frozen=True)
class Saving:
    """What to keep besides results; the arguments of `xmceval.score` have the same names."""

    rows: bool = False
    save_rows: str | Path | None = None
    save_labels: str | Path | None = None
    save_state: str | Path | None = None
    shard: str | tuple[int, int] | None = None
    force: bool = False

    @property
    def holds_rows(self) -> bool:
        """Whether per-row values are kept, in memory or in a file."""
        return self.rows or self.save_rows is not None

    @property
    def is_asked(self) -> bool:
        """Whether anything is kept."""
        kept = (self.save_rows, self.save_labels, self.save_state, self.shard)
        return self.rows or any(value is not None for value in kept)


NOTHING = Saving()


def specs(of: Any = None) -> Mapping[str, Spec]:
    """Return by name how each option of a dataclass is shown; by default the options of scoring."""
    return _list_specs(of or Options)


def chosen(of: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return those arguments of a function that are options of a dataclass."""
    return {name: arguments[name] for name in specs(of) if name in arguments}


def refuse_unknown(function: str, passed: Iterable[str], known: Collection[str]) -> None:
    """Refuse keyword arguments that a function does not take; the message names similar ones."""
    unknown = sorted(set(passed) - set(known))
    similar = dict.fromkeys(near for name in unknown for near in difflib.get_close_matches(name, known, 1))
    question = f"; did you mean {' or '.join(similar)}?" if similar else ""
    if unknown:
        raise TypeError(f"{function}() got an unexpected option {listed(unknown)}{question}")


@cache
def _list_specs(of: Any) -> Mapping[str, Spec]:
    return MappingProxyType({part.name: part.metadata["spec"] for part in fields(of) if "spec" in part.metadata})


def recorded_options(changed: Mapping[str, Any]) -> Options:
    """Return the options that were recorded so: with the names of files and arrays in their place."""
    options = dict(changed)
    if "threshold" in options:
        options["threshold"] = float(options["threshold"])  # infinities are text
    return Options(**options)
