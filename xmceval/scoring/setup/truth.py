"""Open the truth, and determine propensities, weights, filter and groups before the first row is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmceval.errors import DataError, Doubt, UsageError, XmcevalError, argument, counted, listed
from xmceval.files.io.paths import as_input, identify, name_of, to_path
from xmceval.files.opened import Opened
from xmceval.files.ranking.dicts import is_by_query
from xmceval.files.shards import find_shards
from xmceval.files.sidecars.values import Names, names_beside_ids, read_names
from xmceval.labels.catalogue import find_dataset
from xmceval.labels.counts import count_labels
from xmceval.labels.propensity import (
    ITSELF,
    NO_PROPENSITIES,
    Propensities,
    constants,
    from_counts,
    from_table,
    from_values,
)
from xmceval.metrics.table import DECISION_NAMES
from xmceval.rows.checks import LARGEST_GRADE
from xmceval.rows.ids import RowIds
from xmceval.rows.matrices.frames import rows_of
from xmceval.rows.matrices.lists import is_pair
from xmceval.rows.matrices.source import check_narrow
from xmceval.rows.names import Axis, find_order, first_named, say_how
from xmceval.rows.nouns import OF_LABELS, OF_QUERIES
from xmceval.rows.shards import Shards
from xmceval.rows.source import Source, agreed_width
from xmceval.scoring.compile import compile_program, without_propensities
from xmceval.scoring.options import Options, input_name
from xmceval.scoring.setup.inputs import (
    Stamps,
    are_same,
    check_inputs,
    check_numbers,
    count_scored_labels,
    find_width,
    known_labels,
    open_scores,
    open_truth,
    refuse_reordered,
    take_numbers,
)
from xmceval.scoring.setup.setup import OpenedSystem, Program, Setup

if TYPE_CHECKING:
    from xmceval.files.sidecars.filters import NamedPairs

MAYBE_PATHS = (str, Path, list, tuple, Shards)  # types of paths, or of collections of them


@dataclass(frozen=True)
class System:
    """A system to score: its predictions, and its name in reports, by default that of the file."""

    y_score: Any
    name: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.y_score, MAYBE_PATHS):
            object.__setattr__(self, "y_score", as_input(self.y_score))

    @cached_property
    def input(self) -> Any:
        """The predictions with resolved shards; a list means consecutive shards, not several runs."""
        return find_shards(self.y_score, are_scores=True) if isinstance(self.y_score, MAYBE_PATHS) else self.y_score

    @cached_property
    def runs(self) -> Sequence[System]:
        """The runs of the system as systems, or only itself."""
        if not are_runs(self.y_score):
            return [self]
        numbers = [f" ({i + 1})" for i in range(len(self.y_score))] if len(self.y_score) > 1 else [""]
        return [
            System(run, None if self.name is None else f"{self.name}{number}")
            for run, number in zip(self.y_score, numbers, strict=True)
        ]


def are_runs(y_score: Any) -> bool:
    """Return whether scores are a list of matrices or paths: the runs of one system."""
    return (
        isinstance(y_score, (list, tuple))
        and len(y_score) > 0
        and all(
            isinstance(y, (str, Path, Shards)) or len(getattr(y, "shape", ())) == 2 or is_by_query(y) for y in y_score
        )
        and not is_pair(y_score, "y_score")
    )


def doubt_same_scores(systems: Sequence[System], noun: str) -> Iterator[Doubt]:
    """Doubt files or matrices that are passed as several systems; `noun` is that of a row."""
    seen: dict[tuple[Path | int, ...], str] = {}
    for system in systems if len(systems) > 1 else ():
        keys = identify(system.input)
        if keys in seen:
            one, several = ("file", "files") if isinstance(keys[0], Path) else ("matrix", "matrices")
            same = one if len(keys) == 1 else several
            yield Doubt(f"{seen[keys]} and {system.name} are the same {same}: they tie on every {noun}")
        seen[keys] = str(system.name)


def check_systems(systems: object) -> None:
    """Refuse systems that are not a dict by name, or that are the run of a single one."""
    if not isinstance(systems, Mapping):
        raise UsageError(
            f"systems must be a dict of scores by name, such as {{'a': ..., 'b': ...}}, got {type(systems).__name__}"
        )
    unnamed = next((name for name in systems if not isinstance(name, str)), None)
    if unnamed is not None:
        raise UsageError(f"systems: names must be text, got {unnamed!r} (hint: pass {{{str(unnamed)!r}: ...}})")
    are_dicts = any(isinstance(scores, Mapping) for scores in systems.values())
    if are_dicts and is_by_query(systems) and not any(map(is_by_query, systems.values())):
        raise UsageError(
            "systems must be a dict of scores by name, got a run {query: {document: score}} "
            "(hint: pass {'a': run, 'b': ...})"
        )


@dataclass(frozen=True)
class OpenedTruth:
    """A truth, opened once, and how systems are scored on it."""

    setup: Setup  # with the width of the truth, if known; without bins
    input: Opened
    name: str  # its name in reports
    named_pairs: NamedPairs | None = None  # a filter by query; its labels are known after predictions are read
    executor: Executor | None = None  # scores rows in parts; default threads of this process
    stamps: Stamps = field(default_factory=dict)  # of truth and scores, taken before they were opened
    rows: Axis | None = None  # the rows named by weights or groups
    ids: RowIds | None = None  # the row ids passed

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
            if not isinstance(executor, Executor):
                hint = " (hint: pass client.get_executor())" if hasattr(executor, "get_executor") else ""
                kind = type(executor).__name__
                raise UsageError(f"executor must be a concurrent.futures.Executor, got {kind}{hint}")
            options.refuse_groups(argument("executor"), "score files in one process")
        name = input_name(y_true)
        y_true = find_shards(y_true) if isinstance(y_true, MAYBE_PATHS) else y_true
        runs = [run for system in systems for run in system.runs]
        predictions = [run.input for run in runs]
        train, stamps = check_inputs(y_true, predictions, options)
        program = compile_program(options.measures)
        program.check_ties(options.ties)
        names = None if options.labels is None else read_names(options.labels)
        open_kept = partial(open_truth, y_true, options, names=names, n_columns=count_scored_labels(predictions))
        truth, warnings, lines = open_kept(), tuple[str, ...](), list[str]()
        if options.missing != "zero":
            from xmceval.scoring.setup.per_row import check_missing, keep_common

            check_missing(options, truth, [y_true, *predictions])
            if options.missing == "drop":
                kept, warnings = keep_common(options, truth, [(run.name, run.input) for run in runs])
                truth = open_kept(kept=kept)
        nouns = OF_LABELS
        if truth.judgments is not None:
            nouns, options = OF_QUERIES, with_query_metrics(options)
            program = compile_program(options.measures)
        _check_numbers(program, truth, options)
        ids, rows, weights, groups = None, None, options.sample_weight, None
        if any(value is not None for value in (options.row_ids, weights, options.by_group)):
            from xmceval.scoring.setup.per_row import read_per_row

            ids, truth, rows, weights, groups, lines = read_per_row(options, truth)
        setup = find_setup(options, program, train, truth, max_weight=max_weight, sample_weight=weights)
        named_pairs = None
        if options.filter is not None and truth.judgments is not None:
            from xmceval.files.sidecars.filters import read_named_pairs  # not loaded by a score without a filter

            named_pairs = read_named_pairs(options.filter, truth.judgments)
        named = first_named(first_named(None, truth.labels), setup.labels)
        if names is not None and not isinstance(options.labels, (str, Path)):
            named = names.axis
        setup = replace(
            setup,
            groups=groups,
            nouns=nouns,
            inputs=(truth.line, *setup.inputs, *lines),
            labels=named,
            labels_by="" if truth.names_labels else "position",
            warnings=(*warnings, *setup.warnings),
        )
        return cls(setup, truth, name, named_pairs, executor, stamps, rows, ids)

    @property
    def row_ids(self) -> RowIds | None:
        """The row ids, if any: those passed, or the queries of the truth."""
        judgments = self.input.judgments
        return self.ids if self.ids is not None or judgments is None else judgments.row_ids

    def open_systems(self, systems: Sequence[System]) -> list[OpenedSystem]:
        """Open the scores of systems; these may name rows and labels even if the truth does not."""
        setup, truth, rows, opened = self.setup, self.input, self.rows, list[OpenedSystem]()
        labels = setup.labels
        width = setup.width  # which the systems share where it is a divisor
        for system in systems:
            scores = open_scores(system.input, truth, setup.options, setup.width, labels=labels)
            check_numbers(truth, scores)
            if truth.judgments is None and not truth.names_rows:
                if scores.names_rows:
                    rows = first_named(rows, _called(scores.named_rows, system.name), truth.source.name)
                elif rows is not None and rows.is_named:
                    refuse_reordered(rows, scores)
            labels = first_named(labels, _called(scores.labels, system.name))
            warnings = setup.warnings
            is_alike = len({truth.value, scores.value} - {None}) < 2  # not another column of the same table
            if is_alike and isinstance(system.input, (str, Path)) and are_same(scores.source, truth.source):
                doubt = Doubt(f"the predictions are {self.name} itself: the values are those of a perfect model")
                warnings = (*warnings, doubt)
            if setup.program.needing_labels or setup.options.by_frequency is not None:
                width = agreed_width(width, scores.source, "column")
            if scores.ranking is not None:
                setup.refuse_ranking(scores.ranking)
            of_system = replace(
                self._setup_of(scores.source),
                inputs=(*setup.inputs, scores.line),
                labels=first_named(setup.labels, scores.labels),
                warnings=warnings,
            )
            name, file = system.name or scores.source.name, input_name(system.y_score)
            opened.append(OpenedSystem(scores.source, of_system, name, file, are_lists=scores.is_ranked))
        return opened

    def _setup_of(self, scores: Source) -> Setup:
        """Return the setup of a system, with its own number of labels if the truth does not declare it."""
        setup, judgments = self.setup, self.input.judgments
        width, program, options = agreed_width(setup.width, scores, "column"), setup.program, setup.options
        replace(setup, width=width).require_labels("input")
        if options.threshold is not None:
            check_narrow(scores, "with a threshold")
        across = [measure for measure in program.measures if measure.metric.family == "column"]
        if across:
            check_narrow(scores, f"across rows for {listed(across)}")
        setup = setup.with_width(width)
        if self.named_pairs is not None and judgments is not None:
            setup = replace(setup, filter=self.named_pairs.filter(judgments.documents))
        return setup.with_row_length(self.input.source, scores)


def has_queries(y_true: Any, options: Options) -> bool | None:
    """Open a truth to see whether its rows are queries; None if it cannot be opened, which scoring will refuse."""
    try:
        names = None if options.labels is None else read_names(options.labels)
        value = find_shards(y_true) if isinstance(y_true, MAYBE_PATHS) else y_true
        return open_truth(value, options, names=names).judgments is not None
    except (XmcevalError, OSError):
        return None


def with_query_metrics(options: Options) -> Options:
    """Return the options for a truth with queries: of its default metrics those that take the treatment of ties."""
    chosen = options.for_queries()
    if chosen is options or options.ties == "label":
        return chosen
    fixed = compile_program(chosen.measures).tied_by_label(options.ties)
    return replace(chosen, metrics=tuple(measure.name for measure in chosen.measures if measure not in fixed))


def _called(axis: Axis | None, name: str | None) -> Axis | None:
    return replace(axis, source=name) if axis is not None and name else axis


def find_setup(
    options: Options,
    program: Program,
    train: Any,
    truth: Opened | None = None,
    *,
    names: Names | None = None,
    max_weight: float | None = None,
    sample_weight: Any = None,
) -> Setup:
    """Prepare propensities, weights and filters; without a truth if rows come in batches, whose `names` are passed.

    The shards of the training labels are resolved. If the truth has queries, so has the filter, whose names are
    looked up after predictions are read.
    """
    source = None if truth is None else truth.source
    has_grades = options.grades or (truth is not None and truth.has_grades)
    names = names if truth is None else truth.names
    width = find_width(options, truth, names)
    setup = Setup(options=options, program=program, has_grades=has_grades, width=width)
    if program.needs_propensities or options.by_frequency is not None:
        setup = _find_propensities(setup, train, truth, names)
    elif program.needing_labels and options.sources and not setup.width.is_known:
        setup = replace(setup, width=_find_propensities(setup, train, truth, names).width)
    if program.needing_training and not setup.propensities.from_training:
        raise UsageError(
            f"{listed(program.needing_training)}: over=train needs training labels "
            f"(hint: pass {argument('train')} or {argument('counts')})"
        )
    if program.needs_propensities and setup.propensities is NO_PROPENSITIES:  # too few rows to estimate them
        rest = without_propensities(program)
        if rest is None:
            raise DataError(setup.warnings[-1])
        program = rest
    if truth is None or truth.judgments is None:  # R@100 also has a value where there are fewer documents
        setup.width.check_cutoff(program.deepest)
    weights, unit, pairs = None, 1.0, None
    if sample_weight is not None or max_weight is not None:
        from xmceval.scoring.setup.per_row import describe_left, read_weights  # not loaded by a score without weights

        weights, unit = read_weights(sample_weight, source, max_weight, describe_left(options))
    if options.filter is not None and (truth is None or truth.judgments is None):
        from xmceval.files.sidecars.filters import take_filter  # not loaded by a score without it

        if truth is not None:
            check_numbers(truth, Opened(truth.source, name=input_name(options.filter)))
        pairs = take_filter(options.filter)
        if source is not None and source.n_rows is not None:
            pairs.check_rows(source.n_rows, source.name)
        pairs.check_labels(setup.width)
    warnings = setup.warnings
    if options.threshold is not None and all(measure.metric.family != "confusion" for measure in program.measures):
        unused = "the threshold has no effect: no metric of decisions was requested"
        warnings = (Doubt(f"{unused} (hint: some are {', '.join(DECISION_NAMES)})"), *warnings)
    return replace(setup, program=program, weights=weights, weight_unit=unit, filter=pairs, warnings=warnings)


def _find_propensities(setup: Setup, train: Any, truth: Opened | None, names: Names | None) -> Setup:
    """Add inverse propensities from the source named in the options, or else estimated from the truth."""
    options, width = setup.options, setup.width
    a, b = constants(None if options.dataset is None else find_dataset(options.dataset), options.a, options.b)
    if options.inverse_propensities is not None:
        return _take_propensities(setup, truth, names, "inverse_propensities", from_values)
    if options.counts is not None:
        convert = partial(from_counts, n_train=options.n_train or 0, a=a, b=b)
        return _take_propensities(setup, truth, names, "counts", convert)
    training, inputs, labels, warnings = truth, tuple[str, ...](), None, list[str]()
    if train is not None or training is None:
        training = open_truth(train, options, "train", first=truth, names=names, width=width)
        check_numbers(truth, training)
        inputs, labels = (training.line,), first_named(None, training.labels)
    source = training.source
    if train is not None and source.n_labels is not None:
        width = width.agree(source.n_labels, source.name)
    is_truth = truth is not None and (train is None or are_same(source, truth.source))
    if is_truth and train is not None:
        warnings.append(Doubt(f"the training labels are {source.name} {ITSELF}"))
    elif is_truth and setup.program.needs_propensities:  # bins say themselves that they are of it
        warnings.append(
            Doubt(
                f"propensities are estimated from {source.name} {ITSELF} (hint: pass {argument('train', kind='FILE')})"
            )
        )
    are_training = train is not None or truth is None
    largest = LARGEST_GRADE if options.grades or training.has_grades else 1.0
    counts = count_labels(
        source, width=width, threads=options.threads, largest=largest, may_merge=True, are_training=are_training
    )
    if train is not None:
        warnings.extend(source.warnings)
    propensities = NO_PROPENSITIES
    if counts.n_rows >= 3:
        ids, table = counts.table()
        name = name_of(to_path(source.name))
        propensities = from_table(table, counts.n_rows, name, a, b, ids=ids, from_truth=is_truth)
    else:
        warnings.append(
            f"{source.name} has {counted(counts.n_rows, 'row')}: too few for propensities, so the metrics "
            "that need them are left out"
        )
    return replace(
        setup, width=width, propensities=propensities, inputs=inputs, labels=labels, warnings=tuple(warnings)
    )


def _take_propensities(
    setup: Setup, truth: Opened | None, names: Names | None, option: str, convert: Callable[..., Propensities]
) -> Setup:
    """Add propensities from one number per label; a pandas Series names the labels in its index."""
    passed, order = getattr(setup.options, option), None
    labels = replace(rows_of(passed, option), noun="label", is_index=True)
    known = known_labels(None, names, labels, truth) or Axis("y_true", "label")
    if labels.names is not None:
        order = find_order(known, labels)
    numbers, name = take_numbers(passed, option)
    line = f"{name}: {counted(numbers.size, 'number')}; labels by {say_how(known, labels, 'number')}"
    values = numbers if order is None else numbers[order]
    return replace(
        setup,
        width=setup.width.agree(values.size, name),
        propensities=convert(values, source=name),
        inputs=(line,),
        labels=first_named(None, labels if order is None else known),
    )


def _check_numbers(program: Program, truth: Opened, options: Options) -> None:
    """Refuse options based on label numbers if labels are documents or text."""
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
