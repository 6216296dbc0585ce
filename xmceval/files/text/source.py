"""Stream text files as blocks of rows, in chunks of whole lines, parsed by the grammar of their format in GRAMMARS."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, Fault, argument, counted
from xmceval.files.io.chunks import NEWLINE, PADDING, Chunk, LineChunks, expected_score, explain_decimal
from xmceval.files.io.paths import MAX_LINE
from xmceval.files.io.streams import is_uncompressed, quote
from xmceval.files.sidecars.values import Names, is_id, unknown_name
from xmceval.rows.block import Block, Int64, Rows, Scratch, SortedRows, StoredRows
from xmceval.rows.source import Blocks, Source

BLANK = "has only blank lines; expected rows of idx:value"
FASTTEXT_PREFIX = b"__label__"
NO_PREDICTION = b"n/a"  # fastText's line for a text without known words
_FASTTEXT_PAIRS = "expected pairs of __label__name and score"
_ROW_WITHOUT_COMMENT = re.compile(rb"^[ \t\r]*[^ \t\r\n#]", re.MULTILINE)
_ROW = re.compile(rb"^[ \t\r]*[^ \t\r\n]", re.MULTILINE)
_EXTRA_SPACES = re.compile(rb" +(?=[ \t\r\n])")


@dataclass(frozen=True)
class TextLayout:
    """The layout of a text file."""

    kind: str  # the name of a format, a key of GRAMMARS
    start: int = 0  # the offset of the first row
    header_lines: int = 0  # the lines before it
    n_rows: int | None = None  # the sizes that a header declares
    n_labels: int | None = None
    header: str = ""  # the header, or an empty string
    names: Names | None = None  # the label names, if rows have names instead of ids
    are_ids: bool = False  # whether rows have ids in spite of label names, such as numbers in JSON
    warning: str = ""  # a warning if the rows could be read in another way, or an empty string


class Mark(NamedTuple):
    """A position in a text file where a line begins."""

    offset: int
    row: int  # the rows before it
    line: int  # the number of the line, counted from 1


def text_source(path: Path, layout: TextLayout, *, are_scores: bool, max_line: int = MAX_LINE) -> Source:
    """Return a text file as a source of blocks."""
    return Source(
        str(path),
        partial(_read_text, layout, are_scores, max_line),
        layout.n_rows,
        layout.n_labels,
        is_exact=GRAMMARS[layout.kind].has_exact_header,
        files=(path,),
        can_start=partial(is_uncompressed, path),
        mark_of=_mark_of,
        notes=list(filter(None, [layout.warning])),
    )


def _read_text(layout: TextLayout, are_scores: bool, max_line: int, source: Source) -> Blocks:
    """Yield one block per chunk."""
    grammar = GRAMMARS[layout.kind]
    n_declared = layout.n_rows
    skipped = 0 if source.start else layout.start
    offset, row, line = source.start or Mark(0, 0, layout.header_lines + 1)
    chunks = LineChunks(source.files[0], max_line, offset=offset)
    may_be_blank = not source.start and n_declared is None
    for chunk in chunks:
        chunk.start = min(skipped, chunk.stop)
        skipped -= chunk.start
        n_rows, n_lines = count_rows(grammar, chunk, chunk.start, chunk.stop)
        rows = TextRows(source.name, grammar, layout.names, are_scores, chunk, line, chunk.start, n_rows, chunk.stop)
        may_be_blank = may_be_blank and not rows.first_filled()
        if n_declared is not None and row + n_rows > n_declared:
            rows, surplus = rows.split(n_declared - row)
            if place := surplus.first_filled():
                raise DataError(
                    f"{place}: unexpected row; the header {layout.header!r} declares {counted(n_declared, 'row')}"
                )
        if rows.n_rows:
            yield Block(rows, row)
        row += rows.n_rows
        line += n_lines
    if may_be_blank:
        raise DataError(f"{source.name}: {BLANK}")
    if chunks.lacks_newline:
        warning = f"{source.name}: the last line has no newline; it was read (is the file truncated?)"
        source.notes[:] = [*filter(None, [layout.warning]), warning]
    if n_declared is not None and row < n_declared:
        raise DataError(
            f"{source.name}: the header {layout.header!r} declares {counted(n_declared, 'row')}, but the file has "
            f"{counted(row, 'row')} (is it truncated, or the header wrong?)"
        )


def _mark_of(block: Block) -> Mark:
    rows: Any = block.stored
    return Mark(rows.chunk.offset + rows.start, block.first_row, rows.first_line)


def _expected(code: int, *, has_tabs: bool) -> str:
    """Describe what a kernel expected, given its error code."""
    from xmceval.kernels.text import lines as kernel

    pair = "expected idx:value"
    label = "expected a label id before the colon"
    number = "expected a number after the colon"
    if has_tabs:
        pair = "expected tab-separated 'label score'"
        label = f"{pair}, with a label id"
        number = f"{pair}, with a number as score"
    return {
        kernel.NO_COLON: pair,
        kernel.BAD_ID: label,
        kernel.ID_TOO_LARGE: "expected a 0-based column number below 2^63",
        kernel.NO_VALUE: number,
        kernel.BAD_NUMBER: number,
        kernel.BAD_LABEL: "expected label ids separated by single commas",
    }[code]


@dataclass(frozen=True)
class Grammar:
    """One grammar of rows."""

    parse: Callable[[TextRows, Scratch], Rows]  # parses a region of rows
    has_comments: bool = True  # whether ``#`` starts a comment
    # whether rows are lists of labels without values, which as predictions are ranked best first
    is_ranked: bool = False
    # whether the last number of a header is always the number of labels, never of predictions per row
    has_exact_header: bool = False
    has_tabs: bool = False  # whether tabs separate pairs of label and score, for messages


@dataclass
class TextRows(StoredRows):
    """The rows of a chunk of text from `start` to `stop`."""

    name: str  # the file, for messages
    grammar: Grammar
    names: Names | None  # the label names, if rows have names
    are_scores: bool  # whether the rows are predictions
    chunk: Chunk
    first_line: int  # the number of the first line of the chunk
    start: int
    n_rows: int
    stop: int

    def split(self, n_rows: int) -> tuple[TextRows, TextRows]:
        """Split into the first rows and the rest."""
        stop = self.stop
        if n_rows < self.n_rows:
            stop = self._offset_of(n_rows)
        return replace(self, n_rows=n_rows, stop=stop), replace(self, n_rows=self.n_rows - n_rows, start=stop)

    def parse(self, scratch: Scratch) -> Rows:
        """Parse the text."""
        return self.grammar.parse(self, scratch)

    def parse_fault(self, code: int, offset: int, row: int, end: int) -> Fault:
        """Make the fault for a kernel's error code and the token where it stopped."""
        from xmceval.kernels.text.lists import UNKNOWN_NAME

        token = bytes(self.chunk.buffer[offset:end])
        if code == UNKNOWN_NAME:
            hint = ""
            if token.isdigit():
                hint = f" (hint: leave {argument('labels')} out if these are label ids)"
            name = token[:40].decode(errors="backslashreplace")
            return self.row_fault(row, unknown_name(name, self.names, hint))
        _, colon, score = token.rpartition(b":")
        if colon and explain_decimal(score):
            return self.row_fault(row, expected_score(score))
        return self.row_fault(row, f"{_expected(code, has_tabs=self.grammar.has_tabs)}, found {quote(token)}")

    def row_fault(self, row: int, message: str) -> Fault:
        """Make the fault of a row, with its place."""
        return Fault(row, f"{self.place(row)}: {message}")

    def place(self, row: int) -> str:
        """Return file and line of a row."""
        offset = self.start
        if row:
            offset = self._offset_of(row)
        while self.grammar.has_comments and self.chunk.buffer[offset : self.stop].lstrip(b" \t\r").startswith(b"#"):
            offset = self.chunk.buffer.index(b"\n", offset) + 1
        return self._line_at(offset)

    def blank_from(self) -> int:
        """Return the row from which all rows are blank lines."""
        end = self.start
        for match in self._find_filled():
            end = self.start + match.end()
        if end > self.start:
            end = self.chunk.buffer.index(b"\n", end) + 1
        return count_rows(self.grammar, self.chunk, self.start, end)[0]

    def first_filled(self) -> str:
        """Return the place of the first row that is not a blank line, or an empty string."""
        for match in self._find_filled():
            return self._line_at(self.start + match.end())
        return ""

    def _line_at(self, offset: int) -> str:
        return f"{self.name}:{self.first_line + self.chunk.buffer.count(NEWLINE, self.chunk.start, offset)}"

    def _find_filled(self) -> Iterator[re.Match[bytes]]:
        """Find the beginnings of lines that are neither blank nor comments."""
        pattern = _ROW
        if self.grammar.has_comments:
            pattern = _ROW_WITHOUT_COMMENT
        return pattern.finditer(bytes(self.chunk.buffer[self.start : self.stop]))

    def _offset_of(self, row: int) -> int:
        """Return the offset of a row, counted from 0, or of the end if there are no more rows."""
        from xmceval.kernels.text.lines import skip_rows

        if self.grammar.has_comments:
            return int(skip_rows(self.chunk.text, self.start, self.stop, row))
        return self.start + int(np.flatnonzero(self.chunk.text[self.start : self.stop] == NEWLINE)[row - 1]) + 1


