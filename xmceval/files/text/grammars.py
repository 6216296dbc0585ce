"""Grammars of rows of text: each turns the lines of a block into arrays, or tells its first bad row."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from xmceval.errors import Fault
from xmceval.files.chunks import Chunk
from xmceval.files.names import Names, unknown_name
from xmceval.rows.block import Rows, Scratch

_LARGEST_ID = 2**63 - 2

_PREFIX = b"__label__"

# By the error codes of kernels/text.py and kernels/lists.py.
EXPECTED = {
    1: "expected idx:value",
    2: "expected a label of digits before the colon",
    3: "a label is beyond 2^63 - 1; expected a 0-based column number",
    4: "expected a number after the colon",
    5: "expected a number after the colon",
    6: "expected labels of digits with single commas between",
    8: "",
}

EXPECTED_SCORED = {
    **EXPECTED,
    1: "expected 'label score' between tabs",
    2: "expected 'label score' between tabs, the label of digits",
    4: "expected 'label score' between tabs, the score a number",
    5: "expected 'label score' between tabs, the score a number",
}


class Region(Protocol):
    """Some rows of a chunk of text."""

    chunk: Chunk
    start: int
    stop: int
    n_rows: int

    @property
    def names(self) -> Names | None:
        """The names of labels, where they are known."""

    @property
    def are_scores(self) -> bool:
        """Whether these are predictions."""

    def fault(self, code: int, offset: int, row: int, end: int) -> Fault:
        """Say what is wrong, by the code of a kernel."""

    def wrong(self, row: int, said: str) -> Fault:
        """Say what is wrong with a row."""


@dataclass(frozen=True)
class Grammar:
    """One grammar of rows.

    Attributes
    ----------
    what : str
        What it is, for messages.
    parse : callable
        Parses a region.
    roles : frozenset of str
        Whether truth, scores or both are written so.
    has_comments : bool
        Whether lines that begin with a hash are no rows.
    expected : mapping of int to str
        What messages say was expected, by the error codes of the kernels.
    """

    what: str
    parse: Callable[[Region, Scratch], Rows]
    roles: frozenset[str] = frozenset({"truth", "scores"})
    has_comments: bool = True
    expected: Mapping[int, str] = field(default_factory=lambda: EXPECTED)


def _pairs(region: Region, scratch: Scratch, text: Any = None) -> Rows:
    from xmceval.kernels.text import parse_pairs

    buffer = region.chunk.buffer if text is None else text
    text = region.chunk.text if text is None else np.frombuffer(text, dtype=np.uint8)
    most = (region.stop - region.start) // 4 + 8
    rows, status = scratch.rows(region.n_rows, most), _status(scratch)
    hard = scratch.array("hard", 3 * most, np.int64).reshape(most, 3)
    parse_pairs(text, region.start, region.stop, *rows, hard, status)
    for position, first, last in hard[: status[0]].tolist():
        rows.values[position] = float(buffer[first:last])
    return _told(region, rows, status)


_SURPLUS = re.compile(rb" +(?=[ \t\r\n])")

_SCORED_BYTES = bytes.maketrans(b" \t", b": ")


def _scored(region: Region, scratch: Scratch) -> Rows:
    """Read ``label score<TAB>label score``: blanks are taken as the colons, and tabs as the blanks of pairs."""
    lines = bytes(region.chunk.buffer[region.start : region.stop])
    if any(each in lines for each in (b"  ", b" \t", b" \r", b" \n")):
        lines = _SURPLUS.sub(lambda found: b"\t" * len(found[0]), lines)
    text = bytearray(region.stop + 64)
    text[region.start : region.stop] = lines.translate(_SCORED_BYTES)
    return _pairs(region, scratch, text)


def _labels(region: Region, scratch: Scratch) -> Rows:
    from xmceval.kernels.text import parse_label_lists

    rows, status = scratch.rows(region.n_rows, (region.stop - region.start) // 2 + 8), _status(scratch)
    parse_label_lists(region.chunk.text, region.start, region.stop, *rows[:2], status)
    rows.values[: rows.indptr[region.n_rows] if not status[1] else 0] = 1.0
    return _told(region, rows, status)


def _ids(region: Region, scratch: Scratch) -> Rows:
    from xmceval.kernels.lists import parse_ids

    rows, status = scratch.rows(region.n_rows, (region.stop - region.start) // 2 + 8), _status(scratch)
    parse_ids(region.chunk.text, region.start, region.stop, *rows, status)
    return _unranked(region, _told(region, rows, status))


def _names(region: Region, scratch: Scratch, *, only_tabs: bool = False, prefix: bytes = b"") -> Rows:
    from xmceval.kernels.lists import parse_names

    names = region.names
    if names is None:  # the door does not open such a file without names
        raise region.wrong(0, "these are names, not numbers of labels (hint: --labels FILE)")
    rows, status = scratch.rows(region.n_rows, (region.stop - region.start) // 2 + 8), _status(scratch)
    mark = np.frombuffer(bytearray(prefix), dtype=np.uint8)
    region_ = (region.chunk.text, region.start, region.stop)
    parse_names(*region_, only_tabs, mark, *names.arrays, *rows, status)
    return _unranked(region, _told(region, rows, status))


def _tabbed_names(region: Region, scratch: Scratch) -> Rows:
    return _names(region, scratch, only_tabs=True)


def _fasttext(region: Region, scratch: Scratch) -> Rows:
    """Read ``__label__x __label__y text``, or in predictions ``__label__x 0.5 __label__y 0.25``."""
    if region.names is not None and not region.are_scores:
        return _names(region, scratch, prefix=_PREFIX)

    def read(line: bytes) -> Iterator[tuple[int, float]]:
        words = line.split()
        step = 2 if region.are_scores else 1
        for i in range(0, len(words), step):
            if not words[i].startswith(_PREFIX):
                if region.are_scores:
                    raise ValueError(
                        f"expected __label__ and its score in turn, found {words[i][:40].decode('latin-1')!r}"
                    )
                return
            label = _label(words[i][len(_PREFIX) :].decode(errors="surrogateescape"), region.names)
            if step == 2 and i + 1 == len(words):
                raise ValueError("the last label has no score; expected __label__ and its score in turn")
            yield label, float(words[i + 1]) if step == 2 else 1.0

    return _by_line(region, scratch, read)


def _json(region: Region, scratch: Scratch) -> Rows:
    from xmceval.files.text.jsonlines import read_scores, read_truth

    read = read_scores if region.are_scores else read_truth
    return _by_line(region, scratch, lambda line: read(line, region.names))


def _by_line(region: Region, scratch: Scratch, read: Callable[[bytes], Any]) -> Rows:
    """Parse line by line in Python; `read` yields (label, value) or raises ValueError."""
    labels, values, ends = list[int](), list[float](), [0]
    text = bytes(region.chunk.buffer[region.start : region.stop])
    for row, line in enumerate(text.split(b"\n")[:-1]):
        try:
            for label, value in read(line) if line.strip() else ():
                labels.append(label)
                values.append(value)
        except ValueError as error:
            raise region.wrong(row, str(error)) from None
        ends.append(len(labels))
    rows = scratch.rows(region.n_rows, len(labels))
    rows.indptr[:], rows.indices[:], rows.values[:] = ends, labels, values
    return rows


def _label(name: str, names: Names | None) -> int:
    """Return the label of a name, or of digits where no names are known."""
    if names is not None and name in names.numbers:
        return names.numbers[name]
    if names is None and name.isascii() and name.isdigit() and len(name) <= 19 and int(name) <= _LARGEST_ID:
        return int(name)
    raise ValueError(unknown_name(name[:40], names))


def _status(scratch: Scratch) -> Any:
    status = scratch.array("status", 8, np.int64)
    status[:] = 0
    return status


def _told(region: Region, rows: Rows, status: Any) -> Rows:
    if status[1]:
        raise region.fault(*status[1:5].tolist())
    return rows


def _unranked(region: Region, rows: Rows) -> Rows:
    """In truth a list has no order: every label is worth 1."""
    if not region.are_scores:
        rows.values[: rows.indptr[region.n_rows]] = 1.0
    return rows


_TRUTH, _SCORES = frozenset({"truth"}), frozenset({"scores"})

GRAMMARS: Mapping[str, Grammar] = MappingProxyType(
    {
        "pairs": Grammar("rows of idx:value", _pairs),
        "labels": Grammar("rows of label,label feature:value", _labels, _TRUTH),
        "ids": Grammar("lists of labels", _ids),
        "scored": Grammar("rows of label score, tabs between", _scored, _SCORES, expected=EXPECTED_SCORED),
        "names": Grammar("lists of label names", _names, has_comments=False),
        "tabbed names": Grammar("lists of label names, tabs between", _tabbed_names, has_comments=False),
        "fasttext": Grammar("rows of __label__name", _fasttext, has_comments=False),
        "json": Grammar("JSON lines", _json, has_comments=False),
    }
)
