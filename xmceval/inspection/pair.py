"""Inspection of a pair: do a truth and predictions belong together, or was one of the usual mistakes made."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, counted
from xmceval.files.either import open_either
from xmceval.files.limits import MAX_LINE
from xmceval.files.names import Names
from xmceval.inspection.file import FileInspection, declared_width
from xmceval.kernels.topk import top_k
from xmceval.labels.counts import LabelCounts
from xmceval.labels.training import Training
from xmceval.rows.block import Block, Int64, Rows, Scratch, Source
from xmceval.rows.checks import validated_scores, validated_truth
from xmceval.rows.filters import Filter
from xmceval.rows.lockstep import Lockstep
from xmceval.rows.threads import each_block

DEPTH = 5

SHIFTS = (-1, 0, 1)

MUCH_BETTER = 3.0  # with so many times the hits, shifted labels are likelier than those predicted

NEAR_CHANCE = 1.2  # with fewer than so many times the hits of rows in random order, the order seems random

MIN_CHANCE_ROWS = 20  # with no more rows than these, hits by chance are not judged

LABEL_BITS = 40


@dataclass(frozen=True)
class PairInspection:
    """How predictions fit a truth.

    Attributes
    ----------
    truth, scores : str
        The files.
    precision : float or None
        P@5; None where the rows could not be compared.
    precision_at_1 : float or None
        P@1.
    chance : float or None
        Expected P@1 of the same predictions with the rows in random order.
    shifted : pair of float or None
        P@5 with the predicted labels shifted by -1 and by +1.
    filter_pairs : int or None
        Predictions that the filter excludes; None without a filter.
    faults, warnings : tuple of str
        Why ``score`` would refuse the two files together; what is likely a mistake.
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


def inspect_pair(
    truth: FileInspection,
    scores: FileInspection,
    *,
    names: Names | None = None,
    filter: Filter | None = None,  # noqa: A002 - the field's word
    training: Training | None = None,
    max_line: int = MAX_LINE,
    threads: int | None = None,
) -> PairInspection:
    """Compare predictions with a truth.

    Parameters
    ----------
    truth, scores : FileInspection
        The two files.
    names : Names, optional
        Names of the labels, where the files have names instead of numbers.
    filter : Filter, optional
        Pairs of row and label that the predictions should not contain.
    training : Training, optional
        Counts of the training labels.
    max_line : int
        The longest line of a text file, in MiB.
    threads : int, optional
        Default: one per processor.
    """
    is_same_file = Path(truth.path).resolve() == Path(scores.path).resolve()
    warnings = [f"{truth.path} and {scores.path} are the same file"] if is_same_file else []
    warnings += _check_training(truth, training)
    faults = tuple(_check_sizes(truth, scores, training))
    if faults or truth.faults or scores.faults:
        return PairInspection(truth.path, scores.path, faults=faults, warnings=tuple(warnings))
    try:
        tally = _tally_hits(truth.path, scores.path, names, filter, max_line, threads)
    except DataError as error:
        return PairInspection(truth.path, scores.path, faults=(str(error),), warnings=tuple(warnings))
    warnings += () if is_same_file else _check_hits(tally, truth, scores)
    if tally.n_filtered:
        warnings.append(
            f"the filter is not applied: it excludes {counted(tally.n_filtered, 'prediction')} of {scores.path} "
            "(hint: pass --filter to score)"
        )
    below, precision, above = tally.precisions
    return PairInspection(
        truth.path,
        scores.path,
        precision=precision,
        precision_at_1=tally.precision_at_1,
        chance=tally.chance,
        shifted=(below, above),
        filter_pairs=None if filter is None else tally.n_filtered,
        warnings=tuple(warnings),
    )


