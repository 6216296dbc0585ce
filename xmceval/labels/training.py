"""Training labels: the counts of a file, and inverse propensities as one number per label."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from xmceval.errors import DataError, argument
from xmceval.files.io.limits import MAX_LINE
from xmceval.files.opening import open_truth
from xmceval.labels.catalogue import find_dataset
from xmceval.labels.counts import count_labels
from xmceval.labels.propensity import constants, inverse_propensity
from xmceval.rows.block import Float64, Int64
from xmceval.rows.width import Width


@dataclass(frozen=True)
class Training:
    """Counts of the training labels.

    Attributes
    ----------
    n_rows : int
        N, the rows.
    counts : int64 array [n_labels]
        N_l, the rows in which each label is true.
    description : str
        The form of the file.
    warnings : tuple of str
        Problems that were found while it was read.
    """

    n_rows: int
    counts: Int64
    description: str
    warnings: tuple[str, ...] = ()

    def inverse(self, dataset: str | None = None, a: float | None = None, b: float | None = None) -> Float64:
        """Compute 1/p of each label, float64 [n_labels], with A and B as passed, or of a data set, or 0.55 and 1.5."""
        return inverse_propensity(self.counts, self.n_rows, *self.constants(dataset, a, b))

    @staticmethod
    def constants(dataset: str | None, a: float | None, b: float | None) -> tuple[float, float]:
        """Return A and B: as passed, or of a data set, or the usual ones."""
        return constants(None if dataset is None else find_dataset(dataset), a, b)


def count_training(
    path: str | Path, *, n_labels: int | None = None, max_line: int = MAX_LINE, threads: int | None = None
) -> Training:
    """Count training labels.

    Parameters
    ----------
    path : path
        A file of truth in any form.
    n_labels : int, optional
        The number of labels; default what the file declares, else its largest label + 1.
    max_line : int
        The longest line of a text file, in MiB.
    threads : int, optional
        Default: one per processor.

    Raises
    ------
    DataError
        Anything wrong with the file, or another number of labels than it declares.
    """
    opened = open_truth(path, max_line=max_line)
    source = opened.source
    width = Width() if source.n_labels is None else Width(source.n_labels, f"{source.name} has")
    if n_labels is not None and width.is_known and n_labels != width.n_labels:
        raise DataError(f"{width}, but {argument('n_labels')} is {n_labels:,}")
    if n_labels is not None:
        width = Width(n_labels, f"{argument('n_labels')} is")
    counts = count_labels(source, width=width, threads=threads)
    warnings = list(source.warnings)
    if not width.is_known:
        warnings.insert(
            0,
            f"no input declares the number of labels: the largest label + 1 is {counts.n_labels:,} "
            f"(hint: pass {argument('n_labels')})",
        )
    ids, table = counts.table()
    dense = np.zeros(width.n_labels if width.is_known else counts.n_labels, dtype=np.int64)
    dense[ids if ids.size else slice(table.size)] = table
    return Training(counts.n_rows, dense, opened.description, tuple(warnings))
