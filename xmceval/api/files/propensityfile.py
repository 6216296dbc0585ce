"""Write inverse propensities: from the label frequencies of a training file to a file that `score` reads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from xmceval.files.io.limits import MAX_LINE
from xmceval.files.sidecars.numbers import check_numbers_target, write_numbers
from xmceval.labels.training import count_training


@dataclass(frozen=True)
class PropensityFile:
    """What was written.

    Attributes
    ----------
    n_labels, n_train : int
        Labels, one number each; training rows.
    a, b : float or None
        Constants of the propensity model; None where counts were written.
    warnings : tuple of str
        What was noticed on the way.
    """

    n_labels: int
    n_train: int
    a: float | None = None
    b: float | None = None
    warnings: tuple[str, ...] = ()


def write_inverse_propensities(
    train: str | Path,
    dst: str | Path | BinaryIO,
    *,
    a: float | None = None,
    b: float | None = None,
    dataset: str | None = None,
    write_counts: bool = False,
    n_labels: int | None = None,
    force: bool = False,
    max_line: int = MAX_LINE,
    threads: int | None = None,
) -> PropensityFile:
    """Write the inverse propensity 1/p of each label of a training file, one per line.

    ``score(..., inverse_propensities=dst)`` then gives the same bits as ``score(..., train=train)``. The model is that
    of `inverse_propensity`.

    Parameters
    ----------
    train : path
        Training labels, in any form of truth that `score` reads.
    dst : path or binary stream
        The file to write: an npy array if it ends in .npy, else text, which may end in .gz, .bz2, .xz or .zst. Into a
        stream goes text.
    a, b : float, optional
        Constants of the propensity model; default those of `dataset`, else 0.55 and 1.5.
    dataset : str, optional
        Name of a public data set, for its A and B.
    write_counts : bool
        Write the number of training rows of each label instead, for ``score(..., counts=dst, n_train=N)``.
    n_labels : int, optional
        The number of labels, where `train` does not declare it; default the largest label + 1.
    force : bool
        Overwrite `dst`.
    max_line : int
        The longest line of a text file, in MiB; a file with a longer one is refused.
    threads : int, optional
        Default: one per processor.

    Returns
    -------
    PropensityFile

    Raises
    ------
    DataError
        Anything wrong with `train`, or fewer than 3 rows in it.
    UsageError
        An unknown data set, constants outside the model, or a `dst` that exists without `force`, or is `train`.
    """
    check_numbers_target(dst, force=force, inputs=[train])
    training = count_training(train, n_labels=n_labels, max_line=max_line, threads=threads)
    if write_counts:
        write_numbers(dst, training.counts, force=force)
        return PropensityFile(training.counts.size, training.n_rows, warnings=training.warnings)
    write_numbers(dst, training.inverse(dataset, a, b), force=force)
    a, b = training.constants(dataset, a, b)
    return PropensityFile(training.counts.size, training.n_rows, a, b, training.warnings)
