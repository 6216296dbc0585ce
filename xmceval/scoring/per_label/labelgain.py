"""Label gain: how the hits of a system are spread over labels, from the most frequent in training to the rarest."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from xmceval.errors import DataError, UsageError, argument
from xmceval.labels.propensity import Propensities
from xmceval.rows.block import Float64, Int64
from xmceval.scoring.batch import Terms
from xmceval.scoring.observing.observers import BlockValues, Observer
from xmceval.scoring.per_label.labelcounters import LabelCounters
from xmceval.scoring.program import Program


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


class LabelGains(Observer):
    """An observer that counts the hits of each label at the deepest cutoff: 12 bytes per label and system.

    Parameters
    ----------
    program : Program
    frequencies : Propensities
        From training counts.
    terms : sequence of Terms
        By system.

    Raises
    ------
    UsageError
        No metric has a cutoff.
    DataError
        Inverse propensities that were passed without counts.
    """

    needs_rankings = True

    def __init__(self, program: Program, frequencies: Propensities, terms: list[Terms]) -> None:
        if not program.deepest:
            raise UsageError("the picture 'gain' needs a metric with a cutoff (hint: add one, such as P@5)")
        if frequencies.n is None:
            raise DataError(
                f"the picture 'gain' needs training counts (hint: pass {argument('train')} or {argument('counts')})"
            )
        self._frequencies, self._terms = frequencies, terms
        self._cutoffs = np.array([program.deepest], dtype=np.int64)
        self._counters = [
            LabelCounters(each.width.n_labels, 1, weighted=each.weights is not None) for each in terms
        ]  # fmt: skip

    def add(self, block: BlockValues) -> None:
        """Count the labels of a block."""
        for terms, ranking, counters in zip(self._terms, block.rankings, self._counters, strict=True):
            ranked, _, n_ranked = ranking.arrays
            counters.add_ranked(block.truth, ranked, n_ranked, self._cutoffs, block.weights, terms.drop_empty)

    def finish(self, n_labels: list[int]) -> list[LabelGain]:
        """Return the gain of each system; `n_labels` is by system."""
        return [self._finish(counters, n) for counters, n in zip(self._counters, n_labels, strict=True)]

    def _finish(self, counters: LabelCounters, n_labels: int) -> LabelGain:
        propensities, table = self._frequencies, counters.table()
        codes, counts = propensities.codes_of(table.labels), propensities.counts
        labels = np.bincount(propensities.codes, minlength=counts.size)
        labels[0] += max(n_labels - propensities.codes.size, 0)
        unit = math.ldexp(self._terms[0].weight_unit, -table.bits)  # of all systems: rows have weights
        true, hits = (_sum_by_code(codes, each, counts.size) * unit for each in (table.true, table.hits(0)))
        kept = np.flatnonzero(labels)[::-1]  # codes ascend with the counts
        return LabelGain(
            int(self._cutoffs[0]), counts[kept], labels[kept], true[kept], hits[kept], propensities.from_truth
        )


def _sum_by_code(codes: Int64, numbers: Int64, n: int) -> Float64:
    return np.bincount(codes, weights=numbers, minlength=n).astype(np.float64)
