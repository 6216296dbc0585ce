"""Comparison: do these truth and predictions belong together, or was one of the classic mistakes made."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from xmceval.errors import DataError, counted
from xmceval.inspection.file import Inspection, width_of
from xmceval.labels.counts import LabelCounts
from xmceval.labels.training import Training
from xmceval.rows.block import Block, Int64, Rows, Scratch, Source
from xmceval.rows.checks import validated_scores, validated_truth
from xmceval.rows.filters import Filter
from xmceval.rows.lockstep import Lockstep
from xmceval.rows.threads import each_block

DEPTH = 5

SHIFTS = (-1, 0, 1)

FAR_ABOVE = 3.0  # so many times the hits make another reading of the labels the likelier one

NEAR_CHANCE = 1.2  # below so many times the hits of any other order of the rows, this order tells nothing

MOST_CHANCE_ROWS = 20  # of so few rows nothing can be said

LABEL_BITS = 40


@dataclass(frozen=True)
class Comparison:
    """How predictions fit a truth.

    Attributes
    ----------
    truth, scores : str
        The files.
    precision : float or None
        P@5; None where the rows could not be read side by side.
    chance : float or None
        P@1 that the same predictions would have for rows in another order, on average.
    precision_at_1 : float or None
        P@1.
    shifted : pair of float or None
        P@5 with the predicted labels moved by -1 and by +1.
    filter_pairs : int or None
        Predictions that are pairs of the filter.
    faults, warnings : tuple of str
        Why ``score`` would refuse the two together; what is likely a mistake.
    """

    truth: str
    scores: str
    precision: float | None = None
    precision_at_1: float | None = None
    chance: float | None = None
    shifted: tuple[float, float] | None = None
    filter_pairs: int | None = None
    faults: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass
class _Sums:
    """What goes by, of both files."""

    n_rows: int = 0
    hits: Int64 = None  # type: ignore[assignment]
    first_hits: int = 0
    filtered: int = 0

    def __post_init__(self) -> None:
        self.hits = np.zeros(len(SHIFTS), dtype=np.int64)
        self.true, self.ranked = LabelCounts(), LabelCounts()


def compare_files(
    truth: tuple[Source, Inspection],
    scores: tuple[Source, Inspection],
    *,
    pairs: Filter | None = None,
    training: Training | None = None,
    threads: int | None = None,
) -> Comparison:
    """Hold predictions against a truth.

    Parameters
    ----------
    truth, scores : tuple of Source and Inspection
        The two files, and what was found in each.
    pairs : Filter, optional
        Pairs that should be left out.
    training : Training, optional
        Counts of the training labels.
    threads : int, optional
        Default: one per processor.
    """
    (true, about_truth), (given, about) = truth, scores
    names = about_truth.path, about.path
    faults = [*_sizes(about_truth, about, training)]
    are_same = names[0] == names[1] or Path(names[0]).resolve() == Path(names[1]).resolve()
    warnings = [f"{names[0]} and {names[1]} are the same file"] if are_same else []
    warnings += _training(about_truth, training)
    if faults or about_truth.faults or about.faults:
        return Comparison(*names, faults=tuple(faults), warnings=tuple(warnings))
    try:
        sums = _sum(true, given, pairs, threads)
    except DataError as error:
        return Comparison(*names, faults=(str(error),), warnings=tuple(warnings))
    n = max(sums.n_rows, 1)
    chance = _chance(sums, n)
    below, precision, above = (int(hits) / (DEPTH * n) for hits in sums.hits)
    warnings += () if are_same else _mistakes(sums, precision, below, above, chance, about_truth, about)
    if sums.filtered:
        warnings.append(
            f"the filter is not applied: {counted(sums.filtered, 'prediction')} of {about.path} are pairs of it "
            "(hint: score with --filter)"
        )
    return Comparison(
        *names,
        precision,
        sums.first_hits / n,
        chance,
        (below, above),
        None if pairs is None else sums.filtered,
        (),
        tuple(warnings),
    )


def _sizes(truth: Inspection, scores: Inspection, training: Training | None) -> Iterator[str]:
    """What the numbers of rows and labels say."""
    rows = f"{truth.path} has {counted(truth.n_rows, 'row')}, {scores.path} has {counted(scores.n_rows, 'row')}"
    if truth.n_rows != scores.n_rows:
        why = "they must be of the same instances"
        if truth.announced and (truth.n_rows, truth.n_labels) == (scores.n_labels, scores.n_rows):
            why = "one of them is transposed: rows are instances, columns are labels"
        elif training is not None and scores.n_rows == training.n_rows:
            why = "these predictions are for the training instances"
        elif training is not None and truth.n_rows == training.n_rows:
            why = "this truth has as many rows as the training labels: is it the training set?"
        yield f"{rows}; {why}"
    elif truth.announced and scores.largest_label >= truth.n_labels:
        label = scores.largest_label
        if scores.n_labels == truth.n_labels + 1 and scores.announced:
            yield f"{scores.path} has one column more than {truth.path}, and entries in it: it is no label"
        else:
            hint = " (are its labels 1-based?)" if label == truth.n_labels else ""
            yield f"{scores.path} has label {label}, outside the 0..{truth.n_labels - 1} of {truth.path}{hint}"


def _training(truth: Inspection, training: Training | None) -> Iterator[str]:
    """What the training labels say of the truth."""
    if training is None:
        return
    if truth.announced and training.counts.size != truth.n_labels:
        yield (
            f"the training labels are of {counted(training.counts.size, 'label')}, {truth.path} of "
            f"{counted(truth.n_labels, 'label')}: propensities from another set's file?"
        )
    if truth.n_rows == training.n_rows and truth.n_entries == int(training.counts.sum()):
        yield f"{truth.path} is as large as the training labels to the last entry: is it the training set?"


def _mistakes(
    sums: _Sums, precision: float, below: float, above: float, chance: float, truth: Inspection, scores: Inspection
) -> Iterator[str]:
    """What the hits say."""
    n = max(sums.n_rows, 1)
    readings = (
        (below, "1 less", "1-based where the truth is 0-based"),
        (above, "1 more", "0-based where the truth is 1-based"),
    )
    for shifted, said, base in readings:
        if shifted > FAR_ABOVE * precision and shifted * DEPTH * n >= DEPTH:
            yield (
                f"P@{DEPTH} is {precision:.2%}, and {shifted:.2%} with every predicted label {said}: the labels of "
                f"{scores.path} are {base}"
            )
            return
    first = sums.first_hits / n
    noise = 2 * (chance / n) ** 0.5 + 2 / n
    if n > MOST_CHANCE_ROWS and scores.n_entries and truth.n_entries and first < NEAR_CHANCE * chance + noise:
        yield (
            f"P@1 is {first:.2%}, and {chance:.2%} for rows in any order: are the rows shuffled, or the labels "
            "numbered in another way?"
        )
    if precision > 0 and first == 1.0 and scores.n_entries == truth.n_entries:
        yield f"{scores.path} has the labels of {truth.path} itself: is it the truth?"


def _chance(sums: _Sums, n: int) -> float:
    """P@1 of the same predictions for rows in another order."""
    (ids, ranked), (true_ids, true) = sums.ranked.table(), sums.true.table()
    labels = ids if ids.size else np.flatnonzero(ranked)
    ranked = ranked if ids.size else ranked[labels]
    counts = np.zeros(labels.size)
    if true_ids.size:
        at = np.minimum(np.searchsorted(true_ids, labels), true_ids.size - 1)
        counts[:] = np.where(true_ids[at] == labels, true[at], 0)
    elif true.size:
        counts[:] = np.where(labels < true.size, true[np.minimum(labels, true.size - 1)], 0)
    return float((ranked * counts).sum() / n / n)


def _sum(truth: Source, scores: Source, pairs: Filter | None, threads: int | None) -> _Sums:
    """Add up hits of the best labels, as they are and moved by one."""
    sums, lock = _Sums(), threading.Lock()
    widths = width_of(truth), width_of(scores)

    def start() -> tuple[Scratch, Scratch]:
        return Scratch(), Scratch()

    def work(scratch: tuple[Scratch, Scratch], item: tuple[Block, ...]) -> None:
        true, _ = validated_truth(item[0], scratch[0], widths[0])
        given = validated_scores(item[1], scratch[1], widths[1])
        filtered = 0 if pairs is None else pairs.apply(item[1].first_row, given, remove=False)[0]
        ranked, n_ranked = _ranked(given)
        hits = [_hits(true, ranked + shift, n_ranked) for shift in SHIFTS]
        first = ranked[n_ranked > 0, 0]
        with lock:
            sums.n_rows += n_ranked.size
            sums.hits += [int(each.sum()) for each in hits]
            sums.first_hits += int(hits[SHIFTS.index(0)][:, 0].sum())
            sums.filtered += filtered
            sums.true.add(n_ranked.size, true.indices[: true.indptr[-1]])
            sums.ranked.add(n_ranked.size, first)

    each_block(iter(Lockstep(truth, [scores])), start, work, threads)
    return sums


def _ranked(given: Rows) -> tuple[Int64, Int64]:
    from xmceval.kernels.topk import top_k

    n_rows = given.indptr.size - 1
    ranked, n_ranked = np.empty((n_rows, DEPTH), dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    top_k(tuple(given), (ranked, np.empty((n_rows, DEPTH)), n_ranked))
    return ranked, n_ranked


def _hits(true: Rows, labels: Int64, n_ranked: Int64) -> Int64:
    """Tell which labels are true: all true labels of a block ascend, as numbers of row and label."""
    n_rows = n_ranked.size
    used = true.indices[: true.indptr[-1]]
    keys = (np.repeat(np.arange(n_rows), np.diff(true.indptr)) << LABEL_BITS) + used
    if keys.size == 0:
        return np.zeros((n_rows, DEPTH), dtype=np.int64)
    wanted = (np.arange(n_rows)[:, None] << LABEL_BITS) + labels
    found = keys[np.minimum(np.searchsorted(keys, wanted), keys.size - 1)] == wanted
    hits: Int64 = (found & (labels >= 0) & (np.arange(DEPTH) < n_ranked[:, None])).astype(np.int64)
    return hits
