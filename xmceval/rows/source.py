"""Inputs as streams of blocks: what a source is, how one is derived from others, and how several are read together."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import DataError, argument, counted, split_doubts
from xmceval.rows.block import Block, EntryNames, Rows, Scratch
from xmceval.rows.matrices.storage import Matrix
from xmceval.rows.progress import in_turn
from xmceval.rows.width import OF_CLASSES, Width

MOST_NAMED = 3  # names that are no label, in a message
MOST_WARNINGS = 5  # over all shards; further ones are counted

Blocks = Generator[Block, None, None]
Read = Callable[["Source"], Blocks]
Pieces = Callable[[int], Iterator[Matrix]]  # yields the pieces of a matrix in files, from a row on


@dataclass(eq=False)  # not frozen, as two are made for each small batch
class Source:
    """An input that is read as blocks of rows, in order, as often as needed: what is known of it, and how it is read.

    The functions below derive one source from another. Only notes, and counts of repairs, change while it is read.
    """

    name: str  # in messages
    read: Read  # yields the blocks of the source that it is given, before repairs
    n_rows: int | None = None  # if it is known before the first row is read
    n_labels: int | None = None  # the number of columns, likewise
    is_exact: bool = True  # whether `n_labels`, if known, is the number of labels; a text header may be ``rows k``
    dtype: np.dtype[Any] | None = None  # of stored values; None for text, which is read as float64
    files: tuple[Path, ...] = ()  # opened to read the rows, without repeats; none for rows in memory
    notes: list[str] = field(default_factory=list)  # warnings from opening, and from the last time it was read
    repairs: tuple[Repair, ...] = ()  # of its blocks, in this order
    shards: tuple[Source, ...] = ()  # joined here, if any

    # Of matrices
    stored: Matrix | Pieces | None = None  # in memory or in files; None for text, shards and what is reopened
    reading: str = ""  # how it was read, and on what evidence
    is_ranked: bool = False  # whether it has labels without scores, ranked only by their order
    depth: int | None = None  # labels to select per row of dense scores, if all metrics are at cutoffs
    names: Callable[[int, int], EntryNames] | None = None  # names the entries of a label in a row, for messages
    unknown: Any = None  # the names read so far that are no label, a sequence of bytes; None if they are an error

    # Where reading begins
    start: Any = 0  # a mark of text, or the number of the first row of a matrix
    can_start: Callable[[], bool] | None = None  # whether files can be read from any row on; None if they cannot
    mark_of: Callable[[Block], Any] | None = None  # returns the mark of a block of text

    def blocks(self) -> Blocks:
        """Yield all blocks; one thread at a time may advance."""
        return _repair(self) if self.repairs else self.read(self)

    @property
    def parts(self) -> tuple[Source, ...]:
        """The shards if these can be read one by one, else this source alone."""
        return self.shards if self.read is _read_shards else (self,)

    @property
    def warnings(self) -> list[str]:
        """Problems found while rows were read; with many shards, the first ones and the number of others."""
        if not self.shards:
            lines = self.notes + [f"{self.name}: {repair}" for repair in self.repairs if repair.n_removed]
            if self.unknown:
                n = len(self.unknown)
                some = [repr(self.unknown[i].decode(errors="replace")[:40]) for i in range(min(n, MOST_NAMED))]
                lines.append(
                    f"{self.name}: names that are no label count as wrong predictions: {n:,}, such as {', '.join(some)}"
                )
            return lines
        doubts, facts = split_doubts(line for shard in self.shards for line in shard.warnings)
        lines = [*doubts, *facts[:MOST_WARNINGS]]
        n_more = len(facts) - MOST_WARNINGS
        if n_more > 0:
            lines.append(f"{self.name}: {counted(n_more, 'more warning')} like these, of other shards")
        return lines


def sharded(shards: Sequence[Source], name: str, *, are_scores: bool) -> Source:
    """Join shards: rows continue, numbers of labels agree, and messages name the shard.

    With `are_scores` they are predictions, whose headers may also be ``rows k``, each with its own k.
    """
    width = Width()
    declared = [(shard.n_labels, shard) for shard in shards if shard.n_labels is not None]
    exact = [(number, shard) for number, shard in declared if shard.is_exact]
    if are_scores:
        for number, shard in exact:
            width = width.agree(number, shard.name, "column", hint_at_classes(shard))
    else:
        for number, shard in declared:
            width = width.agree(number, shard.name)
    for number, shard in declared:
        if number > width.n_labels:
            raise DataError(f"{shard.name} declares {counted(number, 'label')}, but {width}")
    n_labels = width.or_none
    if n_labels is None:
        n_labels = max((number for number, _ in declared), default=None)
    numbers = [shard.n_rows for shard in shards if shard.n_rows is not None]
    n_rows = None
    if len(numbers) == len(shards):
        n_rows = sum(numbers)
    return Source(
        name,
        _read_shards,
        n_rows=n_rows,
        n_labels=n_labels,
        is_exact=bool(exact),
        dtype=shards[0].dtype,
        files=tuple(dict.fromkeys(path for shard in shards for path in shard.files)),
        shards=tuple(shards),
    )


def _read_shards(source: Source) -> Blocks:
    """Yield the blocks of all shards."""
    first_row = 0
    for shard in in_turn(source.name, source.shards):
        for block in as_shard(shard, source, first_row).blocks():
            first_row = block.first_row + block.n_rows
            yield block


def as_shard(shard: Source, whole: Source, first_row: int) -> Source:
    """Return a shard as a part of the whole, with rows numbered from `first_row` on."""
    longest = None
    if shard.n_labels != whole.n_labels:
        longest = shard.n_labels
    return replace(
        shard,
        name=whole.name,
        read=partial(_shift, shard, first_row, "", longest),
        n_labels=whole.n_labels,
        is_exact=whole.is_exact,
        dtype=whole.dtype,
    )


def as_batch(source: Source, first_row: int, number: int) -> Source:
    """Return a matrix as a batch, counted from 1, with rows numbered from `first_row` on; messages name the batch."""
    read = partial(_shift, source, first_row, f"batch {number}, ", None)
    return replace(source, name=f"{source.name} of batch {number}", read=read)


def _shift(source: Source, first_row: int, prefix: str, longest: int | None, _: Source) -> Blocks:
    with closing(source.read(source)) as blocks:
        for block in blocks:
            shifted = block.shifted(first_row, prefix)
            if longest is not None:
                shifted.longest = longest
            yield shifted


def repaired(source: Source, extra_column: int | None = None) -> Source:
    """Drop an extra last column, or else merge duplicate labels to their largest value."""
    repairs = (*source.repairs, Repair(extra_column))
    if extra_column is None:
        return replace(source, repairs=repairs)
    return replace(source, repairs=repairs, n_labels=extra_column, is_exact=True)


@dataclass(eq=False)
class Repair:
    """Drops the extra last column, or merges duplicate labels to their largest value; a function of parsed rows."""

    extra_column: int | None = None  # the number of the extra column; None if duplicate labels are merged
    removed: list[int] = field(default_factory=list)  # removed entries per block; threads append concurrently

    def __call__(self, rows: Rows, scratch: Scratch) -> None:
        """Repair rows in place, and record how many entries were removed."""
        from xmceval.kernels.rows.repairs import drop_label, merge_duplicates

        if self.extra_column is not None:
            n_removed = drop_label(*rows, self.extra_column)
        else:
            longest = int(np.max(np.diff(rows.indptr), initial=4))
            n_removed = merge_duplicates(*rows, scratch.array("merged", 4 * longest, np.int64, fill=-1))
        self.removed.append(int(n_removed))

    @property
    def n_removed(self) -> int:
        """The number of entries removed from the blocks read so far."""
        return sum(self.removed)

    def __str__(self) -> str:
        if self.extra_column is None:
            return describe_duplicates(self.n_removed)
        columns = f"extra column {self.extra_column}, beyond the {counted(self.extra_column, 'label')}"
        return f"dropped {counted(self.n_removed, 'entry')} in {columns}"


def describe_duplicates(n_removed: int) -> str:
    """Describe the removal of entries whose labels appeared before in their rows."""
    return f"dropped {counted(n_removed, 'duplicate entry')}; the largest value of a label in a row was kept"


def _repair(source: Source) -> Blocks:
    for repair in source.repairs:
        repair.removed = []
    with closing(source.read(source)) as blocks:
        for block in blocks:
            block.repairs += source.repairs
            yield block


def reopened(source: Source, reopen: Callable[[], Source], files: Sequence[Path]) -> Source:
    """Free the rows of a source, which are held in memory, after each time that they are read.

    `reopen` opens its `files` again, and can be pickled.
    """
    return Source(
        source.name,
        partial(_reopen, reopen),
        n_rows=source.n_rows,
        n_labels=source.n_labels,
        is_exact=source.is_exact,
        dtype=source.dtype,
        files=tuple(files),
        notes=source.warnings,
    )


def _reopen(reopen: Callable[[], Source], source: Source) -> Blocks:
    opened = reopen()
    yield from opened.blocks()
    source.notes[:] = opened.warnings


def cut(source: Source, start: int, stop: int, mark: Any = 0) -> Source:
    """Return a range of rows with the numbers that they have, for a task in another process.

    Reading begins at `mark`, the first row if it is 0; a matrix in memory is cut itself.
    """
    stored = source.stored
    if isinstance(stored, Matrix):
        stored = stored.taken(slice(start, stop))
        mark = start
    part = replace(
        source,
        n_rows=stop - start,
        stored=stored,
        names=None,  # which would take whole tables along
        start=mark,
        repairs=tuple(Repair(repair.extra_column) for repair in source.repairs),
        notes=[],
    )
    return replace(part, read=partial(_cut, part, start, stop))


def _cut(source: Source, start: int, stop: int, _: Source) -> Blocks:
    with closing(source.read(source)) as blocks:
        for block in blocks:
            n_early = start - block.first_row
            if n_early >= block.n_rows:
                continue
            if n_early > 0:
                block.take(n_early)
            n_late = block.first_row + block.n_rows - stop
            if n_late > 0:
                yield block.take(block.n_rows - n_late)
            else:
                yield block
            if n_late >= 0:
                return


def declared_width(source: Source, n_labels: int | None = None) -> Width:
    """Return the width passed by the caller, or the width of a source whose columns must be the labels."""
    if n_labels is not None:
        return Width(n_labels, f"{argument('n_labels')} is")
    if not source.is_exact or source.n_labels is None:
        return Width()
    return Width(source.n_labels, f"{source.name} has")


def agreed_width(width: Width, source: Source, noun: str = "label") -> Width:
    """Return the width that a source agrees with, if the columns of the source must be the labels."""
    if not source.is_exact or source.n_labels is None or source.n_labels == width.n_labels:
        return width
    hint = ""
    if noun == "column":
        hint = hint_at_classes(source)
    return width.agree(source.n_labels, source.name, noun, hint)


def hint_at_classes(scores: Source) -> str:
    """Return a hint about the arrays of predict_proba, one per label, or about arrays of labels and scores, per row."""
    if scores.n_labels not in {1, 2} or scores.files:
        return ""
    stored: Any = (scores.shards or (scores,))[0].stored
    if stored is None:
        return OF_CLASSES
    cells = stored.values[:]
    are_pairs = cells.shape[1:] == (2,) and cells.size > 0
    if are_pairs and (np.floor(cells[:, 0]) == cells[:, 0]).all() and cells[:, 0].max() > 1:
        return (
            " (hint: for arrays of label and score, pass ([row[:, 0].astype(int) for row in y_score], [row[:, 1] for "
            "row in y_score]))"
        )
    return OF_CLASSES


class Lockstep:
    """The truth and scores of systems in parallel: tuples of blocks of the same rows, the truth first.

    If truth and a system have several shards, each pair of shards must have the same number of rows.
    `n_weights` is the number of sample weights, if any: there must be one per row. Blocks have at most
    `most_rows` rows.
    """

    def __init__(
        self, truth: Source, systems: Sequence[Source], n_weights: int | None = None, *, most_rows: int | None = None
    ) -> None:
        self._sources = truth, *systems
        n_shards = len(truth.parts)
        are_paired = n_shards > 1 and any(len(system.parts) == n_shards for system in systems)
        self._n_shards = 1
        if are_paired:
            self._n_shards = n_shards
        self._n_weights = n_weights
        self._most_rows = most_rows
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
            sizes = [block.stored.n_rows for block in current]
            n_rows = min(sizes)
            if self._most_rows is not None:
                n_rows = min(n_rows, self._most_rows)
            if self._n_weights is not None and self.n_rows + n_rows > self._n_weights:
                raise DataError(f"there are {counted(self._n_weights, 'sample weight')}, but more rows than that")
            self.n_rows += n_rows
            pairs = zip(current, sizes, strict=True)
            taken = tuple([block if size == n_rows else block.take(n_rows) for block, size in pairs])
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
            source = truth.source
            its_source = system.source
            before = 0
            if system.is_paired:
                source = truth.shards[shard]
                its_source = system.shards[shard]
                before = first_row
            n_rows = self.n_rows - before + rest
            if not (system.is_paired or is_last):  # with the rows of later shards
                n_rows += sum(block.n_rows for later in truth.shards[shard + 1 :] for block in later.blocks())
            its_rows = self.n_rows - before + system.count_rest(blanks_count=its_source.n_rows is not None)
            if its_rows != n_rows:
                shards = its_source.shards  # also of a batch
                hint = ""
                if len(shards) > 1 and all(shard.n_rows == n_rows for shard in shards):  # a part per label
                    hint = hint_at_classes(its_source)
                raise DataError(
                    f"{source.name} has {counted(n_rows, 'row')}, {its_source.name} has {counted(its_rows, 'row')}; "
                    f"they must be of the same instances{hint}"
                )


class _Reader:
    """The blocks of one source, shard by shard or in one stream; `block` is the current block."""

    def __init__(self, source: Source, n_shards: int) -> None:
        self.source = source
        self.shards = source.parts
        self.is_paired = n_shards > 1 and len(self.shards) == n_shards
        self.stream = source.blocks()  # not begun if it is read shard by shard
        self.block: Block | None = None

    def start(self, shard: int, first_row: int) -> None:
        """Go to the first block of a shard; a source that is not read shard by shard continues."""
        if self.is_paired:
            self.stream.close()
            self.stream = as_shard(self.shards[shard], self.source, first_row).blocks()
        if self.is_paired or shard == 0:
            self.block = next(self.stream, None)

    def count_rest(self, *, blanks_count: bool) -> int:
        """Count the remaining rows, ignoring trailing blank lines unless these count."""
        total = filled = 0
        while self.block is not None:
            last = self.block.n_rows
            if not blanks_count:
                last = self.block.stored.blank_from()
            if last:
                filled = total + last
            total += self.block.n_rows
            self.block = next(self.stream, None)
        return filled
