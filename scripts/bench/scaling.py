"""How cost grows: one size of `xmceval.score` on arrays at a time, each a line of a table.

    python scripts/bench --scaling [--only WORD] [--json FILE]

A cell is the processor time of a call in this process, the best of several, divided by what the call does (rows x
predictions, say): numbers that stay the same along a line mean that cost is linear. `growth` is the exponent of the
cost, from the first size to the last and over the last step alone: 1 is linear, 2 quadratic. What n log n would add is
allowed; a line that grows faster, by more than such measurements err, is called steep.
"""

from __future__ import annotations

import json
import math
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse as sp

import xmceval

N_LABELS = 200_003  # a prime, so that any step meets every label once

Array = np.ndarray[Any, Any]
Arguments = dict[str, Any]


def csr(labels: Array, scores: Array | None = None, n_labels: int = N_LABELS, *, in_order: bool = True) -> sp.csr_array:
    """Return rows of labels [n_rows, n], sorted unless told, as a matrix."""
    values = np.ones(labels.shape, np.float32) if scores is None else scores.astype(np.float32)
    if in_order:
        order = np.argsort(labels, axis=1)
        labels = np.take_along_axis(labels, order, axis=1)
    indptr = np.arange(len(labels) + 1, dtype=np.int64) * labels.shape[1]
    return sp.csr_array(
        (values.ravel(), labels.ravel().astype(np.int32), indptr), shape=(len(labels), n_labels), copy=False
    )


def distinct(rows: int, n: int, n_labels: int = N_LABELS) -> Array:
    """Return n distinct labels for each row, in no order."""
    rng = np.random.default_rng(n)
    start, step = rng.integers(0, n_labels, (rows, 1)), rng.integers(1, n_labels - 1, (rows, 1))
    return (start + step * np.arange(n)) % n_labels


def scores(rows: int, n: int, order: str) -> Array:
    """Return scores: at random, ascending, descending or all the same."""
    if order == "tied":
        return np.ones((rows, n), np.float32)
    if order == "few values":
        return np.random.default_rng(0).integers(0, 8, (rows, n)).astype(np.float32)
    x = np.random.default_rng(0).random((rows, n), dtype=np.float32)
    if order != "random":
        x.sort(axis=1)
    return x[:, ::-1] if order == "descending" else x