def count_rows(grammar: Grammar, chunk: Chunk, start: int, stop: int) -> tuple[int, int]:
    """Count the rows and lines in a range of whole lines."""
    from xmceval.kernels.text.lines import count_rows as count_uncommented

    counts = np.empty(2, dtype=np.int64)
    count_uncommented(chunk.text, start, stop, counts)
    n_rows, n_lines = counts.tolist()
    if not grammar.has_comments:
        n_rows = n_lines
    return n_rows, n_lines


def _parse_pairs(region: TextRows, scratch: Scratch, text: NDArray[np.uint8] | None = None) -> Rows:
    """Parse ``idx:value``, from the region's chunk or from a copy of its text."""
    from xmceval.kernels.text import lines as kernel
    from xmceval.kernels.text.pairs import parse_pairs

    if text is None:
        text = region.chunk.text
    most = (region.stop - region.start) // 4 + 8
    rows = scratch.rows(region.n_rows, most)
    status = scratch.array("status", kernel.STATUS_SIZE, np.int64)
    hard = scratch.array("hard", 3 * most, np.int64).reshape(most, 3)
    parse_pairs(text, region.start, region.stop, *rows, hard, status)
    numbers = _check_status(region, status)
    for entry, first, last in hard[: numbers[0]].tolist():
        rows.values[entry] = float(text[first:last].tobytes())
    largest = numbers[kernel.LARGEST]
    if largest == kernel.NOT_NOTICED:
        return rows
    return SortedRows.of(rows, largest, has_only_ones=bool(numbers[kernel.ONLY_ONES]))


