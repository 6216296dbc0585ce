"""Inspection of a pair: do a truth and predictions belong together, or was one of the usual mistakes made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from xmceval.errors import DataError, argument, counted
from xmceval.files.io.limits import MAX_LINE
from xmceval.files.io.paths import to_path
from xmceval.files.opening import open_scores, open_truth
from xmceval.files.sidecars.labelnames import Names
from xmceval.inspection.file import FileInspection
from xmceval.labels.training import Training
from xmceval.metrics.names import parse
from xmceval.rows.filters import Filter
from xmceval.rows.width import Width
from xmceval.scoring.batch import Terms
from xmceval.scoring.evaluate import evaluate
from xmceval.scoring.observing.firstrows import FirstRows
from xmceval.scoring.program import compile_program
from xmceval.scoring.summary import finish_totals
from xmceval.scoring.system import System, with_row_length

MEASURES = ("P@1", "P@5")


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
    filter_pairs : int or None
        Predictions that the filter excludes; None without a filter.
    faults : tuple of str
        Why ``score`` would refuse the two files together.
    mistakes : tuple of str
        Why they clearly do not belong together, although ``score`` would accept them.
    warnings : tuple of str
        What is likely a mistake.
    """

    truth: str
    scores: str
    precision: float | None = None
    precision_at_1: float | None = None
    filter_pairs: int | None = None
    faults: tuple[str, ...] = ()
    mistakes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether nothing shows that the two files do not belong together."""
        return not self.faults and not self.mistakes


def inspect_pair(
    truth: FileInspection,
    scores: FileInspection,
    *,
    n_labels: int | None = None,
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
    n_labels : int, optional
        The number of labels, where the truth does not declare it.
    names : Names, optional
        Names of the labels, where the files have names instead of numbers.
    filter : Filter, optional
        Pairs of row and label that the predictions should not contain; they are left out of P@1 and P@5.
    training : Training, optional
        Counts of the training labels.
    max_line : int
        The longest line of a text file, in MiB.
    threads : int, optional
        Default: one per processor.
    """
    paths = truth.path, scores.path
    where = truth.file or to_path(truth.path), scores.file or to_path(scores.path)
    is_same_file = where[0].resolve() == where[1].resolve()
    warnings = [f"{truth.path} and {scores.path} are the same file"] if is_same_file else []
    warnings += _check_training(truth, training)
    faults = tuple(_check_sizes(truth, scores, training))
    if faults or truth.faults or scores.faults:
        return PairInspection(*paths, faults=faults, warnings=tuple(warnings))
    try:
        fit = _score(*where, n_labels, names, filter, max_line, threads)
    except DataError as error:
        return PairInspection(*paths, faults=tuple(str(error).split("\n")), warnings=tuple(warnings))
    warnings += [line for line in fit.warnings if line not in scores.warnings]
    warnings += () if is_same_file else _check_copy(fit, truth, scores)
    if fit.n_filtered:
        warnings.append(
            f"the filter is not applied: it excludes {counted(fit.n_filtered, 'prediction')} of {scores.path} "
            f"(hint: pass {argument('filter')} to score)"
        )
    doubt = fit.first_rows.find_doubt(0, f" of {scores.path}")
    return PairInspection(
        *paths,
        precision=fit.precision,
        precision_at_1=fit.precision_at_1,
        filter_pairs=None if filter is None else fit.n_filtered,
        mistakes=(doubt,) if doubt else (),
        warnings=tuple(warnings),
    )


def _check_sizes(truth: FileInspection, scores: FileInspection, training: Training | None) -> Iterator[str]:
    """Compare the numbers of rows and labels."""
    if scores.is_joined:
        return
    if truth.n_rows != scores.n_rows:
        yield (
            f"{truth.path} has {counted(truth.n_rows, 'row')}, {scores.path} has {counted(scores.n_rows, 'row')}; "
            + _explain_rows(truth, scores, training)
        )
    elif truth.is_declared and scores.largest_label >= truth.n_labels:
        label, has_extra_column = scores.largest_label, scores.is_declared and scores.n_labels == truth.n_labels + 1
        if not has_extra_column:  # score drops it from files whose writers are known to add one
            hint = "; are the labels 1-based?" if label == truth.n_labels else ""
            yield (
                f"{scores.path} has label {label}, outside 0..{truth.n_labels - 1} "
                f"({truth.path} has {counted(truth.n_labels, 'label')}{hint})"
            )


def _explain_rows(truth: FileInspection, scores: FileInspection, training: Training | None) -> str:
    """Explain why the numbers of rows differ."""
    if truth.is_declared and (truth.n_rows, truth.n_labels) == (scores.n_labels, scores.n_rows):
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
    if truth.is_declared and training.counts.size != truth.n_labels:
        yield (
            f"the training file has {counted(training.counts.size, 'label')}, {truth.path} has "
            f"{counted(truth.n_labels, 'label')}: do they belong to the same data set?"
        )
    if truth.n_rows == training.n_rows and truth.n_entries == int(training.counts.sum()):
        yield f"{truth.path} has as many rows and entries as the training labels: is it the training set?"


def _check_copy(fit: _Fit, truth: FileInspection, scores: FileInspection) -> Iterator[str]:
    """Look for signs that the predictions are the truth."""
    if fit.precision_at_1 == 1.0 and scores.n_entries == truth.n_entries:
        yield f"all best labels of {scores.path} are true, and it has as many entries as {truth.path}: is it the truth?"


@dataclass(frozen=True)
class _Fit:
    """What scoring predictions against a truth shows."""

    precision_at_1: float
    precision: float
    first_rows: FirstRows
    n_filtered: int
    warnings: tuple[str, ...]


def _score(
    truth_path: Path,
    scores_path: Path,
    n_labels: int | None,
    names: Names | None,
    filter: Filter | None,  # noqa: A002 - the field's word
    max_line: int,
    threads: int | None,
) -> _Fit:
    """Score predictions as `score` does."""
    opened = open_truth(truth_path, names=names, max_line=max_line)
    truth = opened.source
    width = Width() if n_labels is None else Width(n_labels, f"{argument('n_labels')} is")
    if truth.n_labels is not None:
        width = width.agree(truth.n_labels, truth.name)
    scores = open_scores(
        scores_path,
        names=names,
        n_rows=truth.n_rows,
        n_labels=width.or_none,
        judgments=opened.judgments,
        max_line=max_line,
    ).fit_width(width.or_none)
    program, terms = compile_program(parse(MEASURES)), Terms(width=width.agree_with(scores, "column"), filter=filter)
    system = System(scores, with_row_length(terms, truth, scores))
    first_rows = FirstRows()
    [totals] = evaluate(truth, [system], program, observers=[first_rows], threads=threads)
    first, fifth = (figure.estimate.value for figure in finish_totals(program, totals, terms).figures)
    return _Fit(
        *(first, fifth, first_rows),
        totals.tally.filtered.removed,
        (*system.doubt_header(truth, totals), *scores.warnings),
    )
