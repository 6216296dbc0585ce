"""Text matrices: XMLRepository's two formats and ``idx:score`` files, streamed in chunks of whole lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from xmceval.blocks import Block, Rows, Scratch
from xmceval.errors import DataError, Fault, counted
from xmceval.readers.streams import Chunk, LineChunks, first_bytes

UTF8_BOM = b"\xef\xbb\xbf"
_INTEGERS = re.compile(rb"[ \t]*\d+([ \t,]+\d+){1,2}[ \t\r]*\Z")


@dataclass(frozen=True)
class Layout:
    """How a text file is laid out: where its rows start, and what its header announces.

    ``kind`` is ``pairs`` (rows of ``idx:value``) or ``labels`` (rows of ``label,label feature:value ...``).
    """

    kind: str
    start: int = 0
    header_lines: int = 0
    n_rows: int | None = None
    n_labels: int | None = None
    header: str = ""

    @property
    def description(self) -> str:
        """What was inferred, for a reader."""
        rows = {"pairs": "rows of idx:value", "labels": "rows of label,label feature:value"}[self.kind]
        return f"text, {rows}, " + (f"header {self.header!r}" if self.header else "no header")


def sniff(path: Path) -> Layout:
    """Infer the layout of a text file from its first megabyte.

    Raises
    ------
    DataError
        Text of no known layout.
    """
    head = first_bytes(path)
    if head[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        raise DataError(f"{path}: this is UTF-16 text; expected ASCII or UTF-8 (convert it, such as with iconv)")
    start = len(UTF8_BOM) if head.startswith(UTF8_BOM) else 0
    lines = head[start:].split(b"\n")
    skipped = 0
    for line in lines:
        plain = line.strip()
        is_comment = plain.startswith(b"#")
        numbers = [int(n) for n in re.findall(rb"\d+", plain)] if _INTEGERS.match(plain.lstrip(b"# \t")) else []
        below = lines[skipped + 1 :]
        if is_comment and len(numbers) != 2:
            start += len(line) + 1
            skipped += 1
            continue
        if len(numbers) == 2 or (len(numbers) == 3 and any(b":" in each for each in below)):
            kind = "labels" if len(numbers) == 3 else "pairs"
            header = plain.decode()
            return _checked(
                path, Layout(kind, start + len(line) + 1, skipped + 1, numbers[0], numbers[-1], header), below
            )
        break
    return _checked(path, Layout(_kind(lines[skipped:]), start, skipped), lines[skipped:])


def _kind(lines: list[bytes]) -> str:
    """Tell rows of labels with features from rows of pairs by the first row that has both or either."""
    for line in lines:
        words = line.split(b"#")[0].split(None, 1)
        if words and b":" in words[0]:
            return "pairs"
        if len(words) == 2 and b":" in words[1]:
            return "labels"
    return "pairs"


def _checked(path: Path, layout: Layout, lines: list[bytes]) -> Layout:
    """Refuse text without a single pair in its rows, where rows have anything at all."""
    filled = [(i, line) for i, line in enumerate(lines[:-1] or lines) if line.split(b"#")[0].strip()]
    if filled and not any(b":" in line for _, line in filled):
        number, line = filled[0]
        shown = line.strip()[:40].decode(errors="backslashreplace")
        raise DataError(
            f"{path}:{layout.header_lines + number + 1}: expected rows of idx:value such as '12:0.5 90:0.25', "
            f"found {shown!r}"
        )
    return layout


# By the error codes of kernels/text.py.
_EXPECTED = {
    1: "expected idx:value",
    2: "expected a label of digits before the colon",
    3: "a label is beyond 2^63 - 1; expected a 0-based column number",
    4: "expected a number after the colon",
    5: "expected a number after the colon",
    6: "expected labels of digits with single commas between",
}


@dataclass
class TextSource:
    """A text file as a source of blocks."""

    path: Path
    layout: Layout
    name: str = ""
    is_exact: bool = False
    warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.name = self.name or str(self.path)
        self.n_rows, self.n_labels = self.layout.n_rows, self.layout.n_labels
        self.is_exact = self.layout.kind == "labels"

    def blocks(self) -> Iterator[Block]:
        """Yield one block a chunk."""
        from xmceval.kernels.text import count_rows

        chunks = LineChunks(self.path)
        row, line = 0, self.layout.header_lines + 1
        for number, chunk in enumerate(chunks):
            if number == 0:
                chunk.start = min(self.layout.start, chunk.stop)
            n_rows = int(count_rows(chunk.text, chunk.start, chunk.stop))
            block = TextBlock(self, chunk, line, chunk.start, row, n_rows)
            if self.n_rows is not None and row + n_rows > self.n_rows:
                head = block.take(self.n_rows - row)
                self._check_blank(block)
                block = head
            row += block.n_rows
            # Counting newlines in Python takes as long as all the rest of reading: only comments make it necessary.
            has_comments = chunk.buffer.find(b"#", chunk.start, chunk.stop) >= 0
            line += chunk.buffer.count(b"\n", chunk.start, chunk.stop) if has_comments else n_rows
            if block.n_rows:
                yield block
        if chunks.lacks_newline:
            said = f"{self.name}: the last line has no newline; it was read (is the file cut short?)"
            self.warnings[:] = [said]
        if self.n_rows is not None and row < self.n_rows:
            raise DataError(
                f"{self.name}: its header {self.layout.header!r} announces {counted(self.n_rows, 'row')}, "
                f"it has {counted(row, 'row')} (cut short, or a wrong header?)"
            )

    def _check_blank(self, rest: TextBlock) -> None:
        if rest.blank_from():
            raise DataError(
                f"{rest.place(0)}: a row beyond the {self.n_rows:,} that the header {self.layout.header!r} announces"
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

        return int(skip_rows(self.chunk.text, self.start, self.stop, n_rows))

    def rows(self, scratch: Scratch) -> Rows:
        """Parse the text."""
        from xmceval.kernels import text as kernels

        most = (self.stop - self.start) // (4 if self.source.layout.kind == "pairs" else 2) + 8
        indptr, indices, values = scratch.rows(self.n_rows, most)
        status = scratch.array("status", 8, np.int64)
        status[:] = 0
        text = self.chunk.text
        if self.source.layout.kind == "labels":
            kernels.parse_label_lists(text, self.start, self.stop, indptr, indices, status)
            values[: indptr[self.n_rows] if not status[1] else 0] = 1.0
        else:
            hard = scratch.array("hard", 3 * most, np.int64).reshape(most, 3)
            kernels.parse_pairs(text, self.start, self.stop, indptr, indices, values, hard, status)
            for position, first, last in hard[: status[0]].tolist():
                values[position] = float(self.chunk.buffer[first:last])
        if status[1]:
            raise self._fault(*status[1:5].tolist())
        return Rows(indptr, indices, values)

    def _fault(self, code: int, offset: int, row: int, end: int) -> Fault:
        found = bytes(self.chunk.buffer[offset : min(end, offset + 40)]).decode(errors="backslashreplace")
        return Fault(self.first_row + row, f"{self.place(row)}: {_EXPECTED[code]}, found {found!r}")

    def place(self, row: int) -> str:
        """Say file and line."""
        offset = self._after(row) if row else self.start
        line = self.first_line + self.chunk.buffer.count(b"\n", self.chunk.start, offset)
        while self.chunk.buffer[offset : self.stop].lstrip(b" \t\r").startswith(b"#"):
            offset = self.chunk.buffer.index(b"\n", offset) + 1
            line += 1
        return f"{self.source.name}:{line}"

    def blank_from(self) -> int:
        """Return the row from which on all rows are blank lines."""
        from xmceval.kernels.text import count_rows

        filled = len(bytes(self.chunk.buffer[self.start : self.stop]).rstrip(b" \t\r\n"))
        if filled == 0:
            return 0
        return int(count_rows(self.chunk.text, self.start, self.chunk.buffer.index(b"\n", self.start + filled) + 1))
