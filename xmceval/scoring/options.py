"""Options: every option of scoring, once: its default, choices, help and checks."""

# ruff: noqa: RUF009 - every default is a dataclasses.field

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

from xmceval.errors import UsageError, listed
from xmceval.files.limits import MAX_LINE
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import check_cutoff, parse
from xmceval.metrics.table import DECISION_NAMES, DEFAULT_CUTOFFS, DEFAULT_NAMES

Duplicates = Literal["error", "max"]
EmptyRows = Literal["zero", "drop"]
Unscored = Literal["bottom", "zero"]
Ties = Literal["label", "expected", "best", "worst"]
BinSpec: TypeAlias = "int | str | Sequence[int | str]"

GROUPS = ("Metrics", "Propensities", "Input", "Rules", "Breakdown", "Testing", "Running")
SOURCES = ("train", "counts", "inverse_propensities")  # of propensities, of which one may be passed


@dataclass(frozen=True)
class Spec:
    """How the command line shows an option.

    Attributes
    ----------
    help : str
    group : str
        One of GROUPS.
    flags : tuple of str
        Default: the name with dashes.
    metavar : str
    kind : type
        ``str``, ``int``, ``float``, ``bool`` (a flag), ``list`` (may be repeated).
    choices : tuple of str
    low, high : int, optional
        Bounds of an int.
    """

    help: str
    group: str
    flags: tuple[str, ...] = ()
    metavar: str = ""
    kind: type = str
    choices: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None


def option(default: Any, group: str, help: str, **how: Any) -> Any:  # noqa: A002 - the command line's word
    """Return the field of an option; `literal` gives its choices, `how` the rest of its Spec."""
    choices = get_args(how.pop("literal", None))
    return field(default=default, metadata={"spec": Spec(help, group, choices=choices, **how)})


