"""Convert files: the same rows in another form."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from xmceval.files.io.limits import MAX_LINE
from xmceval.files.opened import Role
from xmceval.files.opening import open_either
from xmceval.files.sidecars.labelnames import read_names
from xmceval.files.writing.conversion import convert as write_rows


@dataclass(frozen=True)
class Conversion:
    """What was read and written.

    Attributes
    ----------
    description : str
        The form in which the source was read.
    n_rows, n_labels, n_entries : int
        Size of what was written.
    warnings : tuple of str
        What was noticed on the way.
    """

    description: str
    n_rows: int
    n_labels: int
    n_entries: int
    warnings: tuple[str, ...] = ()


def convert(
    src: str | Path,
    dst: str | Path | BinaryIO,
    *,
    to: str | None = None,
    kind: Role | None = None,
    top: int | None = None,
    order: str | None = None,
    n_labels: int | None = None,
    labels: str | Path | None = None,
    force: bool = False,
    max_line: int = MAX_LINE,
    threads: int | None = None,
) -> Conversion:
    """Write truth or predictions in another form.

    The file is streamed, in constant memory, and numbers are written as the shortest text that reads back as the same
    double.

    Parameters
    ----------
    src : path
        Any file that `score` reads.
    dst : path or binary stream
        The file to write; text may end in .gz, .bz2, .xz or .zst. Into a stream goes text.
    to : {"xmc", "plain", "omikuji", "lists", "npz", "npy"}, optional
        The form to write; default by the ending of `dst`: .npz, -labels.npy for a pair of npy files, else "xmc". An
        ending of another form, such as .csv, is refused unless this is passed.
    kind : {"truth", "scores"}, optional
        What `src` is; default by its content.
    top : int, optional
        Keep only so many best labels of each row, best first; equal scores in the order of the labels.
    order : {"score", "label"}, optional
        Order within each row; default as in `src`.
    n_labels : int, optional
        The number of labels, where `src` does not declare it; default that of `labels`, else the largest label + 1.
    labels : path, optional
        A file with the name of label l in line l, from 0 on, where `src` has names instead of numbers.
    force : bool
        Overwrite `dst`.
    max_line : int
        The longest line of a text file, in MiB; a file with a longer one is refused.
    threads : int, optional
        Default: one per processor. The bytes are the same for any number.

    Returns
    -------
    Conversion

    Raises
    ------
    DataError
        Anything wrong with `src`; nothing is left at `dst` then.
    UsageError
        A form that cannot hold these rows, or a `dst` that exists without `force`, or is an input.
    """
    names = None if labels is None else read_names(labels)
    n_labels = len(names) if n_labels is None and names is not None else n_labels
    opened = open_either(src, kind, names=names, max_line=max_line)
    written = write_rows(
        opened.fit_width(n_labels) if opened.role == "scores" else opened.source,
        dst,
        to=to,
        are_scores=opened.role == "scores",
        top=top,
        order=order,
        n_labels=n_labels,
        force=force,
        inputs=[src] if labels is None else [src, labels],
        threads=threads,
    )
    return Conversion(opened.description, written.n_rows, written.n_labels, written.n_entries, written.notes)
