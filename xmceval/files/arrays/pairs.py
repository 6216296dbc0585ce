"""Read npy files: dense matrices, and pairs of files with labels (ids or names) and scores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import DataError, Fault, argument, names_flags
from xmceval.files.arrays.archive import ArrayFile
from xmceval.files.arrays.npy import Header
from xmceval.files.formats import FORMATS, Format
from xmceval.files.io.paths import RemotePath, to_path
from xmceval.files.io.signatures import COMPRESSED_ENDINGS, LABELS_ENDING, SCORES_ENDING
from xmceval.files.opened import Opened, Request
from xmceval.files.sidecars.label_names import Names, unknown_name
from xmceval.rows.block import AnyArray, Int64, Rows, Scratch
from xmceval.rows.matrices.dense import Dense
from xmceval.rows.matrices.lists import as_ids
from xmceval.rows.matrices.source import BLOCK_ENTRIES, MatrixSource
from xmceval.rows.matrices.storage import FilePieces, Matrix, PaddedLists
from xmceval.rows.readings import FIRST_CELLS, are_ids, check_truth, explain_text, is_ranking
from xmceval.rows.shards import parts_of

_PADDING = frozenset({"", "-1"})


def open_npy(path: Path, request: Request) -> Opened:
    """Open an npy matrix: scores or truth [n_rows, n_labels], or as predictions ranked labels or their names.

    `are_ids` tells which; the first piece shows it.
    """
    array = ArrayFile(path)
    header = array.header()
    if not request.are_scores or len(header.shape) != 2 or header.dtype.kind not in "iufUO":
        return open_dense(path, request)
    if header.dtype.kind in "UO":
        return open_lists(array, None, request, FORMATS["npy-ranked"])
    piece = next(array.row_pieces(BLOCK_ENTRIES), np.empty((0, header.shape[1]), header.dtype))
    n_seen = request.n_seen
    if n_seen is None:  # alone, integers beyond the columns are taken for ids
        n_seen = int(piece.max()) + 1 if piece.size and piece.dtype.kind in "iu" else 0
    if are_ids(piece, str(path), request.n_labels, are_all_ids=request.are_all_ids, n_seen=n_seen):
        may_be_scores = is_ranking(piece)
        return open_lists(array, None, request, FORMATS["npy-ranked"], may_be_scores=may_be_scores)
    return open_dense(path, request)


def open_dense(path: Path, request: Request) -> Opened:
    """Open an npy matrix [n_rows, n_labels]: scores, in which -inf is not predicted, or an indicator of truth."""
    array = ArrayFile(path)
    shape, _, dtype = _check_matrix(array, "biuf")
    if not request.are_scores:
        check_truth(next(array.row_pieces(BLOCK_ENTRIES), np.empty((0, shape[1]))), str(path))
    pieces = FilePieces((path,), partial(_read_dense, array, request.are_scores), array.can_start)
    source = MatrixSource(str(path), shape[0], shape[1], pieces, dtype=dtype, is_dense=request.are_scores)
    form = FORMATS["npy"]
    fact = f"{form.title} {dtype} matrix [{shape[0]:,} rows, {shape[1]:,} labels]"
    return Opened(source, form, (fact,), request.role)


def is_pair(path: Path) -> bool:
    """Return whether a path names a pair of npy files: either of them, or their stem."""
    return _stem(path)[1] or (not path.is_file() and has_pair(path))


def has_pair(path: Path) -> bool:
    """Return whether a file of the pair that a path names exists."""
    return any(file.is_file() for file in _find_pair(path))


def resolve(path: str | Path) -> Path:
    """Return a path without links; of all names of a pair the same one."""
    path = to_path(path)
    try:
        return (_find_pair(path)[0] if is_pair(path) else path).resolve()
    except (OSError, ValueError):  # such as a store that does not answer: opening it reports that
        return path


def identify(value: Any) -> tuple[Path | int, ...]:
    """Return the identity of an input: its files, or the ids of its matrices in memory."""
    return tuple(resolve(part) if isinstance(part, (str, Path)) else id(part) for part in parts_of(value))


def pair_of(path: Path) -> str:
    """Return the common part of the names of a pair that a path is one of, or the path itself."""
    stem, is_part = _stem(path)
    return stem if is_part else str(path)


def find_files(path: Path) -> list[Path]:
    """Return the files that a path names: itself, or those of a pair that exist."""
    return [file for file in _find_pair(path) if file.is_file()] if is_pair(path) else [path]


def describe_missing(path: Path) -> str:
    """Describe a file that is missing; where its name is that of a pair, with the names of both."""
    if not _stem(path)[1]:
        is_cut = path.parts[:1] and path.parts[0].endswith(":") and not isinstance(path, RemotePath)
        hint = " (hint: pass an address such as s3://bucket/name as a string, not as a Path)" if is_cut else ""
        if names_flags() and path.name.isdecimal():
            hint = f" (hint: join several cutoffs by commas: {argument('k', '1,3,5')})"
        return f"{path}: no such file{hint}"
    labels, scores = _find_pair(path)
    return f"{path}: no such file; a pair is {labels.name} and {scores.name}"


def open_pair(path: Path, request: Request) -> Opened:
    """Open ``NAME-labels.npy`` and ``NAME-scores.npy``, named by either file or by NAME.

    Labels alone are in the order of their rank; scores alone are a dense matrix.
    """
    labels, scores = _find_pair(path)
    if not labels.exists() and not scores.exists():
        raise DataError(describe_missing(path))
    if not labels.exists():
        opened = open_dense(scores, request)
        [fact] = opened.facts
        return replace(opened, facts=(f"{fact} (there is no {labels.name})",))
    return open_lists(
        ArrayFile(labels),
        ArrayFile(scores) if scores.exists() else None,
        request,
        FORMATS["npy-pair" if scores.exists() else "npy-ranked"],
        missing=scores.name,
    )


def open_lists(
    labels: ArrayFile,
    scores: ArrayFile | None,
    request: Request,
    form: Format,
    *,
    missing: str = "array of scores",
    is_held: bool = False,
    may_be_scores: bool = False,
) -> Opened:
    """Open a matrix of labels or their names [n_rows, any width], and one of their scores, or none.

    Without scores labels are in the order of their rank, and a warning says what is `missing`.
    """
    header = _check_matrix(labels, "iufUO" if request.are_all_ids and scores is None else "iuUO")
    dtype = None
    if scores is not None:
        shape, _, dtype = _check_matrix(scores, "biuf")
        if shape != header.shape:
            raise DataError(
                f"{labels.name} has shape {header.shape}, but {scores.name} has shape {shape}; expected the same"
            )
    are_names = header.dtype.kind in "UO"
    if are_names and request.names is None:
        option = argument("labels", kind="FILE")
        only_names = f"has label names, not ids (hint: pass {option}, with one name per line)"
        raise DataError(f"{labels.name}: {_explain_text(labels, header) or only_names}")
    arrays = (labels,) if scores is None else (labels, scores)
    pieces = FilePieces(
        tuple(dict.fromkeys(array.path for array in arrays)),
        partial(_read_lists, labels, scores, header.dtype, request.names if are_names else None),
        None if header.dtype.hasobject else partial(_can_start, arrays),
    )
    source = MatrixSource(
        labels.name, header.shape[0], None, pieces, is_exact=False, dtype=dtype, may_be_scores=may_be_scores
    )
    content = "label names" if are_names else "labels"
    if form.name == "npy-ranked":
        facts = [f"{form.title} {content}"]
    else:
        facts = [form.title, f"ranked {content}" if scores is None else f"{content} and scores"]
    if scores is None:
        source.warnings.append(
            f"{labels.name}: there is no {missing}: labels are ranked by their column, the first is the best"
        )
    if header.dtype.hasobject:
        facts.append("names held in memory")
    labels_by, is_ranked = "name" if are_names else "number", scores is None
    return Opened(source, form, tuple(facts), request.role, is_held=is_held, is_ranked=is_ranked, labels_by=labels_by)


def _check_matrix(array: ArrayFile, kinds: str) -> Header:
    """Return the header of a matrix of one of some kinds of dtype."""
    header = array.header()
    if len(header.shape) != 2 or header.dtype.kind not in kinds:
        if hint := _explain_text(array, header):
            raise DataError(f"{array.name}: {hint}")
        content = "numbers" if kinds == "biuf" else "integers or strings"
        raise DataError(f"{array.name}: expected a matrix of {content}, got shape {header.shape} of {header.dtype}")
    return header


def _explain_text(array: ArrayFile, header: Header) -> str:
    """Explain why a matrix of numbers as text is refused, and how to convert it; empty for other arrays."""
    if len(header.shape) != 2 or header.dtype.kind != "U":
        return ""
    piece = next(array.row_pieces(FIRST_CELLS), None)
    return "" if piece is None else explain_text(piece, array.name)


def _stem(path: Path) -> tuple[str, bool]:
    """Return the common part of the names of a pair, and whether the path is one of the two."""
    plain = str(path)
    for ending in COMPRESSED_ENDINGS:
        plain = plain.removesuffix(ending)
    if plain.endswith((LABELS_ENDING, SCORES_ENDING)):
        return plain[: -len(LABELS_ENDING)], True
    return str(path), False


def _find_pair(path: Path) -> tuple[Path, Path]:
    """Return the two files of a pair, each as it exists: plain, or compressed under a name that says so."""
    stem, _ = _stem(path)
    files, endings = [], ["", *COMPRESSED_ENDINGS]
    if isinstance(path, RemotePath):  # whose pair is compressed as it is itself
        endings = [path.suffix, ""] if path.suffix in COMPRESSED_ENDINGS else [""]
    for ending in (LABELS_ENDING, SCORES_ENDING):
        names = [stem + ending + more for more in endings]
        is_remote = isinstance(path, RemotePath)
        candidates = [path.with_name(name.rpartition("/")[2]) if is_remote else Path(name) for name in names]
        files.append(next((file for file in candidates if file.exists()), candidates[0]))
    return files[0], files[1]


def _can_start(arrays: Sequence[ArrayFile]) -> bool:
    """Return whether reading can begin at any row of some arrays."""
    return all(array.can_start() for array in arrays)


def _read_dense(array: ArrayFile, are_scores: bool, first_row: int) -> Iterator[Dense]:
    """Yield the rows of a dense matrix, from one on, in pieces of about BLOCK_ENTRIES entries."""
    for piece in array.row_pieces(BLOCK_ENTRIES, first_row):
        yield Dense(piece, are_scores)


def _read_lists(
    labels: ArrayFile, scores: ArrayFile | None, dtype: np.dtype[Any], names: Names | None, first_row: int
) -> Iterator[Matrix]:
    """Yield the rows of labels and their scores in step, from one on, in pieces of about BLOCK_ENTRIES entries."""
    score_pieces = iter(()) if scores is None else scores.row_pieces(BLOCK_ENTRIES, first_row)
    held: list[AnyArray] = []  # scores that were read, for rows of the next piece of labels

    def take(n: int) -> AnyArray:
        """Return the scores of the next rows [n, width]; their pieces may be of another size."""
        while sum(piece.shape[0] for piece in held) < n:
            held.append(next(score_pieces))
        rows = held[0] if len(held) == 1 else np.concatenate(held)
        held[:] = [rows[n:]]
        return rows[:n]

    label_pieces: Iterator[AnyArray]
    if dtype.hasobject:
        strings = labels.strings()
        n_piece = max(BLOCK_ENTRIES // max(strings.shape[1], 1), 1)
        label_pieces = (strings[i : i + n_piece] for i in range(0, strings.shape[0], n_piece))
    else:
        label_pieces = labels.row_pieces(BLOCK_ENTRIES, first_row)
    row = first_row
    for piece in label_pieces:
        n_rows, width = piece.shape  # labels without scores get those that fall from left to right
        values = np.broadcast_to(np.arange(width, 0, -1), piece.shape) if scores is None else take(n_rows)
        if names is None:
            yield PaddedLists(as_ids(piece, labels.name) if dtype.kind == "f" else piece, values)
        else:
            yield _NamedLists(piece, values, names, labels.name, row)
        row += n_rows
    next(score_pieces, None)  # what follows the last row is an error


@dataclass(frozen=True)
class _NamedLists(Matrix):
    """Label names and their scores as two arrays; an empty name and "-1" are padding."""

    words: AnyArray
    scores: AnyArray
    names: Names
    source: str
    first_row: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.words.shape

    def copy_rows(self, start: int, stop: int, scratch: Scratch) -> Rows:
        """Copy rows into the scratch arrays, with labels for names."""
        words = self.words[start:stop]
        if words.dtype.hasobject:
            label_of = self.names.labels
            labels = np.array([label_of.get(word, -1) for word in words.ravel().tolist()], dtype=np.int64)
            has_unknown = bool((labels < 0).any())
        else:
            labels, has_unknown = self._look_up(words)
        for at in np.flatnonzero(labels < 0).tolist() if has_unknown else ():
            word = str(words.flat[at])
            if word not in _PADDING:
                row = at // words.shape[1]
                place = f"{self.source} row {self.first_row + start + row}"
                raise Fault(row, f"{place}: {unknown_name(word[:40], self.names)}")
        lists = PaddedLists(labels.reshape(words.shape), self.scores[start:stop])
        return lists.copy_rows(0, stop - start, scratch)

    def sliced(self, start: int, stop: int) -> _NamedLists:
        """Return some rows."""
        return replace(
            self, words=self.words[start:stop], scores=self.scores[start:stop], first_row=self.first_row + start
        )

    def _look_up(self, words: AnyArray) -> tuple[Int64, bool]:
        """Return the label of each string of a unicode dtype, int64 [n_words], -1 if unknown, and whether some are.

        An empty one is not unknown.
        """
        from xmceval.files.text.words import PADDING
        from xmceval.kernels.text.lists import find_unicode

        width = words.dtype.itemsize // 4
        letters = np.ascontiguousarray(words).astype(f"<U{width}", copy=False).view(np.uint32).reshape(-1, width)
        labels = np.empty(letters.shape[0], dtype=np.int64)
        space = np.empty(4 * width + PADDING, dtype=np.uint8)
        return labels, int(find_unicode(np.array(letters), *self.names.words.table, space, labels)) >= 0
