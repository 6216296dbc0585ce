"""The public functions: score matrices or files, and one function for each metric that people ask for by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.api.inputs import (
    Door,
    Model,
    check_choices,
    check_narrow,
    check_ties,
    check_training,
    filter_of,
    fit,
    weight_warnings,
    weights_of,
    width_of,
    without_propensities,
)
from xmceval.errors import DataError, UsageError, counted, listed
from xmceval.files.names import read_names
from xmceval.labels.bins import as_bins
from xmceval.labels.catalogue import Dataset, find_dataset
from xmceval.labels.propensity import Propensities
from xmceval.metrics.names import parse
from xmceval.metrics.table import DECISION_NAMES, DEFAULT_CUTOFFS, DEFAULT_NAMES
from xmceval.report.result import Result, make_result
from xmceval.rows.block import Float64, Source
from xmceval.rows.filters import Filter, FilterReport
from xmceval.rows.threads import Progress
from xmceval.rows.width import UNKNOWN, Width
from xmceval.scoring.evaluate import evaluate
from xmceval.scoring.program import Program, compile_program
from xmceval.scoring.totals import EMPTY_ROWS, ROWS, Totals
from xmceval.scoring.worker import Terms


def prepare(
    y_true: Any,
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
) -> Setup:
    """Do once what several systems on the same truth share; the parameters are those of `score`."""
    is_several = isinstance(k, Iterable) and not isinstance(k, str) and getattr(k, "ndim", 1) > 0
    cutoffs: list[Any] = list(k) if is_several else [k]  # type: ignore[arg-type]
    names = (DEFAULT_NAMES if threshold is None else DECISION_NAMES) if metrics is None else metrics
    program = compile_program(parse(names, cutoffs))
    check_choices(empty_rows=empty_rows, unscored=unscored, duplicates=duplicates, ties=ties)
    if by_frequency is not None and ties != "label":
        raise UsageError(f"shares by frequency follow the order by label; they do not go with ties={ties}")
    check_ties(program, ties)
    entry = None if dataset is None else find_dataset(dataset)
    notes, warnings = list[str](), list[str]()
    if threshold is not None:
        if np.isnan(threshold):
            raise UsageError("the threshold is NaN; expected a number")
        if not any(measure.metric.family == "confusion" for measure in program.measures):
            warnings.append("the threshold has no effect: no metric of decisions was asked for")
    if n_train is not None and counts is None:
        raise UsageError("n_train (--n-train) goes with counts (--counts), and there are none")
    if inverse_propensities is not None and (a is not None or b is not None):
        raise UsageError("A and B has no effect for inverse propensities that are given: leave one of them out")
    door = Door(None if labels is None else read_names(labels), duplicates, n_labels, notes)
    truth = door.truth(y_true, "y_true")
    width = width_of(truth, n_labels)
    if door.names is not None:
        width = fit(width, len(door.names), door.names.source)
    propensities: Propensities | None = None
    if program.needs_propensities or by_frequency is not None:
        given_by = {"train": train, "counts": counts, "inverse_propensities": inverse_propensities}
        model = Model.of(entry, a, b)
        width, propensities = model.weigh(truth, given_by, n_train, width, threads, door, warnings)
    check_training(program, propensities)
    if propensities is None and program.needs_propensities:
        program = without_propensities(program, warnings)
    if program.deepest > width.n_labels:
        raise DataError(f"k = {program.deepest} is above the number of labels: {width.said_by} {width.n_labels:,}")
    weights, weight_unit = (None, 1.0) if sample_weight is None else weights_of(sample_weight, truth)
    warnings.extend(weight_warnings(weights))
    pairs = filter_of(filter, filter_truth, truth, width)
    return Setup(
        *(truth, width, program, propensities, empty_rows, threads, tuple(notes), tuple(warnings)),
        by_frequency=by_frequency,
        ceiling=ceiling,
        ties=ties,
        weights=weights,
        weight_unit=weight_unit,
        unscored=unscored,
        threshold=threshold,
        filter=pairs,
        filter_truth=filter_truth,
        entry=entry,
        door=door,
    )


@dataclass(frozen=True)
class Setup:
    """A truth and how to score systems on it."""

    truth: Source
    width: Width
    program: Program
    propensities: Propensities | None
    empty_rows: str
    threads: int | None
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    by_frequency: int | str | Sequence[int | str] | None = None
    ceiling: bool = False
    ties: str = "label"
    weights: Float64 | None = None
    weight_unit: float = 1.0
    unscored: str = "bottom"
    threshold: float | None = None
    filter: Filter | None = None
    filter_truth: bool = False
    entry: Dataset | None = None
    door: Door = field(default_factory=Door)

    def score(self, y_score: Any, *, name: str | None = None, progress: Progress | None = None) -> Result:
        """Score one system; the parameters are those of `score`."""
        notes = list(self.notes)
        scores, width = self.door.scores(y_score, self.truth, self.width.n_labels, notes), self.width
        if scores.is_exact and scores.n_labels is not None:
            if width.n_labels == UNKNOWN:
                width = Width(scores.n_labels, f"{scores.name} has")
            elif scores.n_labels != width.n_labels:
                raise DataError(
                    f"{scores.name} has {counted(scores.n_labels, 'column')}, "
                    f"but {width.said_by} {counted(width.n_labels, 'label')}"
                )
        if self.program.needs_labels and width.n_labels == UNKNOWN:
            names = [str(measure) for measure in self.program.measures if measure.metric.needs_labels]
            raise DataError(
                f"{listed(names)}: nothing announces the number of labels, which is needed (hint: n_labels, --n-labels)"
            )
        if self.threshold is not None and not isinstance(y_score, (str, Path)):
            check_narrow(y_score)
        if self.by_frequency is not None and width.n_labels == UNKNOWN:
            raise DataError("bins by frequency need the number of labels (hint: n_labels, --n-labels)")
        bins = None
        if self.by_frequency is not None and self.propensities is not None:
            bins = as_bins(self.by_frequency, self.propensities, width.n_labels)
        totals, seen = evaluate(
            self.truth,
            scores,
            self.program,
            self.propensities,
            width=width,
            threads=self.threads,
            terms=Terms(
                drop_empty=self.empty_rows == "drop",
                weights=self.weights,
                zero_unscored=self.unscored == "zero",
                threshold=-np.inf if self.threshold is None else self.threshold,
                filter=self.filter,
                filter_truth=self.filter_truth,
                ties=self.ties,
                bins=bins,
            ),
            progress=progress,
        )
        if self.filter is not None:
            self.filter.check_labels(width)
        doubts = self._doubts(totals, None if width.n_labels == UNKNOWN else width.n_labels)
        if width.n_labels == UNKNOWN:
            width = Width(seen, "the largest label in any file + 1 is")
            notes.append(f"nothing announces the number of labels: {width.said_by} {seen:,}")
            if self.program.deepest > seen:
                raise DataError(f"k = {self.program.deepest} is above the number of labels: {width.said_by} {seen:,}")
        return make_result(
            name or scores.name,
            self.program,
            totals,
            width.n_labels,
            self.propensities,
            empty_rows=self.empty_rows,
            warnings=(*self.warnings, *doubts, *self.truth.warnings, *scores.warnings),
            has_threshold=self.threshold is not None,
            weight_unit=self.weight_unit,
            notes=tuple(notes),
            filtered=self._filtered(totals),
            bins=bins,
            ceiling=self.ceiling,
        )

    def _doubts(self, totals: Totals, n_labels: int | None) -> tuple[str, ...]:
        """Say where the data do not fit the data set that was named."""
        if self.entry is None:
            return ()
        known = self.propensities
        n_train = known.n if known is not None and not known.from_truth else None
        n_test = int(totals.counts[ROWS]) + (int(totals.counts[EMPTY_ROWS]) if self.empty_rows == "drop" else 0)
        is_filtered = self.filter is not None
        return tuple(self.entry.mismatches(n_train=n_train, n_test=n_test, n_labels=n_labels, is_filtered=is_filtered))

    def _filtered(self, totals: Totals) -> FilterReport | None:
        known = self.filter
        if known is None:
            return None
        return FilterReport(known.name, known.rows.size, known.n_rows, *totals.filtered, self.filter_truth)
