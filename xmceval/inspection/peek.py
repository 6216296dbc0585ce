"""Peek: what a file seems to be, from its header and its first rows; files of gigabytes are not read."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from xmceval.errors import DataError, argument
from xmceval.files.io.inputfiles import input_at
from xmceval.files.opened import Opened
from xmceval.files.opening import open_either
from xmceval.files.ranking.kinds import find_tag
from xmceval.files.sidecars.labelnames import Names
from xmceval.inspection.file import detect_kind, header_labels
from xmceval.inspection.tally import FileTally
from xmceval.rows.block import Scratch
from xmceval.rows.width import Width

LARGEST_COUNTED = 1 << 27  # bytes, as stored, of a file that is read to count rows that nothing declares

JUDGED = frozenset({"qrels", "beir"})  # formats of truth whose rows are queries, to which runs are joined

NAMED = frozenset({"names", "tabbed-names", "comma-names"})  # formats of lists of names


@dataclass(frozen=True)
class Peek:
    """What the first rows of a file show.

    Attributes
    ----------
    kind, why : str
        ``truth`` or ``scores``, and the reason; lists of labels can be either.
    are_lists : bool
        Whether the rows are lists of labels without values.
    n_rows : int or None
        None where nothing declares it, and the file is too large to count them.
    n_labels : int or None
        As declared.
    is_exact : bool
        Whether that can only be the number of labels.
    may_have_extra_column : bool
        Whether some tools write such files with one column more than there are labels.
    largest_label : int
        Among the first rows.
    are_queries : bool
        Whether the rows are queries, as in TREC qrels and runs.
    has_names : bool
        Whether it has names of labels, not numbers.
    longest : int
        The most entries of a row, among the first rows.
    can_be_scores : bool
        Whether predictions may have its format.
    """

    kind: str
    why: str
    n_rows: int | None
    n_labels: int | None = None
    is_exact: bool = False
    are_lists: bool = False
    may_have_extra_column: bool = False
    largest_label: int = -1
    are_queries: bool = False
    has_names: bool = False
    longest: int = 0
    can_be_scores: bool = True

    @property
    def labels(self) -> int:
        """How many labels there are at least."""
        return self.largest_label + 1 if self.n_labels is None else self.n_labels


def peek(path: Path, names: Names | None = None) -> Peek:
    """Look at the first rows of a file.

    Parameters
    ----------
    path : Path
        A file, or one of a pair.
    names : Names, optional
        Names of the labels, for a file that has names instead of numbers.

    Raises
    ------
    DataError
        A file of unknown form, or without a row that can be read.
    """
    if find_tag(path) is not None:
        return Peek("scores", "a TREC run", None, are_queries=True)
    opened = open_either(path, names=names)
    tally, n_peeked = _tally_first_rows(opened)
    if not n_peeked:
        raise DataError(f"{path}: has no rows")
    if tally.errors:
        raise DataError(*tally.errors[:1])
    source, are_scores = opened.source, opened.role == "scores"
    kind, why = detect_kind(tally, are_scores, are_scores and opened.is_ranked)
    n_rows = _count_rows(path, opened) if source.n_rows is None else source.n_rows
    are_lists = opened.is_ranked or opened.format.name in {"npy-ranked", *NAMED}
    return Peek(
        kind,
        "lists of labels" if are_lists else why if n_rows == n_peeked else f"{why} in the first {n_peeked:,} rows",
        n_rows,
        header_labels(source, tally),
        source.is_exact,
        are_lists,
        opened.may_have_extra_column,
        tally.labels.n_labels - 1,
        opened.format.name in JUDGED,
        opened.format.name in NAMED or (names is not None and opened.format.name == "npy-pair"),
        tally.longest,
        are_scores,
    )


def needs_names(error: DataError) -> bool:
    """Return whether a file could not be opened because it has names of labels."""
    return f"{argument('labels', kind='FILE')}" in str(error)


def _tally_first_rows(opened: Opened) -> tuple[FileTally, int]:
    """Count what the first block of rows contains; return how many rows that are."""
    tally = FileTally(Width.of(opened.source))
    with closing(opened.source.blocks()) as blocks:
        for block in blocks:
            tally.add(Scratch(), block)
            return tally, block.n_rows
    return tally, 0


def _count_rows(path: Path, opened: Opened) -> int | None:
    """Count the rows without parsing them."""
    if (input_at(path).size or 0) > LARGEST_COUNTED:
        return None
    with closing(opened.source.blocks()) as blocks:
        return sum(block.n_rows for block in blocks)
