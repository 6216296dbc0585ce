"""Text files as sources of blocks: streamed in chunks of whole lines, one row per line."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from xmceval.errors import DataError, Fault, argument, counted
from xmceval.files.formats import SCORES, TRUTH
from xmceval.files.io.chunks import Chunk, LineChunks
from xmceval.files.io.limits import MAX_LINE
from xmceval.files.io.streams import is_uncompressed, quote
from xmceval.files.opened import Head, Opened, Request
from xmceval.files.sidecars.labelnames import Names, unknown_name
from xmceval.files.text.grammars import Grammar
from xmceval.files.text.textlayout import TextLayout, describe_blank, detect_layout
from xmceval.rows.block import Block, Rows, Scratch, StoredRows

NEWLINE = 0x0A

_ROW_WITHOUT_COMMENT = re.compile(rb"^[ \t\r]*[^ \t\r\n#]", re.MULTILINE)

_ROW = re.compile(rb"^[ \t\r]*[^ \t\r\n]", re.MULTILINE)


def open_text(head: Head, request: Request) -> Opened:
    """Open a text file, of a layout that is inferred from its content."""
    path = head.path
    layout = detect_layout(head, request.names)
    actual, expected = (TRUTH, SCORES) if request.are_scores else (SCORES, TRUTH)
    if expected not in layout.format.holds:
        row = "idx:score" if request.are_scores else "idx:value"
        raise DataError(
            f"{path}: looks like {actual} ({layout.description}); expected {expected}, such as rows of {row}"
        )
    source = TextSource(path, layout, request.are_scores, request.max_line)
    are_lists = layout.kind == "ids" and not layout.header
    is_ranked = layout.grammar.is_ranked
    labels_by = "number" if layout.names is None or layout.are_ids else "name"
    return Opened(
        source,
        layout.format,
        layout.facts,
        request.role,
        is_ranked=is_ranked,
        are_lists=are_lists,
        labels_by=labels_by,
    )


class Mark(NamedTuple):
    """A place in a text file where a line begins."""

    offset: int
    row: int  # the rows before it
    line: int  # the number of the line, from 1 on


@dataclass
class TextSource:
    """A text file as a source of blocks; those from `begin` on, where that is set."""

    path: Path
    layout: TextLayout
    are_scores: bool
    max_line: int = MAX_LINE
    warnings: list[str] = field(default_factory=list)
    begin: Mark | None = None

    def __post_init__(self) -> None:
        self.name = str(self.path)
        self.n_rows, self.n_labels = self.layout.n_rows, self.layout.n_labels
        self.is_exact, self.dtype = self.layout.grammar.has_exact_header, None
        self._layout_warnings = [self.layout.warning] if self.layout.warning else []
        self.warnings[:] = self._layout_warnings

    def files(self) -> tuple[Path, ...]:
        """Return the file."""
        return (self.path,)

    def blocks(self) -> Generator[Block, None, None]:
        """Yield one block per chunk."""
        begin, grammar = self.begin, self.layout.grammar
        chunks = LineChunks(self.path, self.max_line, offset=0 if begin is None else begin.offset)
        row, line, skipped = 0, self.layout.header_lines + 1, self.layout.start
        if begin is not None:
            row, line, skipped = begin.row, begin.line, 0
        may_be_blank = begin is None and self.n_rows is None
        for chunk in chunks:
            chunk.start = min(skipped, chunk.stop)
            skipped -= chunk.start
            n_rows, n_lines = count_rows(grammar, chunk, chunk.start, chunk.stop)
            rows = TextRows(self, chunk, line, chunk.start, n_rows, chunk.stop)
            may_be_blank = may_be_blank and not rows.first_filled()
            if self.n_rows is not None and row + n_rows > self.n_rows:
                rows, surplus = rows.split(self.n_rows - row)
                self._check_blank(surplus)
            if rows.n_rows:
                yield Block(rows, row)
            row += rows.n_rows
            line += n_lines
        if may_be_blank:
            raise DataError(describe_blank(self.path))
        if chunks.lacks_newline:
            warning = f"{self.name}: the last line has no newline; it was read (is the file truncated?)"
            self.warnings[:] = [*self._layout_warnings, warning]
        if self.n_rows is not None and row < self.n_rows:
            raise DataError(
                f"{self.name}: the header {self.layout.header!r} declares {counted(self.n_rows, 'row')}, but the file "
                f"has {counted(row, 'row')} (is it truncated, or the header wrong?)"
            )

    @property
    def can_start(self) -> bool:
        """Whether reading can begin at any line."""
        return is_uncompressed(self.path)

    @staticmethod
    def mark_of(block: Block) -> Mark:
        """Return the place of the first row of a block that `blocks` has yielded."""
        rows: Any = block.stored
        return Mark(rows.chunk.offset + rows.start, block.first_row, rows.first_line)

    def starting_at(self, place: Mark) -> TextSource:
        """Return the same source, read from a place on."""
        return replace(self, begin=Mark(*place), warnings=[])

    def _check_blank(self, surplus: TextRows) -> None:
        """Refuse rows beyond those that the header declares, unless they are blank lines."""
        place = surplus.first_filled()
        if place:
            raise DataError(
                f"{place}: unexpected row; the header {self.layout.header!r} declares "
                f"{counted(self.n_rows or 0, 'row')}"
            )


@dataclass
class TextRows(StoredRows):
    """Some rows of a chunk: its text from `start` to `stop`, where `first_line` is the first of the chunk."""

    source: TextSource
    chunk: Chunk
    first_line: int
    start: int
    n_rows: int
    stop: int

    @property
    def grammar(self) -> Grammar:
        """The grammar of the rows."""
        return self.source.layout.grammar

    @property
    def names(self) -> Names | None:
        """The names of labels, where the rows have names."""
        return self.source.layout.names

    @property
    def are_scores(self) -> bool:
        """Whether the rows are predictions."""
        return self.source.are_scores

    def split(self, n_rows: int) -> tuple[TextRows, TextRows]:
        """Return the first rows, and the rest."""
        stop = self.stop if n_rows == self.n_rows else self._offset_of(n_rows)
        return replace(self, n_rows=n_rows, stop=stop), replace(self, n_rows=self.n_rows - n_rows, start=stop)

    def parse(self, scratch: Scratch) -> Rows:
        """Parse the text."""
        return self.grammar.parse(self, scratch)

    def parse_fault(self, code: int, offset: int, row: int, end: int) -> Fault:
        """Return the fault for the error code of a kernel and the token where it stopped."""
        from xmceval.kernels.text.lists import UNKNOWN_NAME

        token = bytes(self.chunk.buffer[offset:end])
        if code == UNKNOWN_NAME:
            hint = f" (hint: leave {argument('labels')} out if these are label ids)" if token.isdigit() else ""
            name = token[:40].decode(errors="backslashreplace")
            return self.row_fault(row, unknown_name(name, self.names) + hint)
        return self.row_fault(row, f"{self.grammar.expected(code)}, found {quote(token)}")

    def row_fault(self, row: int, message: str) -> Fault:
        """Return the fault of a row, with its place."""
        return Fault(row, f"{self.place(row)}: {message}")

    def place(self, row: int) -> str:
        """Return file and line of a row."""
        offset = self._offset_of(row) if row else self.start
        line = self.first_line + self.chunk.buffer.count(b"\n", self.chunk.start, offset)
        while self.grammar.has_comments and self.chunk.buffer[offset : self.stop].lstrip(b" \t\r").startswith(b"#"):
            offset = self.chunk.buffer.index(b"\n", offset) + 1
            line += 1
        return f"{self.source.name}:{line}"

    def blank_from(self) -> int:
        """Return the row from which on all rows are blank lines."""
        last = max((match.end() for match in self._find_filled()), default=0)
        if last == 0:
            return 0
        end = self.chunk.buffer.index(b"\n", self.start + last) + 1
        return count_rows(self.grammar, self.chunk, self.start, end)[0]

    def first_filled(self) -> str:
        """Return the place of the first row that is not a blank line, or an empty string."""
        for match in self._find_filled():
            line = self.first_line + self.chunk.buffer.count(b"\n", self.chunk.start, self.start + match.end())
            return f"{self.source.name}:{line}"
        return ""

    def _find_filled(self) -> Iterator[re.Match[bytes]]:
        """Find the beginnings of lines that are neither blank nor comments."""
        pattern = _ROW_WITHOUT_COMMENT if self.grammar.has_comments else _ROW
        return pattern.finditer(bytes(self.chunk.buffer[self.start : self.stop]))

    def _offset_of(self, row: int) -> int:
        """Return the offset of a row, counted from 0 (of the end, if there are no more)."""
        from xmceval.kernels.text.lines import skip_rows

        if self.grammar.has_comments:
            return int(skip_rows(self.chunk.text, self.start, self.stop, row))
        return self.start + int(np.flatnonzero(self.chunk.text[self.start : self.stop] == NEWLINE)[row - 1]) + 1


def count_rows(grammar: Grammar, chunk: Chunk, start: int, stop: int) -> tuple[int, int]:
    """Count the rows and the lines in some bytes of whole lines."""
    from xmceval.kernels.text.lines import count_rows as count_uncommented

    n_rows, n_lines = count_uncommented(chunk.text, start, stop)
    return n_rows if grammar.has_comments else n_lines, n_lines
