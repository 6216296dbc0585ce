"""Stream text files as blocks of rows, in chunks of whole lines, one row per line.

Their layout is inferred from the content: the grammar of the rows, and the sizes in a header.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from xmceval.errors import DataError, Doubt, argument, counted
from xmceval.files.formats import FORMATS, SCORES, TRUTH, Format
from xmceval.files.io.chunks import LineChunks, count_lines, without_comment
from xmceval.files.io.paths import MAX_LINE
from xmceval.files.io.signatures import UTF8_BOM
from xmceval.files.io.streams import is_uncompressed, quote
from xmceval.files.opened import Head, Opened, Request
from xmceval.files.sidecars.label_names import LARGEST_ID, Names
from xmceval.files.text.grammars import FASTTEXT_PREFIX, GRAMMARS, NO_PREDICTION, Grammar, TextRows, count_rows
from xmceval.rows.block import Block

LINES_LOOKED_AT = 1000  # for what marks a format

WORDS_COMPARED = 1 << 16  # words that are looked up in the label names, to distinguish names from ids

_FEATURE = re.compile(rb"\d+:")

# Ids and commas, with blanks around commas; each blank can match in one way only, so that time is linear.
_LABELS_BEFORE_FEATURES = re.compile(rb"[\d,]+(?:(?:(?<=,)[ \t]+|(?<!,)[ \t]+(?=,))[\d,]+)*[ \t]+\d+:")

_ID_LIST = re.compile(rb"\d+(?:[ \t]*,[ \t]*\d+|[ \t]+\d+)*\Z")

_NO_ID_LIST = re.compile(rb"[^\d ,]")

_LABEL_AND_SCORE = rb"\d+[ \t]+[-+]?(?:[\d.]+(?:[eE][-+]?\d+)?|(?i:inf|infinity|nan))"

_SCORED = re.compile(rb"%b(?: *\t[ \t]*%b)*\Z" % (_LABEL_AND_SCORE, _LABEL_AND_SCORE))

# Whole numbers in pairs between tabs, with a blank inside each: labels with scores, not labels.
_TABBED_PAIRS = re.compile(rb"\d+ +\d+(?: *\t\d+ +\d+)+\Z")

_FASTTEXT_LABEL = re.compile(rb"(?:\A|[ \t])__label__")

_FASTTEXT_LIST = re.compile(rb"__label__\S*(?:[ \t]+__label__\S*)*\Z")

_JSON_ROW = re.compile(rb'"row"\s*:\s*(\d+)')

_JSON_IDS = re.compile(rb'"(?:label"\s*:|(?:target_ind|data)"\s*:\s*\[[\s\[]*)\s*\d')

_IDS_AND_TEXT = re.compile(rb"\d+(?:,\d+)*\t")


@dataclass(frozen=True)
class TextLayout:
    """The layout of a text file."""

    kind: str  # the name of a format, a key of GRAMMARS
    start: int = 0  # the offset of the first row
    header_lines: int = 0  # the lines before it
    n_rows: int | None = None  # the numbers that a header declares
    n_labels: int | None = None
    header: str = ""  # the header, or an empty string
    names: Names | None = None  # the label names, if rows have names instead of ids
    are_ids: bool = False  # whether rows have ids even if there are label names, as numbers in JSON are
    warning: str = ""  # a warning if the rows could be read in another way, or an empty string

    @property
    def format(self) -> Format:
        """The format of the rows."""
        return FORMATS[self.kind]

    @property
    def grammar(self) -> Grammar:
        """The grammar of the rows."""
        return GRAMMARS[self.kind]

    @property
    def facts(self) -> tuple[str, ...]:
        """Facts about the layout, for people."""
        header = f"header {self.header!r}" if self.header else "no header"
        names = (f"label names from {self.names.source}",) if self.names and not self.are_ids else ()
        return "text", self.format.title, header, *names

    @property
    def description(self) -> str:
        """The layout in words."""
        return ", ".join(self.facts)


def open_text(head: Head, request: Request) -> Opened:
    """Open a text file, of a layout that is inferred from its content."""
    path = head.path
    layout = _detect_layout(head, request.names)
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
            raise DataError(_describe_blank(self.path))
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


def _detect_layout(head: Head, names: Names | None) -> TextLayout:
    """Infer the layout of a text file from its first megabyte."""
    path, lines = head.path, head.lines
    start = len(UTF8_BOM) if head.content.startswith(UTF8_BOM) else 0
    if b"\0" in lines[0]:
        raise DataError(f"{path}: is binary data of an unknown kind, or UTF-16; expected UTF-8 text, npz or npy")
    if b"\r" in lines[0].rstrip():
        raise DataError(f"{path}: its lines end with carriage returns only; expected newlines")
    if head.is_whole and not head.content[start:].strip():
        raise DataError(_describe_blank(path))
    kind = _find_marked_kind(path, lines)
    if kind:
        are_ids = kind == "json" and any(map(_JSON_IDS.search, lines[:LINES_LOOKED_AT]))
        return TextLayout(kind, start, names=names, are_ids=are_ids)
    for number, line in enumerate(lines):
        after = start + len(line) + 1
        layout = _detect_below_header(path, lines, number, after, names)
        if layout is not None:
            return layout
        if not line.lstrip().startswith(b"#"):
            break
        start = after
    rows = lines[number:]
    kind = _find_kind(rows) or ("pairs" if names is None else "names")
    layout = _finish(path, TextLayout(kind, start, number), rows, names)
    if layout.names is not None:  # names may begin with a hash, so that lines of them have no comments
        layout = replace(layout, start=start - sum(len(line) + 1 for line in lines[:number]), header_lines=0)
    return layout


def _describe_blank(path: Path) -> str:
    """Describe a file, without a header, that has nothing but blank lines and comments."""
    return f"{path}: has only blank lines; expected rows of idx:value"


def _find_marked_kind(path: Path, lines: Sequence[bytes]) -> str:
    """Return the kind of rows that carry a mark, or an empty string."""
    rows = [row for line in lines[:LINES_LOOKED_AT] if (row := line.strip())]
    if not rows:
        return ""
    if rows[0].startswith((b"{", b"[")):
        if len(set(_JSON_ROW.findall(rows[0]))) > 1:  # records of a table, which would be read as labels of one row
            raise DataError(f'{path}: its first line has objects of several "row"; expected one row per line')
        return "json"
    if any(FASTTEXT_PREFIX in row and _FASTTEXT_LABEL.search(row) for row in rows):
        are_lists = all(row == NO_PREDICTION or _FASTTEXT_LIST.match(row) for row in rows)
        return "fasttext-lists" if are_lists else "fasttext"
    return ""


def _detect_below_header(
    path: Path, lines: list[bytes], number: int, after: int, names: Names | None
) -> TextLayout | None:
    """Return the layout of the rows below a line if it is a header, which may be a comment."""
    line = lines[number].strip()
    text = line.lstrip(b"# \t")
    mark = line[: len(line) - len(text)]
    text = without_comment(text).rstrip()  # a comment may follow the header
    numbers = _whole_numbers(text)
    if len(numbers) != 2 and (len(numbers) != 3 or line.startswith(b"#") or b"," in text):
        return None
    header = mark + text
    if max(map(len, numbers)) > 19 or max(map(int, numbers)) > LARGEST_ID:
        raise DataError(f"{path}:{number + 1}: a number of the header {quote(header)} is above 2^63 - 2")
    kind = "pairs" if len(numbers) == 2 else "labels"  # three numbers are above rows of labels with features
    layout = TextLayout(kind, after, number + 1, int(numbers[0]), int(numbers[-1]), header.decode())
    rows = lines[number + 1 :]
    kind = _find_kind(rows)
    if kind == "ids" and b"," in text and not mark:  # a row of a list: headers have blanks
        return None
    if kind in {"", "pairs", "labels"}:
        if layout.kind == "pairs" or _has_labels(path, layout, rows):
            return _finish(path, layout, rows, names)
        return None
    if kind == "ids":  # labels that are not below the number that the header would declare make it a row itself
        words = (word for row in rows for word in without_comment(row).replace(b",", b" ").split() if word.isdigit())
        if any(len(word) >= 20 or int(word) >= int(numbers[-1]) for word in words):
            return None
    return _finish(path, replace(layout, kind=kind), rows, names) if _has_declared_rows(path, layout) else None


def _whole_numbers(text: bytes) -> list[bytes]:
    """Return the whole numbers of a line that has nothing else."""
    words = text.replace(b",", b" ").split()
    return words if all(word.isdigit() for word in words) and not text.startswith(b",") else []


def _has_labels(path: Path, layout: TextLayout, rows: list[bytes]) -> bool:
    """Return whether a header of three numbers is not a row of three labels; refuse it before rows of pairs."""
    if any(b":" in row for row in rows):
        if any(words and b":" not in words[0] for row in rows if (words := without_comment(row).split(None, 1))):
            return True
        raise DataError(
            f"{path}:{layout.header_lines}: the header {layout.header!r} declares points, features and labels, but "
            "no row begins with labels; expected the header 'rows cols' before rows of idx:value"
        )
    return _has_declared_rows(path, layout)


def _has_declared_rows(path: Path, layout: TextLayout) -> bool:
    """Return whether as many lines follow as the header would declare rows."""
    return count_lines(path) - layout.header_lines == layout.n_rows


def _find_kind(lines: Sequence[bytes]) -> str:
    """Return the kind of the first row that shows it, or an empty string if there is no row."""
    kind = ""
    for line in lines:
        if kind and b":" not in line and not (kind == "ids" and _NO_ID_LIST.search(line)):
            continue
        row = without_comment(line).strip()
        words = row.split(None, 1)
        if words and b":" in words[0] and _FEATURE.match(words[0]):
            return "pairs"
        if words and _LABELS_BEFORE_FEATURES.match(row):
            return "labels"
        if not kind and words:
            if _TABBED_PAIRS.match(row):
                return "scored"
            if _ID_LIST.match(row):
                kind = "ids"
            elif _SCORED.match(row):
                return "scored"
            else:
                kind = "labels" if _IDS_AND_TEXT.match(row) else "names"
        elif kind == "ids" and words and _SCORED.match(row) and (_TABBED_PAIRS.match(row) or not _ID_LIST.match(row)):
            return "scored"
    return kind


def _finish(path: Path, layout: TextLayout, lines: list[bytes], names: Names | None) -> TextLayout:
    """Decide whether words are ids or names of labels, and check the first row."""
    if layout.kind == "names" and names is None:
        layout = replace(layout, kind="pairs")
    if layout.kind == "labels" and names is not None and not layout.header:
        # names between tabs; digits before a tab could also be ids before a text
        tabbed = [[field.strip() for field in row.split(b"\t")] for row in lines[:1000] if b"\t" in row.strip()]
        if 2 * sum(map(names.has_all, tabbed)) > len(tabbed):
            layout = replace(layout, kind="names")
    if layout.kind in {"pairs", "labels"}:
        _check_first_row(path, layout, lines)
        return replace(layout, warning=_doubt_first_row(path, layout, lines))
    if layout.kind == "scored" or names is None:
        return layout
    rows = [line for line in lines if line.strip()]
    words = [word for row in rows for word in row.split()][:WORDS_COMPARED]
    if layout.kind == "names":
        are_words = names.has_all(words)
        fields = [] if are_words else [field.strip() for row in rows for field in row.split(b"\t")][:WORDS_COMPARED]
        are_fields = not are_words and (names.has_all(fields) or any(b"\t" in row for row in rows))
        return replace(layout, kind="tabbed-names" if are_fields else "names", names=names)
    return _as_names(path, layout, rows, names)


def _as_names(path: Path, layout: TextLayout, rows: list[bytes], names: Names) -> TextLayout:
    """Decide whether digits are ids or names of labels: names if one of them is, so that an unknown one is reported."""
    lists = [without_comment(row) for row in rows]
    words = [word for row in lists for word in row.replace(b",", b" ").split()][:WORDS_COMPARED]
    labels = {word: label for word, label in zip(words, names.find(words).tolist(), strict=True) if label >= 0}
    if not labels:
        return layout
    is_same = all(label == int(word) for word, label in labels.items() if word.isdigit() and len(word) < 19)
    warning = "" if is_same else f"{path}: its words were read as names in {names.source}, not as label ids"
    kind = "comma-names" if any(b"," in row for row in lists) else "names"
    return replace(layout, kind=kind, names=names, warning=warning)


def _doubt_first_row(path: Path, layout: TextLayout, lines: list[bytes]) -> str:
    """Return a warning where only the first row has a label before features, as if the header's newline were lost."""
    if layout.kind != "labels" or layout.header:
        return ""
    numbered = enumerate(map(without_comment, lines), layout.header_lines + 1)
    (number, first), *others = ((number, row) for number, row in numbered if row.strip())
    is_id, have_labels = first.split(None, 1)[0].isdigit(), any(not _FEATURE.match(row) for _, row in others)
    if not is_id or have_labels or not others:  # a row that really has no labels begins with a blank
        return ""
    return Doubt(
        f"{path}:{number}: only this one of the first {counted(len(others) + 1, 'row')} begins with a label, "
        f"{quote(first)}; is the newline after the header missing?"
    )


def _check_first_row(path: Path, layout: TextLayout, lines: list[bytes]) -> None:
    """Refuse text whose first row cannot be of its layout."""
    rows = ((number, row) for number, line in enumerate(lines, 1) if (row := without_comment(line).strip()))
    number, row = next(rows, (0, b""))
    if not row or layout.kind != "pairs":
        return
    place = f"{path}:{layout.header_lines + number}"
    if not layout.header and _whole_numbers(row):
        raise DataError(f"{place}: expected a header 'rows cols', or a row of idx:value, found {quote(row)}")
    if not any(b":" in line for line in lines):
        is_triple = re.fullmatch(rb"\S+[\s,]\S+[\s,]-?[0-9.]+", row)
        hint = "; of query, document and value name the columns, as in 'query_id,doc_id,score'" if is_triple else ""
        raise DataError(
            f"{place}: expected rows of idx:value such as '12:0.5 90:0.25', found {quote(row)} "
            f"(hint: pass {argument('labels', kind='FILE')} if these are label names{hint})"
        )
