"""Check whether a truth and predictions belong together, and look for common mistakes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from xmceval.errors import DataError, argument, counted, split_doubts
from xmceval.files.open import open_truth
from xmceval.files.sidecars.values import Names
from xmceval.inspection.file import FileInspection
from xmceval.labels.counts import count_labels
from xmceval.metrics.names import parse
from xmceval.report.cautions import find_cautions
from xmceval.rows.width import Width
from xmceval.scoring.alignment import FirstPrecision, FirstRows, compare_with_chance, find_doubts
from xmceval.scoring.compile import compile_program
from xmceval.scoring.evaluate import evaluate
from xmceval.scoring.options import Options
from xmceval.scoring.setup.resolve import System
from xmceval.scoring.setup.truth import OpenedTruth
from xmceval.scoring.summary import finish_totals


@dataclass(frozen=True)
class PairInspection:
    """How the predictions of one file fit the truth of another.

    `precision` is P@5, None where the rows could not be compared, `precision_at_1` P@1; `first_rows` compares P@1 of
    the first rows, if there are any, with what predictions for other rows or labels would reach; `filter_pairs` are the
    predictions that the filter excludes, None without one. `faults` say why ``score`` would refuse the two files
    together, `mistakes` why they clearly do not belong together although it would accept them, `warnings` name
    likely mistakes.
    """

    truth: str
    scores: str
    precision: float | None = None
    precision_at_1: float | None = None
    first_rows: FirstPrecision | None = None
    filter_pairs: int | None = None
    faults: tuple[str, ...] = ()
    mistakes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def is_sound(self) -> bool:
        """Whether no evidence was found that the files do not belong together."""
        return not self.faults and not self.mistakes

    def describe(self, *, is_only: bool) -> str:
        """Say whether they belong together, and how P@1 compares with predictions that do not fit."""
        both = f"{self.truth} and {self.scores}"
        if self.faults:
            return f"{both}: do not belong together, score refuses them"
        if self.mistakes:
            return f"{both}: do not belong together"
        if self.precision_at_1 is None:
            return f"{both}: not compared, as one of the files is not valid"
        first = self.first_rows
        verdict = f"{both}: no problems found"
        if self.warnings:
            verdict = f"{both}: some problems found"
        if first is None:  # there are no rows
            return verdict
        if first.is_clearly_better and not self.warnings:
            verdict = f"{both} fit"
            if is_only:
                verdict = "they fit"
        rows = "rows"
        shifted = ""
        if first.labels_shifted is None:  # documents have no order
            rows = "queries"
        else:
            shifted = f", labels shifted by one {first.labels_shifted:.2%}"
        precision = f"{self.precision_at_1:.2%}"
        of_first = f"{first.precision_at_1:.2%}"
        if of_first != precision:
            precision += f", of the first {first.n_rows:,} {rows} {of_first}"
        return f"{verdict}: P@1 {precision} ({rows} in random order {first.random_order:.2%}{shifted})"


class Training(NamedTuple):
    """Sizes of training labels."""

    n_rows: int
    n_labels: int  # the number declared by the file, else its largest label + 1
    n_entries: int

    @classmethod
    def of(cls, path: str | Path, names: Names | None, *, max_line: int, threads: int | None) -> Training:
        """Count the training labels of a file, which may have names."""
        source = open_truth(path, names=names, max_line=max_line).source
        width = Width()
        if source.n_labels is not None:
            width = width.agree(source.n_labels, source.name)
        counts = count_labels(source, width=width, threads=threads, are_training=True)
        n_labels = counts.n_labels
        if width.is_known:
            n_labels = width.n_labels
        return cls(counts.n_rows, n_labels, int(counts.table()[1].sum()))


def inspect_pair(
    truth: FileInspection, scores: FileInspection, training: Training | None = None, **options: Any
) -> PairInspection:
    """Compare predictions with a truth as `score` does with `options`; filtered pairs do not count."""
    pair = PairInspection(truth.path, scores.path)
    are_sound = truth.is_sound and scores.is_sound
    is_same_file = truth.file.resolve() == scores.file.resolve()
    warnings = list[str]()
    if is_same_file:
        warnings.append(f"{truth.path} and {scores.path} are the same file")
    warnings += _check_training(truth, training)
    if are_sound:
        try:
            _refuse_rows(truth, scores, training)
            pair = _score(pair, truth.file, scores.file, Options(metrics=("P@1",), grades=True, **options))
        except DataError as error:
            pair = replace(pair, faults=tuple(str(error).split("\n")))
    warnings += [line for line in pair.warnings if line not in scores.warnings]
    if pair.precision_at_1 == 1.0 and scores.n_entries == truth.n_entries and not is_same_file:
        warnings.append(
            f"all best labels of {scores.path} are true, and it has as many entries as {truth.path}: is it the truth?"
        )
    if pair.filter_pairs:
        warnings.append(
            f"the filter is not applied: it excludes {counted(pair.filter_pairs, 'prediction')} of {scores.path} "
            f"(hint: pass {argument('filter')} to score)"
        )
    return replace(pair, warnings=tuple(warnings))


def _score(pair: PairInspection, truth: Path, scores: Path, options: Options) -> PairInspection:
    """Score the predictions, with the warnings of score."""
    opened = OpenedTruth.of(truth, options)
    program = compile_program(parse("P", [1, 5]))  # even with fewer than five labels
    opened = replace(opened, setup=replace(opened.setup, program=program))
    [system] = opened.open_systems([System(scores)])
    source = opened.input.source
    first_rows = list[FirstRows]()
    [totals] = evaluate(source, [system], first=first_rows, threads=options.threads)
    judgments = opened.input.judgments
    place = f" of {pair.scores}"
    n_mentioned = None
    if judgments is not None:
        n_mentioned = judgments.n_mentioned
    width = system.setup.width.or_seen(totals.tally.whole.largest_label, n_mentioned)
    summary = finish_totals(totals, replace(system.setup, width=width))
    first, fifth = (figure.estimate.value for figure in summary.figures)
    mistake, doubts = find_doubts(
        first_rows, place=place, setup=system.setup, n_labels=width.n_labels, are_lists=system.are_lists
    )
    of_values, _ = split_doubts(find_cautions(summary, options, opened.setup.nouns, warnings=(mistake, *doubts)))
    of_header = system.doubt_header(source, totals.tally.whole.longest_row)
    pair = replace(
        pair,
        precision=fifth,
        precision_at_1=first,
        warnings=(*doubts, *of_values, *of_header, *system.scores.warnings),
    )
    if first_rows:
        pair = replace(pair, first_rows=compare_with_chance(first_rows, are_documents=judgments is not None))
    if options.filter is not None:
        pair = replace(pair, filter_pairs=totals.tally.whole.removed)
    if mistake:
        pair = replace(pair, mistakes=(mistake,))
    return pair


def _refuse_rows(truth: FileInspection, scores: FileInspection, training: Training | None) -> None:
    """Refuse files with different numbers of rows, unless rows are joined by name."""
    if scores.has_queries or truth.n_rows == scores.n_rows:
        return
    reason = "expected the same instances in both"
    if truth.is_declared and (truth.n_rows, truth.n_labels) == (scores.n_labels, scores.n_rows):
        reason = "one of them is transposed: rows are instances, columns are labels"
    elif training is not None and scores.n_rows == training.n_rows:
        reason = "the predictions are for the training instances"
    elif training is not None and truth.n_rows == training.n_rows:
        reason = "the truth has as many rows as the training labels: is it the training set?"
    rows = counted(truth.n_rows, "row"), counted(scores.n_rows, "row")
    raise DataError(f"{truth.path} has {rows[0]}, {scores.path} has {rows[1]}; {reason}")


def _check_training(truth: FileInspection, training: Training | None) -> Iterator[str]:
    """Compare the truth with the training labels."""
    if training is None:
        return
    if truth.is_declared and training.n_labels != truth.n_labels:
        yield (
            f"the training file has {counted(training.n_labels, 'label')}, {truth.path} has "
            f"{counted(truth.n_labels, 'label')}: do they belong to the same data set?"
        )
    if truth.n_rows == training.n_rows and truth.n_entries == training.n_entries:
        yield f"{truth.path} has as many rows and entries as the training labels: is it the training set?"
