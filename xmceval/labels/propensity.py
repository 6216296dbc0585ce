"""Estimate inverse propensities from label frequencies with the model of Jain et al."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from xmceval.errors import DataError, UsageError
from xmceval.labels.catalogue import Dataset
from xmceval.rows.block import Float64, Int64
from xmceval.rows.matrices.storage import check_dtype
from xmceval.rows.matrices.tensors import as_array

DEFAULT_A = 0.55
DEFAULT_B = 1.5
ITSELF = "itself: not comparable with published values"  # ends what is said of propensities of the truth
LARGEST = 2.0**40  # limit for 1/p
NO_IDS = np.empty(0, dtype=np.int64)
LONG_TABLE = 1 << 16  # counts; if the largest exceeds this, a table has only counts that occur


@dataclass(frozen=True)
class Propensities:
    """Inverse propensities of labels, and their origin."""

    # the distinct values of 1/p, descending; the first is for labels that never occur in training
    inverse: Float64
    # index into `inverse` by label, or by position in `ids`; all other labels have the first value. Small codes
    # stay in the processor's caches, and codes sort as their values do.
    codes: NDArray[np.int32]
    source: str  # the file or argument that they come from, for the report
    # ascending labels; empty if `codes` is indexed by label
    ids: Int64 = field(default_factory=lambda: NO_IDS)
    # constants and number of training rows of the model; None if inverse propensities were passed
    a: float | None = None
    b: float | None = None
    n: int | None = None
    # whether frequencies were counted in the scored truth: such values are not comparable with published ones
    from_truth: bool = False
    # the training rows for each value of `inverse`, ascending from 0; None if they equal its index
    table_counts: Int64 | None = None

    @property
    def counts(self) -> Int64:
        """The number of training rows for each code, int64 [n_codes]."""
        if self.table_counts is None:
            return np.arange(self.inverse.size)
        return self.table_counts

    @property
    def n_positives(self) -> int:
        """The number of positives in the training rows."""
        return int(self.counts[self.codes].sum())

    @cached_property
    def table(self) -> tuple[Any, ...]:
        """The arrays for kernels: `ids` [n or 0], `codes` [n] and `inverse` [n_codes]."""
        return self.ids, self.codes, self.inverse

    @property
    def from_training(self) -> bool:
        """Whether they come from training labels, so that labels with training rows are known."""
        return self.n is not None and not self.from_truth

    @cached_property
    def digest(self) -> str:
        """A digest of N, A, B and the training rows of each label, or of the values that were passed.

        Equal propensities have the same digest, whatever file they come from.
        """
        numbers: NDArray[Any] = self.inverse
        model = list[float | None]()
        if self.n is not None:
            numbers = self.counts
            model = [self.n, self.a, self.b]
        used = numbers[self.codes]
        labels = self.ids
        if not labels.size:
            labels = np.arange(used.size)
        differs = used != numbers[0]  # the others are like labels beyond the table
        parts = (np.array(model, dtype=np.float64), numbers[:1], labels[differs], used[differs])
        return hashlib.blake2b(b"".join(part.tobytes() for part in parts), digest_size=16).hexdigest()

    def codes_of(self, labels: Int64) -> Int64:
        """Return the code of each of `labels` [n], int64 [n]; 0 for labels beyond the table."""
        if self.ids.size:
            places = np.searchsorted(self.ids, labels)
            inside = self.ids[np.minimum(places, self.ids.size - 1)] == labels
        else:
            places = labels
            inside = labels < self.codes.size
        codes = np.zeros(labels.size, dtype=np.int64)
        codes[inside] = self.codes[places[inside]]
        return codes


NO_PROPENSITIES = Propensities(np.ones(1), np.empty(0, dtype=np.int32), "")


def inverse_propensity(counts: ArrayLike, n: int, a: float = DEFAULT_A, b: float = DEFAULT_B) -> Float64:
    """Compute 1/p_l = 1 + C (N_l + B)^-A with C = (ln N - 1)(B + 1)^A.

    Parameters
    ----------
    counts : array of int
        N_l, the number of training rows in which each label is true.
    n : int
        N, the number of training rows; at least 3.
    a, b : float
        A and B: 0.5, 0.4 for Wikipedia-500K and WikiLSHTC; 0.6, 2.6 for Amazon-670K, -3M and the LF-Amazon sets;
        0.55, 1.5 otherwise.

    Returns
    -------
    float64 array with the shape of `counts`
        1/p of each label, at least 1.

    Raises
    ------
    DataError
        Fewer than 3 rows, for which the model is undefined; a count that is not a number from 0 to `n`.
    UsageError
        A is negative, or B is not positive.

    See Also
    --------
    psp_at_k : A metric weighted by inverse propensities.

    Notes
    -----
    Jain, Prabhu, Varma, Extreme Multi-label Loss Functions, KDD 2016, section 4.

    Examples
    --------
    >>> inverse_propensity([100, 10, 0], n=1000).round(3)
    array([1.77 , 3.552, 8.824])
    """
    counts = as_array(counts, "counts")
    check_dtype(counts.dtype, "counts")
    return _invert(counts, n, a, b)


def _constant_of(n: int, a: float, b: float) -> float:
    """Return C = (ln N - 1)(B + 1)^A; refuse values of N, A and B for which the model is undefined."""
    if n < 3:
        raise DataError(f"propensities need at least 3 rows of training labels, got {n}")
    if not (math.isfinite(a) and math.isfinite(b)) or b <= 0 or a < 0:
        raise UsageError(f"propensities need A of at least 0 and B above 0, got A={a}, B={b}")
    with np.errstate(over="ignore"):
        constant = float((np.log(n) - 1) * np.power(b + 1, a))
    if math.isinf(constant):
        raise UsageError(f"propensities leave the range of numbers with A={a:g}, B={b:g}")
    return constant


def _invert(counts: NDArray[Any], n: int, a: float, b: float) -> Float64:
    """Return 1/p of labels with these counts of training rows, in an array of the same shape."""
    constant = _constant_of(n, a, b)
    wrong = np.flatnonzero(~((counts >= 0) & (counts <= n)))
    if wrong.size:
        raise DataError(
            f"counts: is {counts.flat[wrong[0]]:g} at entry {wrong[0]}; "
            f"expected a number from 0 to {n:,}, the number of training instances"
        )
    distinct, places = np.unique(counts, return_inverse=True)
    inverse: Float64 = 1 + constant * np.power(distinct + b, -a)
    return inverse[places].reshape(counts.shape)


def constants(entry: Dataset | None, a: float | None, b: float | None) -> tuple[float, float]:
    """Return A and B: as passed, else from a data set, else the usual constants."""
    if entry is not None and a is None:
        a = entry.a
    if entry is not None and b is None:
        b = entry.b
    if a is None:
        a = DEFAULT_A
    if b is None:
        b = DEFAULT_B
    return a, b


def from_counts(counts: Float64, n_train: int, source: str, a: float, b: float) -> Propensities:
    """Estimate inverse propensities from one count per label."""
    wrong = np.flatnonzero(~((counts >= 0) & (counts <= n_train) & (counts == np.floor(counts))))
    if wrong.size:
        label = int(wrong[0])
        raise DataError(
            f"{source}:{label + 1}: the count of label {label} is {counts[label]:g}; "
            f"expected a whole number from 0 to {n_train:,}, the number of training instances"
        )
    return from_table(counts.astype(np.int64), n_train, source, a, b)


def from_table(
    table: NDArray[np.integer[Any]],
    n: int,
    source: str,
    a: float,
    b: float,
    *,
    ids: Int64 = NO_IDS,
    from_truth: bool = False,
) -> Propensities:
    """Estimate inverse propensities from a table of counts: a code is the count, or its position among them."""
    largest = int(table.max(initial=0))
    if largest < LONG_TABLE:
        inverse = _invert(np.arange(largest + 1), n, a, b)
        return Propensities(inverse, table.astype(np.int32, copy=False), source, ids, a, b, n, from_truth)
    counts, codes = np.unique(np.append(table, 0).astype(np.int64), return_inverse=True)
    inverse = _invert(counts, n, a, b)
    return Propensities(inverse, codes[:-1].astype(np.int32), source, ids, a, b, n, from_truth, counts)


def from_values(values: Float64, source: str) -> Propensities:
    """Use the given inverse propensities, one per label."""
    wrong = np.flatnonzero(~((values >= 1) & (values <= LARGEST)))
    if wrong.size:
        label = int(wrong[0])
        raise DataError(
            f"{source}:{label + 1}: the inverse propensity of label {label} is {values[label]:g}; "
            "expected 1/p from 1 to 2^40 (is this p itself, or a count?)"
        )
    descending, codes = np.unique(-values, return_inverse=True)
    return Propensities(-descending, codes.astype(np.int32), source)
