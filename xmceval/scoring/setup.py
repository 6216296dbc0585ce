"""Setup: what was found before the first row, and decides how the rows of a system are scored."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from xmceval.errors import DataError, counted
from xmceval.labels.bins import Bins, make_bins
from xmceval.labels.propensity import NO_PROPENSITIES, Propensities
from xmceval.rows.block import Float64, Source
from xmceval.rows.filters import Filter
from xmceval.rows.readings import Axis
from xmceval.rows.rowgroups import RowGroups
from xmceval.rows.width import Width
from xmceval.scoring.options import Options
from xmceval.scoring.program import Program

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
    weight_unit: float = 1.0  # the power of two by which they were divided
    filter: Filter | None = None  # pairs removed from the scores
    bins: Bins | None = None  # bins of labels, each of which has its share of every number
    groups: RowGroups | None = None  # groups of rows, each of which has totals of its own
    longest_row: int | None = None  # the most predictions that a row may have, where a header declares it
    declaration: str = ""  # that header, for a message
    zeros_are_judged: bool = (
        False  # whether stored zeros of the truth are judgments, as in formats of the ranking field
    )
    inputs: tuple[str, ...] = ()  # what each input was read as
    labels: Axis | None = None  # the names of the labels, where an input has them
    warnings: tuple[str, ...] = ()  # what a reader must know before trusting the numbers

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
        """The number of bins, 0 where there are none."""
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
