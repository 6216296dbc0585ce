"""The public function `read`, which loads any file that `score` accepts as one sparse matrix."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from xmceval.errors import AmbiguousError, UsageError, argument, warn
from xmceval.files.formats import BOTH
from xmceval.files.io.paths import MAX_LINE, to_path
from xmceval.files.io.streams import renew_pipes
from xmceval.files.open import check_kind, open_either
from xmceval.files.opened import Opened, Role
from xmceval.files.sidecars.values import read_names
from xmceval.rows.block import Block, Int64, Scratch
from xmceval.rows.checks import validated_scores, validated_truth
from xmceval.rows.matrices.source import check_narrow
from xmceval.rows.progress import phase
from xmceval.rows.source import Source, declared_width
from xmceval.rows.threads import each_block
from xmceval.rows.width import Width
from xmceval.scoring.batch import take_best


def read(
    path: str | Path,
    *,
    kind: Role | None = None,
    truth: str | Path | None = None,
    n_labels: int | None = None,
    labels: ArrayLike | str | Path | None = None,
    max_line: int = MAX_LINE,
    threads: int | None = None,
) -> sparse.csr_array[np.float64]:
    """Read truth or predictions as a sparse matrix.

    Parameters
    ----------
    path : path
        Any file that `score` reads.
    kind : {"truth", "scores"}, optional
        What the file holds; by default its content decides. Lists of labels, which may be either, require it.
    truth : path, optional
        The truth that predictions belong to: they are put into the order of its rows if both have ids. A TREC
        run needs its qrels, which number its queries and documents.
    n_labels : int, optional
        The number of labels; default the number in `truth` or `labels`, else what the file declares, else the largest
        label + 1.
    labels : sequence of str or path, optional
        The names of all labels, label 0 first, for inputs that have names instead of ids; or a file with one per line.
    max_line : int
        Limit on the length of a line in a text file, in MiB; a file with a longer line is refused.
    threads : int, optional
        Default: one per processor.

    Returns
    -------
    scipy.sparse.csr_array of float64 [n_rows, n_labels]
        Predictions are stored in the order of the file, truth in the order of the labels. Scores of 0 are
        stored, zeros in truth are not. Ranked labels without scores get the scores n, ..., 2, 1.

    Raises
    ------
    DataError
        The file is invalid, or has numbers that float64 would round.
    UsageError
        Lists of labels without `kind`.

    Warns
    -----
    XmcevalWarning
        Problems noticed while reading the file.

    Examples
    --------
    >>> import xmceval
    >>> xmceval.read("datasets/sample/tst_X_Y.txt").shape
    (500, 300)
    """
    opened, width = open_rows(path, kind=kind, truth=truth, n_labels=n_labels, labels=labels, max_line=max_line)
    source = opened.fit_width(width.or_none)
    matrix = collect_rows(source, width, are_scores=opened.role == "scores", threads=threads)
    warn(source.warnings)
    return matrix


def open_rows(
    path: str | Path,
    *,
    kind: Role | None,
    truth: str | Path | None = None,
    n_labels: int | None,
    labels: ArrayLike | str | Path | None,
    max_line: int,
) -> tuple[Opened, Width]:
    """Open a file of truth or predictions; also return the number of labels, if it is declared anywhere."""
    renew_pipes(to_path(file) for file in (path, truth, labels) if isinstance(file, (str, Path)))
    names = None
    width = Width()
    if labels is not None:
        names = read_names(labels)
        width = width.agree(len(names), names.source)
    if n_labels is not None:
        width = Width(n_labels, f"{argument('n_labels')} is")
    if truth is None:
        opened = judged = open_either(path, kind, names=names, max_line=max_line, n_labels=n_labels)
    else:
        check_kind(kind)
        if kind == "truth":
            raise UsageError(f"{path}: is to be read as truth, so it has no truth of its own")
        from xmceval.scoring.options import Options  # not loaded for a single file
        from xmceval.scoring.setup.inputs import open_scores, open_truth
        from xmceval.scoring.setup.joins import KnownLabels

        options = Options(n_labels=n_labels, max_line=max_line)
        known = KnownLabels(listed=names)
        judged = open_truth(to_path(truth), options, known)
        if not width.is_known and judged.source.n_labels is not None:
            width = Width(judged.source.n_labels, f"{judged.source.name} has")
        opened = open_scores(to_path(path), judged, options, replace(known.after(judged), width=width))
    judgments = judged.judgments
    words = None if judgments is None else judgments.documents.words
    if judgments is not None and words is not None and len(words) and (words.plain_numbers() >= 0).all():
        raise AmbiguousError(
            f"{judgments.name}: its documents are whole numbers, which may be the columns of the matrix, or names that "
            f"are numbered in sorted order (hint: pass {argument('labels', kind='FILE')}, with the document of each "
            "column per line: 0, 1, 2, ... if they are columns)"
        )
    if opened.is_ranked and kind is None and truth is None and opened.format.holds == BOTH:
        raise UsageError(
            f"{path}: lists of labels may be true labels or rankings (hint: pass {argument('kind', 'truth')} or "
            f"{argument('kind', 'scores')})"
        )
    check_narrow(opened.source)
    if not width.is_known:
        width = declared_width(opened.source)
    return opened, width


class _Part(NamedTuple):
    """The rows of a block: its first row, entries per row [n_rows], labels and values [n_entries]."""

    first_row: int
    lengths: Int64
    labels: NDArray[Any]
    values: NDArray[np.float64]


def collect_rows(
    source: Source, width: Width, *, are_scores: bool, top: int | None = None, threads: int | None = None
) -> sparse.csr_array[np.float64]:
    """Collect all rows of a source, or the `top` best labels of each row, best first."""
    parts: list[_Part] = []

    def parse(scratch: Scratch, block: Block) -> None:
        if are_scores:
            rows = validated_scores(block, scratch, width)
        else:
            rows, _ = validated_truth(block, scratch, width)
        if top is not None:
            rows = take_best(rows, np.array([top]))
        n_entries = rows.indptr[-1]
        labels = rows.indices[:n_entries]
        kind: Any = np.int64
        if labels.max(initial=0) < 2**31:  # 32 bits are enough
            kind = np.int32
        lengths = np.diff(rows.indptr)
        parts.append(_Part(block.first_row, lengths, labels.astype(kind), rows.values[:n_entries].copy()))
        add(lengths.size)

    with phase(source.name, source.n_rows) as add:
        each_block(source.blocks(), Scratch, parse, threads)
    parts.sort(key=attrgetter("first_row"))
    lengths = np.concatenate([np.zeros(1, dtype=np.int64), *(part.lengths for part in parts)])
    labels = np.concatenate([np.zeros(0, dtype=np.int32), *(part.labels for part in parts)])
    values = np.concatenate([np.zeros(0), *(part.values for part in parts)])
    n_labels = width.or_none
    if n_labels is None:
        n_labels = max(source.n_labels or 0, int(labels.max(initial=-1)) + 1)  # a text header may also be `rows k`
    return sparse.csr_array((values, labels, np.cumsum(lengths)), shape=(lengths.size - 1, n_labels))
