"""Training labels: the counts of a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from xmceval.files.io.limits import MAX_LINE
from xmceval.files.opening import open_truth
from xmceval.labels.counts import count_labels
from xmceval.rows.block import Int64
from xmceval.rows.width import Width


@dataclass(frozen=True)
class Training:
    """Counts of the training labels."""

    n_rows: int  # N, the rows
    counts: Int64  # int64 array [n_labels]; n_l, the rows in which each label is true


def count_training(path: str | Path, *, max_line: int = MAX_LINE, threads: int | None = None) -> Training:
    """Count training labels, as many as the file declares, else its largest label + 1.

    Parameters
    ----------
    path : path
        A file of truth in any form.
    max_line : int
        The longest line of a text file, in MiB.
    threads : int, optional
        Default: one per processor.
    """
    source = open_truth(path, max_line=max_line).source
    width = Width() if source.n_labels is None else Width(source.n_labels, f"{source.name} has")
    counts = count_labels(source, width=width, threads=threads)
    ids, table = counts.table()
    dense = np.zeros(width.n_labels if width.is_known else counts.n_labels, dtype=np.int64)
    dense[ids if ids.size else slice(table.size)] = table
    return Training(counts.n_rows, dense)
