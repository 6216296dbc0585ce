"""Sources made of others: shards as one matrix, the next batch of a whole, rows that are freed."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from xmceval.errors import DataError, counted, split_doubts
from xmceval.rows.block import Block, Source
from xmceval.rows.width import Width, hint_at_classes

MOST_WARNINGS = 5  # of all shards together; the rest is counted


class ShardedSource:
    """Shards as one source: rows continue, numbers of labels agree, places are those of the shards.

    With `are_scores` they are predictions, whose headers may also be ``rows k``, with a k of their own.
    """

    def __init__(self, shards: Sequence[Source], name: str, *, are_scores: bool) -> None:
        self.shards, self.name = tuple(shards), name
        self.dtype = shards[0].dtype
        width = Width()
        for each in shards:
            if each.n_labels is not None and (each.is_exact or not are_scores):
                noun, hint = ("column", hint_at_classes(each)) if are_scores else ("label", "")
                width = width.agree(each.n_labels, each.name, noun, hint)
        self.is_exact = width.is_known and any(each.is_exact for each in shards)
        declared = [each.n_labels for each in shards if each.n_labels is not None]
        self.n_labels = width.n_labels if width.is_known else max(declared, default=None)
        for each in shards if width.is_known else ():
            if each.n_labels is not None and each.n_labels > width.n_labels:
                raise DataError(f"{each.name} declares {counted(each.n_labels, 'label')}, but {width}")

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if all shards declare theirs."""
        numbers = [each.n_rows for each in self.shards if each.n_rows is not None]
        return sum(numbers) if len(numbers) == len(self.shards) else None

    @property
    def warnings(self) -> list[str]:
        """The first problems that were found in the shards, and how many more there are."""
        doubts, facts = split_doubts(line for shard in self.shards for line in shard.warnings)
        more = len(facts) - MOST_WARNINGS
        if more <= 0:
            return [*doubts, *facts]
        rest = f"{self.name}: {counted(more, 'more warning')} like these, of other shards"
        return [*doubts, *facts[:MOST_WARNINGS], rest]

    def files(self) -> tuple[Path, ...]:
        """Return the files of all shards."""
        return tuple(dict.fromkeys(path for each in self.shards for path in each.files()))

    def blocks(self) -> Generator[Block, None, None]:
        """Yield the blocks of all shards."""
        first_row = 0
        for shard in self.shards:
            for block in shard_blocks(shard, first_row, self.n_labels):
                first_row = block.first_row + block.n_rows
                yield block


def shard_blocks(shard: Source, first_row: int, n_labels: int | None) -> Generator[Block, None, None]:
    """Yield the blocks of a shard, whose rows are numbered from `first_row` on, of a whole with `n_labels` labels."""
    longest = None if shard.n_labels == n_labels else shard.n_labels
    with closing(shard.blocks()) as blocks:
        for block in blocks:
            yield block.shifted(first_row).limited(longest)


def shards_of(source: Source) -> Sequence[Source]:
    """Return the shards of a source, or itself as the only one."""
    return source.shards if isinstance(source, ShardedSource) else (source,)


def n_shared(truth: Source, systems: Iterable[Source]) -> int:
    """Return the number of shards that the truth and a system share, which are read side by side; 1 for none."""
    number = len(shards_of(truth))
    return number if number > 1 and any(len(shards_of(each)) == number for each in systems) else 1


class ReopenedSource:
    """A source that holds its rows in memory, opened anew for each pass, so that they are freed after it.

    `source` is what was opened first and is not kept; `reopen` opens its `files` again, and can be pickled.
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
    """A matrix whose first row is row `first_row` of the whole; messages tell the batch and the row in it."""

    source: Source
    first_row: int
    number: int  # of the batch, from 1 on

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
