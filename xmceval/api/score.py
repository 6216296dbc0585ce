"""The public functions: score matrices or files, and one function for each metric that people ask for by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from xmceval.api.setup import prepare
from xmceval.metrics.table import DEFAULT_CUTOFFS
from xmceval.report.result import Result
from xmceval.rows.threads import Progress


def score(
    y_true: Any,
    y_score: Any,
    *,
    k: int | Iterable[int] = DEFAULT_CUTOFFS,
    metrics: str | Iterable[str] | None = None,
    train: Any = None,
    counts: Any = None,
    n_train: int | None = None,
    inverse_propensities: Any = None,
    dataset: str | None = None,
    a: float | None = None,
    b: float | None = None,
    n_labels: int | None = None,
    labels: Any = None,
    duplicates: str = "error",
    empty_rows: str = "zero",
    unscored: str = "bottom",
    ties: str = "label",
    by_frequency: int | str | Sequence[int | str] | None = None,
    ceiling: bool = False,
    threshold: float | None = None,
    sample_weight: Any = None,
    filter: Any = None,  # noqa: A002 - the field's word
    filter_truth: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Result:
    """Score predictions against the truth.

    Parameters
    ----------
    y_true : sparse matrix, array or path [n_rows, n_labels]
        Non-zero entries are the true labels; whole values above 1 are grades. Any scipy.sparse format, a dense
        indicator, or a file in one of XMLRepository's formats or npz, also gzipped.
    y_score : sparse matrix, array, pair of arrays or path [n_rows, n_labels]
        Scores: stored entries of a sparse matrix are the predictions; in a dense array -inf means not predicted;
        ``(labels, scores)`` are two arrays [n_rows, any width] in which label -1 is padding. Or a file.
    k : int or iterable of int
        Cuts of the metrics that name none.
    metrics : str or iterable of str
        Names such as ``"PSP"``, ``"nDCG(discount=ln)@1,3"``; default P, nDCG, PSP and PSnDCG. See ``METRICS``.
    train : like y_true, optional
        Training labels, from whose frequencies propensities are estimated.
    counts, n_train : array of int or path, int, optional
        Instead of `train`: rows in which each label is true, and the number of training rows.
    inverse_propensities : array of float or path, optional
        Instead of `train`: 1/p of each label.
    dataset : str, optional
        Name of a public data set: for its A and B, and for warnings where the sizes are not those of the catalogue.
    a, b : float, optional
        Constants of the propensity model; default 0.55 and 1.5.
    n_labels : int, optional
        The number of labels where `y_true` does not tell it.
    labels : path, optional
        A file with the name of label l in line l, from 0 on, for files that have names instead of numbers.
    duplicates : {"error", "max"}
        What becomes of a label that appears twice in a row: an error, or its greatest value counts, and it is told.
    empty_rows : {"zero", "drop"}
        Whether rows without truth count as 0 or are left out.
    unscored : {"bottom", "zero"}
        For metrics of whole rows: labels without a score stand below all that have one (also below -inf), as one
        group of ties; or have score 0, as a dense copy of a sparse matrix would.
    ties : {"label", "expected", "best", "worst"}
        For metrics at a cutoff, what counts where labels have equal scores: their order by label, the exact mean over
        all their orders, or the best or worst of them.
    by_frequency : int, str or sequence, optional
        Bins of labels by training frequency: a number of bins of equal mass, names such as ``"head,torso,tail"`` from
        the most frequent on, or ascending training counts at which bins begin. ``result.slices`` then has for each bin
        its share of every metric at a cutoff, which add up to the metric, and the label-wise metrics within the bin.
    ceiling : bool
        Also give the best value that any ranking could reach on this truth, for metrics at a cutoff.
    threshold : float, optional
        For metrics of decisions: stored labels whose score is at least this are decided on; without it, all stored
        labels are. The default metrics are then those of decisions.
    sample_weight : array of float or path, optional
        One weight a row, at least 0: a row of weight 0 is as good as absent, one of weight 2 counts twice. Intervals
        take weights as fixed, not as numbers of repetitions.
    filter : array of int [n_pairs, 2] or path, optional
        Pairs of row and label that are taken out of the predictions before they are ranked, such as the reciprocal
        pairs of the LF-Amazon sets; for metrics of whole rows they are labels without a score.
    filter_truth : bool
        Take those pairs out of the truth too.
    threads : int, optional
        Default: one per processor. The values are the same bits for any number.
    progress : callable, optional
        Is called with a number of rows each time so many more are done.

    Returns
    -------
    Result
        A mapping: ``result["P@5"]`` is a fraction; ``result.interval("P@5")`` its 95 % interval.

    Raises
    ------
    DataError
        Data that is wrong, or does not fit together, with its place.
    UsageError
        An argument that is wrong.

    Examples
    --------
    >>> import numpy as np
    >>> y_true = np.array([[1, 0, 1], [0, 1, 0]])
    >>> y_score = np.array([[0.9, 0.8, 0.1], [0.2, 0.7, 0.4]])
    >>> result = score(y_true, y_score, k=1, metrics=["P", "R"])
    >>> result["P@1"], result["R@1"]
    (1.0, 0.75)
    """
    setup = prepare(
        y_true,
        k=k,
        metrics=metrics,
        train=train,
        counts=counts,
        n_train=n_train,
        inverse_propensities=inverse_propensities,
        dataset=dataset,
        a=a,
        b=b,
        n_labels=n_labels,
        labels=labels,
        duplicates=duplicates,
        empty_rows=empty_rows,
        unscored=unscored,
        ties=ties,
        by_frequency=by_frequency,
        ceiling=ceiling,
        threshold=threshold,
        sample_weight=sample_weight,
        filter=filter,
        filter_truth=filter_truth,
        threads=threads,
    )
    return setup.score(y_score, progress=progress)