def _parse_scored(region: TextRows, scratch: Scratch) -> Rows:
    """Parse ``label score<TAB>label score`` as ``idx:value``, with colons for spaces and spaces for tabs."""
    from xmceval.kernels.text.pairs import write_as_pairs

    part = slice(region.start, region.stop)
    text = scratch.array("text", region.stop + PADDING, np.uint8)
    write_as_pairs(region.chunk.text, part.start, part.stop, text)
    try:
        return _parse_pairs(region, scratch, text)
    except Fault:  # caused by extra spaces, which are rare
        lines = bytes(region.chunk.buffer[part])
        cleaned = _EXTRA_SPACES.sub(lambda spaces: b"\t" * len(spaces[0]), lines)
        if cleaned == lines:
            raise
    text[part] = np.frombuffer(cleaned, dtype=np.uint8)
    write_as_pairs(text, part.start, part.stop, text)
    return _parse_pairs(region, scratch, text)


def _parse_labels(region: TextRows, scratch: Scratch, *, have_features: bool = False) -> Rows:
    """Parse lists of ids, or ``label,label feature:value`` without the features."""
    rows = _room_for_labels(region, scratch)
    status = scratch.array("status", 8, np.int64)
    text = region.chunk.text, region.start, region.stop
    if have_features:
        from xmceval.kernels.text.labels import parse_label_lists

        parse_label_lists(*text, rows.indptr, rows.indices, status)
    else:
        from xmceval.kernels.text.lists import parse_ids

        parse_ids(*text, *rows, status)
    _check_status(region, status)
    return _with_values(region, rows)


