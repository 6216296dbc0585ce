"""Fuse: the predictions of several systems as those of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from xmceval.api.matrixlike import MatrixLike
from xmceval.errors import UsageError, counted, listed
from xmceval.files.io.limits import MAX_LINE
from xmceval.files.io.paths import as_input
from xmceval.files.opening import open_scores
from xmceval.files.sidecars.labelnames import Names, read_names
from xmceval.rows.block import Source
from xmceval.rows.fusion import RULES, FusedSource
from xmceval.rows.matrices.matrices import as_scores

if TYPE_CHECKING:
    from xmceval.api.files.convert import Conversion


@dataclass(frozen=True)
class Fused:
    """Fused predictions, which are computed row by row when they are scored, compared or written.

    Attributes
    ----------
    systems : tuple
        Scores of at least two systems, as in `score`.
    by : str
        How they are fused; see `fuse`.
    weights : tuple of float
        One per system; empty where all are 1.

    See Also
    --------
    fuse : Makes it.
    """

    systems: tuple[MatrixLike | Fused, ...]
    by: str = "score"
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "systems", as_input(self.systems))

    @property
    def name(self) -> str:
        """What messages call it."""
        return f"fused({', '.join(str(each) if isinstance(each, (str, Path)) else 'y_score' for each in self.systems)})"

    def source(self, sources: Sequence[Source]) -> FusedSource:
        """Return the fused predictions of opened systems.

        Parameters
        ----------
        sources : sequence of Source
            One per system, as they are opened for scoring.
        """
        weights = self.weights or (1.0,) * len(sources)
        return FusedSource(sources, self.by, weights, self.name)

    def write(
        self,
        dst: str | Path | BinaryIO,
        *,
        to: str | None = None,
        top: int | None = None,
        n_labels: int | None = None,
        labels: str | Path | None = None,
        force: bool = False,
        max_line: int = MAX_LINE,
        threads: int | None = None,
    ) -> Conversion:
        """Write the fused predictions, best label first.

        Parameters
        ----------
        dst : path or binary stream
            As in `convert`, as are all others.
        to : str, optional
            The form to write.
        top : int, optional
            Keep only so many best labels of each row.
        n_labels : int, optional
            The number of labels, where the systems do not declare it.
        labels : path, optional
            A file with the names of the labels, where the systems have names.
        force : bool
            Overwrite `dst`.
        max_line : int
            The longest line of a text file, in MiB.
        threads : int, optional
            Default: one per processor.

        Returns
        -------
        Conversion
        """
        # Loaded where it is used: scoring needs Fused, but nothing that writes.
        from xmceval.api.files.convert import Conversion
        from xmceval.files.writing.conversion import convert as write_rows

        names = None if labels is None else read_names(labels)
        n_labels = len(names) if n_labels is None and names is not None else n_labels
        source = self.source([_open(each, names, n_labels, max_line) for each in self.systems])
        written = write_rows(
            source,
            dst,
            to=to,
            are_scores=True,
            top=top,
            order="score",
            n_labels=n_labels,
            force=force,
            inputs=[each for each in (*self.systems, labels) if isinstance(each, (str, Path))],
            threads=threads,
        )
        description = f"{counted(len(self.systems), 'system')}, {RULES[self.by].text}"
        return Conversion(description, written.n_rows, written.n_labels, written.n_entries, written.notes)


def fuse(systems: Sequence[MatrixLike | Fused], *, by: str = "score", weights: Sequence[float] | None = None) -> Fused:
    """Fuse the predictions of systems; the result can be passed to `score` and `compare`, or written.

    Parameters
    ----------
    systems : sequence of matrix or path
        Scores of at least two systems of the same rows, as in `score`.
    by : {"score", "normalized", "rank", "reciprocal-rank"}
        The weighted sum of scores, a label that a list lacks having that list's lowest score in the row; of scores
        scaled to 0..1 within each row and list, equal ones or a single one to 1, such a label having 0, as one with
        -inf has; of ranks, such a label having the rank below the last; or of 1 / (60 + rank), such a label having 0
        (Cormack, Clarke, Buettcher, SIGIR 2009).
    weights : sequence of float, optional
        One per system, at least 0; default 1 each.

    Returns
    -------
    Fused
        ``score(y_true, fused)``, or ``fused.write("fused.txt")``.

    Raises
    ------
    UsageError
        Fewer than two systems, an unknown rule, or other weights than systems.

    See Also
    --------
    score, compare

    Examples
    --------
    >>> import numpy as np
    >>> a, b = np.array([[0.9, 0.8, 0.0]]), np.array([[0.1, 0.6, 0.5]])
    >>> from xmceval import score
    >>> score(np.array([[0, 1, 0]]), fuse([a, b]), k=1, metrics="P")["P@1"]
    1.0
    """
    if by not in RULES:
        raise UsageError(f"by must be one of {listed(RULES)}, got {by!r}")
    if isinstance(systems, (str, Path)):
        raise UsageError(f"systems must be a sequence of at least two, got the path {str(systems)!r}")
    fused = Fused(tuple(systems), by, tuple(weights or ()))
    fused.source([as_scores([[0.0]])] * len(fused.systems))  # checks their number and the weights
    return fused


def _open(system: Any, names: Names | None, n_labels: int | None, max_line: int) -> Source:
    if isinstance(system, (str, Path)):
        return open_scores(system, names=names, n_labels=n_labels, max_line=max_line).fit_width(n_labels)
    return as_scores(system)
