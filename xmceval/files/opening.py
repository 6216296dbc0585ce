"""The door: tells what kind of file a path is, by its content, and opens it as a source of blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from xmceval.errors import DataError
from xmceval.files import trec as ranking
from xmceval.files.arrays.mat import Hints, mat_source
from xmceval.files.arrays.npy import MAGIC as NPY_MAGIC
from xmceval.files.arrays.npz import npz_source
from xmceval.files.arrays.pairs import dense_source, is_pair, pair_source
from xmceval.files.names import Names
from xmceval.files.streams import STDIN, UTF8_BOM, first_bytes, stdin
from xmceval.files.text.grammars import GRAMMARS
from xmceval.files.text.layout import sniff
from xmceval.files.text.source import TextSource
from xmceval.rows.block import Source

_SNIFFED = 1 << 16

NOTHING_KNOWN = Hints()

BY_RANK = "; in the order of their rank, best first"  # what a list of labels means as predictions


@dataclass(frozen=True)
class Opened:
    """A source, and what was inferred of its file."""

    source: Source
    description: str


@dataclass(frozen=True)
class Request:
    """What a file is opened for, and what is known from elsewhere."""

    are_scores: bool
    names: Names | None = None
    truth: Source | None = None
    hints: Hints = NOTHING_KNOWN

    @property
    def role(self) -> str:
        """The word of GRAMMARS."""
        return "scores" if self.are_scores else "truth"


@dataclass(frozen=True)
class Binary:
    """A kind of file that its first bytes tell; `hint` says what to do where it is refused."""

    magic: bytes
    what: str
    open: Callable[[Path, Request], tuple[Source, str]] | None = None
    hint: str = ""


_SAVE = "write the matrix with scipy.sparse.save_npz"

BINARIES = (
    Binary(b"PK\x03\x04", "npz", lambda path, asked: npz_source(path, are_scores=asked.are_scores)),
    Binary(NPY_MAGIC, "npy", lambda path, asked: dense_source(path, are_scores=asked.are_scores)),
    Binary(b"MATLAB", "mat", lambda path, asked: mat_source(path, are_scores=asked.are_scores, hints=asked.hints)),
    Binary(b"\x80", "a pickle", hint="a pickle runs code when it is read; " + _SAVE),
    Binary(b"\x89HDF", "an HDF5 file", hint=_SAVE),
    Binary(b"PK\x05\x06", "an empty zip archive", hint=_SAVE),
    Binary(b"\xff\xfe", "UTF-16 text", hint="write it as UTF-8, such as with iconv"),
    Binary(b"\xfe\xff", "UTF-16 text", hint="write it as UTF-8, such as with iconv"),
)


def open_truth(path: str | Path, *, names: Names | None = None, hints: Hints = NOTHING_KNOWN) -> Opened:
    """Open a truth file or a file of training labels.

    Parameters
    ----------
    path : path
        A file, or ``-`` for standard input, which is held whole, as truth may be read several times.
    names : Names, optional
        Names of the labels, where the file has them instead of numbers.
    hints : Hints
        What is known of its size from elsewhere.

    Raises
    ------
    DataError
        A missing, empty or unknown kind of file.
    """
    path = Path(path)
    if path == STDIN:
        stdin().claim()
        stdin().hold()
    opened = _open(path, Request(are_scores=False, names=names, hints=hints))
    return replace(opened, description=f"{opened.description}, held whole") if path == STDIN else opened


def open_scores(
    path: str | Path, *, names: Names | None = None, truth: Source | None = None, hints: Hints = NOTHING_KNOWN
) -> Opened:
    """Open a file of predictions, or a pair of files by either name or their stem.

    Parameters
    ----------
    path : path
        A file, or ``-`` for standard input.
    names : Names, optional
        Names of the labels, where the file has them instead of numbers.
    truth : Source, optional
        What runs of the ranking field are joined to.
    hints : Hints
        What is known of its size from elsewhere.

    Raises
    ------
    DataError
        A missing, empty or unknown kind of file.
    """
    path = Path(path)
    if path == STDIN:
        stdin().claim()
    elif is_pair(path):
        return Opened(*pair_source(path, names))
    return _open(path, Request(are_scores=True, names=names, truth=truth, hints=hints))


def _open(path: Path, asked: Request) -> Opened:
    head = first_bytes(path, _SNIFFED)
    if not head:
        raise DataError(f"{path}: the file is empty")
    for kind in BINARIES:
        if head.startswith(kind.magic):
            if kind.open is None:
                raise DataError(f"{path}: this is {kind.what}; {kind.hint}")
            return Opened(*kind.open(path, asked))
    return _ranking(path, asked, head) or _text(path, asked)


def _ranking(path: Path, asked: Request, head: bytes) -> Opened | None:
    """Open a file of the ranking field, if it is one."""
    lines = head.removeprefix(UTF8_BOM).split(b"\n")
    kind = ranking.marked(lines[:-1] if len(head) == _SNIFFED else lines, are_scores=asked.are_scores)
    if kind == "letor":
        return Opened(*ranking.letor_source(path, asked.truth, are_scores=asked.are_scores))
    if kind == "qrels":
        return Opened(*ranking.qrels_source(path, asked.names))
    if kind == "run" and asked.are_scores:
        return Opened(*ranking.run_source(path, asked.truth))
    if kind == "run":
        raise DataError(f"{path}: this is a TREC run, which is predictions; expected truth, such as qrels")
    is_judged = isinstance(asked.truth, ranking.JudgedSource) and asked.truth.documents is None
    if is_judged and isinstance(asked.truth, ranking.JudgedSource):
        return Opened(*ranking.score_column(path, asked.truth))
    return None


def _text(path: Path, asked: Request) -> Opened:
    layout = sniff(path, asked.names)
    grammar = GRAMMARS[layout.kind]
    if asked.role not in grammar.roles:
        looks, wanted = ("truth", "predictions") if asked.are_scores else ("predictions", "truth")
        raise DataError(
            f"{path}: {layout.description}: this looks like {looks}; expected {wanted} as rows of "
            + ("idx:score" if asked.are_scores else "idx:value")
        )
    said = layout.description
    if asked.are_scores and layout.kind in {"ids", "names", "tabbed names"}:
        said += BY_RANK
    return Opened(TextSource(path, layout, are_scores=asked.are_scores), said)
