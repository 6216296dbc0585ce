"""Several sources: joined as shards of one, or read in parallel."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence

from xmceval.errors import DataError, counted
from xmceval.rows.block import Block
from xmceval.rows.progress import in_turn
from xmceval.rows.source import Source, as_shard, read_shards
from xmceval.rows.width import Width, hint_at_classes


def sharded(shards: Sequence[Source], name: str, *, are_scores: bool) -> Source:
    """Join shards: rows continue, numbers of labels agree, and messages name the shard.

    With `are_scores` they are predictions, whose headers may also be ``rows k``, each with its own k.
    """
    width, noun = Width(), "column" if are_scores else "label"
    declared = [(shard.n_labels, shard) for shard in shards if shard.n_labels is not None]
    exact = [(number, shard) for number, shard in declared if shard.is_exact]
    for number, shard in exact if are_scores else declared:
        width = width.agree(number, shard.name, noun, hint_at_classes(shard) if are_scores else "")
    for number, shard in declared:
        if number > width.n_labels:
            raise DataError(f"{shard.name} declares {counted(number, 'label')}, but {width}")
    numbers = [shard.n_rows for shard in shards if shard.n_rows is not None]
    return Source(
        name,
        read_shards,
        n_rows=sum(numbers) if len(numbers) == len(shards) else None,
        n_labels=width.n_labels if width.is_known else max((number for number, _ in declared), default=None),
        is_exact=bool(exact),
        dtype=shards[0].dtype,
        files=tuple(dict.fromkeys(path for shard in shards for path in shard.files)),
        shards=tuple(shards),
    )


def n_shared(truth: Source, systems: Iterable[Source]) -> int:
    """Return the number of shards that truth and systems share and that are read in parallel; 1 for none."""
    number = len(truth.parts)
    return number if number > 1 and any(len(system.parts) == number for system in systems) else 1


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
                shards = its_source.shards  # also of a batch
                are_by_label = len(shards) > 1 and all(shard.n_rows == n_rows for shard in shards)
                raise DataError(
                    f"{source.name} has {counted(n_rows, 'row')}, {its_source.name} has {counted(its_rows, 'row')}; "
                    f"they must be of the same instances{hint_at_classes(its_source) if are_by_label else ''}"
                )


class _Reader:
    """The blocks of one source, shard by shard or in one stream; `block` is the current block."""

    def __init__(self, source: Source, n_shards: int) -> None:
        self.source, self.shards = source, source.parts
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
            last = self.block.n_rows if blanks_count else self.block.stored.blank_from()
            filled = total + last if last else filled
            total += self.block.n_rows
            self.block = next(self.stream, None)
        return filled
