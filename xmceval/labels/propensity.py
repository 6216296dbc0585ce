"""Jain's propensity model: inverse propensities from label frequencies."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, UsageError
from xmceval.labels.catalogue import Dataset
from xmceval.labels.counts import LabelCounts
from xmceval.rows.block import Float64, Int64

DEFAULT_A, DEFAULT_B = 0.55, 1.5

LARGEST = 2.0**40


@dataclass(frozen=True)
class Propensities:
    """Inverse propensities of labels, and where they come from.

    Attributes
    ----------
    inverse : float64 array
        The distinct values of 1/p, descending; the first is that of a label which never occurs in training.
    codes : int32 array
        Place in `inverse` by label, or by place in `ids`; labels beyond have the first value. A look-up of 4 bytes
        a label is three times as fast as one of 8, and codes sort as their values do.
    ids : int64 array
        Ascending labels; empty where `codes` is indexed by the label itself.
    a, b, n : float, float, int or None
        Constants and number of rows of the model; None where inverse propensities were given.
    source : str
        Where they come from, for the report.
    from_truth : bool
        Whether the frequencies are those of the truth that is scored: such values are not comparable to published ones.
    """

    inverse: Float64
    codes: NDArray[np.int32]
    source: str
    ids: Int64 = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    a: float | None = None
    b: float | None = None
    n: int | None = None
    from_truth: bool = False

    def codes_of(self, labels: Int64) -> Int64:
        """Return the code of each label; 0 for labels beyond the table."""
        if self.ids.size:
            places = np.searchsorted(self.ids, labels)
            known = self.ids[np.minimum(places, self.ids.size - 1)] == labels
        else:
            places, known = labels, labels < self.codes.size
        codes = np.zeros(labels.size, dtype=np.int64)
        codes[known] = self.codes[places[known]]
        return codes


NOT_NEEDED = Propensities(np.ones(1), np.empty(0, dtype=np.int32), "")


def inverse_propensity(counts: Any, n: int, a: float = DEFAULT_A, b: float = DEFAULT_B) -> Float64:
    """Compute 1/p_l = 1 + C (N_l + B)^-A with C = (ln N - 1)(B + 1)^A.

    Parameters
    ----------
    counts : array of int
        N_l, the rows in which each label is true, of the training set.
    n : int
        N, the rows of the training set; at least 3.
    a, b : float
        A and B: 0.5, 0.4 for Wikipedia-500K and WikiLSHTC; 0.6, 2.6 for Amazon-670K, -3M and the LF-Amazon sets;
        0.55, 1.5 otherwise.

    Returns
    -------
    float64 array of the shape of `counts`

    Raises
    ------
    DataError
        Fewer than 3 rows, for which the model is not defined.

    Notes
    -----
    Jain, Prabhu, Varma, Extreme Multi-label Loss Functions, KDD 2016, section 4.

    Examples
    --------
    >>> inverse_propensity([100, 10, 0], n=1000).round(3)
    array([1.77 , 3.552, 8.824])
    """
    if n < 3:
        raise DataError(f"propensities need at least 3 rows of training labels, got {n}")
    if not (math.isfinite(a) and math.isfinite(b)) or b <= 0 or a < 0:
        raise UsageError(f"propensities need A of at least 0 and B above 0, got A={a}, B={b}")
    try:
        constant = (math.log(n) - 1) * (b + 1) ** a
    except OverflowError:
        raise UsageError(f"propensities leave the range of numbers with A={a:g}, B={b:g}") from None
    inverse: Float64 = 1 + constant * (np.asarray(counts) + b) ** -a
    return inverse


def from_counts(counts: LabelCounts, source: str, a: float, b: float, *, from_truth: bool = False) -> Propensities:
    """Estimate inverse propensities from counted labels."""
    ids, table = counts.table()
    return of_table(table, counts.n_rows, source, a, b, ids=ids, from_truth=from_truth)


def of_table(
    table: NDArray[np.integer[Any]],
    n: int,
    source: str,
    a: float,
    b: float,
    *,
    ids: Int64 | None = None,
    from_truth: bool = False,
) -> Propensities:
    """Estimate inverse propensities from a table of counts: the count itself is the code."""
    inverse = inverse_propensity(np.arange(int(table.max(initial=0)) + 1), n, a, b)
    ids = np.empty(0, dtype=np.int64) if ids is None else ids
    return Propensities(inverse, table.astype(np.int32, copy=False), source, ids, a, b, n, from_truth)


def given(values: Float64, source: str) -> Propensities:
    """Take inverse propensities as they are, one a label.

    Raises
    ------
    DataError
        A value below 1, above 2^40 or NaN, with its place.
    """
    wrong = np.flatnonzero(~((values >= 1) & (values <= LARGEST)))
    if wrong.size:
        label = int(wrong[0])
        raise DataError(
            f"{source}:{label + 1}: the inverse propensity of label {label} is {values[label]:g}; "
            "expected 1/p from 1 to 2^40 (is this p itself, or a count?)"
        )
    descending, codes = np.unique(-values, return_inverse=True)
    return Propensities(-descending, codes.astype(np.int32), source)


def constants(entry: Dataset | None, a: float | None, b: float | None) -> tuple[float, float]:
    """Return A and B: those given, else those of a data set, else the usual ones."""
    known_a = DEFAULT_A if entry is None or entry.a is None else entry.a
    known_b = DEFAULT_B if entry is None or entry.b is None else entry.b
    return known_a if a is None else a, known_b if b is None else b
