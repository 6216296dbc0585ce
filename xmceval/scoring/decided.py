"""Decisions: the labels of rows whose score reaches the threshold, found once for all tasks that count them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from xmceval.kernels.metrics.labelwise import find_decisions
from xmceval.rows.block import Int64, Rows


class Decided(NamedTuple):
    """The decisions of some rows."""

    counts: Int64  # int64 array [n_rows, 2]; hits and decisions of each row; rows that are left out have none
    # int64 array [at least the number of decisions]; twice the label of each decision, and 1 more where it is a hit
    labels: Int64
    largest: int  # the largest label that has a score, -1 where there is none


def decide(
    truth: Rows,
    scores: Rows,
    threshold: float,
    drop_empty: bool = False,
    array: Callable[[str, int, type], NDArray[Any]] = lambda _, size, dtype: np.empty(size, dtype=dtype),
) -> Decided:
    """Find the decisions of some rows: the labels whose score is at least the threshold.

    ``array(name, size, dtype)`` makes an array [size] for each that is returned.
    """
    n_stored = int(scores.indptr[-1])
    counts = array("decisions of rows", 2 * (truth.indptr.size - 1), np.int64).reshape(-1, 2)
    labels = array("decisions", n_stored, np.int64)
    find_decisions(*truth[:2], *scores, threshold, drop_empty, counts, labels)
    return Decided(counts, labels, int(scores.indices[:n_stored].max(initial=-1)))
