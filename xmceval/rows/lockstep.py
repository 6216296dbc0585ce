"""Lockstep: blocks of the truth and of any number of systems, cut to the same rows."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import ExitStack, closing

from xmceval.errors import DataError, counted
from xmceval.rows.block import Block, Source


class Lockstep:
    """The truth and the scores of systems in step: tuples of blocks of the same rows, the truth's first.

    Parameters
    ----------
    truth : Source
    systems : sequence of Source
        At least one.
    n_weights : int, optional
        The number of sample weights, where there are any: one per row is expected.
    most_rows : int, optional
        The most rows of a block; default as many as the sources give.
    """

    def __init__(
        self, truth: Source, systems: Sequence[Source], n_weights: int | None = None, *, most_rows: int | None = None
    ) -> None:
        self._sources = (truth, *systems)
        self._n_weights, self._most_rows = n_weights, most_rows
        self.n_rows = 0

    def __iter__(self) -> Generator[tuple[Block, ...], None, None]:
        with ExitStack() as stack:
            streams = [stack.enter_context(closing(source.blocks())) for source in self._sources]
            yield from self._steps(streams)

    def _steps(self, streams: Sequence[Iterator[Block]]) -> Iterator[tuple[Block, ...]]:
        blocks = [next(stream, None) for stream in streams]
        while all(block is not None for block in blocks):
            current = [block for block in blocks if block is not None]
            n_rows = min(block.n_rows for block in current)
            n_rows = n_rows if self._most_rows is None else min(n_rows, self._most_rows)
            if self._n_weights is not None and self.n_rows + n_rows > self._n_weights:
                raise DataError(f"there are {counted(self._n_weights, 'sample weight')}, but more rows than that")
            self.n_rows += n_rows
            if n_rows:
                yield tuple(block.take(n_rows) for block in current)
            blocks = [
                next(stream, None) if block.n_rows == 0 else block
                for block, stream in zip(current, streams, strict=True)
            ]
        self._check_ends(blocks, streams)

    def _check_ends(self, blocks: Sequence[Block | None], streams: Sequence[Iterator[Block]]) -> None:
        """Refuse sources with different numbers of rows; blank lines at the end of predictions are not rows."""
        truth, *systems = self._sources
        blanks_count = [True, *(system.n_rows is not None for system in systems)]
        n_rows = [self.n_rows + _count_rest(*rest) for rest in zip(blocks, streams, blanks_count, strict=True)]
        for system, its_rows in zip(systems, n_rows[1:], strict=True):
            if its_rows != n_rows[0]:
                raise DataError(
                    f"{truth.name} has {counted(n_rows[0], 'row')}, {system.name} has {counted(its_rows, 'row')}; "
                    "they must be of the same instances"
                )
        if self._n_weights not in {None, self.n_rows}:
            raise DataError(
                f"there are {counted(self._n_weights or 0, 'sample weight')} for {counted(self.n_rows, 'row')}; "
                "expected one per row"
            )


def _count_rest(block: Block | None, blocks: Iterator[Block], blanks_count: bool) -> int:
    """Count the rows that are left, up to the last that is not blank unless blank lines count."""
    total = filled = 0
    while block is not None:
        last = block.n_rows if blanks_count else block.blank_from()
        filled = total + last if last else filled
        total += block.n_rows
        block = next(blocks, None)
    return filled
