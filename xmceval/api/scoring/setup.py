"""What is found before the first row is read: the truth opened, propensities, weights, filter and groups."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmceval.api.scoring.inputs import (
    check_numbers,
    find_filter,
    find_width,
    first_labels,
    is_same,
    look_at_columns,
    open_scores,
    open_truth,
)
from xmceval.api.scoring.openshards import check_inputs, take_stamps
from xmceval.api.scoring.propensities import PropensityLookup, find_propensities, fit_program
from xmceval.api.scoring.weights import range_of, read_weights
from xmceval.errors import DataError, Doubt, UsageError, argument, listed
from xmceval.files.io.inputfiles import Stamp, check_unchanged
from xmceval.files.io.paths import as_input
from xmceval.files.io.shardfiles import find_shards
from xmceval.files.opened import Opened
from xmceval.files.ranking.recordlines import is_by_query
from xmceval.files.sidecars.labelnames import names_beside_ids, read_names
from xmceval.labels.propensity import NO_PROPENSITIES
from xmceval.metrics.table import DECISION_NAMES
from xmceval.rows.block import Source
from xmceval.rows.matrices.frames import rows_of
from xmceval.rows.matrices.matrices import check_narrow
from xmceval.rows.readings import Axis, are_both_named, find_order, first_named
from xmceval.rows.rowgroups import RowGroups
from xmceval.rows.rowids import RowIds
from xmceval.rows.shards import Shards
from xmceval.rows.threads import Progress
from xmceval.scoring.alignment import FirstRows, doubt_scores, find_doubt, join_first_rows
from xmceval.scoring.compile import compile_program
from xmceval.scoring.evaluate import evaluate
from xmceval.scoring.options import Options
from xmceval.scoring.program import Program
from xmceval.scoring.setup import Setup
from xmceval.scoring.spec import input_name
from xmceval.scoring.states.state import NO_RANGE, State
from xmceval.scoring.system import System
from xmceval.scoring.totals import Totals

if TYPE_CHECKING:
    from xmceval.files.ranking.namedpairs import NamedPairs
    from xmceval.scoring.comparing.pairsums import Pairs
    from xmceval.scoring.held_rows import HeldRows


@dataclass(frozen=True)
class Named:
    """A system to score: its predictions, and its name in reports; default that of the file."""

    y_score: Any
    name: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "y_score", as_input(self.y_score))

    @cached_property
    def input(self) -> Any:
        """The predictions with their shards found; those of a list are one after the other, not several runs."""
        return find_shards(self.y_score, are_scores=True)

    @cached_property
    def leaves(self) -> Sequence[Any]:
        """The runs, or the predictions of a single one, with their shards found."""
        y_score = self.y_score
        return list(map(find_shards, y_score)) if isinstance(y_score, list) else [self.input]


def check_systems(systems: object) -> None:
    """Refuse systems that are no dict by name, and the run of a single one."""
    if not isinstance(systems, Mapping):
        raise UsageError(
            f"systems must be a dict of scores by name, such as {{'a': ..., 'b': ...}}, got {type(systems).__name__}"
        )
    if is_by_query(systems) and not any(map(is_by_query, systems.values())):
        raise UsageError(
            "systems must be a dict of scores by name, got a run {query: {document: score}} "
            "(hint: pass {'a': run, 'b': ...})"
        )


@dataclass(frozen=True, kw_only=True)
class OpenedTruth:
    """A truth, opened once, and how systems are scored on it."""

    setup: Setup  # with the width of the truth, as far as it is known; there are no bins yet
    input: Opened
    name: str  # in reports
    named_pairs: NamedPairs | None = None  # a filter beside queries: its labels are known once predictions are read
    executor: Executor | None = None  # scores rows in parts; default threads of this process
    stamps: Mapping[Path, Stamp | None] = field(default_factory=dict)  # of truth and scores, before they were opened
    rows: Axis | None = None  # as weights or groups name them

    @classmethod
    def of(
        cls,
        y_true: Any,
        options: Options,
        systems: Sequence[Named] = (),
        *,
        max_weight: float | None = None,
        executor: Executor | None = None,
    ) -> OpenedTruth:
        """Open a truth, and find propensities, weights and filters; first check that all files exist.

        `max_weight` is the scale of sample weights.
        """
        if executor is not None:
            if not isinstance(executor, Executor):
                raise UsageError(f"executor must be a concurrent.futures.Executor, got {type(executor).__name__}")
            options.refuse_groups(argument("executor"), "score files in one process")
        name, y_true = input_name(y_true), find_shards(y_true)
        leaves = [leaf for system in systems for leaf in system.leaves]
        train = check_inputs(y_true, leaves, options)
        stamps = take_stamps([y_true, *leaves])
        program = compile_program(options.measures)
        program.check_ties(options.ties)
        names = None if options.labels is None else read_names(options.labels)
        open_kept = partial(open_truth, y_true, options, names=names, columns=look_at_columns(y_true, leaves))
        truth = open_kept()
        warnings: tuple[str, ...] = ()
        if options.missing != "zero":
            from xmceval.api.scoring.missing import check_missing, keep_common  # not loaded by a score without it

            check_missing(options, truth, [y_true, *leaves])
            if options.missing == "drop":
                kept, warnings = keep_common(options, truth, [(system.name, system.input) for system in systems])
                truth = open_kept(kept=kept)
        _check_numbers(program, truth, options)
        if options.row_ids is not None:
            truth = replace(truth, rows=_name_rows(_find_ids(options, truth), truth))
        find_ids = partial(_find_ids, options, truth)
        rows = _check_rows(options, truth)
        weights, lines = _per_row(options.sample_weight, "sample_weight", "weight", find_ids, truth)
        setup = find_setup(options, program, train, truth, max_weight=max_weight, sample_weight=weights)
        setup = replace(
            setup,
            zeros_are_judged=truth.judgments is not None,
            inputs=(truth.line, *setup.inputs, *lines),
            labels=first_labels(first_labels(None, truth.labels), setup.labels),
            warnings=(*warnings, *setup.warnings),
        )
        opened = cls(
            setup=setup,
            input=truth,
            name=name,
            named_pairs=_find_named_pairs(options, truth),
            executor=executor,
            stamps=stamps,
            rows=rows,
        )
        if options.by_group is None:
            return opened
        groups, lines = opened._find_groups(options.by_group)
        return replace(opened, setup=replace(setup, groups=groups, inputs=(*setup.inputs, *lines)))

    @cached_property
    def row_ids(self) -> RowIds | None:
        """The ids of the rows, where there are any: those that were passed, or the queries of the truth."""
        return _find_ids(self.setup.options, self.input)

    def _find_groups(self, passed: Any) -> tuple[RowGroups, tuple[str, ...]]:
        """Return the group of each row, and how they were read."""
        n_rows = self.input.source.n_rows
        passed, lines = _per_row(passed, "by_group", "group", lambda: self.row_ids, self.input)
        if isinstance(passed, RowGroups):
            groups = passed
        elif isinstance(passed, (str, Path, Shards)):
            from xmceval.files.sidecars.rowgroupfile import read_row_groups  # not loaded by a score without it

            groups, are_by_id = read_row_groups(passed, self.row_ids, RowIds.of_rows(self.input.rows))
            lines = (f"{passed}: a group per row; rows by {'name' if are_by_id else 'position'}",)
        else:
            groups = RowGroups.of(passed)
        if n_rows is not None:
            groups.check_number(n_rows, _describe_left(self.setup.options))
        return groups, lines

    def open_systems(self, systems: Sequence[Named]) -> list[System]:
        """Open the scores of systems."""
        setup, truth, rows, opened = self.setup, self.input, self.rows, list[System]()
        labels = setup.labels
        for system in systems:
            scores = open_scores(system.input, truth, setup.options, setup.width, labels=labels)
            check_numbers(truth, scores)
            is_joined = scores.rows is not None and scores.rows.column is not None
            if truth.judgments is None and not are_both_named(truth.rows) and not is_joined:
                rows = first_named(rows, _called(scores.rows, system.name), truth.source.name)
            labels = first_labels(labels, _called(scores.labels, system.name))
            opened.append(self._system(system, scores))
        return opened

    def _system(self, system: Named, scores: Opened) -> System:
        """Return a system whose scores were opened."""
        truth = self.input.source
        values = {self.input.value, scores.value} - {None}
        is_truth = len(values) < 2 and any(
            isinstance(leaf, (str, Path)) and is_same(leaf, truth) for leaf in system.leaves
        )
        doubt = Doubt(f"the predictions are {self.name} itself: the values are those of a perfect model")
        setup = self._setup_of(scores.source).with_row_length(truth, scores.source)
        setup = replace(
            setup,
            inputs=(*setup.inputs, scores.line),
            labels=first_labels(setup.labels, scores.labels),
            warnings=(*setup.warnings, doubt) if is_truth else setup.warnings,
        )
        return System(
            scores.source,
            setup,
            name=system.name or scores.source.name,
            file=input_name(system.y_score),
            are_lists=scores.is_ranked,
        )

    def evaluate(
        self,
        systems: Sequence[System],
        *,
        pairs: Pairs | None = None,
        held: HeldRows | None = None,
        first: list[FirstRows] | None = None,
        progress: Progress | None = None,
    ) -> list[Totals]:
        """Return the totals of systems; see `evaluate`."""
        truth, threads = self.input.source, self.setup.options.threads
        if self.executor is None:
            totals = evaluate(truth, systems, pairs=pairs, held=held, first=first, threads=threads, progress=progress)
        else:
            from xmceval.scoring.executor import evaluate_in_parts  # not loaded by a score without it

            totals = evaluate_in_parts(
                self.executor, truth, systems, pairs=pairs, held=held, first=first, progress=progress
            )
        sources = truth, *(system.scores for system in systems)
        check_unchanged(self.stamps, [path for source in sources for path in source.files()])
        return totals

    def states(
        self, systems: Sequence[System], totals: Sequence[Totals], first: Sequence[FirstRows] = ()
    ) -> list[State]:
        """Return the totals of systems as states, with the doubts about their files and first rows."""
        states = []
        for number, (system, of_system) in enumerate(zip(systems, totals, strict=True)):
            doubts = self._doubt_rows(system, number, first)
            of_files = *self.input.source.warnings, *system.scores.warnings
            of_header = system.doubt_header(self.input.source, of_system)
            states.append(self._state(system, of_system, (*of_header, *of_files, *doubts)))
        return states

    def _state(self, system: System, totals: Totals, warnings: tuple[str, ...]) -> State:
        """Return the totals of a system as a state, with these doubts and facts."""
        setup, weights = system.setup, system.setup.weights
        n_rows = totals.tally.n_instances(drop_empty=setup.drop_empty) if weights is None else weights.size
        return State(
            system.name,
            replace(setup, warnings=(*setup.warnings, *warnings)),
            totals,
            n_rows,
            truth=(self.name,),
            scores=(system.file,),
            systems=(system.name,),
            weight_range=NO_RANGE if weights is None else range_of(weights, setup.weight_unit),
        )

    def _doubt_rows(self, system: System, number: int, first: Sequence[FirstRows]) -> Iterator[Doubt]:
        """Yield the doubts that the first rows of a system give reason for."""
        truth, ranked = join_first_rows(first, number)
        mistake = find_doubt(truth, ranked, drop_empty=self.setup.drop_empty)
        if mistake:
            yield Doubt(mistake)
        elif any(measure.needs_order for measure in self.setup.program.measures):
            by_row = self.input.judgments is None
            yield from doubt_scores(truth, ranked, order_counts=by_row, are_lists=system.are_lists)

    def _setup_of(self, scores: Source) -> Setup:
        """Return how a system is scored: with its own number of labels where the truth declares none."""
        setup, judgments = self.setup, self.input.judgments
        width, program, options = setup.width.agree_with(scores, "column"), setup.program, setup.options
        if program.needing_labels and not width.is_known:
            raise DataError(
                f"{listed(program.needing_labels)}: no input declares the number of labels, which is needed "
                f"(hint: pass {argument('n_labels')})"
            )
        if options.threshold is not None:
            check_narrow(scores, "with a threshold")
        across = [measure for measure in program.measures if measure.metric.family == "column"]
        if across:
            check_narrow(scores, f"across rows for {listed(across)}")
        if options.by_frequency is not None and not width.is_known:
            raise DataError(f"bins by frequency need the number of labels (hint: pass {argument('n_labels')})")
        setup = setup.with_width(width)
        if self.named_pairs is None or judgments is None:
            return setup
        return replace(setup, filter=self.named_pairs.filter(judgments.documents))


def _find_ids(options: Options, truth: Opened) -> RowIds | None:
    """Return the ids of the rows that were passed, or the queries of the truth; None without either."""
    passed, judgments, n_rows = options.row_ids, truth.judgments, truth.source.n_rows
    if passed is None:
        return None if judgments is None else judgments.row_ids
    if judgments is not None:
        raise UsageError(f"{argument('row_ids')}: the rows of {judgments.name} have ids already, its queries")
    ids = passed
    if not isinstance(ids, RowIds):
        from xmceval.files.sidecars.rowidfile import read_row_ids  # not loaded by a score without it

        ids = read_row_ids(passed)
    if n_rows is not None:
        ids.check_number(n_rows)
    return ids


def _name_rows(ids: RowIds | None, truth: Opened) -> Axis:
    """Return the rows under the ids that were passed; an index of the truth may not have another order of them."""
    rows = Axis.of("row_ids", "row", [] if ids is None else ids.ids)
    if truth.rows is not None and find_order(rows, truth.rows) is not None:
        raise DataError(
            f"{truth.name}: its {truth.rows.holder} has the ids of row_ids in another order (hint: leave out "
            f"{argument('row_ids')}, or pass {truth.rows.unnamed})"
        )
    return rows


def _called(axis: Axis | None, name: str | None) -> Axis | None:
    return replace(axis, source=name) if axis is not None and name else axis


def _check_rows(options: Options, truth: Opened) -> Axis | None:
    """Return the rows that weights or groups name, where the truth does not."""
    if truth.judgments is not None or are_both_named(truth.rows):
        return None
    rows = rows_of(options.sample_weight, "sample_weight")
    return first_named(rows, rows_of(options.by_group, "by_group"), truth.source.name)


def _per_row(
    values: Any, name: str, noun: str, find_ids: Callable[[], RowIds | None], truth: Opened
) -> tuple[Any, tuple[str, ...]]:
    """Return weights or groups in the order of the rows, where they name these, and how they were read."""
    if values is None:
        return None, ()
    from xmceval.api.scoring.perrow import in_order  # not loaded by a score without it

    ordered, how = in_order(values, name, noun, find_ids, truth.rows)
    path = str(values) if isinstance(values, (str, Path)) else name
    return ordered, (f"{path}: a {noun} per row; rows by {how}",)


def find_setup(
    options: Options,
    program: Program,
    train: Any,
    truth: Opened | None = None,
    *,
    max_weight: float | None = None,
    sample_weight: Any = None,
) -> Setup:
    """Find propensities, weights and filters; there is no truth where its rows come in batches.

    Of a truth by query the filter has names, which are looked up once predictions are read.
    """
    source, has_queries = (None, False) if truth is None else (truth.source, truth.judgments is not None)
    lookup = PropensityLookup(find_width(options, truth), None)
    if program.needs_propensities or options.by_frequency is not None:
        lookup = find_propensities(options, train, truth, lookup.width)
    program = fit_program(program, lookup)
    lookup.width.check_cutoff(program.deepest)
    sample_weight = options.sample_weight if sample_weight is None else sample_weight
    has_weights = sample_weight is not None or max_weight is not None
    weights, unit = None, 1.0
    if has_weights:
        weights, unit = read_weights(sample_weight, source, max_weight, _describe_left(options))
    if options.filter is not None and truth is not None and not has_queries:
        check_numbers(truth, Opened(truth.source, name=input_name(options.filter)))
    return Setup(
        options=options,
        program=program,
        width=lookup.width,
        propensities=lookup.propensities or NO_PROPENSITIES,
        weights=weights,
        weight_unit=unit,
        filter=None if has_queries else find_filter(options.filter, source, lookup.width),
        inputs=lookup.inputs,
        labels=lookup.labels,
        warnings=(*_doubt_threshold(options, program), *lookup.warnings),
    )


def _find_named_pairs(options: Options, truth: Opened) -> NamedPairs | None:
    """Read the filter of a truth by query."""
    if options.filter is None or truth.judgments is None:
        return None
    from xmceval.files.ranking.namedpairs import read_named_pairs  # not loaded by a score without a filter

    return read_named_pairs(options.filter, truth.judgments)


def _check_numbers(program: Program, truth: Opened, options: Options) -> None:
    """Refuse what looks at the numbers of labels where these are documents or text, which have none of their own."""
    if truth.documents is None:
        return
    by_number = [name for name in ("counts", "inverse_propensities", "filter") if getattr(options, name) is not None]
    if truth.judgments is None and by_number:
        raise names_beside_ids(truth.source.name, argument(by_number[0]))
    asking = [measure for measure in program.measures if measure.option("over") == "largest"]
    if asking:
        noun = "label" if truth.judgments is None else "document"
        raise UsageError(
            f"{listed(asking)}: the {noun}s of {truth.name} have no numbers (hint: over=seen, or "
            f"{argument('labels', kind='FILE')} with one {noun} per line)"
        )


def _describe_left(options: Options) -> str:
    """Say which rows of the truth are left, in messages on their number."""
    return f" that {argument('missing', 'drop')} leaves" if options.missing == "drop" else ""


def _doubt_threshold(options: Options, program: Program) -> tuple[Doubt, ...]:
    """Doubt a threshold that no metric uses."""
    if options.threshold is None or any(measure.metric.family == "confusion" for measure in program.measures):
        return ()
    decisions = ", ".join(DECISION_NAMES)
    return (Doubt(f"the threshold has no effect: no metric of decisions was requested (hint: some are {decisions})"),)
