"""Sources made from other sources: joined shards, numbered batches, and rows that can be freed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

from xmceval.errors import DataError, counted, split_doubts
from xmceval.rows.block import Block, Source
from xmceval.rows.progress import in_turn
from xmceval.rows.width import Width, hint_at_classes

MOST_WARNINGS = 5  # over all shards; further ones are counted


class ShardedSource:
    """Shards as one source: rows continue, numbers of labels agree, and messages name the shard.

    With `are_scores` they are predictions, whose headers may also be ``rows k``, each with its own k.
    """

    def __init__(self, shards: Sequence[Source], name: str, *, are_scores: bool) -> None:
        self.shards, self.name = tuple(shards), name
        self.dtype = shards[0].dtype
        width = Width()
        for shard in shards:
            if shard.n_labels is not None and (shard.is_exact or not are_scores):
                noun, hint = ("column", hint_at_classes(shard)) if are_scores else ("label", "")
                width = width.agree(shard.n_labels, shard.name, noun, hint)
        self.is_exact = width.is_known and any(shard.is_exact for shard in shards)
        declared = [shard.n_labels for shard in shards if shard.n_labels is not None]
        self.n_labels = width.n_labels if width.is_known else max(declared, default=None)
        for shard in shards if width.is_known else ():
            if shard.n_labels is not None and shard.n_labels > width.n_labels:
                raise DataError(f"{shard.name} declares {counted(shard.n_labels, 'label')}, but {width}")

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if all shards declare theirs."""
        numbers = [shard.n_rows for shard in self.shards if shard.n_rows is not None]
        return sum(numbers) if len(numbers) == len(self.shards) else None

    @property
    def warnings(self) -> list[str]:
        """The first problems found in the shards, and the number of further ones."""
        doubts, facts = split_doubts(line for shard in self.shards for line in shard.warnings)
        more = len(facts) - MOST_WARNINGS
        if more <= 0:
            return [*doubts, *facts]
        rest = f"{self.name}: {counted(more, 'more warning')} like these, of other shards"
        return [*doubts, *facts[:MOST_WARNINGS], rest]

    def files(self) -> tuple[Path, ...]:
        """Return the files of all shards."""
        return tuple(dict.fromkeys(path for shard in self.shards for path in shard.files()))

    def blocks(self) -> Generator[Block, None, None]:
        """Yield the blocks of all shards."""
        first_row = 0
        for shard in in_turn(self.name, self.shards):
            for block in shard_blocks(shard, first_row, self.n_labels):
                first_row = block.first_row + block.n_rows
                yield block


def shard_blocks(shard: Source, first_row: int, n_labels: int | None) -> Generator[Block, None, None]:
    """Yield the blocks of a shard of a whole with `n_labels` labels; rows are numbered from `first_row` on."""
    longest = None if shard.n_labels == n_labels else shard.n_labels
    with closing(shard.blocks()) as blocks:
        for block in blocks:
            yield replace(block.shifted(first_row), longest=longest)


def shards_of(source: Source) -> Sequence[Source]:
    """Return the shards of a source, or itself as the only one."""
    return source.shards if isinstance(source, ShardedSource) else (source,)


def n_shared(truth: Source, systems: Iterable[Source]) -> int:
    """Return the number of shards that truth and systems share and that are read in parallel; 1 for none."""
    number = len(shards_of(truth))
    return number if number > 1 and any(len(shards_of(system)) == number for system in systems) else 1


class ReopenedSource:
    """A source that holds its rows in memory, and is reopened for each pass so that they are freed afterwards.

    `source` is the first opened source, which is not kept; `reopen` opens its `files` again, and can be
    pickled.
    """

    def __init__(self, source: Source, reopen: Callable[[], Source], files: Sequence[Path]) -> None:
        self.name, self.n_rows, self.n_labels = source.name, source.n_rows, source.n_labels
        self.is_exact, self.dtype, self.warnings = source.is_exact, source.dtype, list(source.warnings)
        self.reopen, self._files = reopen, tuple(files)

    def files(self) -> tuple[Path, ...]:
        """Return the files that are opened for each pass."""
        return self._files

    def blocks(self) -> Generator[Block, None, None]:
        """Open the source and yield its blocks."""
        source = self.reopen()
        yield from source.blocks()
        self.warnings = list(source.warnings)


