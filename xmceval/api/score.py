"""The public functions `score` and `score_all`, for matrices and files."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from xmceval.api.types import MatrixLike
from xmceval.errors import Doubt, UsageError, argument, split_doubts, warn
from xmceval.files.io.paths import MAX_LINE
from xmceval.files.io.streams import check_unchanged
from xmceval.files.ranking.dicts import is_by_query
from xmceval.kernels.metrics.topk import PREDICTIONS
from xmceval.labels.catalogue import Sizes, find_dataset, hint_at_dataset
from xmceval.labels.propensity import NO_PROPENSITIES
from xmceval.report.cautions import find_cautions
from xmceval.report.result import Result, Results
from xmceval.report.scored import NO_NAMES
from xmceval.rows.filters import FilterReport
from xmceval.rows.source import describe_duplicates
from xmceval.rows.threads import Progress
from xmceval.scoring.alignment import FirstRows, find_doubts
from xmceval.scoring.evaluate import evaluate
from xmceval.scoring.options import (
    NOTHING,
    BinSpec,
    Duplicates,
    EmptyRows,
    Missing,
    Options,
    Saving,
    Ties,
    UnknownLabels,
    Unscored,
    refuse_unknown,
    specs,
)
from xmceval.scoring.setup.resolve import System, check_systems, doubt_same_scores, find_scores
from xmceval.scoring.setup.setup import OpenedSystem
from xmceval.scoring.setup.truth import OpenedTruth, with_query_metrics
from xmceval.scoring.state import NO_RANGE, State, first_of
from xmceval.scoring.summary import finish_totals

if TYPE_CHECKING:
    from xmceval.scoring.batch import JointRows

# Scores in relation to a threshold between 0 and 1.
BEYOND = 1.001  # probabilities are at most 1, cosines at least -1, but for rounding
MASKED = -1000.0  # lower scores mean masked labels
LEAST_PERCENT = 10  # greatest score of all; where it is less, these are no percents


def score(
    y_true: MatrixLike,
    y_score: MatrixLike,
    *,
    k: int | str | Iterable[int | str] | None = None,
    metrics: str | Iterable[str] | None = None,
    train: MatrixLike | None = None,
    counts: ArrayLike | str | Path | None = None,
    n_train: int | None = None,
    inverse_propensities: ArrayLike | str | Path | None = None,
    dataset: str | None = None,
    a: float | None = None,
    b: float | None = None,
    n_labels: int | None = None,
    grades: bool = False,
    labels: ArrayLike | str | Path | None = None,
    only_labels: Iterable[int | str] | str | Path | None = None,
    unknown_labels: UnknownLabels = "error",
    duplicates: Duplicates = "error",
    max_line: int = MAX_LINE,
    empty_rows: EmptyRows = "zero",
    unscored: Unscored = "bottom",
    ties: Ties = "label",
    by_frequency: BinSpec | None = None,
    by_group: Iterable[object] | Mapping[object, object] | str | Path | None = None,
    ceiling: bool = False,
    threshold: float | None = None,
    sample_weight: ArrayLike | str | Path | None = None,
    row_ids: Iterable[object] | str | Path | None = None,
    missing: Missing = "zero",
    filter: ArrayLike | str | Path | None = None,  # noqa: A002 - the field's word
    filter_truth: bool = False,
    threads: int | None = None,
    rows: bool = False,
    save_rows: str | Path | None = None,
    save_labels: str | Path | None = None,
    save_state: str | Path | None = None,
    shard: str | tuple[int, int] | None = None,
    force: bool = False,
    max_weight: float | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> Result:
    """Score predictions against the truth.

    Parameters
    ----------
    y_true : sparse matrix, array, lists, path or list of matrices [n_rows, n_labels]
        Values are 0 and 1, or grades with ``grades=True``. Any scipy.sparse format, a dense indicator, or a file
        of truth in any form that the command reads. Or the ids of each row's labels: a list of lists, sets, arrays
        or tensors of integers.

        Or a table, of pandas, polars, Arrow and others: wide, with a column of numbers per label; long, with columns
        such as ``row`` and ``label``; or with a column of lists. ``xmceval guide inputs`` has all names.

        Or grades by query and document, whose rows are queries: ``{query: {document: grade}}``, ``{query: {document,
        ...}}``, a table with columns such as ``query_id``, ``doc_id`` and ``relevance``, or a Qrels of ranx.

        A list of paths or matrices, or a pattern such as ``"truth-*.npz"``, which is read in natural order, are shards:
        their rows continue from one to the next.

        If both `y_true` and `y_score` name their rows or labels, in an index, in columns or by an id in each
        row, these are joined by name, in any order. If only one of them has names, they are joined by position,
        and names that are a permutation of the numbers are refused. ``result.inputs`` says how each input was
        read and joined.
    y_score : sparse matrix, array, pair of arrays, lists, path or list of matrices [n_rows, n_labels]
        The stored entries of a sparse matrix are the predictions; a score of -inf, in any form, means that the
        label is not predicted. ``(labels, scores)``, or ``(values, indices)`` as topk returns them, are two
        arrays [n_rows, any width]; the array of integers has the labels, padded with -1. Or labels alone,
        ranked with the best first: lists of integers as in `y_true`, or an array with fewer or more columns
        than there are labels. An array of integers as wide as the number of labels has scores, and is refused if
        each of its rows may be the ids of all labels. Or a file of predictions.

        All arrays may be PyTorch tensors, dense or sparse, on any device, including bfloat16, or arrays of JAX,
        CuPy and others that export DLPack. Metrics at a cutoff do not copy dense scores in memory, and copy
        only the top labels of tensors on another device.

        If the truth is grades by query and document, or TREC qrels: ``{query: {document: score}}``, a table
        with a column such as ``score``, or a Run of ranx. As in a file with the same content, equal scores are
        ordered as in trec_eval, missing queries count as 0, and queries that the truth lacks are ignored with a
        warning.

        If the truth is in shards: the same number of shards with matching row counts, or one matrix or file.
    k : int, str or iterable of int, optional
        Cutoffs for metrics that do not name their own; as text such as ``"1,3,5"`` or ``"1-5"``. Default 1, 3
        and 5, and the whole list for AP, RR, RBP and ERR.
    metrics : str or iterable of str
        Names such as ``"PSP"``, ``"P,nDCG(discount=ln)@1,3"``; default P, nDCG, PSP and PSnDCG. Where rows are queries,
        and no propensities are passed, nDCG@10, AP, RR@10 and R@100, or with `k` nDCG, AP, RR and R at these cutoffs.
        See ``METRICS``.
    train : like y_true, optional
        Training labels; propensities are estimated from their frequencies.
    counts, n_train : array of int or path, int, optional
        Instead of `train`: the training rows in which each label is true, and the number of training rows.
    inverse_propensities : array of float or path, optional
        Instead of `train`: 1/p of each label.
    dataset : str, optional
        The name of a public data set: sets `a` and `b`, and warns if sizes differ from the catalogue.
    a, b : float, optional
        Constants of the propensity model; default 0.55 and 1.5.
    n_labels : int, optional
        The number of labels, if `y_true` does not declare it.
    grades : bool
        Whether the values of `y_true` are grades, gains of nDCG and DCG, instead of 0 and 1. Formats that have grades
        by nature, such as qrels, need no declaration unless some are fractions.
    labels : sequence of str or path, optional
        The names of all labels, label 0 first, for inputs that have names instead of ids; or a file with one per line.
    only_labels : sequence of int or str, or path, optional
        The labels that count, by id, or by name if labels have names; or a file with one per line. All others are
        neither true nor predicted, and metrics over all labels are over these; their propensities stay the same.
    unknown_labels : {"error", "miss"}
        Whether a predicted name that is not exactly one of `labels` is an error, or a wrong prediction at its rank: one
        more label of its row, never true, which means over labels and bins do not include.
    duplicates : {"error", "max"}
        Whether a label that appears twice in a row is an error, or counts with its largest value and a warning.
    max_line : int
        Limit on the length of a line in a text file, in MiB; a file with a longer line is refused.
    empty_rows : {"zero", "drop"}
        Whether rows without truth count as 0 or are left out.
    unscored : {"bottom", "zero"}
        For metrics of whole rows: labels without a score rank below all scored labels, as one group of ties; or
        they have score 0, as in a dense copy of a sparse matrix; then -inf is refused.
    ties : {"label", "expected", "best", "worst"}
        For metrics at a cutoff, how labels with equal scores count: in their order by label, by the exact mean over
        all their orders, or in the best or worst of them.
    by_frequency : int, str or sequence, optional
        Bins of labels by training frequency: a number of bins of equal mass, names such as
        ``"head,torso,tail"``, the most frequent first, or a list of one or more ascending training counts at
        which bins begin. ``result.slices`` then has for each bin its share of every metric at a cutoff (the
        shares add up to the metric) and the label-wise metrics within the bin.
    by_group : sequence, mapping of ids or path, optional
        The group of each row, such as its language: a sequence, an array, a Series, whose index is joined like
        the index of `sample_weight`, or a file with one group per line; or, if rows have ids, a mapping from id to
        group, or lines of id and group. ``result.slices`` then has for each of at most 100 groups, ordered by
        name, what `score` gives for its rows alone, except that propensities come from all rows. These
        values have their own intervals, and do not add up to the metric. Each group has its own totals, so that
        the memory of metrics that count labels is multiplied by the number of groups.
    ceiling : bool
        Also compute the best value that any ranking could reach on this truth, for metrics at a cutoff.
    threshold : float, optional
        For metrics of decisions: a stored label is predicted if its score is at least this. Without it all
        stored labels are predicted, or the ones in a dense array of zeros and ones; other dense scores are
        refused. It is rounded to the type of the scores: 0.7 as float32 is at least 0.7. The default metrics
        are then metrics of decisions.
    sample_weight : array of float or path, optional
        One weight per row, at least 0; a Series is joined by its index to rows that have names. A row of weight
        0 is skipped, a row of weight 2 counts twice. Intervals treat weights as fixed, not as numbers of
        repetitions.
    row_ids : sequence of str or path, optional
        The id of each row, or a file with one id per line; also used in `save_rows`. In qrels the ids are the
        queries.
    missing : {"error", "zero", "drop"}
        What happens to queries of the truth that a TREC run, or other predictions by query, lack: ``"error"``
        refuses them, and also queries that only the run has; ``"zero"`` gives them a value of 0; ``"drop"``
        leaves them out for all systems, which are then scored on the queries that they share. (Without ``-c``
        trec_eval leaves out the queries that each run lacks, which rewards a run that does not answer hard
        queries.) Unless refused, queries that the truth lacks are ignored.
    filter : array of int [n_pairs, 2], list of pairs of str, table or path, optional
        Pairs of row and label to remove from the predictions before they are ranked, such as the reciprocal
        pairs of the LF-Amazon sets. A pair that is true stays a true label, which is not predicted; any other
        is neither true nor false. If rows are queries: pairs of query and document ids, such as a query that is
        itself a document.
    filter_truth : bool
        Remove those pairs from the truth too.
    threads : int, optional
        Default: one per processor. The values are bit-identical for any number.
    rows : bool
        Keep the per-row values in memory, 16 bytes per row and metric, as `result.rows`.
    save_rows : path, optional
        Write the per-row values to this file, .npz or .csv; `compare_rows` compares such files.
    save_labels : path, optional
        Write `Result.labels` to this .csv file, a line per label, system by system. Needs a metric that counts by
        label, such as macroF1.
    save_state : path, optional
        Write the totals to this file; `merge` adds them to the totals of other shards.
    shard : str or pair of int, optional
        With `save_state`: which shard this is, such as ``"2/3"`` or ``(2, 3)``; `merge` then detects missing
        shards.
    force : bool
        Overwrite `save_rows`, `save_labels` and `save_state`.
    max_weight : float, optional
        The largest sample weight over all shards, which is the scale of exact sums: weighted totals can only be
        merged if they share it. Default: the largest of `sample_weight`.
    executor : concurrent.futures.Executor, optional
        Score in parts that run as its tasks: in processes, with MPI, or on a cluster, such as
        ``distributed.Client(...).get_executor()``, whose workers see the files under the same paths. The values
        are bit-identical. Not available for metrics of whole columns, such as macroAUC, for `by_group`, or for
        per-row values.
    progress : callable, optional
        Called with the number of rows finished since the last call.

    Returns
    -------
    Result
        A mapping: ``result["P@5"]`` is a fraction; ``result.interval("P@5")`` its 95% interval.

    Raises
    ------
    DataError
        Invalid or inconsistent data; the message says where.
    UsageError
        An invalid argument.

    Warns
    -----
    XmcevalWarning
        Reasons why values may be wrong, which ``result.doubts`` also has. ``result.facts``, shown below the
        table, says how instances without true labels, or with too few predictions, were counted.

    See Also
    --------
    score_all : Several systems on the same truth.
    compare : Test the differences between systems.
    Evaluator : Score batch by batch, as in a training loop.
    precision_at_k, ndcg_at_k, psp_at_k : One metric as a float.
    inspect : Check files for problems.

    Examples
    --------
    >>> import numpy as np
    >>> y_true = np.array([[1, 0, 1], [0, 1, 0]])
    >>> y_score = np.array([[0.9, 0.8, 0.1], [0.2, 0.7, 0.4]])
    >>> result = score(y_true, y_score, k=1, metrics=["P", "R"])
    >>> result["P@1"], result["R@1"]
    (1.0, 0.75)
    """
    if isinstance(y_score, Mapping) and not hasattr(y_score, "tocsr") and not is_by_query(y_score):
        raise UsageError(
            "y_score must be the scores of one system, got a dict (hint: score_all takes several systems by name; "
            "a pair of labels and scores is a tuple; a run is {query: {document: score}})"
        )
    systems = [System(find_scores(y_score, y_true))]
    options = Options(
        k=k,
        metrics=metrics,
        train=train,
        counts=counts,
        n_train=n_train,
        inverse_propensities=inverse_propensities,
        dataset=dataset,
        a=a,
        b=b,
        n_labels=n_labels,
        grades=grades,
        labels=labels,
        only_labels=only_labels,
        unknown_labels=unknown_labels,
        duplicates=duplicates,
        max_line=max_line,
        empty_rows=empty_rows,
        unscored=unscored,
        ties=ties,
        by_frequency=by_frequency,
        by_group=by_group,
        ceiling=ceiling,
        threshold=threshold,
        sample_weight=sample_weight,
        row_ids=row_ids,
        missing=missing,
        filter=filter,
        filter_truth=filter_truth,
        threads=threads,
    )
    saving = Saving(rows, save_rows, save_labels, save_state, shard, force)
    if saving.is_asked or row_ids is not None:
        from xmceval.api.saving import check_saving  # not loaded by a score that saves nothing

        check_saving(options, systems, saving)
    truth = OpenedTruth.of(y_true, options, systems, max_weight=max_weight, executor=executor)
    [result] = score_systems(truth, systems, saving, progress=progress)
    warn(result.doubts)
    return result


def score_all(
    y_true: MatrixLike,
    systems: Mapping[str, MatrixLike],
    *,
    rows: bool = False,
    save_rows: str | Path | None = None,
    save_labels: str | Path | None = None,
    force: bool = False,
    progress: Progress | None = None,
    **options: Any,
) -> Results:
    """Score several systems on the same truth, without testing their differences.

    Parameters
    ----------
    y_true : sparse matrix, array or path [n_rows, n_labels]
        As in `score`.
    systems : mapping of str to matrix or path
        The scores of each system by name, each as in `score`.
    rows : bool
        Keep the per-row values, as in `score`: ``results["b"].rows`` has them.
    save_rows : path, optional
        Write the per-row values to this file, as in `score`.
    save_labels : path, optional
        Write the values of labels to this file, as in `score`.
    force : bool
        Overwrite `save_rows` and `save_labels`.
    progress : callable, optional
        Called with the number of rows finished since the last call.
    **options
        Any option of `score`.

    Returns
    -------
    Results
        A mapping: ``results["b"]["P@5"]`` is a fraction; ``str(results)`` is one table of all systems.

    Raises
    ------
    DataError
        Invalid or inconsistent data; the message says where.
    UsageError
        An invalid argument, or no systems.

    Warns
    -----
    XmcevalWarning
        Reasons why values may be wrong; see `score`.

    See Also
    --------
    compare : Also test the differences.
    score : Score one system.
    Results : Put existing results into one table.

    Examples
    --------
    >>> import numpy as np
    >>> results = score_all(np.eye(6), {"old": np.eye(6)[::-1], "new": np.eye(6)}, k=1, metrics="P")
    >>> results["old"]["P@1"], results["new"]["P@1"]
    (0.0, 1.0)
    """
    refuse_unknown("score_all", options, specs())
    check_systems(systems)
    if not systems:
        raise UsageError("systems must be a dict of scores by name, such as {'a': ..., 'b': ...}, got an empty one")
    named = [System(find_scores(y_score, y_true), name) for name, y_score in systems.items()]
    chosen = Options.of(options)
    saving = Saving(rows, save_rows, save_labels, force=force)
    if saving.is_asked or chosen.row_ids is not None:
        from xmceval.api.saving import check_saving  # not loaded by a score that saves nothing

        check_saving(chosen, named, saving)
    truth = OpenedTruth.of(y_true, chosen, named)
    results = Results(score_systems(truth, named, saving, progress=progress))
    warn(dict.fromkeys(line for result in results.values() for line in result.doubts))
    return results


def score_systems(
    truth: OpenedTruth, systems: Sequence[System], saving: Saving = NOTHING, *, progress: Progress | None = None
) -> tuple[Result, ...]:
    """Score systems on an opened truth, reading it once; `check_saving` has checked the outputs."""
    if len(systems) > 1:
        same = doubt_same_scores(systems, truth.setup.nouns.row)
        truth = replace(truth, setup=replace(truth.setup, warnings=(*truth.setup.warnings, *same)))
    opened = truth.open_systems(systems)
    if not saving.is_asked:
        return tuple(map(finish_state, score_opened(truth, opened, progress=progress)))
    from xmceval.api.saving import check_outputs, keep_rows, write_labels, write_state
    from xmceval.scoring.held_rows import HeldRows

    check_outputs(truth, opened, saving)
    held = None
    joint: tuple[JointRows, ...] = ()
    if saving.holds_rows:
        held = HeldRows(truth.setup, len(opened))
        joint = (held,)
    states = score_opened(truth, opened, joint, progress=progress)
    results = tuple(map(finish_state, states))
    if held is not None:
        results = keep_rows(held, truth, results, saving)
    write_labels(results, saving)
    write_state(states[0], saving)
    return results


def score_opened(
    truth: OpenedTruth,
    systems: Sequence[OpenedSystem],
    joint: Sequence[JointRows] = (),
    *,
    progress: Progress | None = None,
) -> list[State]:
    """Score opened systems, and also add their per-row values to `joint`."""
    if progress is not None and not callable(progress):
        raise UsageError(f"progress must be callable, got {type(progress).__name__}")
    source = truth.input.source
    setup = truth.setup
    first = list[FirstRows]()
    if truth.executor is None:
        totals = evaluate(source, systems, joint, first=first, threads=setup.options.threads, progress=progress)
    else:
        from xmceval.scoring.executor import evaluate_in_parts  # not loaded by a score without it

        totals = evaluate_in_parts(truth.executor, source, systems, joint, first=first, progress=progress)
    if truth.stamps:
        sources = source, *(system.scores for system in systems)
        check_unchanged(truth.stamps, [path for read in sources for path in read.files])
    n_mentioned = None
    if truth.input.judgments is not None:
        n_mentioned = truth.input.judgments.n_mentioned
    weight_range = NO_RANGE
    states = list[State]()
    if setup.weights is not None:
        from xmceval.scoring.setup.per_row import range_of  # not loaded by a score without weights

        weight_range = range_of(setup.weights, setup.weight_unit)
    for number, (system, of_system) in enumerate(zip(systems, totals, strict=True)):
        whole = of_system.tally.whole
        width = system.setup.width.or_seen(whole.largest_label, n_mentioned)
        mistake, of_rows = find_doubts(
            first,
            number,
            setup=system.setup,
            n_labels=min(width.n_labels, system.setup.n_labels),
            are_lists=system.are_lists,
        )
        if mistake:
            of_rows = [Doubt(mistake), *of_rows]
        of_header = system.doubt_header(source, whole.longest_row)
        warnings = *system.setup.warnings, *of_header, *source.warnings, *system.scores.warnings, *of_rows
        if setup.weights is None:
            n_rows = of_system.tally.n_instances(drop_empty=setup.drop_empty)
        else:  # also rows of weight 0
            n_rows = setup.weights.size
        states.append(
            State(
                system.name,
                replace(system.setup, warnings=warnings),
                of_system,
                n_rows,
                truth=(truth.name,),
                scores=(system.file,),
                systems=(system.name,),
                weight_range=weight_range,
                n_mentioned=n_mentioned,
                names=truth.input.documents or truth.known.listed,
            )
        )
    return states


def finish_state(state: State) -> Result:
    """Compute the result of a state."""
    if not state.systems:
        raise UsageError("no result yet: nothing was scored (hint: call update first)")
    setup = state.setup
    if setup.filter is not None:
        state.check_filter()
    totals = state.totals
    options = setup.options
    whole = totals.tally.whole
    notes = list[str]()
    width = setup.width
    if not width.is_known:
        width = width.or_seen(whole.largest_label, state.n_mentioned)
        notes.append(f"no input declares the number of labels: {width.declared_by} {width.n_labels:,}")
        setup = replace(setup, width=width)
    warnings = *setup.warnings, *_check_state(state)
    summary = finish_totals(totals, setup)
    doubts, facts = split_doubts(
        (*warnings, *find_cautions(summary, options, setup.nouns, setup.propensities, warnings))
    )
    changed = options.changed()
    if setup.nouns.are_of_queries and with_query_metrics(replace(options, metrics=None)).measures == options.measures:
        changed.pop("metrics", None)  # the default ones of queries
    tasks = zip(setup.program.tasks, totals.parts, strict=True)
    held_labels = [(task, part, part.rows) for task, part in tasks if task.counts_labels]
    pairs = setup.filter
    filtered = None
    if pairs is not None:
        removed = whole.removed, whole.rows_changed, whole.in_truth
        filtered = FilterReport(pairs.name, pairs.n_pairs, pairs.n_rows, *removed, options.filter_truth)
    return Result(
        first_of(state.systems),
        summary.figures,
        summary.counts,
        None if setup.propensities is NO_PROPENSITIES else setup.propensities,
        options.empty_rows,
        (*doubts, *facts),
        setup.inputs,
        (*notes, *setup.program.remarks(totals.parts, setup.n_labels)),
        filtered,
        slices=summary.slices,
        options=changed,
        truth=first_of(state.truth),
        scores=first_of(state.scores),
        held_labels=held_labels,
        label_names=state.names or setup.labels or NO_NAMES,
        label_ids=None if setup.subset is None else setup.subset.ids,
        nouns=setup.nouns,
    )


def _check_state(state: State) -> Iterator[str]:
    """Refuse weights that are all 0; warn of small ones, of a threshold, of another data set, and of duplicates."""
    setup = state.setup
    program = setup.program
    options = setup.options
    if setup.weights is not None:
        from xmceval.scoring.setup.per_row import check_any_weight, doubt_small_weights  # not loaded without weights

        check_any_weight("sample_weight", state.weight_range[1], state.n_rows)
        are_counted = len(program.row_tasks) < len(program.tasks)
        yield from doubt_small_weights(*state.weight_range, are_counted=are_counted)
    if options.threshold is not None:
        yield from _doubt_threshold(options.threshold, state)
    propensities = setup.propensities
    is_filtered = setup.filter is not None
    n_train = propensities.n
    if propensities.from_truth:
        n_train = None
    sizes = Sizes(
        train=n_train,
        test=state.totals.tally.n_instances(drop_empty=setup.drop_empty),
        labels=setup.width.or_none,
    )
    if options.dataset is not None:
        yield from find_dataset(options.dataset).mismatches(sizes, is_filtered=is_filtered)
    elif n_train is not None:
        yield from hint_at_dataset(sizes, (propensities.a, propensities.b), is_filtered=is_filtered)
    for name, number in zip(("y_true", "y_score"), state.removed, strict=True):
        if number:
            yield f"{name}: {describe_duplicates(number)}"


def _doubt_threshold(threshold: float, state: State) -> Iterator[str]:
    """Doubt a threshold that no score or every score reaches, or one of probabilities for scores that are none.

    Scores from -1 to 1 may be similarities, a threshold of 0 fits logits, and 1 fits counts.
    """
    program = state.setup.program
    totals = state.totals
    parts = zip(program.tasks, totals.parts, strict=True)
    decided = [task.n_decided(part) for task, part in parts if not task.is_at_n]
    n_decided = next((number for number in decided if number is not None), None)
    least, greatest = totals.tally["scores"].tolist()
    n_predictions = totals.tally["counts"][PREDICTIONS]
    are_compared = n_predictions > 0 and least <= greatest and not math.isinf(threshold)
    if n_decided is None or not are_compared:
        return
    if n_decided == 0:
        question = "are the scores on another scale?"
        if threshold > 1:
            question = "is it in percent?"
        yield Doubt(f"no score reaches the threshold {threshold:g}, so no label counts as predicted: {question}")
    elif 0 < threshold < 1 and (greatest > BEYOND or MASKED < least < -BEYOND):
        seen = f"the threshold {threshold:g} is in 0..1, but the scores are from {least:.4g} to {greatest:.4g}"
        if least < 0:
            other = round(math.log(threshold / (1 - threshold)), 4)
            kind = "logits"
            convert = "convert the scores with scipy.special.expit"
        elif LEAST_PERCENT < greatest <= 100:
            other = round(100 * threshold, 4)
            kind = "percents"
            convert = "divide the scores by 100"
        else:
            yield Doubt(f"{seen}: are they on the same scale?")
            return
        if other % 1 == 0:
            other = int(other)
        value = argument("threshold", other)
        yield Doubt(f"{seen}: are they {kind}? (hint: pass {value} for {kind}, or {convert})")
    elif threshold != 1 and not least == greatest == 1 and n_decided == n_predictions:
        yield Doubt(
            f"every score reaches the threshold {threshold:g}, as the lowest is {least:.4g}, so each label with a "
            "score counts as predicted: is the threshold too low?"
        )
