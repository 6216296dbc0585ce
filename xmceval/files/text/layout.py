"""Layouts of text files: which grammar its rows have, and what its header announces, told by the content."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from xmceval.errors import DataError
from xmceval.files.chunks import LineChunks
from xmceval.files.names import Names
from xmceval.files.streams import STDIN, UTF8_BOM, first_bytes, shown, stdin
from xmceval.files.text.grammars import GRAMMARS

_SNIFFED = 1 << 20

_SNIFFED_WORDS = 1 << 16

_LARGEST = 2**63 - 2  # the one above stands for an unknown number of labels

_FEATURE = re.compile(rb"\d+:")

_LIST = re.compile(rb"\d+(?:[ \t]*,[ \t]*\d+|[ \t]+\d+)*\Z")

_SCORED = re.compile(
    rb"\d+[ \t]+[-+]?[\d.]+(?:[eE][-+]?\d+)?(?:[ \t]*\t[ \t]*\d+[ \t]+[-+]?[\d.]+(?:[eE][-+]?\d+)?)*\Z"
)

_WITH_TEXT = re.compile(rb"\d+(?:,\d+)*\t")


@dataclass(frozen=True)
class Layout:
    """How a text file is laid out: where its rows start, and what its header announces.

    ``kind`` is a key of GRAMMARS.
    """

    kind: str
    start: int = 0
    header_lines: int = 0
    n_rows: int | None = None
    n_labels: int | None = None
    header: str = ""
    names: Names | None = None
    doubt: str = ""

    @property
    def description(self) -> str:
        """What was inferred, for a reader."""
        said = f"text, {GRAMMARS[self.kind].what}, " + (f"header {self.header!r}" if self.header else "no header")
        return f"{said}; {self.names.source} has their names" if self.names is not None else said


def sniff(path: Path, names: Names | None = None) -> Layout:
    """Infer the layout of a text file from its first megabyte.

    Raises
    ------
    DataError
        Text of no known layout.
    """
    head = first_bytes(path, _SNIFFED)
    start = len(UTF8_BOM) if head.startswith(UTF8_BOM) else 0
    lines = head[start:].split(b"\n")
    if b"\0" in lines[0]:
        raise DataError(f"{path}: these are binary data of an unknown kind, or UTF-16; expected text, npz or npy")
    if b"\r" in lines[0].rstrip():
        raise DataError(f"{path}: its lines end with carriage returns only; expected newlines")
    if len(head) < _SNIFFED and not head[start:].strip():
        raise DataError(f"{path}: nothing but blank lines; expected rows of idx:value")
    if len(head) == _SNIFFED and len(lines) > 1:
        lines.pop()
    marked = _marked(lines)
    if marked:
        return Layout(marked, start, names=names)
    for number, line in enumerate(lines):
        plain, after = line.strip(), start + len(line) + 1
        is_comment = plain.startswith(b"#")
        mark = len(plain) - len(plain.lstrip(b"# \t"))
        plain = plain[:mark] + plain[mark:].split(b"#")[0].rstrip()  # a comment may stand behind the header
        words = _header_words(plain[mark:])
        below = lines[number + 1 :]
        if len(words) == 2 or (len(words) == 3 and not is_comment and b"," not in plain):
            layout = _announced(path, number, words, plain, after)
            kind = _kind(below)
            if kind in {"", "pairs", "labels"}:
                if layout.kind == "pairs" or _has_labels(path, layout, below):
                    return _checked(path, layout, below)
            elif _fits(layout, kind, below) and _counts(path, layout):
                return _named(path, replace(layout, kind=kind), below, names)
        is_name = is_comment and names is not None and names.has_all(line.split())
        if not is_comment or is_name:
            break
        start = after
    below = lines[number:]
    layout = Layout(_kind(below) or "pairs", start, number)
    return _checked(path, layout, below) if layout.kind in {"pairs", "labels"} else _named(path, layout, below, names)


def _marked(lines: Sequence[bytes]) -> str:
    """Tell the kinds whose rows carry a mark."""
    filled = [plain for line in lines[:1000] if (plain := line.strip())]
    if not filled:
        return ""
    if filled[0].startswith((b"{", b"[")):
        return "json"
    if any(line.startswith(b"__label__") for line in filled):
        return "fasttext"
    return ""


def _header_words(plain: bytes) -> list[bytes]:
    """Return the whole numbers of a line that has nothing else."""
    words = plain.replace(b",", b" ").split()
    return words if all(word.isdigit() for word in words) and not plain.startswith(b",") else []


def _announced(path: Path, number: int, words: list[bytes], plain: bytes, after: int) -> Layout:
    """Read a header: two numbers stand before rows of pairs, three before rows of labels with features."""
    header = plain.decode()
    if max(map(len, words)) > 19 or max(map(int, words)) > _LARGEST:
        raise DataError(f"{path}:{number + 1}: a number of the header {shown(plain)} is beyond 2^63 - 2")
    kind = "pairs" if len(words) == 2 else "labels"
    return Layout(kind, after, number + 1, int(words[0]), int(words[-1]), header)


def _has_labels(path: Path, layout: Layout, below: list[bytes]) -> bool:
    """Tell a header of three numbers from a row of three labels; refuse one that stands before rows of pairs."""
    if any(b":" in line for line in below):
        if any(words and b":" not in words[0] for line in below if (words := line.split(b"#")[0].split(None, 1))):
            return True
        raise DataError(
            f"{path}:{layout.header_lines}: the header {layout.header!r} announces points, features and labels, but "
            "the rows below begin with no labels; before rows of idx:value it is 'rows cols'"
        )
    return _counts(path, layout)


def _fits(layout: Layout, kind: str, below: list[bytes]) -> bool:
    """Whether the labels of the first rows are within what a header would announce."""
    words = (word for line in below for word in line.split(b"#")[0].replace(b",", b" ").split())
    return kind != "ids" or all(
        len(word) < 20 and int(word) < (layout.n_labels or 0) for word in words if word.isdigit()
    )


def _counts(path: Path, layout: Layout) -> bool:
    """Whether as many lines follow as the header announces rows."""
    if path == STDIN:
        stdin().hold()
    chunks = LineChunks(path)
    counts = (chunk.buffer.count(b"\n", 0, chunk.stop) for chunk in chunks)
    return sum(counts) - layout.header_lines == layout.n_rows


def _kind(lines: Sequence[bytes]) -> str:
    """Tell the grammar by the first row that shows it; nothing where there is no row."""
    kind = ""
    for line in lines:
        plain = line.split(b"#")[0].strip()
        words = plain.split(None, 1)
        if words and b":" in words[0] and _FEATURE.match(words[0]):
            return "pairs"
        if len(words) == 2 and words[0].replace(b",", b"").isdigit() and _FEATURE.match(words[1]):
            return "labels"
        if not kind and words:
            if _LIST.match(plain):
                kind = "ids"
            elif _SCORED.match(plain):
                return "scored"
            else:
                kind = "labels" if _WITH_TEXT.match(plain) else "names"
        elif kind == "ids" and words and not _LIST.match(plain) and _SCORED.match(plain):
            return "scored"
    return kind


def _named(path: Path, layout: Layout, lines: list[bytes], names: Names | None) -> Layout:
    """Settle whether the words of rows are numbers or names of labels, and what stands between names."""
    if layout.kind not in {"ids", "names"}:
        return layout
    rows = [line for line in lines if line.strip()]
    if names is None:
        if layout.kind == "names":
            return _checked(path, replace(layout, kind="pairs"), lines)
        return layout
    words = [word for line in rows for word in line.split()][:_SNIFFED_WORDS]
    if layout.kind == "names":
        fields = [field.strip() for line in rows for field in line.split(b"\t")][:_SNIFFED_WORDS]
        between_tabs = not names.has_all(words) and (names.has_all(fields) or any(b"\t" in line for line in rows))
        return replace(layout, kind="tabbed names" if between_tabs else "names", names=names)
    if not names.has_all(words):
        return layout
    same = all(names.numbers[word.decode()] == int(word) for word in words if len(word) < 19)
    doubt = "" if same else f"{path}: its words are read as names of {names.source}, not as numbers of labels"
    return replace(layout, kind="names", names=names, doubt=doubt)


def _checked(path: Path, layout: Layout, lines: list[bytes]) -> Layout:
    """Refuse text whose first row cannot be of its layout."""
    number, first = next(
        ((number, plain) for number, line in enumerate(lines) if (plain := line.split(b"#")[0].strip())), (0, b"")
    )
    place = f"{path}:{layout.header_lines + number + 1}"
    if first and layout.kind == "pairs" and not layout.header and _header_words(first):
        raise DataError(
            f"{place}: found {shown(first)}; expected a header of two numbers, 'rows cols', or a row of idx:value"
        )
    if first and layout.kind == "pairs" and not any(b":" in line for line in lines):
        raise DataError(
            f"{place}: expected rows of idx:value such as '12:0.5 90:0.25', or with --labels FILE rows of names, "
            f"found {shown(first)}"
        )
    return layout