def _parse_names(region: TextRows, scratch: Scratch, *, between: str = "blanks", prefix: bytes = b"") -> Rows:
    """Parse lists of label names between blanks, tabs, or commas and blanks."""
    from xmceval.kernels.text.lists import BLANKS, COMMAS, TABS, UNKNOWN_NAME, split_names
    from xmceval.kernels.text.words import find_words

    names = cast(Names, region.names)  # such files are not opened without names
    rows = _room_for_labels(region, scratch)
    begins, ends = (scratch.array(name, rows.indices.size, np.int64) for name in ("begins", "ends"))
    start = np.frombuffer(bytearray(prefix), dtype=np.uint8)
    separator = {"blanks": BLANKS, "tabs": TABS, "commas": COMMAS}[between]
    split_names(region.chunk.text, region.start, region.stop, separator, start, rows.indptr, begins, ends, rows.values)
    n = int(rows.indptr[region.n_rows])
    unknown = int(find_words(region.chunk.text, begins[:n], ends[:n], *names.words.table, rows.indices))
    if unknown >= 0 and names.others is not None:
        rows.indices[:n] = names.number(region.chunk.text, begins[:n], ends[:n])
    elif unknown >= 0:
        row = int(np.searchsorted(rows.indptr, unknown, side="right")) - 1
        raise region.parse_fault(UNKNOWN_NAME, int(begins[unknown]) - len(prefix), row, int(ends[unknown]))
    return _with_values(region, rows)


def _parse_fasttext(region: TextRows, scratch: Scratch, *, are_lists: bool = False) -> Rows:
    """Parse ``__label__x`` in any text, or predictions: ``__label__x 0.5 __label__y 0.25``, or without scores."""
    if region.are_scores:
        return _parse_by_line(region, scratch, lambda line: _read_fasttext(line, region.names, are_lists=are_lists))
    if region.names is not None:
        return _parse_names(region, scratch, prefix=FASTTEXT_PREFIX)
    return _parse_by_line(
        region,
        scratch,
        lambda line: ((_fasttext_label(w, None), 1.0) for w in line.split() if w.startswith(FASTTEXT_PREFIX)),
    )


def _read_fasttext(line: bytes, names: Names | None, *, are_lists: bool) -> Iterator[tuple[int, float]]:
    """Yield the labels and scores of a line of predictions; in lists, scores fall to 1 for the last label."""
    words = line.split()
    if words == [NO_PREDICTION]:
        return
    if are_lists:
        for rank, word in enumerate(words):
            if not word.startswith(FASTTEXT_PREFIX):
                raise ValueError(f"expected only __label__name, as in the lines before, found {quote(word)}")
            yield _fasttext_label(word, names), float(len(words) - rank)
        return
    for word, score in zip_longest(words[::2], words[1::2]):
        if not word.startswith(FASTTEXT_PREFIX):
            raise ValueError(f"{_FASTTEXT_PAIRS}, found {word[:40].decode('latin-1')!r}")
        label = _fasttext_label(word, names)
        if score is None:
            raise ValueError(f"{_FASTTEXT_PAIRS}; the last label has no score")
        try:
            value = float(score)
        except ValueError:
            raise ValueError(expected_score(score)) from None
        yield label, value


def _fasttext_label(word: bytes, names: Names | None) -> int:
    """Return the label of a name, or the id itself if there are no names."""
    name = word[len(FASTTEXT_PREFIX) :].decode(errors="surrogateescape")
    if names is None and is_id(name):
        return int(name)
    if names is not None and (label := names.label_of(name)) >= 0:
        return label
    raise ValueError(unknown_name(name[:40], names))


def _parse_json(region: TextRows, scratch: Scratch) -> Rows:
    """Parse JSON lines with a kernel, and the lines where it stops in Python."""
    from xmceval.files.text.jsonlines import read_row
    from xmceval.kernels.text.json import parse_json

    def read(line: bytes) -> Iterator[tuple[int, float]]:
        return read_row(line, region.names, are_scores=region.are_scores)

    buffer = region.chunk.buffer
    at = region.start
    try:
        if not buffer.isascii():  # takes no memory, unlike decoding
            str(memoryview(buffer)[at : region.stop], "utf-8")
    except UnicodeDecodeError:
        return _parse_by_line(region, scratch, read)
    rows = _room_for_labels(region, scratch)
    status = np.zeros(2, dtype=np.int64)
    room = 0
    if region.names is not None:
        room = rows.indices.size
    places = scratch.array("places", 2 * room, np.int64).reshape(2, room)
    rows.indptr[0] = n_named = 0
    while at < region.stop:
        at = parse_json(region.chunk.text, at, region.stop, region.are_scores, places, *rows, status)
        row, n = status.tolist()
        n_named = _find_names(region, rows, places, row, n_named)
        if at < region.stop:
            end = buffer.index(b"\n", at)
            for label, value in _read_line(region, row, bytes(buffer[at:end]), read):
                rows.indices[n], rows.values[n] = label, value
                n += 1
            rows.indptr[row + 1] = n_named = n
            status[:] = row + 1, n
            at = end + 1
    return rows