def _check_sizes(truth: FileInspection, scores: FileInspection, training: Training | None) -> Iterator[str]:
    """Compare the numbers of rows and labels."""
    if truth.n_rows != scores.n_rows:
        yield (
            f"{truth.path} has {counted(truth.n_rows, 'row')}, {scores.path} has {counted(scores.n_rows, 'row')}; "
            + _explain_rows(truth, scores, training)
        )
    elif truth.announced and scores.largest_label >= truth.n_labels:
        label = scores.largest_label
        if scores.n_labels == truth.n_labels + 1 and scores.announced:
            yield f"{scores.path} has one column more than {truth.path}, with entries that belong to no label"
        else:
            hint = "; are the labels 1-based?" if label == truth.n_labels else ""
            yield (
                f"{scores.path} has label {label}, outside 0..{truth.n_labels - 1} "
                f"({truth.path} has {counted(truth.n_labels, 'label')}{hint})"
            )


def _explain_rows(truth: FileInspection, scores: FileInspection, training: Training | None) -> str:
    """Explain why the numbers of rows differ."""
    if truth.announced and (truth.n_rows, truth.n_labels) == (scores.n_labels, scores.n_rows):
        return "one of them is transposed: rows are instances, columns are labels"
    if training is not None and scores.n_rows == training.n_rows:
        return "the predictions are for the training instances"
    if training is not None and truth.n_rows == training.n_rows:
        return "the truth has as many rows as the training labels: is it the training set?"
    return "expected the same instances in both"


def _check_training(truth: FileInspection, training: Training | None) -> Iterator[str]:
    """Compare the truth with the training labels."""
    if training is None:
        return
    if truth.announced and training.counts.size != truth.n_labels:
        yield (
            f"the training file has {counted(training.counts.size, 'label')}, {truth.path} has "
            f"{counted(truth.n_labels, 'label')}: do they belong to the same data set?"
        )
    if truth.n_rows == training.n_rows and truth.n_entries == int(training.counts.sum()):
        yield f"{truth.path} has as many rows and entries as the training labels: is it the training set?"


def _check_hits(tally: _HitTally, truth: FileInspection, scores: FileInspection) -> Iterator[str]:
    """Check the hits for signs of a mistake."""
    below, precision, above = tally.precisions
    n_rows = max(tally.n_rows, 1)
    readings = (
        (below, "decreased by 1", "1-based, those of the truth 0-based"),
        (above, "increased by 1", "0-based, those of the truth 1-based"),
    )
    for shifted, change, bases in readings:
        if shifted > MUCH_BETTER * precision and shifted * DEPTH * n_rows >= DEPTH:
            yield (
                f"P@{DEPTH} is {precision:.2%}, but {shifted:.2%} with every predicted label {change}: the labels of "
                f"{scores.path} are {bases}"
            )
            return
    first, chance = tally.precision_at_1, tally.chance
    noise = 2 * (chance / n_rows) ** 0.5 + 2 / n_rows
    has_entries = truth.n_entries and scores.n_entries
    if n_rows > MIN_CHANCE_ROWS and has_entries and first < NEAR_CHANCE * chance + noise:
        yield (
            f"P@1 is {first:.2%}, and {chance:.2%} for rows in random order: are the rows shuffled, or the labels "
            "numbered differently?"
        )
    if precision > 0 and first == 1.0 and scores.n_entries == truth.n_entries:
        yield f"all best labels of {scores.path} are true, and it has as many entries as {truth.path}: is it the truth?"


