"""Evaluations: what an Evaluator has between batches: its configuration, the number of labels, and the totals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.api.scoring.inputs import (
    Opener,
    check_narrow,
    find_filter,
    find_propensities,
    hint_at_lists,
    numbers,
    unit_of,
)
from xmceval.api.scoring.openshards import check_inputs
from xmceval.api.scoring.setup import doubt_threshold, fit_program
from xmceval.errors import DataError, UsageError, argument, counted, listed
from xmceval.labels.bins import make_bins
from xmceval.labels.propensity import NO_PROPENSITIES
from xmceval.metrics.measure import Measure
from xmceval.rows.block import Float64, Source
from xmceval.rows.matrices.matrices import as_truth
from xmceval.rows.matrices.storage import rounded
from xmceval.rows.repairs import RepairedSource
from xmceval.rows.sources import BatchSource
from xmceval.rows.width import Width
from xmceval.scoring.batch import NO_WEIGHTS, Terms
from xmceval.scoring.evaluate import select_scores
from xmceval.scoring.options import SOURCES, Options
from xmceval.scoring.program import Program, compile_program
from xmceval.scoring.states.accumulator import Accumulator
from xmceval.scoring.states.state import State, new_lineage, own_version
from xmceval.scoring.states.statedocument import recorded_options
from xmceval.scoring.states.stateparts import Part, join_parts
from xmceval.scoring.totals import empty

WHAT = "Evaluator"
NAME = "this Evaluator"
NO_RANGE = (np.inf, 0.0)


class Evaluation:
    """The rows of an Evaluator so far, and how more are added; one thread at a time.

    Parameters
    ----------
    state : State
        To go on from.
    threads : int, optional
        For large batches.
    """

    def __init__(self, state: State, threads: int | None = None) -> None:
        self._opener, self._threads = Opener(state.options), threads
        self.take(state)
        self._n_batches = 0
        self.batches_before = self.rows_before = 0  # where others add those to a state of their own

    @classmethod
    def of(cls, options: Options, max_weight: float | None, threads: int | None) -> Evaluation:
        """Find propensities and filter; there are no rows yet."""
        check_inputs(None, (), options.files)
        program = compile_program(options.measures)
        program.check_mergeable(WHAT)
        program.check_ties(options.ties)
        opener, no_rows = Opener(options), as_truth([])
        width, propensities = opener.width(no_rows), None
        warnings, notes = doubt_threshold(options, program), tuple[str, ...]()
        if program.needs_propensities or options.by_frequency is not None:
            _check_sources(options, program.measures)
            weighing = find_propensities(opener, no_rows, width)
            program = fit_program(program, weighing)
            width, propensities, notes = weighing.width, weighing.propensities, weighing.notes
            warnings = (*warnings, *weighing.warnings)
        terms = Terms(
            propensities=propensities or NO_PROPENSITIES,
            weights=None if max_weight is None else NO_WEIGHTS,
            weight_unit=1.0 if max_weight is None else unit_of(max_weight),
            filter=find_filter(options.filter, None, width),
            filter_truth=options.filter_truth,
            drop_empty=options.empty_rows == "drop",
            zero_unscored=options.unscored == "zero",
            threshold=-np.inf if options.threshold is None else options.threshold,
            ties=options.ties,
            digests_rows=True,
        )
        if width.is_known:
            terms = _with_width(terms, width, program, options)
        options = recorded_options(options.changed())
        totals = empty(program, terms)
        state = State(NAME, options, program, terms, totals, (), warnings, notes, max_weight=max_weight)
        return cls(state, threads)

    @property
    def state(self) -> State:
        """The state of all rows so far."""
        own = (Part(n_rows=self._n_new, system=self._system),) if self._system else ()
        return replace(
            self._base,
            terms=self._terms,
            totals=self._accumulator.totals,
            parts=join_parts(self._base.parts, own),
            weight_range=self._weight_range,
            removed=self._removed,
            lineage=self._lineage,
        )

    def take(self, state: State) -> None:
        """Go on from another state of this configuration."""
        self._base, self._terms = state, state.terms
        self._accumulator = Accumulator(state.program, state.terms, self._threads, state.totals)
        self._weight_range, self._removed, self._lineage = state.weight_range, state.removed, state.lineage
        self._n_new, self._system = 0, ""

    def clear(self) -> None:
        """Forget all rows; the working space is kept."""
        totals = empty(self._base.program, self._terms)
        self._base = replace(self._base, parts=(), totals=totals, version=own_version())
        self._accumulator.clear(self._base.totals)
        self._weight_range, self._removed, self._lineage = NO_RANGE, (0, 0), frozenset[str]()
        self._n_new, self._system, self._n_batches = 0, "", 0

    def add(self, y_true: Any, y_score: Any, sample_weight: Any) -> None:
        """Add a batch; after an error nothing of it was added."""
        self._check_growing()
        for name, matrix in (("y_true", y_true), ("y_score", y_score)):
            if isinstance(matrix, (str, Path)):
                raise UsageError(f"{name} is a path; an {WHAT} takes matrices (hint: xmceval.score takes files)")
        width = self._terms.width
        opened = self._opener.truth(y_true, "y_true", width)
        scores = self._opener.scores(y_score, opened, width).source
        number = self.batches_before + self._n_batches + 1
        first_row = self.rows_before + self._base.n_rows + self._n_new
        truth, predictions = (BatchSource(source, first_row, number) for source in (opened.source, scores))
        weights = self._read_weights(sample_weight, truth)
        if self._base.options.threshold is not None:
            check_narrow(scores.source if isinstance(scores, RepairedSource) else scores)
        before = self._terms, self._accumulator
        try:
            self._agree(truth, predictions, hint_at_lists(opened))
            predictions.source = select_scores(self._base.program, self._terms, scores)
            self._accumulator.add(truth, predictions, self._terms_of(scores, weights, first_row))
        except BaseException:
            self._terms, self._accumulator = before
            raise
        self._note(opened.source, scores, weights)

    def _note(self, truth: Source, scores: Source, weights: Float64 | None) -> None:
        """Count what was added beside the totals."""
        self._n_batches += 1
        self._lineage = self._lineage or new_lineage()
        self._n_new += truth.n_rows or 0
        self._system = self._system or scores.name
        if isinstance(truth, RepairedSource) and isinstance(scores, RepairedSource):
            self._removed = self._removed[0] + truth.n_removed, self._removed[1] + scores.n_removed
        if weights is not None:
            used, (least, greatest) = weights[weights > 0], self._weight_range
            self._weight_range = float(used.min(initial=least)), float(used.max(initial=greatest))

    def _check_growing(self) -> None:
        """Refuse to add rows to totals that do not have all that this takes, or that another version made."""
        base, own = self._base, own_version()
        if base.version != own:
            raise UsageError(
                f"{base.name} was saved by xmceval {base.version}, and this is {own}: no rows can be added, as their "
                "values may differ (hint: score all rows with one version)"
            )
        if not base.is_whole:
            raise UsageError(
                f"{base.name} is of {argument('save_state')}, which writes totals only, so no rows can be added "
                f"(hint: update another {WHAT} of the same options, and merge it with this one)"
            )

    def _agree(self, truth: BatchSource, scores: BatchSource, hint: str) -> None:
        """Take the number of labels from a batch, or check it against that of earlier ones.

        Raises
        ------
        DataError
            Another number, or none where one is needed.
        """
        width = self._terms.width
        for source, noun in ((truth, "label"), (scores, "column")):
            if source.is_exact and source.n_labels is not None:
                width = width.agree(source.n_labels, source.name, noun)
        program, options = self._base.program, self._base.options
        if width is self._terms.width:
            if not width.is_known:
                _check_unknown(program, options)
            return
        totals = self._accumulator.totals
        if totals.tally.largest_label >= width.n_labels:
            raise DataError(f"earlier batches have label {totals.tally.largest_label}, but {width}{hint}")
        self._terms = _with_width(self._terms, width, program, options)
        wider = empty(program, self._terms)
        has_rows = self._base.n_rows + self._n_new > 0  # also those of a file, or of another Evaluator
        totals = wider.merge(totals) if has_rows else wider
        self._accumulator = Accumulator(program, self._terms, self._threads, totals)

    def _terms_of(self, scores: Source, weights: Float64 | None, first_row: int) -> Terms:
        """Return the terms of a batch: with its weights, and the threshold in the type of its scores."""
        terms = self._terms
        if self._base.options.threshold is not None:
            terms = replace(terms, threshold=rounded(terms.threshold, scores.dtype))
        if weights is not None:
            terms = replace(terms, weights=weights / terms.weight_unit, weights_from=first_row)
        return terms

    def _read_weights(self, sample_weight: Any, truth: BatchSource) -> Float64 | None:
        """Check the sample weights of a batch."""
        greatest, name = self._base.max_weight, f"sample_weight of batch {truth.number}"
        if greatest is None or sample_weight is None:
            if sample_weight is not None:
                raise UsageError(f"{name}: pass max_weight to the {WHAT}, the largest weight that may come")
            if greatest is not None:
                raise UsageError(f"batch {truth.number} has no sample_weight, but max_weight was passed")
            return None
        weights, _ = numbers(sample_weight, name, "row")
        if weights.size != truth.n_rows:
            raise DataError(
                f"{name} has {counted(weights.size, 'number')}, but {truth.name} {counted(truth.n_rows or 0, 'row')}; "
                "expected one weight per row"
            )
        wrong = np.flatnonzero(~((weights >= 0) & (weights <= greatest)))
        if wrong.size:
            row = int(wrong[0])
            raise DataError(
                f"{name}: the weight of row {row} is {weights[row]:g}; expected a number from 0 to {greatest:g} "
                "(max_weight)"
            )
        return weights


def _check_sources(options: Options, measures: Sequence[Measure]) -> None:
    """Refuse metrics that need propensities where there is no source of them."""
    if all(getattr(options, name) is None for name in SOURCES):
        asking = [measure for measure in measures if measure.needs_propensities]
        what = f"{listed(asking)} need" if len(asking) > 1 else f"{asking[0]} needs" if asking else "by_frequency needs"
        raise UsageError(
            f"{what} {', '.join(SOURCES[:-1])} or {SOURCES[-1]}: an {WHAT} never estimates propensities from batches "
            "(hint: pass one of them, or other metrics)"
        )


def _check_unknown(program: Program, options: Options) -> None:
    """Refuse what needs the number of labels, where nothing declares it."""
    needing: list[object] = [*program.needing_labels]
    needing += ["by_frequency"] if options.by_frequency is not None else []
    if needing:
        raise DataError(f"{listed(needing)}: no batch declares the number of labels (hint: pass n_labels)")


def _with_width(terms: Terms, width: Width, program: Program, options: Options) -> Terms:
    """Return terms with the number of labels, and with the bins that depend on it."""
    width.check_cutoff(program.deepest)
    if terms.filter is not None:
        terms.filter.check_labels(width)
    bins = None
    if options.by_frequency is not None and terms.propensities is not NO_PROPENSITIES:
        bins = make_bins(options.by_frequency, terms.propensities, width.n_labels)
    return replace(terms, width=width, bins=bins)
