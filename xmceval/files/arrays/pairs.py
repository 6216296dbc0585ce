"""Read npy files: dense matrices, and pairs of files with labels (ids or names) and scores."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.errors import DataError, Fault, argument
from xmceval.files.arrays.npy import ArrayFile, Header
from xmceval.files.formats import FORMATS, Format
from xmceval.files.io.paths import describe_missing, find_pair
from xmceval.files.opened import Opened, Request
from xmceval.files.sidecars.values import Names, unknown_name
from xmceval.rows.block import AnyArray, Rows, Scratch
from xmceval.rows.matrices.dense import Dense
from xmceval.rows.matrices.rankings import Numbers, are_ids, doubt_ids
from xmceval.rows.matrices.source import BLOCK_ENTRIES, read_matrix
from xmceval.rows.matrices.storage import Matrix, PaddedLists, explain_text
from xmceval.rows.source import Source

_PADDING = frozenset({"", "-1"})


def open_npy(path: Path, request: Request) -> Opened:
    """Open an npy matrix: scores or truth [n_rows, n_labels], or predictions as ranked labels or their names."""
    array = ArrayFile(path)
    header = array.header()
    if not request.are_scores or len(header.shape) != 2 or header.dtype.kind not in "iufUO":
        return open_dense(path, request)
    if header.dtype.kind in "UO":
        return open_lists(array, None, request, FORMATS["npy-ranked"])
    numbers = Numbers(header.shape, header.dtype, partial(_read_numbers, array))
    if are_ids(numbers, str(path), request.n_labels):
        return open_lists(array, None, request, FORMATS["npy-ranked"])
    opened = open_dense(path, request)
    opened.source.notes.extend(doubt_ids(numbers, str(path)))
    return opened


def _read_numbers(array: ArrayFile) -> Iterator[AnyArray]:
    for rows in _read([array], partial(_dense, True), 0):
        yield rows.values


def open_dense(path: Path, request: Request) -> Opened:
    """Open an npy matrix [n_rows, n_labels]: scores, with -inf for not predicted, or an indicator of truth."""
    array = ArrayFile(path)
    shape, _, dtype = _check_matrix(array, "biuf")
    source = _source(str(path), [array], partial(_dense, request.are_scores), shape[0], shape[1], dtype)
    form = FORMATS["npy"]
    fact = f"{form.title} {dtype} matrix [{shape[0]:,} rows, {shape[1]:,} labels]"
    return Opened(source, form, (fact,), request.role)


def open_pair(path: Path, request: Request) -> Opened:
    """Open NAME-labels.npy and NAME-scores.npy; labels alone are ranked, scores alone a dense matrix."""
    labels, scores = find_pair(path)
    if not labels.exists() and not scores.exists():
        raise DataError(describe_missing(path))
    if not labels.exists():
        opened = open_dense(scores, request)
        [fact] = opened.facts
        return replace(opened, facts=(f"{fact} (there is no {labels.name})",))
    if not scores.exists():
        return open_lists(ArrayFile(labels), None, request, FORMATS["npy-ranked"], missing=scores.name)
    return open_lists(ArrayFile(labels), ArrayFile(scores), request, FORMATS["npy-pair"])


def open_lists(
    labels: ArrayFile,
    scores: ArrayFile | None,
    request: Request,
    form: Format,
    *,
    missing: str = "array of scores",
    is_held: bool = False,
) -> Opened:
    """Open a matrix of labels or their names [n_rows, any width], ranked best first or with one of scores."""
    header = _check_matrix(labels, "iuUO")
    arrays = [labels]
    dtype = None
    if scores is not None:
        shape, _, dtype = _check_matrix(scores, "biuf")
        if shape != header.shape:
            raise DataError(
                f"{labels.name} has shape {header.shape}, but {scores.name} has shape {shape}; expected the same"
            )
        arrays.append(scores)
    names = None
    content = "labels"
    labels_by = "number"
    if header.dtype.kind in "UO":
        names = request.names
        content = "label names"
        labels_by = "name"
        if names is None:
            option = argument("labels", kind="FILE")
            only_names = f"has label names, not ids (hint: pass {option}, with one name per line)"
            raise DataError(f"{labels.name}: {_explain_text(labels, header) or only_names}")
    source = _source(labels.name, arrays, partial(_lists, labels.name, names), header.shape[0], None, dtype)
    facts = [form.title, f"{content} and scores"]
    is_ranked = scores is None
    if is_ranked:
        facts[1] = f"ranked {content}"
        if form.name == "npy-ranked":
            facts = [f"{form.title} {content}"]
        source.notes.append(
            f"{labels.name}: there is no {missing}: labels are ranked by their column, the first is the best"
        )
    if header.dtype.hasobject:
        facts.append("names held in memory")
    return Opened(source, form, tuple(facts), request.role, is_held=is_held, is_ranked=is_ranked, labels_by=labels_by)


def _check_matrix(array: ArrayFile, kinds: str) -> Header:
    """Return the header of a matrix whose dtype has one of these kinds."""
    header = array.header()
    if len(header.shape) != 2 or header.dtype.kind not in kinds:
        if hint := _explain_text(array, header):
            raise DataError(f"{array.name}: {hint}")
        content = "integers or strings"
        if kinds == "biuf":
            content = "numbers"
        hint = ""
        if header.dtype.hasobject and len(header.shape) == 1:  # lists, which numpy pickles
            hint = " (hint: write lists of ids as text, one row per line)"
        raise DataError(
            f"{array.name}: expected a matrix of {content}, got shape {header.shape} of {header.dtype}{hint}"
        )
    return header


def _explain_text(array: ArrayFile, header: Header) -> str:
    """Explain why a matrix of numbers as text is refused, and how to convert it; empty for other arrays."""
    if len(header.shape) != 2 or header.dtype.kind != "U" or not header.shape[0]:
        return ""
    return explain_text(array.head(BLOCK_ENTRIES))


def _dense(are_scores: bool, _row: int, values: AnyArray) -> Dense:
    return Dense(values, are_scores)


def _source(
    name: str,
    arrays: Sequence[ArrayFile],
    make: Callable[..., Matrix],
    n_rows: int,
    n_labels: int | None,
    dtype: np.dtype[Any] | None,
) -> Source:
    """Return matrices of the same shape, read in parallel, as a source; `make` takes a row and a piece of each."""
    return Source(
        name,
        read_matrix,
        n_rows,
        n_labels,
        dtype=dtype,
        files=tuple(dict.fromkeys(array.path for array in arrays)),
        stored=partial(_read, arrays, make),
        can_start=partial(can_start, arrays),
    )


def can_start(arrays: Sequence[ArrayFile]) -> bool:
    """Return whether reading can begin at any row of these arrays; pickled names are read at once."""
    return all(not array.header().dtype.hasobject and array.can_start() for array in arrays)


def _read(arrays: Sequence[ArrayFile], make: Callable[..., Matrix], first_row: int) -> Iterator[Matrix]:
    """Yield the rows of matrices in parallel, from `first_row` on, in pieces of about BLOCK_ENTRIES entries."""
    with ExitStack() as stack:
        streams = [stack.enter_context(array.open()) for array in arrays]
        n_rows, width = streams[0].header.shape
        n_piece = max(BLOCK_ENTRIES // max(width, 1), 1)
        for row in range(first_row, n_rows, n_piece):
            yield make(row, *(stream.take(row, min(n_piece, n_rows - row)) for stream in streams))
        for stream in streams:
            stream.check_end()


def _lists(name: str, names: Names | None, row: int, labels: AnyArray, scores: AnyArray | None = None) -> Matrix:
    """Return rows of labels or their names; without scores, these fall from left to right."""
    if scores is None:
        scores = np.broadcast_to(np.arange(labels.shape[1], 0, -1), labels.shape)
    if names is None:
        return PaddedLists(labels, scores)
    return _NamedLists(labels, scores, names, name, row)


@dataclass(frozen=True)
class _NamedLists(Matrix):
    """Label names and their scores as two arrays; an empty name and "-1" are padding."""

    words: AnyArray
    values: AnyArray  # scores
    names: Names
    source: str
    first_row: int

    def copy_rows(self, start: int, stop: int, scratch: Scratch) -> Rows:
        """Copy rows into the scratch arrays, replacing names by labels."""
        words = self.words[start:stop]
        if words.dtype.hasobject:
            label_of = self.names.labels
            labels = np.array([label_of.get(word, -1) for word in words.ravel().tolist()], dtype=np.int64)
            has_unknown = bool((labels < 0).any())
            are_text: AnyArray = np.ones(labels.size, dtype=bool)
        else:
            from xmceval.files.text.words import PADDING
            from xmceval.kernels.text.lists import find_unicode

            width = words.dtype.itemsize // 4
            letters = np.ascontiguousarray(words).astype(f"<U{width}", copy=False).view(np.uint32).reshape(-1, width)
            labels = np.empty(letters.shape[0], dtype=np.int64)
            space = np.empty(4 * width + PADDING, dtype=np.uint8)
            has_unknown = find_unicode(np.array(letters), *self.names.words.table, space, labels) >= 0
            if has_unknown:
                are_text = np.less_equal(letters.max(axis=1, initial=0), sys.maxunicode)
        for at in np.flatnonzero(labels < 0).tolist() if has_unknown else ():
            word = str(words.flat[at]) if are_text[at] else None
            if word not in _PADDING:
                row = at // words.shape[1]
                problem = "a name has a character that Unicode lacks; is the file damaged?"
                if word is not None:
                    labels[at] = self.names.label_of(word)
                    problem = unknown_name(word[:40], self.names)
                if labels[at] >= 0:
                    continue
                raise Fault(row, f"{self.source} row {self.first_row + start + row}: {problem}")
        lists = PaddedLists(labels.reshape(words.shape), self.values[start:stop])
        return lists.copy_rows(0, stop - start, scratch)
