"""Time `xmceval.score` in memory: `python bench_arrays.py SHAPE RUNS`, or `dense` for SHAPE, prints figures as JSON.

A shape is scored as CSR matrices; `dense` is a batch of logits, 256 x 1,000,000, beside one pass over its memory
(`x.max()`) and the top-k functions of numpy and, where it is installed, torch.
"""

from __future__ import annotations

import importlib.util
import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import bench_data as data
import numpy as np
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


if __name__ == "__main__":
    warnings.simplefilter("ignore", xmceval.XmcevalWarning)  # made logits are no better than chance
    print(json.dumps(dense(int(sys.argv[2])) if sys.argv[1] == "dense" else sparse(sys.argv[1], int(sys.argv[2]))))
