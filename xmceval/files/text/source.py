"""Stream text files as blocks of rows, in chunks of whole lines, one row per line.

Their layout is inferred from the content: the kind of the rows, and the sizes in a header.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from xmceval.errors import DataError, Doubt, argument, counted
from xmceval.files.formats import FORMATS, SCORES, TRUTH
from xmceval.files.io.chunks import LineChunks, count_lines, without_comment
from xmceval.files.io.paths import MAX_LINE
from xmceval.files.io.streams import is_uncompressed, quote
from xmceval.files.opened import Head, Opened, Request
from xmceval.files.sidecars.label_names import LARGEST_ID, Names
from xmceval.files.text.grammars import GRAMMARS, TextRows, count_rows
from xmceval.rows.block import Block

LINES_LOOKED_AT = 1000  # lines to search for marks of a format
WORDS_COMPARED = 1 << 16  # words to look up in the label names, to distinguish names from ids
_FEATURE = re.compile(rb"\d+:")
_NO_ID_LIST = re.compile(rb"[^\d ,]")
_NAME = re.compile(rb"[^\W\d][^|\[\];@<>]*")  # a word that may be the name of a label
_TRIPLE = re.compile(rb"(?:(?>\S+)\s|\S[^\s,]*,)\S+[\s,]-?[0-9.]+")
_LABEL_AND_SCORE = rb"\d+[ \t]+[-+]?(?:[\d.]+(?:[eE][-+]?\d+)?|(?i:inf|infinity|nan))"

# The kinds of rows, with patterns of their beginning: the first pattern that matches is the kind of a row. The
# first row gives the kind of the file, except that pairs and labels, and scored rows after ids, decide wherever
# they occur.
KINDS = (
    ("pairs", _FEATURE),
    # Ids and commas, with blanks around commas; each blank can match in only one way, so that time is linear.
    ("labels", re.compile(rb"[\d,]+(?:(?:(?<=,)[ \t]+|(?<!,)[ \t]+(?=,))[\d,]+)*[ \t]+\d+:")),
    # Pairs of whole numbers separated by tabs, with a blank inside: labels with scores, not labels.
    ("scored", re.compile(rb"\d+ +\d+(?: *\t\d+ +\d+)+\Z")),
    ("ids", re.compile(rb"\d+(?:[ \t]*,[ \t]*\d+|[ \t]+\d+)*\Z")),
    ("scored", re.compile(rb"%b(?: *\t[ \t]*%b)*\Z" % (_LABEL_AND_SCORE, _LABEL_AND_SCORE))),
    ("texts", re.compile(rb"\d+(?:,\d+)*\t")),  # label ids before text: the kind is labels
    ("names", re.compile(rb"")),
)


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


def open_text(head: Head, request: Request, layout: TextLayout) -> Opened:
    """Open a text file with a known layout."""
    form, has_names = FORMATS[layout.kind], layout.names is not None and not layout.are_ids
    facts = ["text", form.title, f"header {layout.header!r}" if layout.header else "no header"]
    if layout.names and has_names:
        facts.append(f"label names from {layout.names.source}")
    actual, expected = (TRUTH, SCORES) if request.are_scores else (SCORES, TRUTH)
    if expected not in form.holds:
        row = "idx:score" if request.are_scores else "idx:value"
        raise DataError(
            f"{head.path}: looks like {actual} ({', '.join(facts)}); expected {expected}, such as rows of {row}"
        )
    return Opened(
        TextSource(head.path, layout, request.are_scores, request.max_line),
        form,
        tuple(facts),
        request.role,
        is_ranked=GRAMMARS[layout.kind].is_ranked,
        are_lists=layout.kind == "ids" and not layout.header,
        labels_by="name" if has_names else "number",
    )


BLANK = "has only blank lines; expected rows of idx:value"


class Mark(NamedTuple):
    """A position in a text file where a line begins."""

    offset: int
    row: int  # the rows before it
    line: int  # the number of the line, counted from 1


@dataclass
class TextSource:
    """A text file as a source of blocks, starting at `begin` if that is set."""

    path: Path
    layout: TextLayout
    are_scores: bool
    max_line: int = MAX_LINE
    warnings: list[str] = field(default_factory=list)
    begin: Mark | None = None

    def __post_init__(self) -> None:
        self.name = str(self.path)
        self.n_rows, self.n_labels = self.layout.n_rows, self.layout.n_labels
        self.is_exact, self.dtype = GRAMMARS[self.layout.kind].has_exact_header, None
        self._layout_warnings = [self.layout.warning] if self.layout.warning else []
        self.warnings[:] = self._layout_warnings

    def files(self) -> tuple[Path, ...]:
        """Return the file."""
        return (self.path,)

    def blocks(self) -> Generator[Block, None, None]:
        """Yield one block per chunk."""
        grammar, skipped = GRAMMARS[self.layout.kind], 0 if self.begin else self.layout.start
        offset, row, line = self.begin or Mark(0, 0, self.layout.header_lines + 1)
        chunks = LineChunks(self.path, self.max_line, offset=offset)
        may_be_blank = self.begin is None and self.n_rows is None
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
            raise DataError(f"{self.path}: {BLANK}")
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
        """Return the same source, starting at a mark."""
        return replace(self, begin=Mark(*place), warnings=[])


def find_rows(head: Head, names: Names | None) -> TextLayout:
    """Infer the layout of any other text from its first megabyte: from a header, and the rows below it."""
    lines, start, layout = head.lines, head.start, None
    for number, line in enumerate(lines):
        after = start + len(line) + 1
        layout = _read_header(head, number, after)
        if layout is not None or not line.lstrip().startswith(b"#"):
            break
        start = after
    if layout is None:
        kind = _find_kind(lines[number:]) or ("pairs" if names is None else "names")
        layout = TextLayout(kind, start, number)
    layout = _decide_names(head.path, layout, lines[layout.header_lines :], names)
    if layout.names is not None and not layout.header:  # names may begin with a hash, so there are no comments
        return replace(layout, start=head.start, header_lines=0)
    return layout


def _read_header(head: Head, number: int, after: int) -> TextLayout | None:
    """Return the layout of the rows from byte `after` on if the line above is a header, maybe in a comment."""
    line, rows = head.lines[number].strip(), head.lines[number + 1 :]
    text = line.lstrip(b"# \t")
    mark = line[: len(line) - len(text)]
    text = without_comment(text).rstrip()  # a comment may follow the header
    numbers = _whole_numbers(text)
    if len(numbers) != 2 and (len(numbers) != 3 or line.startswith(b"#") or b"," in text):
        return None
    header = mark + text
    if max(map(len, numbers)) > 19 or max(map(int, numbers)) > LARGEST_ID:
        raise DataError(f"{head.path}:{number + 1}: a number of the header {quote(header)} is above 2^63 - 2")
    n_rows, n_labels = int(numbers[0]), int(numbers[-1])
    declared = "pairs" if len(numbers) == 2 else "labels"  # three numbers: rows of labels with features
    layout = TextLayout(declared, after, number + 1, n_rows, n_labels, header.decode())
    kind = _find_kind(rows)
    if kind in {"", "pairs", "labels"}:
        if declared == "pairs":
            return layout
        if any(b":" in row for row in rows):
            if any(words and b":" not in words[0] for row in rows if (words := without_comment(row).split(None, 1))):
                return layout
            raise DataError(
                f"{head.path}:{number + 1}: the header {layout.header!r} declares points, features and labels, but "
                "no row begins with labels; expected the header 'rows cols' before rows of idx:value"
            )
    else:
        if kind == "ids" and b"," in text and not mark:  # a list: headers have blanks
            return None
        if kind == "ids":  # a row if labels reach the number that it would declare as a header
            below = (word for row in rows for word in without_comment(row).replace(b",", b" ").split())
            if any(word.isdigit() and (len(word) >= 20 or int(word) >= n_labels) for word in below):
                return None
        layout = replace(layout, kind=kind)
    # A header above lists, or three numbers that could be three labels, must declare the number of rows below.
    return layout if count_lines(head.path) - layout.header_lines == n_rows else None


def _whole_numbers(text: bytes) -> list[bytes]:
    """Return the whole numbers in a line; none if it has anything else."""
    words = text.replace(b",", b" ").split()
    return words if all(word.isdigit() for word in words) and not text.startswith(b",") else []


def _find_kind(lines: Iterable[bytes]) -> str:
    """Return the kind of the first row that decides, or an empty string if there is no row."""
    first = ""
    for line in lines:
        if first and b":" not in line and not (first == "ids" and _NO_ID_LIST.search(line)):
            continue
        if row := without_comment(line).strip():
            kind = next(kind for kind, pattern in KINDS if pattern.match(row))
            if kind in {"pairs", "labels"} or (kind == "scored" and first in {"", "ids"}):
                return kind
            first = first or ("labels" if kind == "texts" else kind)
    return first


def _decide_names(path: Path, layout: TextLayout, lines: Sequence[bytes], names: Names | None) -> TextLayout:
    """Decide whether words are label ids or names; check rows that can only have ids."""
    kind = "pairs" if layout.kind == "names" and names is None else layout.kind
    if kind == "labels" and names is not None and not layout.header:
        # names between tabs; digits before a tab could also be ids before text
        tabbed = [[field.strip() for field in row.split(b"\t")] for row in lines[:1000] if b"\t" in row.strip()]
        if 2 * sum(map(names.has_all, tabbed)) > len(tabbed):
            kind = "names"
    layout = replace(layout, kind=kind)
    if kind in {"pairs", "labels"}:
        return replace(layout, warning=_check_rows(path, layout, lines))
    if kind == "scored" or names is None:
        return layout
    rows = [line for line in lines if line.strip()]
    if kind == "names":
        are_words = names.has_all([word for row in rows for word in row.split()][:WORDS_COMPARED])
        fields = [] if are_words else [field.strip() for row in rows for field in row.split(b"\t")][:WORDS_COMPARED]
        are_fields = not are_words and (names.has_all(fields) or any(b"\t" in row for row in rows))
        return replace(layout, kind="tabbed-names" if are_fields else "names", names=names)
    # Digits are names if any of them is a known name; unknown names are then reported.
    rows = [without_comment(row) for row in rows]
    words = [word for row in rows for word in row.replace(b",", b" ").split()][:WORDS_COMPARED]
    labels = {word: label for word, label in zip(words, names.find(words).tolist(), strict=True) if label >= 0}
    if not labels:
        return layout
    is_same = all(label == int(word) for word, label in labels.items() if word.isdigit() and len(word) < 19)
    warning = "" if is_same else f"{path}: its words were read as names in {names.source}, not as label ids"
    kind = "comma-names" if any(b"," in row for row in rows) else "names"
    return replace(layout, kind=kind, names=names, warning=warning)


def _check_rows(path: Path, layout: TextLayout, lines: Sequence[bytes]) -> str:
    """Refuse text whose first row is not idx:value, or return a warning if only the first row has a label.

    Then the newline after the header may be missing; a row that really has no labels begins with a blank.
    """
    numbered = enumerate(map(without_comment, lines), layout.header_lines + 1)
    if layout.kind == "labels":
        if layout.header:
            return ""
        (number, row), *others = ((number, row) for number, row in numbered if row.strip())
        is_alone = row.split(None, 1)[0].isdigit() and all(_FEATURE.match(other) for _, other in others)
        if not is_alone or not others:
            return ""
        return Doubt(
            f"{path}:{number}: only this one of the first {counted(len(others) + 1, 'row')} begins with a label, "
            f"{quote(row)}; is the newline after the header missing?"
        )
    number, row = next(((number, stripped) for number, row in numbered if (stripped := row.strip())), (0, b""))
    if row and not layout.header and _whole_numbers(row):
        raise DataError(f"{path}:{number}: expected a header 'rows cols', or a row of idx:value, found {quote(row)}")
    if row and not any(b":" in line for line in lines):
        ways = list[str]()
        if any(map(_NAME.fullmatch, row.split())):
            ways.append(f"pass {argument('labels', kind='FILE')} if these are label names")
        if _TRIPLE.fullmatch(row):
            ways.append("of query, document and value name the columns, as in 'query_id,doc_id,score'")
        elif row.count(b"\t") == 1:
            ways.append("of query and document name the columns, with a tab between 'query_id' and 'doc_id'")
        hint = f" (hint: {'; '.join(ways)})" if ways else ""
        raise DataError(
            f"{path}:{number}: expected rows of idx:value such as '12:0.5 90:0.25', found {quote(row)}{hint}"
        )
    return ""
