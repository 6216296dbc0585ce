"""Text files as sources of blocks: streamed in chunks of whole lines, one row per line."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from xmceval.errors import DataError, counted
from xmceval.files.formats import SCORES, TRUTH
from xmceval.files.io.chunks import LineChunks
from xmceval.files.io.limits import MAX_LINE
from xmceval.files.io.streams import is_uncompressed
from xmceval.files.opened import Head, Opened, Request
from xmceval.files.text.grammars import TextRows, count_rows
from xmceval.files.text.textlayout import TextLayout, describe_blank, detect_layout
from xmceval.rows.block import Block


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
            rows = TextRows(
                self.name, grammar, self.layout.names, self.are_scores, chunk, line, chunk.start, n_rows, chunk.stop
            )
            may_be_blank = may_be_blank and not rows.first_filled()
            if self.n_rows is not None and row + n_rows > self.n_rows:
                rows, surplus = rows.split(self.n_rows - row)
                if place := surplus.first_filled():
                    raise DataError(
                        f"{place}: unexpected row; the header {self.layout.header!r} declares "
                        f"{counted(self.n_rows, 'row')}"
                    )
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
