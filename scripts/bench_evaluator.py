"""Time `Evaluator.update` on batches of top-k lists, and what of it is not spent in kernels: prints microseconds.

`python scripts/bench_evaluator.py [--rows 256] [--width 100] [--labels 670091] [--updates 400]`; medians of single
calls in one thread. Where torchmetrics is installed, P and nDCG of its retrieval package beside it.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse as sp

import xmceval
from xmceval.kernels.metrics import ranking, topk, wholerow
from xmceval.kernels.rows import checks
from xmceval.scoring import totals as scoring_totals
from xmceval.scoring.per_label import labelcounters
from xmceval.scoring.tasks import task

# Every kernel that an update calls, by the module that looks it up and its name there.
KERNELS = (
    (checks, "check_scores"),
    (checks, "validate_truth"),
    (ranking, "top_k"),
    (topk, "compute_rows"),
    (wholerow, "compute_whole_rows"),
    (task, "add_values"),
    (scoring_totals, "count_rows"),
    (labelcounters, "count_ranked"),
)
METRICS = {
    "P": ["P"],
    "P, nDCG, PSP, PSnDCG": ["P", "nDCG", "PSP", "PSnDCG"],
    "P, macroF1@5": ["P", "macroF1@5"],
    "LRAP": ["LRAP"],
}


Array = np.ndarray[Any, Any]


def make_batch(rows: int, width: int, n_labels: int) -> tuple[sp.csr_array, Array, Array]:
    """Return truth with five labels per row, and lists of labels and scores that have them."""
    rng = np.random.default_rng(0)
    labels = np.sort(np.stack([rng.choice(n_labels, width, replace=False) for _ in range(rows)]).astype(np.int32))
    true = np.sort(np.stack([rng.choice(row, 5, replace=False) for row in labels]))
    truth = sp.csr_array(
        (np.ones(true.size, np.float32), true.ravel(), np.arange(rows + 1) * 5), shape=(rows, n_labels)
    )
    return truth, labels, rng.random((rows, width), dtype=np.float32)


def median(call: Callable[[], object], times: int) -> float:
    """Return the median of the seconds that a call takes, after some that warm up."""
    seconds = []
    for turn in range(times + times // 10):
        start = time.perf_counter()
        call()
        if turn >= times // 10:
            seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


class Clock:
    """Adds up the seconds that kernels take."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def wrap(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        """Return a kernel whose time is added."""

        def timed(*arguments: Any) -> Any:
            start = time.perf_counter()
            returned = kernel(*arguments)
            self.seconds += time.perf_counter() - start
            return returned

        return timed


def beyond_kernels(update: Callable[[], object], times: int) -> float:
    """Return the median of the seconds of an update that are not spent in kernels."""
    clock, kept = Clock(), [getattr(module, name) for module, name in KERNELS]
    rest = []
    try:
        for (module, name), kernel in zip(KERNELS, kept, strict=True):
            setattr(module, name, clock.wrap(kernel))
        for _ in range(times):
            clock.seconds, start = 0.0, time.perf_counter()
            update()
            rest.append(time.perf_counter() - start - clock.seconds)
    finally:
        for (module, name), kernel in zip(KERNELS, kept, strict=True):
            setattr(module, name, kernel)
    return statistics.median(rest)


def time_torchmetrics(truth: sp.csr_array, labels: Array, scores: Array, times: int) -> None:
    """Time the update and the result of torchmetrics' retrieval metrics, which keep all rows until the result."""
    import torch
    from torchmetrics import MetricCollection
    from torchmetrics.retrieval import RetrievalNormalizedDCG, RetrievalPrecision

    target = torch.from_numpy(np.take_along_axis(truth.toarray(), labels, axis=1).ravel() > 0)
    indexes = torch.arange(len(labels)).repeat_interleave(labels.shape[1])
    preds = torch.from_numpy(scores.ravel())
    kinds = {"P": RetrievalPrecision, "nDCG": RetrievalNormalizedDCG}
    metrics = MetricCollection({f"{name}{k}": kind(top_k=k) for name, kind in kinds.items() for k in (1, 3, 5)})
    n = 0

    def update() -> None:
        nonlocal n
        metrics.update(preds, target, indexes=indexes + n * len(labels))
        n += 1

    took = median(update, times)
    start = time.perf_counter()
    metrics.compute()
    result = (time.perf_counter() - start) / n
    print(f"{'torchmetrics: P, nDCG':<28}{'pair':>6}{took * 1e6:>7.0f} us, then {result * 1e6:,.0f} us in compute()")


def main() -> None:
    """Print a line for each set of metrics and each form of scores."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("rows", 256), ("width", 100), ("labels", 670_091), ("updates", 400)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    truth, labels, scores = make_batch(options.rows, options.width, options.labels)
    csr = sp.csr_array((scores.ravel(), labels.ravel(), np.arange(options.rows + 1) * options.width), shape=truth.shape)
    inverse = 1 + np.random.default_rng(1).random(options.labels)
    print(f"{options.rows} rows of top-{options.width} lists, {options.labels:,} labels")
    print(f"{'':<28}{'':>6}{'update':>10}{'beyond kernels':>18}")
    for title, metrics in METRICS.items():
        evaluator = xmceval.Evaluator(metrics=metrics, inverse_propensities=inverse)
        for form, y_score in (("csr", csr), ("pair", (labels, scores))):

            def update(y_score: Any = y_score, evaluator: xmceval.Evaluator = evaluator) -> None:
                evaluator.update(truth, y_score)

            took, rest = median(update, options.updates), beyond_kernels(update, options.updates)
            print(f"{title:<28}{form:>6}{took * 1e6:>7.0f} us{rest * 1e6:>15.0f} us")
    if importlib.util.find_spec("torchmetrics"):
        time_torchmetrics(truth, labels, scores, 20)


if __name__ == "__main__":
    main()
