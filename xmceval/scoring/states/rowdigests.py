"""Row digests: what identifies the rows of a state, so that nobody adds the same rows twice."""

from __future__ import annotations

import hashlib
from operator import add

import numpy as np
from numpy.typing import NDArray

from xmceval.kernels.rows.order import FIRST, GOLDEN, SECOND
from xmceval.kernels.rows.rowhashes import add_digests
from xmceval.rows.block import Int64, Rows, Scratch
from xmceval.scoring.batch import ALL_KEPT, Batch, rank
from xmceval.scoring.mergeable import Mergeable, PartField, merged

Hashes = NDArray[np.uint64]

LEAST_TRUE = 16


def _add_digests(left: int, right: int) -> int:
    return (left + right) % 2**64


class TruthDigest(Mergeable):
    """A digest of a truth, or of rankings, that does not depend on the order in which its rows are seen."""

    fields = (PartField("n_rows", add), PartField("sum", _add_digests))

    def __init__(self) -> None:
        super().__init__()
        self.n_rows, self.sum = 0, 0

    def add(self, n_rows: int, digest: int) -> None:
        """Add the digest of some rows."""
        with self._lock:
            self.n_rows, self.sum = self.n_rows + n_rows, _add_digests(self.sum, digest)

    def __str__(self) -> str:
        return hashlib.blake2b(f"{self.n_rows} {self.sum}".encode(), digest_size=16).hexdigest()


class RowDigests(Mergeable):
    """Digests of truth and ranking, which do not depend on blocks or threads.

    Attributes
    ----------
    n_rows : int
        The rows that were read, also those of weight 0.
    n_true : int
        True labels.
    truth, ranking : TruthDigest
    """

    fields = (
        PartField("n_rows", add),
        PartField("n_true", add),
        PartField("truth", merged),
        PartField("ranking", merged),
    )

    def __init__(self, depth: int = 0) -> None:
        super().__init__()
        self._depth = depth  # of rankings, where those that are at hand are not as deep
        self.n_rows = self.n_true = 0
        self.truth, self.ranking = TruthDigest(), TruthDigest()

    def add(self, batch: Batch) -> None:
        """Take the rows of a batch."""
        kept = ALL_KEPT if batch.kept is None else batch.kept
        digests = np.zeros(2, dtype=np.uint64)
        is_deep = batch.ranking.labels.shape[1] >= self._depth
        ranking = batch.ranking if is_deep else rank(batch.scores, self._depth, Scratch())
        labels, _, n_ranked = ranking.arrays
        add_digests(tuple(batch.truth), labels, n_ranked, batch.block.first_row, kept, digests)
        self.combine(n_rows=batch.block.n_rows, n_true=int(batch.truth.indptr[-1]))
        for own, digest in zip((self.truth, self.ranking), digests.tolist(), strict=True):
            own.add(batch.n_rows, digest)

    @property
    def identity(self) -> tuple[str, str]:
        """Digests of truth and ranking; empty with too few true labels for other rows to have others."""
        return (str(self.truth), str(self.ranking)) if self.n_true >= LEAST_TRUE else ("", "")


def digest_rows(rows: Int64, truth: Rows) -> int:
    """Return the sum of a hash of each (row, label, grade), modulo 2^64; `rows`, int64 [n_rows], are their numbers."""
    n_entries = int(truth.indptr[-1])
    entry_rows = np.repeat(rows, np.diff(truth.indptr)).astype(np.uint64)
    labels, grades = truth.indices[:n_entries].astype(np.uint64), truth.values[:n_entries].astype(np.uint64)
    words = _mix(_mix(entry_rows * GOLDEN + labels) + grades)
    return int(words.sum(dtype=np.uint64))


def _mix(words: Hashes) -> Hashes:
    words = (words ^ (words >> np.uint64(30))) * FIRST
    words = (words ^ (words >> np.uint64(27))) * SECOND
    return words ^ (words >> np.uint64(31))
