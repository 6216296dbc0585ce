"""Common metrics at a cutoff as functions that return a float, such as `precision_at_k`, generated from a table."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from xmceval.api.types import MatrixLike
from xmceval.errors import DataError, Fault
from xmceval.kernels.metrics.sums import multiples_of
from xmceval.kernels.metrics.topk import FIRST_CUTOFF, LOWEST, ROUNDED, count_rows
from xmceval.metrics.names import check_cutoff
from xmceval.metrics.table import METRICS
from xmceval.rows.block import SortedRows
from xmceval.rows.matrices.source import open_pair
from xmceval.rows.width import Width
from xmceval.scoring.alignment import OF_FEW, FirstRows, copy_first_rows, find_doubts
from xmceval.scoring.batch import EMPTY_WHOLE
from xmceval.scoring.compile import compile_program
from xmceval.scoring.evaluate import BlockScratch, check_truth, make_batch, whole_blocks
from xmceval.scoring.options import Options
from xmceval.scoring.setup.setup import OpenedSystem, Setup
from xmceval.scoring.totals import Sums

MOST_RANKED = 1 << 19  # labels; beyond this, `score` is better: it limits memory and uses threads
FEW_ROWS = OF_FEW**2  # too few to detect shifted or shuffled rows

# For each function: name, metric, related functions, the value in the example, and what it computes.
METRICS_AT_K = (
    ("precision_at_k", "P", "recall_at_k, psp_at_k", "0.5", "P@k: the mean over rows of hits / k."),
    (
        "recall_at_k",
        "R",
        "precision_at_k, psr_at_k",
        "0.5",
        "R@k: the mean over rows of hits / number of true labels.",
        "A row without truth counts 0.",
    ),
    (
        "f1_at_k",
        "F1",
        "precision_at_k, recall_at_k",
        "0.5",
        "F1@k: the mean over rows of the harmonic mean of P@k and R@k.",
    ),
    (
        "hit_at_k",
        "Hit",
        "precision_at_k, recall_at_k",
        "1.0",
        "Hit@k: the share of rows with a true label among the best k.",
    ),
    (
        "ndcg_at_k",
        "nDCG",
        "ndcg_score, psndcg_at_k",
        "0.6131",
        "nDCG@k with log2 discounts: the mean over rows of DCG / the best DCG that is possible.",
        "Grades of the truth are gains. A row without truth counts 0.",
    ),
    (
        "psp_at_k",
        "PSP",
        "precision_at_k, inverse_propensity",
        "0.4937",
        "PSP@k: the sum over rows of hits that count 1/p each, divided by the sum for the ideal rankings.",
    ),
    (
        "psr_at_k",
        "PSR",
        "recall_at_k, inverse_propensity",
        "0.4937",
        "PSR@k: the sum over rows of R@k whose hits count 1/p each, divided by the sum for the ideal rankings.",
    ),
    (
        "psndcg_at_k",
        "PSnDCG",
        "ndcg_at_k, inverse_propensity",
        "0.6037",
        "PSnDCG@k: nDCG@k with gains 1/p, as a ratio of sums over rows, like PSP@k.",
    ),
)

DOCSTRING = """Compute {what}

Parameters
----------
y_true, y_score : matrix, lists or path [n_rows, n_labels]
    Truth and scores, as in `score`.
k : int
    The cutoff.
{options}

Returns
-------
float
    A share: 0.5 is 50 %.

See Also
--------
score : Several metrics at once, with intervals.
{others}

