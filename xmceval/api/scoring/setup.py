"""Setup: a truth, opened once, and how systems are scored on it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.api.files.fuse import Fused
from xmceval.api.scoring.finishing import check_dataset, find_sizes
from xmceval.api.scoring.inputs import (
    Opener,
    check_common_labels,
    check_narrow,
    find_filter,
    is_same,
)
from xmceval.api.scoring.openshards import Input, check_inputs
from xmceval.api.scoring.propensities import PropensityLookup, find_propensities, fit_program
from xmceval.api.scoring.weights import read_weights
from xmceval.errors import DataError, argument, listed
from xmceval.files.io.paths import as_input
from xmceval.labels.bins import make_bins
from xmceval.labels.propensity import NO_PROPENSITIES, Propensities
from xmceval.report.result import Result, make_result
from xmceval.rows.block import Source
from xmceval.rows.matrices.storage import rounded
from xmceval.rows.threads import Progress
from xmceval.scoring.batch import Terms
from xmceval.scoring.evaluate import System, doubt_header, evaluate
from xmceval.scoring.observing.observers import Observer
from xmceval.scoring.options import Options
from xmceval.scoring.program import Program, compile_program
from xmceval.scoring.spec import input_name
from xmceval.scoring.totals import Totals

Engine = Callable[..., list[Totals]]


@dataclass(frozen=True)
class Named:
    """A system to score: its predictions, and its name in reports; default that of the file."""

    y_score: Any
    name: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "y_score", as_input(self.y_score))


@dataclass(frozen=True)
class Opened:
    """A system whose scores are open, and on what terms it is scored; `file` is how reports call the scores."""

    name: str
    file: str
    scores: Input
    terms: Terms
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Setup:
    """A truth and how to score systems on it.

    Attributes
    ----------
    options : Options
    opener : Opener
        Opens the scores of systems.
    truth : Input
    truth_name : str
        How reports call it.
    program : Program
        What to compute.
    terms : Terms
        How rows are scored; the width and the bins are those of the truth, as far as they are known.
    notes, warnings : tuple of str
        What was inferred from the files; what a reader must know before trusting the numbers.
    frequencies : Propensities
        From training counts, where anything needs them.
    engine : callable
        Turns opened systems into totals, as `evaluate` does in threads of this process.
    """

    options: Options
    opener: Opener
    truth: Input
    truth_name: str
    program: Program
    terms: Terms
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    frequencies: Propensities = NO_PROPENSITIES
    engine: Engine = evaluate

    @classmethod
    def of(
        cls,
        y_true: Any,
        options: Options,
        systems: Sequence[Named] = (),
        *,
        needs_counts: bool = False,
        max_weight: float | None = None,
        engine: Engine = evaluate,
    ) -> Setup:
        """Open a truth, and find propensities, weights and filters; first check that all files exist.

        With `needs_counts`, training counts are also found where no metric needs them; `max_weight` is the scale of
        sample weights.
        """
        y_true = as_input(y_true)
        check_inputs(y_true, [each for system in systems for each in _inputs(system.y_score)], options.files)
        program = compile_program(options.measures)
        program.check_ties(options.ties)
        opener = Opener.of(options)
        truth = opener.truth(y_true, "y_true")
        check_common_labels(
            truth.judgments, options.train, options.counts, options.inverse_propensities, options.filter
        )
        lookup = PropensityLookup(opener.width(truth.source), None)
        frequencies = NO_PROPENSITIES
        needs_propensities = program.needs_propensities or options.by_frequency is not None
        if needs_propensities or needs_counts:
            lookup = find_propensities(opener, truth.source, lookup.width)
            frequencies = lookup.propensities or NO_PROPENSITIES
            lookup = lookup if needs_propensities else PropensityLookup(lookup.width, None, lookup.notes)
        program = fit_program(program, lookup)
        lookup.width.check_cutoff(program.deepest)
        weights = read_weights(options.sample_weight, truth.source, max_weight)
        terms = Terms(
            width=lookup.width,
            propensities=lookup.propensities or NO_PROPENSITIES,
            weights=weights.values,
            weight_unit=weights.unit,
            filter=find_filter(options.filter, truth.source, lookup.width),
            filter_truth=options.filter_truth,
            drop_empty=options.empty_rows == "drop",
            zero_unscored=options.unscored == "zero",
            threshold=-np.inf if options.threshold is None else options.threshold,
            ties=options.ties,
        )
        warnings = (*doubt_threshold(options, program), *lookup.warnings, *weights.warnings)
        notes = (*truth.notes, *lookup.notes)
        name = input_name(y_true)
        return cls(options, opener, truth, name, program, terms, notes, warnings, frequencies, engine)

    def open_systems(self, systems: Sequence[Named]) -> list[Opened]:
        """Open the scores of systems."""
        opened = []
        for system in systems:
            scores = self.opener.scores(system.y_score, self.truth, self.terms.width)
            terms = self._terms_of(scores.source)
            name, file = system.name or scores.source.name, _scores_name(system.y_score)
            opened.append(Opened(name, file, scores, terms, tuple(self._warn_of_truth(system.y_score))))
        return opened

    def evaluate(
        self, opened: Sequence[Opened], observers: Sequence[Observer] = (), progress: Progress | None = None
    ) -> list[Totals]:
        """Return the totals of systems, and show the values of their rows to observers."""
        return self.engine(
            self.truth.source,
            [System(each.scores.source, each.terms) for each in opened],
            self.program,
            observers=observers,
            threads=self.options.threads,
            progress=progress,
        )

    def results(self, opened: Sequence[Opened], totals: Sequence[Totals]) -> list[Result]:
        """Finish the totals of systems."""
        return [self._result(each, its_totals) for each, its_totals in zip(opened, totals, strict=True)]

    def _warn_of_truth(self, y_score: Any) -> Iterator[str]:
        """Warn of predictions that are the file of the truth."""
        if any(isinstance(each, (str, Path)) and is_same(each, self.truth.source) for each in _inputs(y_score)):
            yield f"the predictions are {self.truth_name} itself: the values are those of a perfect model"

    def _terms_of(self, scores: Source) -> Terms:
        """Return the terms on which a system is scored: its own number of labels where the truth declares none."""
        width = self.terms.width
        if scores.is_exact and scores.n_labels is not None:
            width = width.agree(scores.n_labels, scores.name, "column")
        if self.program.needing_labels and not width.is_known:
            raise DataError(
                f"{listed(self.program.needing_labels)}: no input declares the number of labels, which is needed "
                f"(hint: pass {argument('n_labels')})"
            )
        if self.options.threshold is not None:
            check_narrow(scores)
        bins = None
        if self.options.by_frequency is not None:
            if not width.is_known:
                raise DataError(f"bins by frequency need the number of labels (hint: pass {argument('n_labels')})")
            if self.terms.propensities is not NO_PROPENSITIES:
                bins = make_bins(self.options.by_frequency, self.terms.propensities, width.n_labels)
        return replace(self.terms, width=width, bins=bins, threshold=rounded(self.terms.threshold, scores.dtype))

    def _result(self, opened: Opened, totals: Totals) -> Result:
        """Finish the totals of a system."""
        terms, notes = opened.terms, opened.scores.notes
        if terms.filter is not None:
            terms.filter.check_labels(terms.width)
        sizes = find_sizes(terms, totals)
        doubts = doubt_header(self.truth.source, System(opened.scores.source, terms), totals)
        width = terms.width.or_seen(totals.tally.largest_label)
        if not terms.width.is_known:
            notes = (*notes, f"no input declares the number of labels: {width.declared_by} {width.n_labels:,}")
        return make_result(
            opened.name,
            self.program,
            totals,
            replace(terms, width=width),
            self.options,
            truth=self.truth_name,
            scores=opened.file,
            warnings=(
                *self.warnings,
                *opened.warnings,
                *check_dataset(self.options, sizes, is_filtered=terms.filter is not None),
                *doubts,
                *self.truth.source.warnings,
                *opened.scores.source.warnings,
            ),
            notes=(*self.notes, *notes, *self.program.remarks(totals.parts, width.n_labels)),
            sizes=sizes,
        )


def _inputs(y_score: Any) -> Sequence[Any]:
    """Return the scores, or those that they are made of: of the systems that are fused, of the runs of a system."""
    if isinstance(y_score, Fused):
        return [each for system in y_score.systems for each in _inputs(system)]
    return y_score if isinstance(y_score, list) else [y_score]


def _scores_name(y_score: Any) -> str:
    """Return how reports call scores."""
    if not isinstance(y_score, Fused):
        return input_name(y_score)
    weights = f" with weights {listed(f'{weight:g}' for weight in y_score.weights)}" if y_score.weights else ""
    return f"{listed(map(_scores_name, y_score.systems))} fused by {y_score.by}{weights}"


def doubt_threshold(options: Options, program: Program) -> tuple[str, ...]:
    """Warn of a threshold that no metric uses."""
    has_decisions = any(measure.metric.family == "confusion" for measure in program.measures)
    if options.threshold is None or has_decisions:
        return ()
    return ("the threshold has no effect: no metric of decisions was requested",)
