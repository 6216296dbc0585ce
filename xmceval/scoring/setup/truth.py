"""Open the truth, then the predictions, with the functions of `inputs`, and make the Setup before reading rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from xmceval.errors import DataError, Doubt, UsageError, XmcevalError, argument, listed
from xmceval.files.io.streams import Stamp
from xmceval.files.opened import Opened
from xmceval.files.shards import find_shards
from xmceval.files.sidecars.values import names_beside_ids, read_names
from xmceval.labels.propensity import NO_IDS, NO_PROPENSITIES
from xmceval.metrics.table import DECISION_NAMES
from xmceval.rows.filters import LabelSubset
from xmceval.rows.ids import RowIds
from xmceval.rows.matrices.source import check_narrow
from xmceval.rows.names import Axis, first_named
from xmceval.rows.nouns import OF_LABELS, OF_QUERIES
from xmceval.rows.source import Source, agreed_width
from xmceval.scoring.compile import compile_program, without_propensities
from xmceval.scoring.options import Options, input_name
from xmceval.scoring.setup.inputs import are_same, open_scores, open_truth
from xmceval.scoring.setup.joins import KnownLabels, check_numbers, find_subset, find_width, refuse_reordered
from xmceval.scoring.setup.propensities import add_propensities
from xmceval.scoring.setup.resolve import Inputs, System, count_scored_labels, resolve_inputs
from xmceval.scoring.setup.setup import OpenedSystem, Program, Setup

if TYPE_CHECKING:
    from xmceval.files.sidecars.filters import NamedPairs
    from xmceval.scoring.setup.per_row import PerRow


@dataclass(frozen=True)
class OpenedTruth:
    """A truth, opened once, and how systems are scored on it."""

    setup: Setup  # with the width of the truth, if known; without bins
    input: Opened
    name: str  # its name in reports
    known: KnownLabels  # how truth, training labels and ``labels=`` name labels
    per_row: PerRow | None = None  # ids, weights and groups of rows, if any were passed
    named_pairs: NamedPairs | None = None  # a filter by query; its labels are known after predictions are read
    executor: Executor | None = None  # scores rows in parts; default threads of this process
    stamps: Mapping[Path, Stamp | None] = field(default_factory=dict)  # of truth and scores, before they were opened

    @classmethod
    def of(
        cls,
        y_true: Any,
        options: Options,
        systems: Sequence[System] = (),
        *,
        max_weight: float | None = None,
        executor: Executor | None = None,
    ) -> OpenedTruth:
        """Open a truth, and prepare propensities, weights and filters; first check that all files exist.

        `max_weight` is the scale of sample weights.
        """
        if executor is not None:
            _check_executor(executor, options)
        inputs = resolve_inputs(y_true, systems, options)
        program = compile_program(options.measures)
        if options.ties != "label":
            program.check_ties(options.ties)
        names = None
        if options.labels is not None:
            names = read_names(options.labels)
        known = KnownLabels(listed=names, n_columns=count_scored_labels(run.input for run in inputs.runs))
        truth = open_truth(inputs.truth, options, known)
        warnings: tuple[str, ...] = ()
        if options.missing != "zero":
            truth, warnings = _keep_queries(inputs, options, known, truth)
        nouns = OF_LABELS
        if truth.judgments is not None:
            nouns = OF_QUERIES
            options = with_query_metrics(options)
            program = compile_program(options.measures)
        if truth.documents is not None:
            _check_numbers(program, truth, options)
        elif options.unknown_labels == "miss" and names is None:
            option = argument("unknown_labels", "miss")
            raise UsageError(f"{option} has no effect without {argument('labels')}, the names of the labels")
        per_row = None
        groups = None
        weights = None
        lines: tuple[str, ...] = ()
        if any(value is not None for value in (options.row_ids, options.sample_weight, options.by_group)):
            from xmceval.scoring.setup.per_row import read_per_row  # not loaded by a score without them

            per_row = read_per_row(options, truth)
            truth = per_row.truth
            groups = per_row.groups
            weights = per_row.weights
            lines = per_row.lines
        known = known.after(truth)
        setup = find_setup(options, program, inputs.train, known, truth, weights=weights, max_weight=max_weight)
        named_pairs = None
        if options.filter is not None and truth.judgments is not None:
            from xmceval.files.sidecars.filters import read_named_pairs  # not loaded by a score without a filter

            named_pairs = read_named_pairs(options.filter, truth.judgments)
        known = known.named_by(setup.labels)
        labels = known.named_axis
        if names is not None and not isinstance(options.labels, (str, Path)):
            labels = names.axis
        setup = replace(
            setup,
            groups=groups,
            nouns=nouns,
            inputs=(truth.line, *setup.inputs, *lines),
            labels=labels,
            labels_by="position" if known.unnamed else "",
            warnings=(*warnings, *setup.warnings),
        )
        return cls(setup, truth, inputs.name, known, per_row, named_pairs, executor, inputs.stamps)

    @property
    def row_ids(self) -> RowIds | None:
        """The row ids, if any: those passed, or the queries of the truth."""
        if self.per_row is not None and self.per_row.ids is not None:
            return self.per_row.ids
        if self.input.judgments is not None:
            return self.input.judgments.row_ids
        return None

    def open_systems(self, systems: Sequence[System]) -> list[OpenedSystem]:
        """Open the scores of systems; these may name rows and labels even if the truth does not."""
        setup = self.setup
        known = replace(self.known, width=setup.width)
        rows = None
        if self.per_row is not None:
            rows = self.per_row.rows
        width = setup.width  # which the systems share where it is a divisor
        opened = list[OpenedSystem]()
        for system in systems:
            scores = open_scores(system.input, self.input, setup.options, known)
            if known.listed is not None:
                check_numbers(known.listed, self.input, scores)
            rows = self._join_rows(rows, scores, system.name)
            labels = scores.labels
            if labels is not None and system.name:
                labels = replace(labels, source=system.name)
            known = known.named_by(labels)
            if setup.program.needing_labels or setup.options.by_frequency is not None:
                width = agreed_width(width, scores.source, "column")
            if scores.ranking is not None:
                setup.refuse_ranking(scores.ranking)
            of_system = replace(
                self._setup_of(scores.source),
                inputs=(*setup.inputs, scores.line),
                labels=first_named(setup.labels, scores.labels),
                warnings=(*setup.warnings, *self._doubt_same(system, scores)),
            )
            name = system.name or scores.source.name
            file = input_name(system.y_score)
            opened.append(OpenedSystem(scores.source, of_system, name, file, are_lists=scores.is_ranked))
        return opened

    def _join_rows(self, rows: Axis | None, scores: Opened, name: str | None) -> Axis | None:
        """Return the rows as the first side input or system names them, if the truth does not; refuse others."""
        truth = self.input
        if truth.judgments is not None or truth.names_rows:
            return rows
        if scores.names_rows:
            named = scores.named_rows
            if name:
                named = replace(named, source=name)
            return first_named(rows, named, truth.source.name)
        if rows is not None and rows.is_named:
            refuse_reordered(rows, scores)
        return rows

    def _doubt_same(self, system: System, scores: Opened) -> list[Doubt]:
        """Doubt predictions in the file of the truth, unless both are columns of one table."""
        are_columns = None not in {self.input.value, scores.value} and self.input.value != scores.value
        if are_columns or not isinstance(system.input, Path) or not are_same(scores.source, self.input.source):
            return []
        return [Doubt(f"the predictions are {self.name} itself: the values look like a perfect model's")]

    def _setup_of(self, scores: Source) -> Setup:
        """Return the setup of a system, with its own number of labels if the truth does not declare it."""
        setup = self.setup
        judgments = self.input.judgments
        width = agreed_width(setup.width, scores, "column")
        setup.require_labels(width, "input")
        if setup.options.threshold is not None:
            check_narrow(scores, "with a threshold")
        across = [measure for measure in setup.program.measures if measure.metric.family == "column"]
        if across:
            check_narrow(scores, f"across rows for {listed(across)}")
        setup = setup.with_width(width)
        if self.named_pairs is not None and judgments is not None:
            setup = replace(setup, filter=self.named_pairs.filter(judgments.documents).within(setup.subset))
        return setup.with_row_length(self.input.source, scores)


def _check_executor(executor: object, options: Options) -> None:
    """Refuse anything but an executor, and groups of rows, which only one process has."""
    if not isinstance(executor, Executor):
        hint = ""
        if hasattr(executor, "get_executor"):
            hint = " (hint: pass client.get_executor())"
        raise UsageError(f"executor must be a concurrent.futures.Executor, got {type(executor).__name__}{hint}")
    options.refuse_groups(argument("executor"), "score files in one process")
    if options.unknown_labels == "miss":
        option = argument("unknown_labels", "miss")
        raise UsageError(f"{option} is not available for {argument('executor')} (hint: score files in one process)")


def _keep_queries(
    inputs: Inputs, options: Options, known: KnownLabels, truth: Opened
) -> tuple[Opened, tuple[str, ...]]:
    """Return the truth with the queries that ``missing=`` keeps, and warnings about the others."""
    from xmceval.scoring.setup.per_row import check_missing, keep_common  # not loaded by other scores

    check_missing(options, truth, [inputs.truth, *(run.input for run in inputs.runs)])
    if options.missing == "error":
        return truth, ()
    kept, warnings = keep_common(options, truth, known, inputs.runs)
    return open_truth(inputs.truth, options, known, kept=kept), warnings


def has_queries(y_true: Any, options: Options) -> bool | None:
    """Open a truth to see whether its rows are queries; None if it cannot be opened, which scoring will refuse."""
    try:
        names = None
        if options.labels is not None:
            names = read_names(options.labels)
        return open_truth(find_shards(y_true), options, KnownLabels(listed=names)).judgments is not None
    except (XmcevalError, OSError):
        return None


def with_query_metrics(options: Options) -> Options:
    """Return the options for a truth with queries: its default metrics, if they take the treatment of ties."""
    chosen = options.for_queries()
    if chosen is options or options.ties == "label":
        return chosen
    fixed = compile_program(chosen.measures).tied_by_label(options.ties)
    return replace(chosen, metrics=tuple(measure.name for measure in chosen.measures if measure not in fixed))


def find_setup(
    options: Options,
    program: Program,
    train: Any,
    known: KnownLabels,
    truth: Opened | None = None,
    *,
    weights: Any = None,
    max_weight: float | None = None,
) -> Setup:
    """Prepare propensities, weights and filters; without a truth if rows come in batches.

    The shards of the training labels are resolved. If the truth has queries, so has the filter, whose names are
    looked up after predictions are read.
    """
    source = None
    has_grades = options.grades
    if truth is not None:
        source = truth.source
        has_grades = has_grades or truth.has_grades
    setup = Setup(
        options=options,
        program=program,
        has_grades=has_grades,
        width=find_width(options, truth, known.listed),
    )
    if program.needs_propensities or options.by_frequency is not None:
        setup = add_propensities(setup, train, truth, known)
    elif program.needing_labels and options.sources and not setup.width.is_known:
        setup = replace(setup, width=add_propensities(setup, train, truth, known).width)
    if program.needing_training and not setup.propensities.from_training:
        raise UsageError(
            f"{listed(program.needing_training)}: over=train needs training labels "
            f"(hint: pass {argument('train')} or {argument('counts')})"
        )
    if program.needs_propensities and setup.propensities is NO_PROPENSITIES:  # too few rows to estimate them
        rest = without_propensities(program)
        if rest is None:
            raise DataError(setup.warnings[-1])
        setup = replace(setup, program=rest)
    if options.unknown_labels == "miss":
        program.check_unknown()
    if options.only_labels is not None:
        setup = _keep_labels(setup, find_subset(options.only_labels, known.named_by(setup.labels), truth))
    is_by_label = truth is None or truth.judgments is None
    if is_by_label:  # R@100 also has a value where there are fewer documents
        setup.counted.check_cutoff(setup.program.deepest)
    if weights is not None or max_weight is not None:
        from xmceval.scoring.setup.per_row import add_weights  # not loaded by a score without weights

        setup = add_weights(setup, weights, source, max_weight)
    if options.filter is not None and is_by_label:
        from xmceval.files.sidecars.filters import take_filter  # not loaded by a score without it

        if truth is not None:
            check_numbers(known.listed, truth, Opened(truth.source, name=input_name(options.filter)))
        pairs = take_filter(options.filter)
        if source is not None and source.n_rows is not None:
            pairs.check_rows(source.n_rows, source.name)
        pairs.check_labels(setup.width)
        setup = replace(setup, filter=pairs.within(setup.subset))
    decides = any(measure.metric.family == "confusion" for measure in program.measures)
    if options.threshold is not None and not decides:
        unused = "the threshold has no effect: no metric of decisions was requested"
        doubt = Doubt(f"{unused} (hint: some are {', '.join(DECISION_NAMES)})")
        setup = replace(setup, warnings=(doubt, *setup.warnings))
    return setup


def _keep_labels(setup: Setup, subset: LabelSubset) -> Setup:
    """Let only these labels count, with the propensities that they have among all."""
    subset.check(setup.width)
    propensities = setup.propensities
    if propensities is not NO_PROPENSITIES:
        codes = propensities.codes_of(subset.ids).astype(np.int32)
        propensities = replace(propensities, codes=codes, ids=NO_IDS)
    return replace(setup, subset=subset, propensities=propensities)


def _check_numbers(program: Program, truth: Opened, options: Options) -> None:
    """Refuse options based on label numbers, as labels are documents or text."""
    by_number = [name for name in ("counts", "inverse_propensities", "filter") if getattr(options, name) is not None]
    if truth.judgments is None and by_number:
        raise names_beside_ids(truth.source.name, argument(by_number[0]))
    asking = [measure for measure in program.measures if measure.option("over") == "largest"]
    if asking:
        noun = "label"
        if truth.judgments is not None:
            noun = "document"
        raise UsageError(
            f"{listed(asking)}: the {noun}s of {truth.name} have no numbers (hint: over=seen, or "
            f"{argument('labels', kind='FILE')} with one {noun} per line)"
        )
