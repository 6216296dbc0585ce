"""Time `xmceval.score` in memory: `python -m bench.arrays SHAPE RUNS` prints figures as JSON.

A shape is scored as CSR matrices; `evaluator` is `Evaluator.update` on batches of top-k lists, beside torchmetrics
where it is installed; `dense` is a batch of logits, 256 x 1,000,000, beside one pass over its memory (`x.max()`) and
the top-k functions of numpy and, where it is installed, torch.
"""

from __future__ import annotations

import importlib.util
import json
import resource
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from bench import data
from scipy import sparse as sp
from scipy.sparse import csr_matrix

import xmceval

Figures = dict[str, Any]


def sparse(name: str, runs: int) -> Figures:
    """Build the matrices of a shape, call once and call again."""
    shape = data.SHAPES[name]
    y_true, y_train, y_score = (
        csr_matrix(parts, shape=(len(parts[2]) - 1, shape.labels))
        for parts in (data.arrays(shape, kind) for kind in ("truth", "train", "preds"))
    )
    calls = []
    for _ in range(runs + 1):
        start = time.perf_counter(), time.process_time()
        result = xmceval.score(y_true, y_score, k=(1, 3, 5), train=y_train)
        calls.append({"wall": time.perf_counter() - start[0], "cpu": time.process_time() - start[1]})
    return {"calls": calls, "P@1": float(result["P@1"])}


def dense(runs: int, n_rows: int = 256, n_labels: int = 1_000_000) -> Figures:
    """Score batches of dense logits of several orders and types."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n_rows, n_labels), dtype=np.float32)
    labels = rng.integers(0, n_labels, (n_rows, 5))
    indptr = np.arange(n_rows + 1) * 5
    y_true = csr_matrix((np.ones(labels.size), np.sort(labels, axis=1).ravel(), indptr), shape=x.shape)
    y_true.sum_duplicates()
    score(y_true, x[:2], 5)
    score(y_true, x[:2].astype(np.float16), 5)
    before = peak()
    score(y_true, x, 100)
    beyond = peak() - before
    figures: Figures = {"random float32": beside(y_true, x, runs)}
    figures["random float16"] = beside(y_true, x.astype(np.float16), runs)
    x.sort(axis=1)
    figures["ascending float32"] = beside(y_true, x, runs)
    x[:] = 1
    figures["constant float32"] = beside(y_true, x, runs)
    return {"peak": beyond, "batches": figures}


def score(y_true: csr_matrix, x: np.ndarray, k: int) -> None:
    """Score the first rows of a batch."""
    xmceval.score(y_true[: len(x)], x, k=[1, k], metrics=["P", "nDCG", "R"])


def beside(y_true: csr_matrix, x: np.ndarray, runs: int) -> dict[str, list[float]]:
    """Measure one pass over a batch, scores, and the top k of other libraries, in turns; return seconds.

    Those that take long see fewer rows, and their time is scaled up.
    """
    few = x[: max(len(x) // 16, 1)]
    memory = x.view(np.int16) if x.dtype == np.float16 else x  # numpy compares half-precision numbers one by one
    calls: dict[str, tuple[Callable[[], object], float]] = {"x.max()": (memory.max, 1)}
    for k in (5, 100):
        calls[f"xmceval, k = {k}"] = partial(score, y_true, x, k), 1
        calls[f"numpy.argpartition, k = {k}"] = partial(np.argpartition, few, x.shape[1] - k, axis=1), len(x) / len(few)
        if importlib.util.find_spec("torch"):
            import torch

            calls[f"torch.topk, k = {k}"] = partial(torch.topk, torch.from_numpy(x), k), 1
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(runs):
        for name, (call, scale) in calls.items():
            start = time.perf_counter()
            call()
            times[name].append((time.perf_counter() - start) * scale)
    return times


def peak() -> float:
    """Return the most memory that this process has used, in MB."""
    unit = 1e6 if sys.platform == "darwin" else 1e3
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


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


def evaluator(updates: int, rows: int = 256, width: int = 100, n_labels: int = 670_091) -> dict[str, float]:
    """Print a line for each set of metrics and each form of scores; return microseconds, medians of single calls."""
    truth, labels, scores = make_batch(rows, width, n_labels)
    csr = sp.csr_array((scores.ravel(), labels.ravel(), np.arange(rows + 1) * width), shape=truth.shape)
    inverse = 1 + np.random.default_rng(1).random(n_labels)
    print(f"{rows} rows of top-{width} lists, {n_labels:,} labels")
    found = {}
    for title, metrics in METRICS.items():
        metric = xmceval.Evaluator(metrics=metrics, inverse_propensities=inverse)
        for form, y_score in (("csr", csr), ("pair", (labels, scores))):
            found[f"{title}, {form}"] = 1e6 * median(partial(metric.update, truth, y_score), updates)
            print(f"{title:<28}{form:>6}{found[f'{title}, {form}']:>7.0f} us")
    if importlib.util.find_spec("torchmetrics"):
        time_torchmetrics(truth, labels, scores, 20)
    return found


def main() -> None:
    """Measure what the first argument names."""
    warnings.simplefilter("ignore", xmceval.XmcevalWarning)  # made logits are no better than chance
    name, runs = sys.argv[1], int(sys.argv[2])
    if name == "evaluator":
        print(json.dumps(evaluator(100 * runs)))
    else:
        print(json.dumps(dense(runs) if name == "dense" else sparse(name, runs)))


if __name__ == "__main__":
    main()
