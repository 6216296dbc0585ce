"""What readers take and return: requests, heads of files, and opened inputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from xmceval.errors import UsageError
from xmceval.files.formats import IN_MEMORY, Format
from xmceval.files.io.paths import MAX_LINE
from xmceval.files.io.signatures import UTF8_BOM
from xmceval.files.io.streams import read_first_bytes
from xmceval.rows.block import Int64
from xmceval.rows.names import Axis, naming_columns
from xmceval.rows.source import Source, repaired

if TYPE_CHECKING:
    from xmceval.files.ranking.queries import Documents, Judgments
    from xmceval.files.sidecars.values import Names
    from xmceval.files.tables.columns import Columns
    from xmceval.files.tables.table import Table

Role = Literal["truth", "scores"]
HEAD_BYTES = 1 << 20
MOST_LINES = 1000
MOST_BYTES = 1 << 16  # limits of the head that is split into words


@dataclass(frozen=True)
class Request:
    """A request to open a file, with facts about it that come from elsewhere."""

    role: Role  # whether to open it as truth or as predictions
    names: Names | None = None  # label names, for files that have them instead of ids
    n_rows: int | None = None  # the expected size, for predictions in files that do not declare it
    n_labels: int | None = None
    # the queries and documents of the truth, for predictions in ranking formats; for a truth, the queries and
    # documents to keep
    judgments: Judgments | None = None
    by_row: ByRow | None = None  # the truth, if it is a table by row
    # the rule for equal scores; with ``label``, TREC runs are ordered as by trec_eval
    ties: str = "label"
    max_line: int = MAX_LINE  # limit for a line of a text file, in MiB
    is_alone: bool = False  # whether it is described by itself, with its own rows instead of the truth's
    missing: str = "zero"  # the rule for queries that only the truth or only the run has
    are_ids: bool = False  # whether documents are label ids, since other inputs are by label
    is_shard: bool = False  # whether it is one of several files, held in memory one at a time

    def __post_init__(self) -> None:
        if self.max_line < 1:
            raise UsageError(f"max_line must be at least 1, got {self.max_line}")

    @cached_property
    def are_scores(self) -> bool:
        """Whether to open it as predictions."""
        return self.role == "scores"

    def are_names(self, words: Sequence[bytes]) -> bool:
        """Return whether all words are known names of labels."""
        return self.names is not None and self.names.has_all(words)


class HeadRow(NamedTuple):
    """A line of text that is neither blank nor a comment."""

    number: int  # counted from 1
    text: bytes  # stripped
    fields: list[bytes]  # its words, if only whole lines are comments
    words: list[bytes]  # its words before a comment, which may begin at any word


@dataclass(frozen=True)
class Head:
    """The first bytes of a file, and whether they are the whole file."""

    path: Path
    content: bytes
    start: int  # the offset of the text, after any byte order mark
    text: bytes
    is_whole: bool

    @classmethod
    def of(cls, path: Path) -> Head:
        """Read the head of a file."""
        content = read_first_bytes(path, HEAD_BYTES)
        text = content.removeprefix(UTF8_BOM)
        return cls(path, content, len(content) - len(text), text, is_whole=len(content) < HEAD_BYTES)

    @cached_property
    def lines(self) -> list[bytes]:
        """The complete lines of text, without a byte order mark; a single line may be incomplete."""
        lines = self.text.split(b"\n")
        if self.is_whole or len(lines) == 1:
            return lines
        return lines[:-1]

    @property
    def first_line(self) -> tuple[int, bytes]:
        """The number and text of the first line that is neither blank nor a comment; 0 if there is none."""
        if not self.rows:
            return 0, b""
        number = self.rows[0].number
        return number, self.lines[number - 1]

    @cached_property
    def rows(self) -> list[HeadRow]:
        """The first lines that are neither blank nor comments, as words: formats are told apart by these."""
        rows = list[HeadRow]()
        n_bytes = 0
        for number, line in enumerate(self.lines[:MOST_LINES], 1):
            text = line.strip()
            n_bytes += len(line) + 1
            if n_bytes > MOST_BYTES:
                break
            if text and not text.startswith(b"#"):
                fields = words = text.split()
                if b"#" in text:
                    words = list(takewhile(lambda word: not word.startswith(b"#"), fields))
                rows.append(HeadRow(number, text, fields, words))
        return rows


@dataclass(frozen=True)
class ByRow:
    """What tables that are opened later need to know about an opened table by row."""

    table: Table
    columns: Columns
    runs: Int64  # int64 [n_runs, 2]; the rows that occur, as half-open ranges
    labels: Documents | None = None  # how labels that are text are numbered
    # Arrow arrays of the columns that may name rows, kept for tables in memory that can be read only once
    held: Mapping[str, Sequence[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Opened:
    """An opened input: its rows, how they were read, and how its rows and labels are joined to others."""

    source: Source  # the rows
    format: Format = IN_MEMORY
    # a description in words: its title, with the inferred format, and further facts
    facts: tuple[str, ...] = ()
    role: Role = "truth"  # whether it was opened as truth or as predictions
    name: str = ""  # the path, or the argument
    is_held: bool = False  # whether its rows are held in memory
    is_copied: bool = False  # whether it is a pipe that was copied to a temporary file
    # whether its rows are lists of labels without values, which as predictions are ranked best first
    is_ranked: bool = False
    has_ranks: bool = False  # whether its values are ranks, with 1 as the best
    # whether some tools write such files with one extra column
    may_have_extra_column: bool = False
    judgments: Judgments | None = None  # the queries and documents that predictions are joined to
    lacking: tuple[bytes, ...] = ()  # the queries of the truth that a run lacks
    by_row: ByRow | None = None  # itself, if it is a table by row
    value: str | None = None  # the column of grades or scores, if a table has one
    has_grades: bool = False  # for a truth: whether its format or a column's name declares grades
    rows: Axis | None = None  # the names of its rows, from an index or columns of ids
    # columns or keys beside the labels with text or whole numbers, by name; their values are read when needed
    columns: Mapping[str, Callable[[], Axis]] = field(default_factory=dict)
    labels: Axis | None = None  # the names of its labels
    rows_by: str = "position"  # how rows are joined to the truth: by position, name or query
    labels_by: str = "number"  # how labels are joined: by number or by name
    reordered: Axis | None = None  # its labels in their original order, if they were reordered
    parts: tuple[Opened, ...] = ()  # the shards, if there are several

    @property
    def description(self) -> str:
        """A description of the input's format and of how its rows are read."""
        return self.describe_as(self.role)

    def describe_as(self, role: str) -> str:
        """Describe the format of the input, and how its rows are read in a role."""
        storage = (self.is_held, "held in memory"), (self.is_copied, "copied to a temporary file")
        text = ", ".join([*self.facts, *(words for is_so, words in storage if is_so)])
        if self.format is not IN_MEMORY and self.is_ranked and role == "scores":
            text += "; ranked by their order, best first"
        return text

    @property
    def line(self) -> str:
        """The format it was read in, and how its rows and labels are joined to other inputs."""
        return f"{self.name}: {self.describe_as(self.role)}; rows by {self.rows_by}, labels by {self.labels_by}"

    @property
    def names_labels(self) -> bool:
        """Whether its own names say which label is which."""
        if self.parts:
            return all(part.names_labels for part in self.parts)
        return self.labels is not None and self.labels.is_named

    @property
    def may_name_rows(self) -> bool:
        """Whether it has names of rows, or columns that may be such names."""
        return bool(self.columns) or (self.rows is not None and self.rows.names is not None)

    @cached_property
    def names_rows(self) -> bool:
        """Whether names say which row is which: a column with a known name, or an index."""
        if self.rows is not None and self.rows.is_named:
            return True
        return bool(self.columns) and bool(naming_columns(self.columns))

    @cached_property
    def named_rows(self) -> Axis:
        """The rows as a column with a known name names them, or else the index."""
        naming = naming_columns(self.columns)
        if naming:
            return self.columns[naming[0]]()
        return self.rows or Axis(self.name, "row")

    @property
    def documents(self) -> Documents | None:
        """How documents, or labels that are text, are numbered by this truth alone; else None."""
        if self.judgments is not None and self.judgments.documents.words is not None:
            return self.judgments.documents
        if self.judgments is None and self.by_row is not None:
            return self.by_row.labels
        return None

    @property
    def ranking(self) -> str | None:
        """The name of the ranking without scores: its own, or the first shard's that is one; None for scores."""
        rankings = (part for part in self.parts or (self,) if part.is_ranked or part.has_ranks)
        return next((part.name or part.source.name for part in rankings), None)

    def fit_width(self, n_labels: int | None) -> Source:
        """Return the source, dropping the last column if there is one more than `n_labels`."""
        if self.may_have_extra_column and n_labels is not None and self.source.n_labels == n_labels + 1:
            return repaired(self.source, n_labels)
        return self.source