def _find_names(region: TextRows, rows: Rows, places: Int64, n_rows: int, first: int) -> int:
    """Write the labels of names from entry `first` on, given the places of names; return their number."""
    stop = int(rows.indptr[n_rows])
    entries = slice(first, stop)
    are_names = rows.indices[entries] < 0
    if region.names is None or not are_names.any():
        return stop
    named: slice | Int64 = entries
    if not are_names.all():
        named = first + np.flatnonzero(are_names)
    labels = region.names.number(region.chunk.text, *places[:, named])
    rows.indices[named] = labels
    unknown = int(np.argmin(labels))
    if labels[unknown] < 0:
        entry = first + int(np.flatnonzero(are_names)[unknown])
        begin, end = places[:, entry].tolist()
        row = int(np.searchsorted(rows.indptr[: n_rows + 1], entry, side="right")) - 1
        raise region.row_fault(row, unknown_name(bytes(region.chunk.buffer[begin:end]).decode()[:40], region.names))
    return stop


def _read_line(
    region: TextRows, row: int, line: bytes, read: Callable[[bytes], Iterator[tuple[int, float]]]
) -> Iterator[tuple[int, float]]:
    """Read a line in Python; `read` yields (label, value) or raises ValueError."""
    if not line.strip():
        return
    try:
        yield from read(line)
    except ValueError as error:
        raise region.row_fault(row, str(error)) from None


def _parse_by_line(region: TextRows, scratch: Scratch, read: Callable[[bytes], Iterator[tuple[int, float]]]) -> Rows:
    """Parse line by line in Python."""
    labels = list[int]()
    values = list[float]()
    ends = [0]
    text = bytes(region.chunk.buffer[region.start : region.stop])
    for row, line in enumerate(text.split(b"\n")[:-1]):
        for label, value in _read_line(region, row, line, read):
            labels.append(label)
            values.append(value)
        ends.append(len(labels))
    rows = scratch.rows(region.n_rows, len(labels))
    rows.indptr[:], rows.indices[:], rows.values[:] = ends, labels, values
    return rows


def _room_for_labels(region: TextRows, scratch: Scratch) -> Rows:
    """Allocate arrays for the largest number of labels that the text can hold."""
    return scratch.rows(region.n_rows, (region.stop - region.start) // 2 + 8)


def _with_values(region: TextRows, rows: Rows) -> Rows:
    """Set the values of true labels to one; the kernel sets the values of ranked labels."""
    if not region.are_scores:
        rows.values[: rows.indptr[region.n_rows]] = 1.0
    return rows


def _check_status(region: TextRows, status: Int64) -> list[int]:
    """Raise the fault that a kernel reported, if any; else return its status."""
    numbers: list[int] = status.tolist()
    if numbers[1]:
        raise region.parse_fault(*numbers[1:5])
    return numbers


GRAMMARS: Mapping[str, Grammar] = MappingProxyType(
    {
        "pairs": Grammar(_parse_pairs),
        "labels": Grammar(partial(_parse_labels, have_features=True), has_exact_header=True),
        "ids": Grammar(_parse_labels, is_ranked=True),
        "scored": Grammar(_parse_scored, has_tabs=True),
        "names": Grammar(_parse_names, has_comments=False, is_ranked=True),
        "tabbed-names": Grammar(partial(_parse_names, between="tabs"), has_comments=False, is_ranked=True),
        "comma-names": Grammar(partial(_parse_names, between="commas"), has_comments=False, is_ranked=True),
        "fasttext": Grammar(_parse_fasttext, has_comments=False),
        "fasttext-lists": Grammar(partial(_parse_fasttext, are_lists=True), has_comments=False, is_ranked=True),
        "json": Grammar(_parse_json, has_comments=False),
    }
)
