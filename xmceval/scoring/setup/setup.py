"""The Setup class, which holds everything that decides how rows are scored."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from xmceval.errors import DataError, Doubt, UsageError, counted, listed
from xmceval.labels.bins import Bins, make_bins
from xmceval.labels.propensity import NO_PROPENSITIES, Propensities
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Int64, Source
from xmceval.rows.checks import LARGEST_EXPONENT, LARGEST_GRADE
from xmceval.rows.filters import Filter
from xmceval.rows.groups import RowGroups
from xmceval.rows.nouns import OF_LABELS, Nouns
from xmceval.rows.readings import Axis
from xmceval.rows.width import Width
from xmceval.scoring.options import Options


@dataclass(frozen=True)
class Program:
    """The measures to compute, and the tasks that compute them."""

    measures: tuple[Measure, ...]  # in the order requested
    cutoffs: Int64  # the distinct cutoffs, ascending
    tasks: tuple[Any, ...]  # a Task each; they compute all measures, each one once

    @cached_property
    def deepest(self) -> int:
        """The largest cutoff, 0 without any."""
        return int(self.cutoffs[-1]) if self.cutoffs.size else 0

    @cached_property
    def needs_propensities(self) -> bool:
        """Whether any measure weighs hits by inverse propensities."""
        return any(measure.needs_propensities for measure in self.measures)

    @cached_property
    def needing_training(self) -> tuple[Measure, ...]:
        """The measures whose set of labels are those of the training rows."""
        return tuple(measure for measure in self.measures if measure.option("over") == "train")

    @cached_property
    def needing_labels(self) -> tuple[Measure, ...]:
        """The measures that need the number of labels."""
        return tuple(measure for measure in self.measures if measure.metric.needs_labels)

    @cached_property
    def largest_grade(self) -> float:
        """The largest grade that exact sums can hold."""
        has_exponents = any(measure.option("gain") == "exp" for measure in self.measures)
        return LARGEST_EXPONENT if has_exponents else LARGEST_GRADE

    @cached_property
    def needs_scores(self) -> bool:
        """Whether any task looks at the scores of all labels, not only at the ranking and the ties at its end."""
        return any(task.needs_scores for task in self.tasks)

    @cached_property
    def decides(self) -> bool:
        """Whether any measure counts decisions, for which a threshold may be passed."""
        return any(measure.takes_threshold for measure in self.measures)

    @cached_property
    def ranks_unscored(self) -> bool:
        """Whether any measure ranks labels without a score too."""
        return any(ranks_all_labels(measure) for measure in self.measures)

    @cached_property
    def row_tasks(self) -> tuple[Any, ...]:
        """The tasks that have values of rows."""
        return tuple(task for task in self.tasks if task.has_values)

    @property
    def row_measures(self) -> list[Measure]:
        """The measures that have values of rows, in the order of the columns of these values."""
        return [measure for task in self.row_tasks for measure in task.measures]

    @cached_property
    def columns(self) -> Mapping[Measure, int]:
        """The column of each measure that has per-row values, in the order requested."""
        by_column = {measure: column for column, measure in enumerate(self.row_measures)}
        return {measure: by_column[measure] for measure in self.measures if measure in by_column}

    def check_mergeable(self, what: str) -> None:
        """Refuse metrics whose sums grow with the rows, where sums are saved or sent, as in an ``"Evaluator"``."""
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

    def tied_by_label(self, ties: str) -> list[Measure]:
        """Return the measures that follow the order by label, and so cannot follow a treatment of ties."""
        return [measure for task in self.tasks for measure in task.tied_by_label.get(ties, ())]

    def check_ties(self, ties: str) -> None:
        """Refuse a treatment of ties for metrics that have none; where a definition settles ties itself, that holds."""
        fixed = self.tied_by_label(ties)
        if fixed:
            raise UsageError(
                f"ties={ties} applies to metrics of the k best labels; it is not available for {listed(fixed)}, "
                "which follow the order by label"
            )


def ranks_all_labels(measure: Measure) -> bool:
    """Return whether labels without a score are ranked too; a micro average may be over the stored cells alone."""
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
    program: Program  # without the metrics for which there are too few rows to estimate propensities
    width: Width = UNKNOWN_WIDTH  # the number of labels, as far as it is known
    propensities: Propensities = NO_PROPENSITIES
    # float64 array [n_rows], optional; sample weights, the largest in [1, 2); rows of weight 0 are skipped
    weights: Float64 | None = None
    weights_from: int = 0  # the row of the first of them
    weight_unit: float = 1.0  # the power of two that divided them
    filter: Filter | None = None  # pairs removed from the scores
    bins: Bins | None = None  # bins of labels, each with its share of every number
    groups: RowGroups | None = None  # groups of rows, each with its own totals
    longest_row: int | None = None  # the most predictions that a row may have, where a header declares it
    declaration: str = ""  # that header, for a message
    nouns: Nouns = OF_LABELS  # what rows and labels are called: queries and documents in formats of the ranking field
    inputs: tuple[str, ...] = ()  # how each input was read
    labels: Axis | None = None  # the names of the labels, where an input has them
    warnings: tuple[str, ...] = ()  # warnings to read before trusting the numbers

    @cached_property
    def drop_empty(self) -> bool:
        """Whether rows without truth are left out instead of counting as 0."""
        return self.options.empty_rows == "drop"

    @property
    def zero_unscored(self) -> bool:
        """Whether labels without a score have score 0, instead of ranking below all that have one."""
        return self.options.unscored == "zero"

    @cached_property
    def n_bins(self) -> int:
        """The number of bins, 0 without any."""
        return 0 if self.bins is None else len(self.bins)

    def with_width(self, width: Width) -> Setup:
        """Return the setup with a number of labels, and with the bins of labels that depend on it."""
        by_frequency = self.options.by_frequency
        if width is self.width and by_frequency is None:
            return self
        bins = None
        if by_frequency is not None and self.propensities is not NO_PROPENSITIES:
            bins = make_bins(by_frequency, self.propensities, width.n_labels)
        return replace(self, width=width, bins=bins)

    def with_row_length(self, truth: Source, scores: Source) -> Setup:
        """Return the setup with the longest row, where the header of the scores is `rows k` instead of `rows cols`."""
        n_columns, n_labels = scores.n_labels, self.width.n_labels
        if n_columns is None or n_columns == n_labels:
            return self
        if n_columns > n_labels:
            raise DataError(f"{scores.name} declares {counted(n_columns, 'label')}, but {self.width}")
        declaration = f"{scores.name} declares {n_columns} columns, {truth.name} {n_labels}"
        return replace(self, longest_row=n_columns, declaration=declaration)

    def weights_of(self, first_row: int, n_rows: int) -> Float64:
        """Return the weights of some rows, float64 [n_rows], or empty where all count 1."""
        weights = NO_WEIGHTS if self.weights is None else self.weights
        return weights[first_row - self.weights_from :][:n_rows]


MANY_PREDICTIONS = 100  # per row; with this many, predictions for all labels but one likely mean a wrong header


@dataclass(frozen=True)
class OpenedSystem:
    """The scores of one system, and how they are scored."""

    scores: Source
    setup: Setup
    name: str = "y_score"  # of the system in reports
    file: str = "array"  # how reports call the scores
    are_lists: bool = False  # whether they are labels without scores, whose order alone ranks them

    def doubt_header(self, truth: Source, longest: int) -> Iterator[str]:
        """Warn of a header whose second number was read as predictions per row, but is hardly that.

        `longest` is the number of predictions of the longest row.
        """
        scores, width = self.scores, self.setup.width
        columns = scores.n_labels
        if columns is None or not width.is_known or columns >= width.n_labels:
            return
        is_unused = longest < columns and 2 * columns > width.n_labels
        if is_unused or columns == width.n_labels - 1 >= MANY_PREDICTIONS:
            yield Doubt(
                f"{scores.name} declares {columns:,} columns, {truth.name} {counted(width.n_labels, 'label')}, and the "
                f"longest row has {counted(longest, 'prediction')}: do they belong to the same data set?"
            )
