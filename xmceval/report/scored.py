"""The data behind a Result: the values of one system, with their counts, doubts and gates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import counted, split_doubts
from xmceval.labels.propensity import Propensities
from xmceval.metrics.measure import Measure
from xmceval.metrics.names import find_name
from xmceval.rows.filters import FilterReport
from xmceval.rows.names import Axis
from xmceval.rows.nouns import OF_LABELS, Nouns
from xmceval.scoring.estimates import Estimate
from xmceval.scoring.summary import Counts, Slice, Value
from xmceval.version import VERSION

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class GateOutcome:
    """Whether a gate passed for a system.

    Attributes
    ----------
    kind : {"worse", "drop", "at_least", "at_most"}
    system, baseline, dataset : str
        The baseline is empty for gates of values, the data set outside of a benchmark.
    measure : Measure
    limit : float
        A fraction if the measure is a share.
    value, p_adjusted : float or None
        The value, or the difference from the baseline with the p that decides; None where there is none.
    passed, is_decided : bool
        A gate that cannot be decided, for lack of a value or a test, does not pass.
    why : str
        Why the gate did not pass, or why it passed although the system is worse.
    """

    kind: str
    system: str
    baseline: str
    dataset: str
    measure: Measure
    limit: float
    value: float | None = None
    p_adjusted: float | None = None
    passed: bool = False
    why: str = ""
    is_decided: bool = True


@dataclass(frozen=True, eq=False)
class ResultRows(Mapping[str, NDArray[np.float64]]):
    """Values of rows by metric: ``result.rows["P@5"]`` is float64 [n_rows], NaN where the metric leaves a row out.

    The metric is the mean of its rows, with sample weights the weighted one. A metric in `ideals` is a ratio of sums
    instead, such as PSP: a row has its numerator here and its denominator there, as ``save_rows`` has both.

    Attributes
    ----------
    measures : sequence of Measure
    array : float64 array [n_rows, n_metrics]
    ideals : mapping of str to float64 array [n_rows]
        The denominators of metrics that are ratios of sums, by name.
    weights : float64 array [n_rows]
        Sample weights, 1 without them; rows of weight 0 have no values.
    ids : sequence of str, optional
        By row, where there are any.

    Examples
    --------
    >>> import numpy as np
    >>> import xmceval
    >>> options = {"metrics": ["P", "PSP"], "k": 1, "inverse_propensities": [1, 2, 5]}
    >>> result = xmceval.score(np.eye(3), np.eye(3)[[0, 2, 1]], rows=True, **options)
    >>> result.rows["P@1"]
    array([1., 0., 0.])
    >>> result.rows["PSP@1"].sum() / result.rows.ideals["PSP@1"].sum(), result["PSP@1"]
    (np.float64(0.125), 0.125)
    """

    measures: Sequence[Measure]
    array: NDArray[np.float64]
    ideals: Mapping[str, NDArray[np.float64]]
    weights: NDArray[np.float64]
    ids: Sequence[str] | None = None

    # A mapping would compare arrays as if they were numbers.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        return self.array[:, [*self].index(find_name(name, self.measures))]

    def __iter__(self) -> Iterator[str]:
        return (measure.name for measure in self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    def __repr__(self) -> str:
        return f"<ResultRows of {len(self.array):,} rows: {', '.join(self)}>"

    def to_frame(self) -> DataFrame:
        """Return the values as a pandas DataFrame: a line per row, indexed by id or else number, a column per metric.

        The columns of `ideals` follow, named ``ideal of PSP@5``, as ``save_rows`` names them in a CSV.

        Raises
        ------
        DataError
            pandas is not installed.
        """
        from xmceval.files.saved_rows import IDEAL  # not loaded by a score that saves nothing
        from xmceval.report.forms.data import import_pandas

        pandas = import_pandas()
        columns = {**self, **{f"{IDEAL}{name}": ideals for name, ideals in self.ideals.items()}}
        index = None if self.ids is None else pandas.Index(self.ids, name="row")
        frame: DataFrame = pandas.DataFrame(columns, index=index)
        return frame


NO_NAMES = Axis("", "label")


@dataclass(frozen=True, eq=False, repr=False)
class Scored:
    """The data of a Result, for tables, records and pages; see Result for the fields."""

    name: str
    figures: tuple[Value, ...]
    counts: Counts
    propensities: Propensities | None = None
    empty_rows: str = "zero"
    warnings: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    filtered: FilterReport | None = None
    slices: tuple[Slice, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    truth: str = "array"
    scores: str = "array"
    gates: tuple[GateOutcome, ...] = ()
    version: str = VERSION
    held_rows: ResultRows | None = None
    # what `labels` are computed from: tasks that count labels, their parts of the totals, and the rows of these then
    held_labels: Sequence[tuple[Any, Any, int]] = ()
    label_names: Any = NO_NAMES  # the names of all labels are its `listed`
    label_ids: Any = None  # int64 [n]; the ids of the labels that count, if not all do
    nouns: Nouns = OF_LABELS

    @cached_property
    def estimates(self) -> dict[str, Estimate]:
        """Values with intervals and tie bounds, by canonical name."""
        return {figure.name: figure.estimate for figure in self.figures}

    @cached_property
    def by_bin(self) -> dict[str, tuple[Value, ...]]:
        """The values over all labels, with an empty name, then the values of each bin of labels or group of rows."""
        return {"": self.figures, **{part.bin.name: part.figures for part in self.slices}}

    @cached_property
    def doubts(self) -> tuple[str, ...]:
        """Why the values may be wrong, such as rows that seem shuffled: the Python functions issue them as warnings."""
        return split_doubts(self.warnings)[0]

    @cached_property
    def facts(self) -> tuple[str, ...]:
        """How the input was counted, such as instances without a true label: the lines below the table."""
        return split_doubts(self.warnings)[1]


def describe_size(result: Scored) -> tuple[str, ...]:
    """Describe how much was scored; a CSV of values of rows has no labels."""
    counts = result.counts
    rows = counted(counts.n_instances, result.nouns.row)
    if not counts.n_labels:
        return (rows,)
    return rows, counted(counts.n_labels, result.nouns.label)


def shared_lines(results: Sequence[Scored], kind: str) -> Iterator[str]:
    """Yield the lines of a kind, such as warnings, each once; names precede a line that not all systems share.

    A line that already begins with the name of a system, or with a path that ends with it, stays as it is.
    """
    systems: dict[str, list[Scored]] = {}
    for result in results:
        for line in getattr(result, kind):
            systems.setdefault(line, []).append(result)
    for line, having in systems.items():
        names = [result.name for result in having]
        files = [result.scores for result in having]
        is_named = line.partition(": ")[0].endswith((*names, *files)) or line.startswith(tuple(names))
        if len(having) == len(results) or is_named:
            yield line
        else:
            yield f"{', '.join(names)}: {line}"
