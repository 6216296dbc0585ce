"""Array files: dense npy matrices, and pairs of npy files with labels, or their names, and scores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, Fault
from xmceval.files.arrays.npy import Header, read_header, read_strings, row_pieces
from xmceval.files.arrays.pieces import PieceSource
from xmceval.files.names import Names, unknown_name
from xmceval.rows.block import Rows, Scratch, Source
from xmceval.rows.matrices import BLOCK_ENTRIES, Dense, Matrix, Pairs

AnyArray = NDArray[Any]

LABELS, SCORES = "-labels.npy", "-scores.npy"

_ENDINGS = ("", ".gz", ".xz", ".bz2", ".zst")

_PADDING = frozenset({"", "-1"})


def dense_source(path: Path, *, are_scores: bool) -> tuple[Source, str]:
    """Read a npy matrix [n_rows, n_labels]: scores, in which -inf is not predicted, or an indicator of truth.

    Raises
    ------
    DataError
        Another shape or dtype.
    """
    header = _matrix(path, "biuf")

    def pieces() -> Iterator[tuple[int, Matrix]]:
        for piece in row_pieces(path, BLOCK_ENTRIES):
            yield piece.shape[0], Dense(piece, are_scores)

    what = f"npy, dense {header.dtype} matrix [{header.shape[0]:,} rows, {header.shape[1]:,} labels]"
    return PieceSource(str(path), header.shape[0], header.shape[1], pieces), what


def is_pair(path: Path) -> bool:
    """Tell whether a path names a pair of npy files: either of them, or their stem."""
    return _stem(path)[1] or (not path.is_file() and any(each.is_file() for each in _pair(path)))


def pair_source(path: Path, names: Names | None) -> tuple[Source, str]:
    """Read ``NAME-labels.npy`` and ``NAME-scores.npy``, named by either file or by NAME; also say what was found.

    Labels alone are in the order of their rank; scores alone are a dense matrix.

    Raises
    ------
    DataError
        None of them there, different shapes, labels that are neither integers nor strings.
    """
    labels, scores = _pair(path)
    if not labels.exists() and not scores.exists():
        raise DataError(f"{path}: no such file; a pair is {labels.name} and {scores.name}")
    if not labels.exists():
        source, what = dense_source(scores, are_scores=True)
        return source, f"{what}, as there is no {labels.name}"
    header = _matrix(labels, "iuUO")
    if scores.exists():
        shape = _matrix(scores, "biuf").shape
        if shape != header.shape:
            raise DataError(f"{labels} has shape {header.shape} and {scores} {shape}; they must be the same")
    are_names = header.dtype.kind in "UO"
    if are_names and names is None:
        raise DataError(f"{labels}: holds names, not numbers of labels (hint: --labels FILE, labels=, one name a line)")
    pair = _PairFiles(labels, scores if scores.exists() else None, header, names if are_names else None)
    kind = "names of labels" if are_names else "labels"
    said = f"npy pair, {kind} and scores" if scores.exists() else f"npy, {kind} by rank, as there is no {scores.name}"
    said += ", the names held whole" if header.dtype.hasobject else ""
    return PieceSource(str(labels), header.shape[0], None, pair.pieces, is_exact=False), said


def _matrix(path: Path, kinds: str) -> Header:
    header = read_header(path)
    if len(header.shape) != 2 or header.dtype.kind not in kinds:
        wanted = "numbers" if kinds == "biuf" else "whole numbers or strings"
        raise DataError(f"{path}: expected a matrix of {wanted}, got shape {header.shape} of {header.dtype}")
    return header


def _stem(path: Path) -> tuple[str, bool]:
    """Return the common part of the names of a pair, and whether the path is one of the two."""
    plain = str(path)
    for ending in _ENDINGS[1:]:
        plain = plain.removesuffix(ending)
    if plain.endswith((LABELS, SCORES)):
        return plain[: -len(LABELS)], True
    return str(path), False


def _pair(path: Path) -> tuple[Path, Path]:
    """Return the two files of a pair, each as it is there: plain, or compressed under a name that says so."""
    stem, _ = _stem(path)
    found = []
    for ending in (LABELS, SCORES):
        each = [Path(stem + ending + more) for more in _ENDINGS]
        found.append(next((name for name in each if name.exists()), each[0]))
    return found[0], found[1]


@dataclass(frozen=True)
class _PairFiles:
    labels: Path
    scores: Path | None
    header: Header
    names: Names | None

    def pieces(self) -> Iterator[tuple[int, Matrix]]:
        """Yield rows of both files, side by side."""
        ids = self._ids()
        scores = None if self.scores is None else _resized(row_pieces(self.scores, BLOCK_ENTRIES))
        row = 0
        for piece in ids:
            n = piece.shape[0]
            values = _ranks(piece) if scores is None else scores(n)
            if self.names is None:
                yield n, Pairs(piece, values)
            else:
                yield n, _NamedPairs(piece, values, self.names, str(self.labels), row)
            row += n

    def _ids(self) -> Iterator[AnyArray]:
        if not self.header.dtype.hasobject:
            return row_pieces(self.labels, BLOCK_ENTRIES)
        strings = read_strings(self.labels)
        n = max(BLOCK_ENTRIES // max(strings.shape[1], 1), 1)
        return (strings[i : i + n] for i in range(0, strings.shape[0], n))


def _resized(pieces: Iterator[AnyArray]) -> Any:
    """Return a function that hands out the next rows, as many as it is asked for."""
    held: list[AnyArray] = []

    def take(n: int) -> AnyArray:
        while sum(piece.shape[0] for piece in held) < n:
            held.append(next(pieces))
        rows = held[0] if len(held) == 1 else np.concatenate(held)
        held[:] = [rows[n:]]
        return rows[:n]

    return take


def _ranks(labels: AnyArray) -> AnyArray:
    """Return scores that fall from left to right."""
    return np.broadcast_to(np.arange(labels.shape[1], 0, -1), labels.shape)


@dataclass(frozen=True)
class _NamedPairs:
    """Names of labels and their scores; an empty name and "-1" are padding."""

    words: AnyArray
    scores: AnyArray
    names: Names
    source: str
    first_row: int

    def stop_after(self, start: int, entries: int) -> int:
        """Return the row before which about so many entries lie."""
        return start + entries // max(int(self.words.shape[1]), 1)

    def fill(self, start: int, stop: int, scratch: Scratch) -> Rows:
        """Look the names up."""
        words = self.words[start:stop]
        labels = self._found_objects(words, start) if words.dtype.hasobject else self._found(words, start)
        return Pairs(labels, self.scores[start:stop]).fill(0, stop - start, scratch)

    def _found_objects(self, words: AnyArray, start: int) -> AnyArray:
        known = self.names.numbers
        labels = np.array([known.get(word, -1) for word in words.ravel().tolist()], dtype=np.int64)
        for place in np.flatnonzero(labels < 0).tolist():
            self._check_padding(words.flat[place], start + place // words.shape[1])
        return labels.reshape(words.shape)

    def _found(self, words: AnyArray, start: int) -> AnyArray:
        from xmceval.kernels.lists import find_unicode

        width = words.dtype.itemsize // 4
        letters = np.ascontiguousarray(words).astype(f"<U{width}", copy=False).view(np.uint32).reshape(-1, width)
        labels = np.empty(letters.shape[0], dtype=np.int64)
        space = np.empty(4 * width + 1, dtype=np.uint8)
        if int(find_unicode(np.array(letters), *self.names.arrays, space, labels)) >= 0:
            for place in np.flatnonzero(labels < 0).tolist():
                self._check_padding(str(words.flat[place]), start + place // words.shape[1])
        return labels.reshape(words.shape)

    def _check_padding(self, word: str, row: int) -> None:
        if word not in _PADDING:
            row += self.first_row
            raise Fault(row, f"{self.source} row {row}: {unknown_name(word[:40], self.names)}")
