"""Text files as sources of blocks: streamed in chunks of whole lines, each row a line."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from xmceval.errors import DataError, Fault, counted
from xmceval.files.chunks import Chunk, LineChunks
from xmceval.files.names import Names, unknown_name
from xmceval.files.streams import shown
from xmceval.files.text.grammars import GRAMMARS, Grammar
from xmceval.files.text.layout import Layout
from xmceval.rows.block import Block, Rows, Scratch

NEWLINE = 0x0A

UNKNOWN_NAME = 8  # the code of kernels/lists.py

_FILLED = re.compile(rb"^[ \t\r]*[^ \t\r\n#]", re.MULTILINE)

_NOT_BLANK = re.compile(rb"^[ \t\r]*[^ \t\r\n]", re.MULTILINE)


@dataclass
class TextSource:
    """A text file as a source of blocks."""

    path: Path
    layout: Layout
    are_scores: bool = False
    name: str = ""
    is_exact: bool = False
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name = self.name or str(self.path)
        self.n_rows, self.n_labels = self.layout.n_rows, self.layout.n_labels
        self.is_exact = self.layout.kind == "labels"
        self.grammar = GRAMMARS[self.layout.kind]
        self._doubts = [self.layout.doubt] if self.layout.doubt else []
        self.warnings[:] = self._doubts

    def blocks(self) -> Generator[Block, None, None]:
        """Yield one block a chunk."""
        chunks = LineChunks(self.path)
        row, line, before = 0, self.layout.header_lines + 1, self.layout.start
        for chunk in chunks:
            chunk.start = min(before, chunk.stop)
            before -= chunk.start
            n_rows = _count_rows(self.grammar, chunk, chunk.start, chunk.stop)
            block = TextBlock(self, chunk, line, chunk.start, row, n_rows)
            if self.n_rows is not None and row + n_rows > self.n_rows:
                head = block.take(self.n_rows - row)
                self._check_blank(block)
                block = head
            row += block.n_rows
            # Counting newlines in Python takes as long as all the rest of reading: only comments make it necessary.
            has_comments = self.grammar.has_comments and chunk.buffer.find(b"#", chunk.start, chunk.stop) >= 0
            line += chunk.buffer.count(b"\n", chunk.start, chunk.stop) if has_comments else n_rows
            if block.n_rows:
                yield block
        if chunks.lacks_newline:
            said = f"{self.name}: the last line has no newline; it was read (is the file cut short?)"
            self.warnings[:] = [*self._doubts, said]
        if self.n_rows is not None and row < self.n_rows:
            raise DataError(
                f"{self.name}: its header {self.layout.header!r} announces {counted(self.n_rows, 'row')}, "
                f"it has {counted(row, 'row')} (cut short, or a wrong header?)"
            )

    def _check_blank(self, rest: TextBlock) -> None:
        place = rest.first_filled()
        if place:
            raise DataError(
                f"{place}: a row beyond the {self.n_rows:,} that the header {self.layout.header!r} announces"
            )


@dataclass
class TextBlock:
    """Some rows of a chunk: its text from `start` on."""

    source: TextSource
    chunk: Chunk
    first_line: int  # of the chunk
    start: int
    first_row: int
    n_rows: int
    stop: int = -1

    def __post_init__(self) -> None:
        self.stop = self.chunk.stop if self.stop < 0 else self.stop

    def take(self, n_rows: int) -> TextBlock:
        """Cut off and return the first rows."""
        stop = self.stop if n_rows == self.n_rows else self._after(n_rows)
        head = TextBlock(self.source, self.chunk, self.first_line, self.start, self.first_row, n_rows, stop)
        self.start, self.first_row, self.n_rows = stop, self.first_row + n_rows, self.n_rows - n_rows
        return head

    def _after(self, n_rows: int) -> int:
        from xmceval.kernels.text import skip_rows

        if self.source.grammar.has_comments:
            return int(skip_rows(self.chunk.text, self.start, self.stop, n_rows))
        return self.start + int(np.flatnonzero(self.chunk.text[self.start : self.stop] == NEWLINE)[n_rows - 1]) + 1

    @property
    def names(self) -> Names | None:
        """The names of labels, where they are known."""
        return self.source.layout.names

    @property
    def are_scores(self) -> bool:
        """Whether these are predictions."""
        return self.source.are_scores

    def rows(self, scratch: Scratch) -> Rows:
        """Parse the text."""
        return self.source.grammar.parse(self, scratch)

    def fault(self, code: int, offset: int, row: int, end: int) -> Fault:
        """Say what is wrong, by the code of a kernel."""
        found = bytes(self.chunk.buffer[offset:end])
        if code == UNKNOWN_NAME:
            return self.wrong(row, unknown_name(found[:40].decode(errors="backslashreplace"), self.names))
        return self.wrong(row, f"{self.source.grammar.expected[code]}, found {shown(found)}")

    def wrong(self, row: int, said: str) -> Fault:
        """Say what is wrong with a row."""
        return Fault(self.first_row + row, f"{self.place(row)}: {said}")

    def place(self, row: int) -> str:
        """Say file and line."""
        offset = self._after(row) if row else self.start
        line = self.first_line + self.chunk.buffer.count(b"\n", self.chunk.start, offset)
        while self.source.grammar.has_comments and self.chunk.buffer[offset : self.stop].lstrip(b" \t\r").startswith(
            b"#"
        ):
            offset = self.chunk.buffer.index(b"\n", offset) + 1
            line += 1
        return f"{self.source.name}:{line}"

    def blank_from(self) -> int:
        """Return the row from which on all rows are blank lines."""
        last = max((match.end() for match in self._filled()), default=0)
        if last == 0:
            return 0
        end = self.chunk.buffer.index(b"\n", self.start + last) + 1
        return _count_rows(self.source.grammar, self.chunk, self.start, end)

    def first_filled(self) -> str:
        """Return the place of the first row that is no blank line, or nothing."""
        for match in self._filled():
            line = self.first_line + self.chunk.buffer.count(b"\n", self.chunk.start, self.start + match.end())
            return f"{self.source.name}:{line}"
        return ""

    def _filled(self) -> Iterator[re.Match[bytes]]:
        """Find the rows that are neither blank nor comments."""
        pattern = _FILLED if self.source.grammar.has_comments else _NOT_BLANK
        return pattern.finditer(bytes(self.chunk.buffer[self.start : self.stop]))


def _count_rows(grammar: Grammar, chunk: Chunk, start: int, stop: int) -> int:
    from xmceval.kernels.text import count_rows

    if grammar.has_comments:
        return int(count_rows(chunk.text, start, stop))
    return int(np.count_nonzero(chunk.text[start:stop] == NEWLINE))