class _HitTally:
    """Hits of the best labels, as predicted and with the labels shifted, added up over blocks.

    ``true`` counts the true labels, ``first`` the best label of each row.
    """

    def __init__(self, truth: Source, scores: Source, filter: Filter | None) -> None:  # noqa: A002 - the field's word
        self.n_rows = self.n_filtered = 0
        self.true, self.first = LabelCounts(), LabelCounts()
        self._hits: Int64 = np.zeros(len(SHIFTS), dtype=np.int64)
        self._first_hits = 0
        self._widths, self._filter = (declared_width(truth), declared_width(scores)), filter
        self._lock = threading.Lock()

    @property
    def precisions(self) -> list[float]:
        """P@5 for each of SHIFTS."""
        return [int(hits) / (DEPTH * max(self.n_rows, 1)) for hits in self._hits]

    @property
    def precision_at_1(self) -> float:
        """P@1."""
        return self._first_hits / max(self.n_rows, 1)

    @property
    def chance(self) -> float:
        """Expected P@1 of the same predictions with the rows in random order."""
        n_rows = max(self.n_rows, 1)
        (ids, n_first), (true_ids, n_true) = self.first.table(), self.true.table()
        labels = ids if ids.size else np.flatnonzero(n_first)
        n_first = n_first if ids.size else n_first[labels]
        counts = np.zeros(labels.size)
        if true_ids.size:
            places = np.minimum(np.searchsorted(true_ids, labels), true_ids.size - 1)
            counts[:] = np.where(true_ids[places] == labels, n_true[places], 0)
        elif n_true.size:
            counts[:] = np.where(labels < n_true.size, n_true[np.minimum(labels, n_true.size - 1)], 0)
        return float((n_first * counts).sum() / n_rows / n_rows)

    def add(self, scratch: tuple[Scratch, Scratch], blocks: tuple[Block, ...]) -> None:
        """Count the hits of the same rows of truth and scores; called from several threads."""
        true, _ = validated_truth(blocks[0], scratch[0], self._widths[0])
        predicted = validated_scores(blocks[1], scratch[1], self._widths[1])
        n_filtered = 0
        if self._filter is not None:
            n_filtered, _ = self._filter.apply(blocks[1].first_row, predicted, remove=False)
        ranked, n_ranked = _rank(predicted)
        hits = [_find_hits(true, ranked + shift, n_ranked) for shift in SHIFTS]
        with self._lock:
            self.n_rows += n_ranked.size
            self.n_filtered += n_filtered
            self.true.add(n_ranked.size, true.indices[: true.indptr[-1]])
            self.first.add(n_ranked.size, ranked[n_ranked > 0, 0])
            self._hits += [int(np.count_nonzero(shifted)) for shifted in hits]
            self._first_hits += int(np.count_nonzero(hits[SHIFTS.index(0)][:, 0]))


def _tally_hits(
    truth_path: str,
    scores_path: str,
    names: Names | None,
    filter: Filter | None,  # noqa: A002 - the field's word
    max_line: int,
    threads: int | None,
) -> _HitTally:
    """Read both files in step and count hits."""
    truth = open_either(truth_path, "truth", names=names, max_line=max_line).source
    scores = open_either(scores_path, "scores", names=names, max_line=max_line).source
    tally = _HitTally(truth, scores, filter)
    each_block(iter(Lockstep(truth, [scores])), lambda: (Scratch(), Scratch()), tally.add, threads)
    return tally


def _rank(scores: Rows) -> tuple[Int64, Int64]:
    """Return the best labels of each row, and how many there are."""
    n_rows = scores.indptr.size - 1
    ranked, n_ranked = np.empty((n_rows, DEPTH), dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    top_k(tuple(scores), (ranked, np.empty((n_rows, DEPTH)), n_ranked))
    return ranked, n_ranked


def _find_hits(true: Rows, labels: Int64, n_ranked: Int64) -> NDArray[np.bool_]:
    """Return which ranked labels are true."""
    n_rows = n_ranked.size
    indices = true.indices[: true.indptr[-1]]
    # True labels ascend within each row, so that row and label in one number ascend over the block.
    keys = (np.repeat(np.arange(n_rows), np.diff(true.indptr)) << LABEL_BITS) + indices
    if keys.size == 0:
        return np.zeros((n_rows, DEPTH), dtype=np.bool_)
    wanted = (np.arange(n_rows)[:, None] << LABEL_BITS) + labels
    is_true = keys[np.minimum(np.searchsorted(keys, wanted), keys.size - 1)] == wanted
    return np.asarray(is_true & (labels >= 0) & (np.arange(DEPTH) < n_ranked[:, None]))