@dataclass
class BatchSource:
    """A matrix whose first row is row `first_row` of the whole; messages name the batch and its row."""

    source: Source
    first_row: int
    number: int  # of the batch, counted from 1

    def __post_init__(self) -> None:
        source = self.source
        self.name, self.n_rows = f"{source.name} of batch {self.number}", source.n_rows
        self.n_labels, self.is_exact, self.dtype = source.n_labels, source.is_exact, source.dtype

    @property
    def warnings(self) -> list[str]:
        """Problems that were found while its blocks were read."""
        return self.source.warnings

    def files(self) -> tuple[Path, ...]:
        """Return the files of the matrix."""
        return self.source.files()

    def blocks(self) -> Generator[Block, None, None]:
        """Yield the blocks of the matrix, numbered as rows of the whole."""
        for block in self.source.blocks():
            yield block.shifted(self.first_row, f"batch {self.number}, ")


class Lockstep:
    """The truth and scores of systems in parallel: tuples of blocks of the same rows, the truth first.

    If truth and a system have several shards, each pair of shards must have the same number of rows.
    `n_weights` is the number of sample weights, if any: there must be one per row. Blocks have at most
    `most_rows` rows.
    """

    def __init__(
        self, truth: Source, systems: Sequence[Source], n_weights: int | None = None, *, most_rows: int | None = None
    ) -> None:
        self._sources, self._n_shards = (truth, *systems), n_shared(truth, systems)
        self._n_weights, self._most_rows = n_weights, most_rows
        self.n_rows = 0

    def __iter__(self) -> Generator[tuple[Block, ...], None, None]:
        readers = [_Reader(source, self._n_shards) for source in self._sources]
        try:
            for shard in in_turn(self._sources[0].name, range(self._n_shards)):
                first_row = self.n_rows
                for reader in readers:
                    reader.start(shard, first_row)
                yield from self._steps(readers)
                self._check_ends(readers, shard, first_row)
            if self._n_weights not in {None, self.n_rows}:
                raise DataError(
                    f"there are {counted(self._n_weights or 0, 'sample weight')} for {counted(self.n_rows, 'row')}; "
                    "expected one per row"
                )
        finally:
            for reader in readers:
                reader.stream.close()

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
            for reader, previous, block in zip(readers, taken, current, strict=True):
                if previous is block:
                    reader.block = next(reader.stream, None)

    def _check_ends(self, readers: Sequence[_Reader], shard: int, first_row: int) -> None:
        """Refuse sources with different numbers of rows; blank lines at the end of predictions are not rows."""
        truth, *systems = readers
        is_last = shard == self._n_shards - 1
        rest = truth.count_rest(blanks_count=True)
        for system in systems:
            if not (system.is_paired or is_last or (rest and system.block is None)):
                continue  # it continues with the next shard
            source, its_source, before = truth.source, system.source, 0
            if system.is_paired:
                source, its_source, before = truth.shards[shard], system.shards[shard], first_row
            n_rows = self.n_rows - before + rest
            if not (system.is_paired or is_last):  # with the rows of later shards
                n_rows += sum(block.n_rows for later in truth.shards[shard + 1 :] for block in later.blocks())
            its_rows = self.n_rows - before + system.count_rest(blanks_count=its_source.n_rows is not None)
            if its_rows != n_rows:
                shards = getattr(getattr(its_source, "source", its_source), "shards", ())  # also of a batch
                are_by_label = len(shards) > 1 and all(shard.n_rows == n_rows for shard in shards)
                raise DataError(
                    f"{source.name} has {counted(n_rows, 'row')}, {its_source.name} has {counted(its_rows, 'row')}; "
                    f"they must be of the same instances{hint_at_classes(its_source) if are_by_label else ''}"
                )


class _Reader:
    """The blocks of one source, shard by shard or in one stream; `block` is the current block."""

    def __init__(self, source: Source, n_shards: int) -> None:
        self.source, self.shards = source, shards_of(source)
        self.is_paired = n_shards > 1 and len(self.shards) == n_shards
        self.stream = source.blocks()  # not begun if it is read shard by shard
        self.block: Block | None = None

    def start(self, shard: int, first_row: int) -> None:
        """Go to the first block of a shard; a source that is not read shard by shard continues."""
        if self.is_paired:
            self.stream.close()
            self.stream = shard_blocks(self.shards[shard], first_row, self.source.n_labels)
        if self.is_paired or shard == 0:
            self.block = next(self.stream, None)

    def count_rest(self, *, blanks_count: bool) -> int:
        """Count the remaining rows, ignoring trailing blank lines unless these count."""
        total = filled = 0
        while self.block is not None:
            last = self.block.n_rows if blanks_count else self.block.stored.blank_from()
            filled = total + last if last else filled
            total += self.block.n_rows
            self.block = next(self.stream, None)
        return filled
