"""The conductor: blocks of truth and scores, row for row, through the kernels into totals, in threads."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from contextlib import closing

from xmceval.errors import DataError, counted
from xmceval.rows.block import Block, Source


class Pairs:
    """Truth and scores in step: pairs of blocks of the same rows."""

    def __init__(self, truth: Source, scores: Source, n_weights: int | None) -> None:
        self._truth, self._scores, self._n_weights = truth, scores, n_weights
        self.n_rows = 0

    def __iter__(self) -> Generator[tuple[Block, Block], None, None]:
        with closing(self._truth.blocks()) as truth_blocks, closing(self._scores.blocks()) as score_blocks:
            yield from self._pairs(truth_blocks, score_blocks)

    def _pairs(self, truth_blocks: Iterator[Block], score_blocks: Iterator[Block]) -> Iterator[tuple[Block, Block]]:
        truth, scores = next(truth_blocks, None), next(score_blocks, None)
        done = 0
        while truth is not None and scores is not None:
            n_rows = min(truth.n_rows, scores.n_rows)
            if self._n_weights is not None and done + n_rows > self._n_weights:
                raise DataError(f"there are {counted(self._n_weights, 'sample weight')} for more rows than that")
            done += n_rows
            self.n_rows = done
            if n_rows:
                yield truth.take(n_rows), scores.take(n_rows)
            if truth.n_rows == 0:
                truth = next(truth_blocks, None)
            if scores.n_rows == 0:
                scores = next(score_blocks, None)
        more_truth = _rest(truth, truth_blocks, blanks_count=True)
        more_scores = _rest(scores, score_blocks, blanks_count=self._scores.n_rows is not None)
        if more_truth or more_scores:
            raise DataError(
                f"{self._truth.name} has {counted(done + more_truth, 'row')}, "
                f"{self._scores.name} has {counted(done + more_scores, 'row')}; they must be of the same instances"
            )
        if self._n_weights not in {None, done}:
            raise DataError(
                f"there are {counted(self._n_weights or 0, 'sample weight')} for {counted(done, 'row')}; "
                "expected one a row"
            )


def _rest(block: Block | None, blocks: Iterable[Block], *, blanks_count: bool) -> int:
    """Count the rows that are left; blank lines at the very end are rows only where they count."""
    total = filled = 0
    while block is not None:
        last = block.n_rows if blanks_count else block.blank_from()
        filled = total + last if last else filled
        total += block.n_rows
        block = next(iter(blocks), None)
    return filled