@dataclass(frozen=True, kw_only=True, eq=False)
class Options:
    """The options of scoring; `xmceval.score` documents them.

    Raises
    ------
    UsageError
        A value that is wrong, or options that exclude each other.
    """

    k: int | Iterable[int] = option(
        DEFAULT_CUTOFFS, "Metrics", "Cutoffs of metrics that name none.", flags=("-k",), metavar="K,K..."
    )
    metrics: str | Iterable[str] | None = option(
        None,
        "Metrics",
        "A metric, such as PSP, P@1,3 or 'nDCG(gain=exp)@5'; may be repeated.  "
        f"[default: {', '.join(DEFAULT_NAMES)}; with --threshold those of decisions]",
        flags=("-m",),
        metavar="METRIC",
        kind=list,
    )
    train: Any = option(None, "Propensities", "Training labels, whose frequencies give propensities.", metavar="FILE")
    counts: Any = option(
        None, "Propensities", "Instead: the training rows of each label, one count per line.", metavar="FILE"
    )
    n_train: int | None = option(
        None, "Propensities", "The number of training rows, with --counts.", kind=int, low=1, metavar="N"
    )
    inverse_propensities: Any = option(
        None, "Propensities", "Instead: 1/p of each label, one number per line.", metavar="FILE"
    )
    dataset: str | None = option(
        None, "Propensities", "A public data set, for its A and B; see xmceval datasets.", metavar="NAME"
    )
    a: float | None = option(
        None,
        "Propensities",
        "A of the propensity model.  [default: 0.55, or that of --dataset]",
        flags=("-A",),
        kind=float,
        metavar="A",
    )
    b: float | None = option(
        None,
        "Propensities",
        "B of the propensity model.  [default: 1.5, or that of --dataset]",
        flags=("-B",),
        kind=float,
        metavar="B",
    )
    n_labels: int | None = option(
        None,
        "Input",
        "The number of labels, where TRUTH has no header.",
        kind=int,
        low=1,
        high=2**63 - 2,
        metavar="N",
    )
    labels: Any = option(
        None, "Input", "Names of the labels, one per line, for files with names instead of ids.", metavar="FILE"
    )
    duplicates: Duplicates = option(
        "error", "Input", "A label twice in a row is an error, or its largest value counts.", literal=Duplicates
    )
    max_line: int = option(MAX_LINE, "Input", "The longest line of a text file.", kind=int, low=1, metavar="MIB")
    sample_weight: Any = option(
        None, "Input", "Sample weights, one per line or npy.", flags=("--weights",), metavar="FILE"
    )
    filter: Any = option(None, "Input", "Pairs 'row label' to remove from the predictions.", metavar="FILE")
    filter_truth: bool = option(False, "Input", "Remove the pairs of --filter from TRUTH too.", kind=bool)
    empty_rows: EmptyRows = option(
        "zero", "Rules", "Instances without a true label count as 0, or are left out.", literal=EmptyRows
    )
    unscored: Unscored = option(
        "bottom",
        "Rules",
        "For metrics of whole rows: labels without a score rank below all others, or have score 0.",
        literal=Unscored,
    )
    ties: Ties = option(
        "label",
        "Rules",
        "Equal scores at a cutoff: ordered by label, the mean over all orders, or the best or worst of them.",
        literal=Ties,
    )
    threshold: float | None = option(
        None,
        "Rules",
        "Labels whose score is at least this are decisions: for f1_score, Jaccard, MCC and others.",
        kind=float,
        metavar="T",
    )
    by_frequency: BinSpec | None = option(
        None,
        "Breakdown",
        "Break values down by training frequency: a number of bins, names such as head,torso,tail, or counts.",
        metavar="BINS",
    )
    ceiling: bool = option(False, "Breakdown", "Add the best value that any ranking could reach on TRUTH.", kind=bool)
    threads: int | None = option(
        None, "Running", "Number of threads.  [default: one per processor]", kind=int, low=1, metavar="N"
    )

    def __post_init__(self) -> None:
        for name, spec in specs().items():
            value = getattr(self, name)
            if spec.choices and value not in spec.choices:
                raise UsageError(f"{name} must be one of {listed(spec.choices)}, got {value!r}")
        _ = self.measures
        if self.by_frequency is not None and self.ties != "label":
            raise UsageError(f"by_frequency follows the order by label; it cannot be combined with ties={self.ties}")
        if self.threshold is not None and math.isnan(self.threshold):
            raise UsageError("the threshold is NaN; expected a number")
        self._check_propensities()
        if self.filter is None and self.filter_truth:
            raise UsageError("filter_truth needs a filter (hint: pass --filter FILE)")

    def _check_propensities(self) -> None:
        sources = [name for name in SOURCES if getattr(self, name) is not None]
        if len(sources) > 1:
            raise UsageError(f"pass one of {listed(SOURCES)}, not {' and '.join(sources)}")
        if self.n_train is not None and self.counts is None:
            raise UsageError("n_train (--n-train) has no effect without counts (--counts)")
        if self.counts is not None and self.n_train is None:
            raise UsageError("counts need the number of training rows (hint: pass n_train, --n-train)")
        if self.inverse_propensities is not None and (self.a is not None or self.b is not None):
            raise UsageError("A and B have no effect on inverse propensities: pass one or the other")

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Options:
        """Take the options from among a function's arguments."""
        return cls(**{name: arguments[name] for name in specs() if name in arguments})

    @cached_property
    def cutoffs(self) -> list[int]:
        """The cutoffs of metrics that name none."""
        is_several = isinstance(self.k, Iterable) and not isinstance(self.k, str) and getattr(self.k, "ndim", 1) > 0
        values: list[Any] = list(self.k) if is_several else [self.k]  # type: ignore[arg-type]
        return [check_cutoff(value) for value in values]

    @cached_property
    def measures(self) -> tuple[Measure, ...]:
        """What is asked for: metrics with their options and cutoffs, each once."""
        default = DEFAULT_NAMES if self.threshold is None else DECISION_NAMES
        return tuple(parse(default if self.metrics is None else self.metrics, self.cutoffs))


def specs(of: type[Any] | None = None) -> dict[str, Spec]:
    """Return how each option of a dataclass is shown, by name; default those of scoring."""
    return {each.name: each.metadata["spec"] for each in fields(of or Options)}
