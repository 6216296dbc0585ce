"""Overlap: how far the best labels of pairs of systems agree, which hits they share, and what both find together."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import UsageError
from xmceval.kernels.metrics import overlap as kernels
from xmceval.kernels.metrics.overlap import add_overlaps
from xmceval.scoring.observing.observers import BlockValues, Observer
from xmceval.scoring.program import Program

PERSISTENCE = 0.9  # p of rank-biased overlap

_WORDS = np.array([1 << (kernels.WORD * word) for word in range(3)], dtype=object)  # of an exact sum


@dataclass(frozen=True)
class CutoffOverlap:
    """How far the k best labels of a system and of its baseline overlap; means over rows unless said otherwise.

    Attributes
    ----------
    jaccard : float
        Labels that both lists have / labels that at least one has; 1 where both lists are empty.
    hits_both, hits_system, hits_baseline : float
        Of the hits of all rows that at least one of the two finds: the shares that both find, only the system, and
        only the baseline. All are 0 where there is no hit.
    union_precision : float
        Hits / labels, of the union of the two lists; 0 where both are empty.
    union_recall : float
        Hits of the union / true labels of the row; 0 where it has none.
    oracle_precision : float
        min(hits of the union, k) / k: the P@k of the best k labels of the union.
    """

    jaccard: float
    hits_both: float
    hits_system: float
    hits_baseline: float
    union_precision: float
    union_recall: float
    oracle_precision: float


@dataclass(frozen=True)
class Overlap:
    """How far the best labels of a system and of its baseline overlap.

    Attributes
    ----------
    system, baseline : str
        Their names.
    cutoffs : mapping of int to CutoffOverlap
        By cutoff, ascending.
    depth : int
        The deepest cutoff, after which the lists are cut for rank-biased overlap.
    rank_biased : float
        The mean over rows of rank-biased overlap with p = 0.9, extrapolated from lists of at most `depth` labels.

    Notes
    -----
    Webber, Moffat and Zobel, A similarity measure for indefinite rankings, ACM TOIS 2010: RBO_ext, equation 32, which
    is equation 30 where both lists are equally long. It is 1 for equal lists, also for two empty ones, and 0 where one
    list alone is empty.
    """

    system: str
    baseline: str
    cutoffs: Mapping[int, CutoffOverlap]
    depth: int
    rank_biased: float


class Overlaps(Observer):
    """An observer that sums the overlap of pairs of systems, in constant memory.

    Parameters
    ----------
    program : Program
    pairs : sequence of (system, baseline)
        By number.
    drop_empty : bool
        Leave out rows without a true label.

    Raises
    ------
    UsageError
        No metric has a cutoff.
    """

    needs_rankings = True

    def __init__(self, program: Program, pairs: Sequence[tuple[int, int]], *, drop_empty: bool = False) -> None:
        check_cutoffs(program, "overlap")
        self._cutoffs, self._drop_empty = program.cutoffs, drop_empty
        self._sums: dict[tuple[int, int], NDArray[Any]] = {pair: self._zeros() for pair in pairs}
        self._lock = threading.Lock()

    def add(self, block: BlockValues) -> None:
        """Add the rows of a block."""
        lists = [(each.labels, each.n_ranked) for each in block.rankings]
        truth, space = (block.truth.indptr, block.truth.indices), self._working_space()
        for pair in self._sums:
            own = np.zeros((self._cutoffs.size + 1, kernels.SUMMED, 3), dtype=np.int64)
            a, b = (lists[each] for each in pair)
            add_overlaps(a, b, truth, block.weights, self._cutoffs, PERSISTENCE, self._drop_empty, space, own)
            exact = own.astype(object) @ _WORDS
            with self._lock:
                self._sums[pair] = self._sums[pair] + exact

    def finish(self, names: tuple[str, str], pairs: Sequence[tuple[int, int]]) -> Overlap:
        """Return the overlap of a system and its baseline from the pairs of their runs, each of which counts alike."""
        *lines, once = sum((self._sums[pair] for pair in pairs), self._zeros())
        weight = once[kernels.WEIGHT]
        cutoffs = {int(k): _divide(line, weight) for k, line in zip(self._cutoffs, lines, strict=True)}
        return Overlap(*names, cutoffs, int(self._cutoffs[-1]), _ratio(once[kernels.RBO], weight))

    def _working_space(self) -> tuple[NDArray[Any], ...]:
        """Return the working space of the kernel."""
        deepest = int(self._cutoffs[-1])
        tables = np.empty((3, 1 << max(2 * deepest - 1, 3).bit_length()), dtype=np.int64)
        return *tables, np.empty((4, deepest), dtype=np.int64), np.empty(kernels.SUMMED)

    def _zeros(self) -> NDArray[Any]:
        """Return sums of no rows, as Python's integers."""
        return np.zeros((self._cutoffs.size + 1, kernels.SUMMED), dtype=object)


def check_cutoffs(program: Program, option: str) -> None:
    """Refuse a program without a cutoff, for an option that shows the best labels.

    Raises
    ------
    UsageError
        Names the option.
    """
    if not program.deepest:
        raise UsageError(f"{option} needs a metric with a cutoff (hint: add one, such as P@5)")


def _divide(sums: NDArray[Any], weight: int) -> CutoffOverlap:
    hits = [sums[i] for i in (kernels.BOTH, kernels.ONLY_A, kernels.ONLY_B)]
    means = [_ratio(sums[i], weight) for i in (kernels.UNION_P, kernels.UNION_R, kernels.ORACLE_P)]
    return CutoffOverlap(_ratio(sums[kernels.JACCARD], weight), *(_ratio(each, sum(hits)) for each in hits), *means)


def _ratio(numerator: int, denominator: int) -> float:
    """Divide integers, rounded once."""
    return numerator / denominator if denominator else 0.0
