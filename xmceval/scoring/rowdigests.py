"""Row digests: an observer that makes digests of the rows that are scored, so that nobody adds the same rows twice."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from xmceval.rows.block import Int64, Rows
from xmceval.scoring.batch import Ranking
from xmceval.scoring.observers import BlockValues, Observer
from xmceval.scoring.savedrows import TruthDigest, digest_rows

LEAST_TRUE = 16


class RowDigests(Observer):
    """An observer that counts rows and digests truth and rankings; neither depends on blocks or threads.

    Attributes
    ----------
    n_rows : int
        The rows that were read, also those of weight 0.
    n_true : int
        True labels.
    truth : TruthDigest
        Of the true labels and their grades.
    rankings : sequence of TruthDigest
        Of the best labels, by system.
    """

    needs_rankings = True

    def __init__(self, n_systems: int = 1) -> None:
        self.n_rows, self.n_true, self.truth = 0, 0, TruthDigest()
        self.rankings: Sequence[TruthDigest] = [TruthDigest() for _ in range(n_systems)]
        self._lock = threading.Lock()

    @property
    def identifies(self) -> bool:
        """Whether there are enough true labels for other rows to have others."""
        return self.n_true >= LEAST_TRUE

    def add(self, block: BlockValues) -> None:
        """Take the rows of a block."""
        kept = np.arange(block.n_rows) if block.kept is None else block.kept
        rows = (block.first_row + kept).astype(np.int64)
        truth = digest_rows(rows, block.truth)
        rankings = [digest_rows(rows, _as_rows(ranking)) for ranking in block.rankings]
        with self._lock:
            self.n_rows += block.n_rows
            self.n_true += int(block.truth.indptr[-1])
            self.truth.add(rows.size, truth)
            for own, ranking in zip(self.rankings, rankings, strict=True):
                own.add(rows.size, ranking)


def _as_rows(ranking: Ranking) -> Rows:
    """Return ranked labels as entries whose values are their ranks."""
    depth = ranking.labels.shape[1]
    ranks = np.broadcast_to(np.arange(1.0, depth + 1), ranking.labels.shape)
    n_ranked = np.minimum(ranking.n_ranked, depth)
    is_ranked = ranks <= n_ranked[:, None]
    indptr: Int64 = np.concatenate([[0], np.cumsum(n_ranked)])
    return Rows(indptr, ranking.labels[is_ranked], ranks[is_ranked])
