"""Label gain: how the hits of a system are spread over labels, from the most frequent in training to the rarest."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from xmceval.errors import DataError, UsageError, argument
from xmceval.labels.propensity import Propensities
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.per_label.labelcounters import LabelCounters
from xmceval.scoring.program import Program
from xmceval.scoring.tasks.labelwise import Labelwise


@dataclass(frozen=True, eq=False)
class LabelGain:
    """Hits among the k best labels by training frequency: entry i is of all labels with the same one.

    Attributes
    ----------
    k : int
    counts : int64 array [n]
        The training rows of each of the labels, descending.
    n_labels : int64 array [n]
        How many labels have so many.
    true, hits : float64 array [n]
        In how many rows they are true, and of these, among the k best; sums of weights where rows have weights.
    from_truth : bool
        Whether the frequencies are those of the truth itself.
    """

    k: int
    counts: Int64
    n_labels: Int64
    true: Float64
    hits: Float64
    from_truth: bool = False


def count_hits(program: Program, frequencies: Propensities) -> Labelwise:
    """Return the task that counts the hits of each label at the deepest cutoff: 12 bytes per label and system.

    Parameters
    ----------
    program : Program
    frequencies : Propensities
        From training counts.

    Raises
    ------
    UsageError
        No metric has a cutoff.
    DataError
        Inverse propensities that were passed without counts.
    """
    if not program.deepest:
        raise UsageError("the picture 'gain' needs a metric with a cutoff (hint: add one, such as P@5)")
    if frequencies.n is None:
        raise DataError(
            f"the picture 'gain' needs training counts (hint: pass {argument('train')} or {argument('counts')})"
        )
    return Labelwise((), 1, np.array([program.deepest], dtype=np.int64))


def find_gain(
    task: Labelwise, counters: LabelCounters, frequencies: Propensities, n_labels: int, weight_unit: float
) -> LabelGain:
    """Return the gain of a system, from what that task counted."""
    table = counters.table()
    codes, counts = frequencies.codes_of(table.labels), frequencies.counts
    labels = np.bincount(frequencies.codes, minlength=counts.size)
    labels[0] += max(n_labels - frequencies.codes.size, 0)
    unit = math.ldexp(weight_unit, -table.bits)
    true, hits = (_sum_by_code(codes, each, counts.size) * unit for each in (table.true, table.hits(0)))
    kept = np.flatnonzero(labels)[::-1]  # codes ascend with the counts
    return LabelGain(int(task.cutoffs[0]), counts[kept], labels[kept], true[kept], hits[kept], frequencies.from_truth)


def _sum_by_code(codes: Int64, numbers: Int64, n: int) -> Float64:
    return np.bincount(codes, weights=numbers, minlength=n).astype(np.float64)