Examples
--------
>>> import numpy as np
{example}
{value}
"""


class AtK(Protocol):
    """A metric at a cutoff."""

    def __call__(
        self,
        y_true: MatrixLike,
        y_score: MatrixLike,
        *,
        k: int = 5,
        sample_weight: ArrayLike | str | Path | None = None,
        grades: bool = False,
    ) -> float:
        """Return the value at cutoff `k`; other arguments are as in `score`."""


class PropensityScoredAtK(Protocol):
    """A metric at a cutoff whose hits count by the inverse propensities of labels."""

    def __call__(self, y_true: MatrixLike, y_score: MatrixLike, *, k: int = 5, **options: Any) -> float:
        """Return the value at cutoff `k`; other arguments, such as `train`, are as in `score`."""


def _make(name: str, metric: str, others: str, value: str, *what: str) -> Any:
    """Make the function that a row of METRICS_AT_K describes."""

    def plain(
        y_true: MatrixLike,
        y_score: MatrixLike,
        *,
        k: int = 5,
        sample_weight: ArrayLike | str | Path | None = None,
        grades: bool = False,
    ) -> float:
        if sample_weight is None and type(k) is int:
            value = _score_small(y_true, y_score, metric, k)
            if value is not None:
                return value
        return scored(y_true, y_score, k=k, sample_weight=sample_weight, grades=grades)

    def scored(y_true: MatrixLike, y_score: MatrixLike, *, k: int = 5, **options: Any) -> float:
        from xmceval.api.score import score  # not loaded for small matrices

        return score(y_true, y_score, k=k, metrics=metric, **options)[f"{metric}@{check_cutoff(k)}"]

    function: Any = plain
    options = "sample_weight : array of float or path, optional\n    One weight per row.\n"
    options += "grades : bool\n    Whether values of `y_true` are grades instead of 0 and 1."
    call = f"{name}(np.array([[1, 0, 1]]), np.array([[0.9, 0.8, 0.1]]), k=2)"
    example = f">>> {call}"
    if len(value) >= len("0.1234"):
        example = f">>> round({call}, 4)"
    if METRICS[metric].needs_propensities:
        function = scored
        options = "**options\n    Any other option of `score`; the propensities come from `train`, `counts` or "
        options += "`inverse_propensities`."
        what = *what, f'p is the propensity of a label; ``METRICS["{metric}"]`` is the exact definition.'
        training = ">>> y_train = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 1]])\n"
        example = f"{training}>>> round({call[:-1]}, train=y_train), 4)"
    function.__doc__ = DOCSTRING.format(
        what="\n\n".join(what), options=options, others=others, example=example, value=value
    )
    function.__name__ = function.__qualname__ = name
    return function


@lru_cache
def _set_up(metric: str, k: int, n_labels: int) -> Setup:
    options = Options(metrics=metric, k=k)
    return Setup(options=options, program=compile_program(options.measures), width=Width(n_labels))


def _score_small(y_true: Any, y_score: Any, metric: str, k: int) -> float | None:
    """Compute the value for matrices in memory of one block, with the functions that score any block.

    None if `score` is needed: for invalid input, grades, more than one block, or anything that needs a warning.
    """
    scratch = BlockScratch.take()
    sums = Sums(1)
    try:
        opened = open_pair(y_true, y_score, depth=k + 1)
        if opened is None or k < 1:
            return None
        truth, scores = opened
        n_labels = truth.n_labels
        blocks = whole_blocks(opened, MOST_RANKED // k)
        if blocks is None or scores.notes:
            return None
        if n_labels is None or n_labels != scores.n_labels or k > n_labels:
            return None
        block, other = blocks
        setup = _set_up(metric, k, n_labels)
        checked = check_truth(scratch, block, setup, setup.width)
        batch = make_batch(scratch, checked, other, OpenedSystem(scores, setup))
        [task] = setup.program.row_tasks
        task.add(batch, task.compute(batch), sums)
    except (DataError, Fault):
        return None
    counts = np.zeros(FIRST_CUTOFF + 2, dtype=np.int64)
    cutoffs = setup.program.cutoffs
    count_rows(batch.truth.indptr, batch.score_ends, batch.ranking.arrays, cutoffs, False, counts)
    if batch.whole != EMPTY_WHOLE or batch.ranking.n_tied or counts[LOWEST] or counts[ROUNDED]:
        return None
    are_ordered = batch.ends is not None or isinstance(batch.scores, SortedRows)
    if batch.n_rows > FEW_ROWS or not are_ordered:
        pieces = list[FirstRows]()
        copy_first_rows(0, batch, other, pieces)
        if any(find_doubts(pieces, setup=setup, n_labels=n_labels)):
            return None
    # Exact sums are integers stored in several words, so their quotient is rounded only once.
    numerator, denominator = multiples_of(sums["sums"][0, :2].tolist())
    scratch.leave()
    if not numerator or not denominator:  # a value of 0 may be doubtful, which `score` decides
        return None
    return numerator / denominator


_plain: list[AtK] = [_make(*row) for row in METRICS_AT_K[:5]]
_propensity_scored: list[PropensityScoredAtK] = [_make(*row) for row in METRICS_AT_K[5:]]
precision_at_k, recall_at_k, f1_at_k, hit_at_k, ndcg_at_k = _plain
psp_at_k, psr_at_k, psndcg_at_k = _propensity_scored
