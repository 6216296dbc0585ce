"""The Setup class, which holds everything that decides how rows are scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from xmceval.errors import DataError, Doubt, UsageError, agreeing, argument, counted, listed, plural
from xmceval.labels.propensity import NO_PROPENSITIES, Propensities
from xmceval.metrics.measure import Measure
from xmceval.metrics.rates import RATIOS
from xmceval.rows.block import Float64, Int64
from xmceval.rows.names import Axis
from xmceval.rows.nouns import OF_LABELS, Nouns
from xmceval.rows.source import Source
from xmceval.rows.width import Width
from xmceval.scoring.options import Options

if TYPE_CHECKING:
    from xmceval.labels.bins import Bins
    from xmceval.rows.filters import Filter, LabelSubset
    from xmceval.rows.groups import RowGroups


@dataclass(frozen=True, eq=False)
class Program:
    """The measures to compute, the tasks that compute them, and what they need; `compile_program` makes it."""

    measures: tuple[Measure, ...]  # in the requested order
    cutoffs: Int64  # the distinct cutoffs, ascending
    tasks: tuple[Any, ...]  # Task objects, which together compute every measure once
    row_tasks: tuple[Any, ...]  # those with per-row values
    row_measures: list[Measure]  # the measures with per-row values, in the order of the columns of these values
    columns: Mapping[Measure, int]  # the column of each of them, in the requested order
    deepest: int  # the largest cutoff, or 0
    needs_scores: bool  # whether any task needs the scores of all labels, beyond the ranking and the ties at its end
    needs_propensities: bool  # whether any measure weights hits by inverse propensities
    needing_training: tuple[Measure, ...]  # the measures over the labels that occur in training rows
    needing_labels: tuple[Measure, ...]  # the measures that need the number of labels
    largest_grade: float  # the largest grade that exact sums can hold
    decides: bool  # whether any measure counts decisions, for which a threshold may be passed
    ranks_unscored: bool  # whether any measure also ranks labels without a score

    def check_mergeable(self, what: str) -> None:
        """Refuse metrics whose sums grow with the rows if sums are saved or sent, as by an ``"Evaluator"``."""
        growing = [measure for measure in self.measures if not measure.metric.mergeable]
        if growing:
            raise UsageError(
                f"{listed(growing)}: not available for {what}, because all cells must be held at once "
                "(hint: score whole matrices or files)"
            )

    def remarks(self, parts: Sequence[Any], n_labels: int) -> list[str]:
        """Return the remarks of the tasks on their parts of the totals."""
        tasks = zip(self.tasks, parts, strict=True)
        return [remark for task, part in tasks for remark in task.remarks(part, n_labels)]

    def check_unknown(self) -> None:
        """Refuse measures of all cells together, which names that are no label would add to."""
        counting = [
            measure
            for measure in self.measures
            if measure.average in {"micro", "sum"} and measure.metric.needs_labels and measure.metric.fold not in RATIOS
        ]
        if counting:
            raise UsageError(
                f"{listed(counting)}: not available with {argument('unknown_labels', 'miss')}, since names that are no "
                "label have no cells (hint: leave such names out of the predictions)"
            )

    def tied_by_label(self, ties: str) -> list[Measure]:
        """Return the measures that follow the order by label, and so cannot follow a treatment of ties."""
        return [measure for task in self.tasks for measure in task.tied_by_label.get(ties, ())]

    def check_ties(self, ties: str) -> None:
        """Refuse a treatment of ties that metrics lack; metrics that define ties themselves ignore it."""
        fixed = self.tied_by_label(ties)
        if fixed:
            raise UsageError(
                f"ties={ties} applies to metrics of the k best labels; it is not available for {listed(fixed)}, "
                "which follow the order by label"
            )


def ranks_all_labels(measure: Measure) -> bool:
    """Return whether labels without a score are also ranked; a micro average may use only stored cells."""
    metric = measure.metric
    if metric.family == "column":
        return metric.needs_labels or measure.norm.over != "micro"
    return metric.needs_labels and metric.family == "row"


NO_WEIGHTS = np.empty(0)
UNKNOWN_WIDTH = Width()


@dataclass(frozen=True, kw_only=True)
class Setup:
    """How the rows of a system are scored."""

    options: Options
    program: Program  # without metrics that lack the rows to estimate propensities
    has_grades: bool = False  # whether values of the truth are declared to be grades; else they are 0 and 1
    width: Width = UNKNOWN_WIDTH  # the number of labels, if known
    propensities: Propensities = NO_PROPENSITIES
    # float64 array [n_rows], optional; sample weights, with the largest in [1, 2); rows of weight 0 are skipped
    weights: Float64 | None = None
    weights_from: int = 0  # the row of the first weight
    weight_unit: float = 1.0  # the power of two by which they were divided
    filter: Filter | None = None  # pairs to remove from the scores
    subset: LabelSubset | None = None  # the labels that count, if not all do
    bins: Bins | None = None  # bins of labels, each with its share of every number
    groups: RowGroups | None = None  # groups of rows, each with its own totals
    longest_row: int | None = None  # limit for the predictions per row, if a header declares it
    declaration: str = ""  # that header, for a message
    nouns: Nouns = OF_LABELS  # what rows and labels are called: queries and documents in formats of the ranking field
    inputs: tuple[str, ...] = ()  # how each input was read
    labels: Axis | None = None  # the label names, if an input has them
    # "position" if a truth without names shares their order, so that none can be joined; "name" if another was joined
    labels_by: str = ""
    warnings: tuple[str, ...] = ()  # warnings to read before trusting the numbers

    @cached_property
    def drop_empty(self) -> bool:
        """Whether rows without true labels are dropped instead of counting 0."""
        return self.options.empty_rows == "drop"

    def require_labels(self, width: Width, what: str) -> None:
        """Refuse measures, and bins, that need the number of labels if no `what` declares it."""
        if width.is_known:
            return
        needing: list[object] = [*self.program.needing_labels]
        if self.options.by_frequency is not None:
            needing.append(argument("by_frequency"))
        if not needing:
            return
        labels = plural(self.nouns.label)
        hint = f"pass {argument('n_labels')}"
        if self.nouns.are_of_queries:
            hint += f", the number of {labels}"
        if any(measure.averages_all_labels for measure in self.program.needing_labels):
            hint += f", or over=truth for the mean over the {labels} that are true in some {self.nouns.row}"
        raise DataError(f"{listed(needing)}: no {what} declares the number of {labels}, which is needed (hint: {hint})")

    def refuse_ranking(self, name: str) -> None:
        """Refuse a ranking without scores, named `name`, if any measure compares scores of several rows."""
        lines = list[str]()
        across = [measure for measure in self.program.measures if not measure.metric.mergeable]
        if across:
            verb = agreeing(len(across), "compares", "compare")
            them = agreeing(len(across), "it", "them")
            rows = plural(self.nouns.row)
            lines.append(
                f"{listed(across)} {verb} scores of several {rows}, and {name} has rankings without scores (hint: pass "
                f"the scores too, or leave {them} out)"
            )
        decided = [measure for measure in self.program.measures if measure.metric.counts_decisions]
        if decided and self.options.threshold is not None:
            lines.append(
                f"{listed(decided)}: {name} has rankings without scores, which cannot be compared with a threshold "
                f"(hint: pass the scores too, or leave out {argument('threshold')})"
            )
        if lines:
            raise DataError(*lines)

    @property
    def largest_value(self) -> float:
        """The largest value that the truth may have."""
        return self.program.largest_grade if self.has_grades else 1.0

    @property
    def zero_unscored(self) -> bool:
        """Whether labels without a score have score 0, instead of ranking below all scored labels."""
        return self.options.unscored == "zero"

    @property
    def counted(self) -> Width:
        """The number of labels that count, and the input that declares it."""
        return self.width if self.subset is None else self.subset.width

    @property
    def n_labels(self) -> int:
        """The number of labels that count."""
        return self.counted.n_labels

    @cached_property
    def n_bins(self) -> int:
        """The number of bins, or 0."""
        return 0 if self.bins is None else len(self.bins)

    def with_width(self, width: Width) -> Setup:
        """Return the setup with a number of labels, and the bins that depend on it."""
        by_frequency = self.options.by_frequency
        if self.subset is not None:
            self.subset.check(width)
        if width is self.width and by_frequency is None:
            return self
        bins = None
        if by_frequency is not None and self.propensities is not NO_PROPENSITIES:
            from xmceval.labels.bins import make_bins  # not loaded by a score without bins

            bins = make_bins(by_frequency, self.propensities, replace(self, width=width).n_labels)
        return replace(self, width=width, bins=bins)

    def with_row_length(self, truth: Source, scores: Source) -> Setup:
        """Return the setup with the longest row, if scores have the header `rows k` instead of `rows cols`."""
        n_columns = scores.n_labels
        n_labels = self.width.n_labels
        if n_columns is None or n_columns == n_labels:
            return self
        if n_columns > n_labels:
            raise DataError(f"{scores.name} declares {counted(n_columns, 'label')}, but {self.width}")
        declaration = f"{scores.name} declares {counted(n_columns, 'column')}, {truth.name} {n_labels}"
        return replace(self, longest_row=n_columns, declaration=declaration)

    def weights_of(self, first_row: int, n_rows: int) -> Float64:
        """Return the weights of a range of rows, float64 [n_rows], or empty if all rows count 1."""
        if self.weights is None:
            return NO_WEIGHTS
        return self.weights[first_row - self.weights_from :][:n_rows]


MANY_PREDICTIONS = 100  # per row; from here on, predictions for all labels but one suggest a wrong header


@dataclass(frozen=True)
class OpenedSystem:
    """The scores of one system, and how they are scored."""

    scores: Source
    setup: Setup
    name: str = "y_score"  # name of the system in reports
    file: str = "array"  # name of the scores in reports
    are_lists: bool = False  # whether they are labels without scores, ranked only by their order

    def doubt_header(self, truth: Source, longest: int) -> Iterator[str]:
        """Warn if the second number of a header was read as predictions per row, but is unlikely to be that.

        `longest` is the number of predictions in the longest row.
        """
        scores = self.scores
        width = self.setup.width
        columns = scores.n_labels
        if columns is None or not width.is_known or columns >= width.n_labels or self.setup.subset is not None:
            return
        is_unused = longest < columns and 2 * columns > width.n_labels
        if is_unused or columns == width.n_labels - 1 >= MANY_PREDICTIONS:
            yield Doubt(
                f"{scores.name} declares {columns:,} columns, {truth.name} {counted(width.n_labels, 'label')}, and the "
                f"longest row has {counted(longest, 'prediction')}: do they belong to the same data set?"
            )
