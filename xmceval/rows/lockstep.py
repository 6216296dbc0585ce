"""Lockstep: blocks of the truth and of any number of systems, cut to the same rows."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence

from xmceval.errors import DataError, counted
from xmceval.rows.block import Block, Source
from xmceval.rows.sources import n_shared, shard_blocks, shards_of


class Lockstep:
    """The truth and the scores of systems in step: tuples of blocks of the same rows, the truth's first.

    Where truth and a system have several shards, each pair of shards must have the same number of rows. `n_weights` is
    the number of sample weights, where there are any: one per row is expected. Blocks have at most `most_rows` rows.
    """

    def __init__(
        self, truth: Source, systems: Sequence[Source], n_weights: int | None = None, *, most_rows: int | None = None
    ) -> None:
        self._sources = (truth, *systems)
        self._n_shards = n_shared(truth, systems)
        self._n_weights, self._most_rows = n_weights, most_rows
        self.n_rows = 0

    def __iter__(self) -> Generator[tuple[Block, ...], None, None]:
        readers = [_Reader(source, self._n_shards) for source in self._sources]
        try:
            for shard in range(self._n_shards):
                first_row = self.n_rows
                for reader in readers:
                    reader.start(shard, first_row)
                yield from self._steps(readers)
                self._check_ends(readers, shard, first_row)
            self._check_weights()
        finally:
            for reader in readers:
                reader.close()

    def _steps(self, readers: Sequence[_Reader]) -> Iterator[tuple[Block, ...]]:
        while len(current := [reader.block for reader in readers if reader.block is not None]) == len(readers):
            n_rows = min([block.n_rows for block in current])
            n_rows = n_rows if self._most_rows is None else min(n_rows, self._most_rows)
            if self._n_weights is not None and self.n_rows + n_rows > self._n_weights:
                raise DataError(f"there are {counted(self._n_weights, 'sample weight')}, but more rows than that")
            self.n_rows += n_rows
            taken = tuple([block if block.n_rows == n_rows else block.take(n_rows) for block in current])
            if n_rows:
                yield taken
            for reader, own, block in zip(readers, taken, current, strict=True):
                if own is block:
                    reader.advance()

    def _check_ends(self, readers: Sequence[_Reader], shard: int, first_row: int) -> None:
        """Refuse sources with different numbers of rows; blank lines at the end of predictions are not rows."""
        truth, *systems = readers
        is_last = shard == self._n_shards - 1
        rest = truth.count_rest(blanks_count=True)
        for system in systems:
            if not (system.is_paired or is_last or (rest and system.block is None)):
                continue  # it goes on beside the next shard
            source, its_source = [each.source_of(shard, system.is_paired) for each in (truth, system)]
            before = first_row if system.is_paired else 0
            n_rows = self.n_rows - before + rest
            if not (system.is_paired or is_last):
                n_rows += truth.count_later(shard + 1)
            its_rows = self.n_rows - before + system.count_rest(blanks_count=its_source.n_rows is not None)
            if its_rows != n_rows:
                raise DataError(
                    f"{source.name} has {counted(n_rows, 'row')}, {its_source.name} has {counted(its_rows, 'row')}; "
                    "they must be of the same instances"
                )

    def _check_weights(self) -> None:
        if self._n_weights not in {None, self.n_rows}:
            raise DataError(
                f"there are {counted(self._n_weights or 0, 'sample weight')} for {counted(self.n_rows, 'row')}; "
                "expected one per row"
            )


class _Reader:
    """The blocks of one source, of which `block` is the current one: shard by shard, or one after the other."""

    def __init__(self, source: Source, n_shards: int) -> None:
        self._source, self._shards = source, shards_of(source)
        self.is_paired = n_shards > 1 and len(self._shards) == n_shards
        self.block: Block | None = None
        self._stream: Generator[Block, None, None] | None = None

    def source_of(self, shard: int, is_paired: bool) -> Source:
        """Return one shard of the source, or all of it."""
        return self._shards[shard] if is_paired else self._source

    def start(self, shard: int, first_row: int) -> None:
        """Go to the first block of a shard; a source that is not read shard by shard goes on."""
        if self.is_paired or shard == 0:
            self.close()
            self._stream = self._blocks_of(shard, first_row) if self.is_paired else self._source.blocks()
            self.advance()

    def _blocks_of(self, shard: int, first_row: int) -> Generator[Block, None, None]:
        return shard_blocks(self._shards[shard], first_row, self._source.n_labels)

    def advance(self) -> None:
        """Go to the next block."""
        self.block = None if self._stream is None else next(self._stream, None)

    def close(self) -> None:
        """Close what is open."""
        if self._stream is not None:
            self._stream.close()

    def count_rest(self, *, blanks_count: bool) -> int:
        """Count the rows that are left, up to the last that is not blank unless blank lines count."""
        total = filled = 0
        while self.block is not None:
            last = self.block.n_rows if blanks_count else self.block.blank_from()
            filled = total + last if last else filled
            total += self.block.n_rows
            self.advance()
        return filled

    def count_later(self, shard: int) -> int:
        """Count the rows of the shards from one on."""
        return sum(block.n_rows for later in self._shards[shard:] for block in later.blocks())