def pair(rows: int, n: int, n_true: int, order: str = "random", *, in_order: bool = True, **options: Any) -> Arguments:
    """Return rows with n predictions and n_true true labels among them."""
    found = distinct(rows, n)
    y_true = csr(found[:, :: n // n_true][:, :n_true])
    y_score = csr(np.sort(found, axis=1) if in_order else found, scores(rows, n, order), in_order=False)
    given = {"k": [1, 3, 5], "metrics": ["P", "nDCG", "PSP", "PSnDCG"], "inverse_propensities": INVERSE, "threads": 1}
    return {"y_true": y_true, "y_score": y_score, **given, **options}


INVERSE = 1.0 + np.random.default_rng(1).random(N_LABELS)
ASCENDING = np.sort(INVERSE)  # by label: each next one is worth more


def wide(order: str, **options: Any) -> Callable[[int], Arguments]:
    """Return cases of 400,000 predictions, n in a row."""
    return lambda n: pair(400_000 // n, n, 5, order, **options)


def deep(order: str, n_true: int = 100, **options: Any) -> Callable[[int], Arguments]:
    """Return cases with cutoffs 1 and k of 10 rows of 20,000 predictions."""
    return lambda k: pair(10, 20_000, n_true, order, k=[1, k], **options)


def true(order: str, k: int | None = 5, **options: Any) -> Callable[[int], Arguments]:
    """Return cases with 200,000 true labels, n in a row, all of them predicted."""
    return lambda n: pair(200_000 // n, n, n, order, k=[1, k or n], **options)


def graded(n: int) -> Arguments:
    """Return n true labels in a row with grades, and an ideal ranking of 1,000 of them."""
    given = true("random", k=1000, metrics=["nDCG", "nDCG(gain=exp)", "DCG"])(n)
    given["y_true"].data[:] = 1 + np.arange(given["y_true"].nnz) % 40
    return given


def cutoffs(order: str, **options: Any) -> Callable[[int], Arguments]:
    """Return cases with n cutoffs of 20 rows of 20,000 predictions."""
    return lambda n: pair(20, 20_000, 100, order, k=range(1, n + 1), **options)


def metrics(n: int) -> Arguments:
    """Return a case with n metrics at cutoff 5."""
    names = ("P", "R", "RP", "F1", "Hit", "RR", "AP", "PSP", "PSR", "PSnDCG")
    grades = ("", "(rel=2)", "(rel=3)", "(rel=4)", "(rel=5)")
    return pair(4000, 100, 5, metrics=[f"{name}{rel}@5" for rel in grades for name in names][:n])


def macro(n: int) -> Arguments:
    """Return a case with n metrics that are means over 300,000 labels."""
    return labels(300_000, metrics=[f"macro{name}@{k}" for k in (1, 5) for name in ("P", "R", "F1", "BA")][:n])


def labels(n: int, **options: Any) -> Arguments:
    """Return 4,000 rows of n labels."""
    found = np.random.default_rng(0).integers(0, n - 100, (4000, 1)) + np.arange(100)
    inverse = 1.0 + np.random.default_rng(1).random(n)
    given = {"k": [1, 3, 5], "metrics": ["P", "nDCG", "PSP", "PSnDCG"], "inverse_propensities": inverse, "threads": 1}
    return {
        "y_true": csr(found[:, ::20], None, n),
        "y_score": csr(found, scores(4000, 100, "random"), n),
        **given,
        **options,
    }


def systems(n: int, **options: Any) -> Arguments:
    """Return n systems of 4,000 rows."""
    given = pair(4000, 100, 5, metrics=["P", "nDCG"], inverse_propensities=None, **options)
    y_score = given.pop("y_score")
    return {**given, "systems": {f"s{i}": y_score for i in range(n)}}


def dense(n: int, order: str = "random") -> Arguments:
    """Return 4 million logits, n in a row."""
    rows = 4_000_000 // n
    y_true = csr(distinct(rows, 5, 997), None, n)
    return {"y_true": y_true, "y_score": scores(rows, n, order), "metrics": ["P", "nDCG"], "k": [1, 5], "threads": 1}


def bins(n: int) -> Arguments:
    """Return a case with n bins of labels."""
    counts = np.arange(N_LABELS)
    return pair(2000, 100, 5, k=[1, 5, 20], inverse_propensities=None, by_frequency=n, counts=counts, n_train=N_LABELS)


def threads(n: int) -> Arguments:
    """Return a case with n threads."""
    return pair(64_000, 100, 5, threads=n)


SLACK = 0.2  # of an exponent, from the first size to the last; a single step may err twice as much
SECONDS, CALLS = 0.15, 5  # calls of a cell stop after the first of both

Figures = dict[str, Any]


@dataclass(frozen=True)
class Axis:
    """A line of the table.

    Attributes
    ----------
    name, unit : str
        What grows, and what a cell's cost is divided by.
    sizes : sequence of int
    case : callable
        From a size to the arguments of `call`.
    work : callable
        From a size to the number of units in a call.
    call : callable
        What is measured.
    """

    name: str
    unit: str
    sizes: Sequence[int]
    case: Callable[[int], Arguments]
    work: Callable[[int], float]
    call: Callable[..., object] = xmceval.score


# Measuring


def measure(axis: Axis) -> Figures:
    """Return nanoseconds of processor time per unit for each size, and how they grow."""
    axis.call(**axis.case(axis.sizes[0]))
    cost = [best(axis.call, axis.case(size)) / axis.work(size) * 1e9 for size in axis.sizes]
    return {"unit": axis.unit, "sizes": list(axis.sizes), "nanoseconds_per_unit": cost, **growth(axis.sizes, cost)}


def growth(sizes: Sequence[int], cost: Sequence[float]) -> Figures:
    """Return the exponent of n times its cost per unit, over all steps and the last, and whether it is too large."""
    logs = [math.log(size + 1) for size in sizes]
    (over_all, allowed), (last, allowed_last) = (
        tuple(1 + math.log(each[j] / each[i]) / math.log(sizes[j] / sizes[i]) for each in (cost, logs))
        for i, j in ((0, -1), (-2, -1))
    )
    is_steep = over_all > allowed + SLACK or last > allowed_last + 2 * SLACK
    return {"growth": over_all, "growth_last": last, "is_steep": is_steep}


def best(call: Callable[..., object], given: Arguments) -> float:
    """Return the least processor time of a few calls, in seconds."""
    least, spent, calls = math.inf, 0.0, 0
    while calls < 1 or (spent < SECONDS and calls < CALLS):
        start = time.process_time()
        call(**given)
        took = time.process_time() - start
        least, spent, calls = min(least, took), spent + took, calls + 1
    return least


def line(name: str, figures: Figures) -> str:
    """Return one line of the table."""
    cells = "".join(
        f"{f'{size:,}':>11}:{cost:>9,.1f}"
        for size, cost in zip(figures["sizes"], figures["nanoseconds_per_unit"], strict=True)
    )
    growth = f"{figures['growth']:>6.2f}{figures['growth_last']:>6.2f}"
    return f"{name:<40}{growth}  {'STEEP' if figures['is_steep'] else 'ok':<6}{cells}   ns per {figures['unit']}"


def entries_and_values(n: int) -> int:
    """Return the entries of 20 rows and 4n values, each of which takes as long to finish as 2,500 entries."""
    return 20 * 20_000 + 2_500 * 4 * n


def table(only: str) -> Figures:
    """Measure the axes whose names have a word, and print each line when it is there."""
    found: Figures = {}
    print(f"{'':<40}growth, last step", flush=True)
    for axis in AXES:
        if only in axis.name:
            found[axis.name] = measure(axis)
            print(line(axis.name, found[axis.name]), flush=True)
    steep = [name for name, figures in found.items() if figures["is_steep"]]
    print(f"{len(steep)} of {len(found)} grow faster than n log n{': ' if steep else ''}{'; '.join(steep)}")
    return found


WIDTHS = (100, 1000, 10_000, 100_000)
DEPTHS = (10, 100, 1000, 10_000)
SOME_LABELS = (10_000, 100_000, 1_000_000)
LOGITS = (1000, 10_000, 100_000, 1_000_000)
WHOLE = ["LRAP", "AUC", "ranking_loss", "AP"]

AXES = (
    Axis("rows", "row", (4000, 16_000, 64_000), lambda n: pair(n, 100, 5, k=[1, 3, 5]), lambda n: n),
    Axis("labels", "label + 10^6", SOME_LABELS, labels, lambda n: n + 1e6),
    Axis("labels, macroF1", "label + 10^5", SOME_LABELS, partial(labels, metrics="macroF1@1,3,5"), lambda n: n + 1e5),
    *(
        Axis(f"predictions, {order}", "entry", WIDTHS, wide(order), lambda _: 4e5)
        for order in ("random", "ascending", "descending", "few values", "tied")
    ),
    Axis("predictions, labels in no order", "entry", WIDTHS, wide("random", in_order=False), lambda _: 4e5),
    Axis("predictions, tied, expected", "entry", WIDTHS, wide("tied", ties="expected"), lambda _: 4e5),
    Axis("predictions, few values, expected", "entry", WIDTHS, wide("few values", ties="expected"), lambda _: 4e5),
    Axis("predictions, whole row", "entry", WIDTHS, wide("random", metrics=WHOLE), lambda _: 4e5),
    Axis("predictions, whole row, tied", "entry", WIDTHS, wide("tied", metrics=WHOLE), lambda _: 4e5),
    Axis("predictions, ascending, k = 1000", "entry", WIDTHS[1:], wide("ascending", k=[1, 1000]), lambda _: 4e5),
    Axis("predictions, tied, k = 1000", "entry", WIDTHS[1:], wide("tied", k=[1, 1000]), lambda _: 4e5),
    *(
        Axis(f"k, {order}", "entry + k", DEPTHS, deep(order), lambda k: 10 * (20_000 + k))
        for order in ("random", "ascending", "descending", "few values", "tied")
    ),
    Axis("k, few values, expected", "entry + k", DEPTHS, deep("few values", ties="expected"), lambda k: 2e5 + 10 * k),
    Axis("k, tied, expected", "entry + k", DEPTHS, deep("tied", ties="expected"), lambda k: 2e5 + 10 * k),
    Axis("k, all true, random", "entry + k", DEPTHS, deep("random", n_true=20_000), lambda k: 2e5 + 10 * k),
    Axis("k, all true, tied", "entry + k", DEPTHS, deep("tied", n_true=20_000), lambda k: 2e5 + 10 * k),
    Axis("k, all true, few values", "entry + k", DEPTHS, deep("few values", n_true=20_000), lambda k: 2e5 + 10 * k),
    Axis(
        "k, all true, 1/p ascends",
        "entry + k",
        DEPTHS,
        deep("random", n_true=20_000, inverse_propensities=ASCENDING),
        lambda k: 2e5 + 10 * k,
    ),
    Axis("true labels", "true label", WIDTHS, true("random"), lambda _: 2e5),
    Axis("true labels, tied", "true label", WIDTHS, true("tied"), lambda _: 2e5),
    Axis("true labels, tied, k = 1000", "true label", WIDTHS[1:], true("tied", k=1000), lambda _: 2e5),
    Axis("true labels, tied, k = n", "true label", WIDTHS[:3], true("tied", k=None), lambda _: 2e5),
    Axis("true labels, tied, expected", "true label", WIDTHS, true("tied", ties="expected"), lambda _: 2e5),
    Axis("true labels, k = n", "true label", WIDTHS[:3], true("random", k=None), lambda _: 2e5),
    Axis(
        "true labels, 1/p ascends, k = 1000",
        "true label",
        WIDTHS[1:],
        true("random", k=1000, inverse_propensities=ASCENDING),
        lambda _: 2e5,
    ),
    Axis(
        "true labels, tied, 1/p ascends, k = 1000",
        "true label",
        WIDTHS[1:],
        true("tied", k=1000, inverse_propensities=ASCENDING),
        lambda _: 2e5,
    ),
    Axis("true labels, graded, k = 1000", "true label", WIDTHS[1:], graded, lambda _: 2e5),
    Axis("cutoffs", "entry + 2,500 x value", DEPTHS, cutoffs("random"), entries_and_values),
    Axis("cutoffs, few values", "entry + 2,500 x value", DEPTHS, cutoffs("few values"), entries_and_values),
    Axis(
        "cutoffs, expected",
        "entry + 2,500 x value",
        DEPTHS,
        cutoffs("few values", ties="expected"),
        entries_and_values,
    ),
    Axis("metrics", "row x (metric + 5)", (5, 10, 25, 50), metrics, lambda n: 4000 * (n + 5)),
    Axis("metrics, macro", "label x metric", (1, 2, 4, 8), macro, lambda n: 300_000 * n),
    Axis("systems", "row x system", (1, 2, 5, 10), systems, lambda n: 4000 * n, xmceval.score_all),
    Axis(
        "systems, against one",
        "row x system",
        (2, 5, 10),
        partial(systems, against="s0"),
        lambda n: 4000 * n,
        xmceval.compare,
    ),
    Axis(
        "systems, in pairs", "row x (system + pair)", (2, 5, 10), systems, lambda n: 2000 * n * (n + 1), xmceval.compare
    ),
    Axis("logits", "logit", LOGITS, dense, lambda _: 4e6),
    Axis("logits, ascending", "logit", LOGITS, partial(dense, order="ascending"), lambda _: 4e6),
    Axis("logits, tied", "logit", LOGITS, partial(dense, order="tied"), lambda _: 4e6),
    Axis("bins", "row x (bin + 10)", (2, 8, 32, 128), bins, lambda n: 2000 * (n + 10)),
    Axis("threads", "row", (1, 2), threads, lambda _: 64_000),
)


if __name__ == "__main__":
    warnings.simplefilter("ignore", xmceval.XmcevalWarning)
    print(json.dumps(table(sys.argv[1] if len(sys.argv) > 1 else "")))
