"""Saving the values of labels when systems have been scored."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from xmceval.api.extras.extra import Extra, Outcome, Scoring
from xmceval.api.scoring.propensities import find_propensities
from xmceval.api.scoring.setup import Setup
from xmceval.errors import UsageError, argument
from xmceval.files.io.paths import to_path
from xmceval.files.saved.labelwriting import LabelPair, LabelTable, check_label_file, write_label_values
from xmceval.files.writing.targets import open_targets
from xmceval.labels.propensity import NO_PROPENSITIES, Propensities
from xmceval.metrics.measure import Measure
from xmceval.report.comparison import LabelWins
from xmceval.scoring.per_label.labelvalues import LabelValues

COUNTED = frozenset({"confusion", "column"})


class SaveLabels(Extra):
    """Write counts and values of every label to a file; `beside` is that of values of rows."""

    def __init__(self, path: str | Path, *, beside: str | Path | None = None) -> None:
        self._path, self._beside = to_path(path), beside

    def prepare(self, setup: Setup) -> Setup:
        """Return a setup that counts every label.

        Raises
        ------
        UsageError
            Another ending than .npz, .csv or .jsonl, a file that exists, metrics of which none has a cutoff or
            decisions, another treatment of ties than by label, or the same file for rows.
        """
        path = self._path
        check_label_file(path)
        if self._beside is not None and to_path(self._beside).resolve() == path.resolve():
            raise UsageError(f"{path}: values of instances and of labels need two different files")
        program = setup.program.counting_labels()
        if not any(
            each.k is not None or each.metric.family in COUNTED or each.average == "predicted"
            for each in program.measures
        ):
            raise UsageError(f"{path}: none of the metrics has label counts (hint: add one at a cutoff, such as P@5)")
        if setup.terms.ties != "label":
            ties = argument("ties", setup.terms.ties)
            raise UsageError(f"{path}: counts by label follow the order by label, not {ties}")
        return replace(setup, program=program)

    def start(self, scoring: Scoring, files: ExitStack) -> None:
        """Open the file, and find training rows and 1/p: those that the metrics use, else those that are passed."""
        setup = scoring.setup
        self._propensities = setup.terms.propensities
        if self._propensities is NO_PROPENSITIES and setup.options.sources:
            lookup = find_propensities(setup.opener, setup.truth.source, setup.terms.width)
            self._propensities = lookup.propensities or NO_PROPENSITIES
        [self._file] = files.enter_context(open_targets([self._path], force=False))

    def finish(self, outcome: Outcome) -> Outcome:
        """Write the file, and add who wins how many labels."""
        scoring, first = outcome.scoring, outcome.results[0]
        n_labels = max(result.counts.n_labels for result in outcome.results)
        terms = [each.terms for each in scoring.opened]
        values = LabelValues(scoring.setup.program, outcome.totals, terms)
        bins = terms[0].bins
        table = LabelTable(
            values.labels(n_labels),
            tuple(result.name for result in outcome.results),
            values.columns,
            **self._label_columns(scoring),
            bins=() if bins is None else tuple(each.name for each in bins.bins),
            pairs=tuple(
                LabelPair(*names, *(scoring.groups[each] for each in pair))
                for names, pair in zip(scoring.named_pairs, scoring.pairs, strict=True)
            ),
        )
        wins = _count_wins(table, values.deciding)
        meta = {
            "truth": first.truth,
            "n_instances": first.counts.n_instances,
            "n_labels": n_labels,
            "options": dict(first.options),
            "propensities": _describe_model(self._propensities),
            "wins": [vars(each) for each in wins],
        }
        write_label_values(self._file, self._path, replace(table, meta=meta))
        return replace(outcome, label_wins=wins)

    def _label_columns(self, scoring: Scoring) -> dict[str, Any]:
        """Return what gives training rows, 1/p, the bin and the name of labels, as far as they are known."""
        propensities, bins = self._propensities, scoring.opened[0].terms.bins
        columns: dict[str, Any] = {}
        if propensities.from_training:
            columns["n_train"] = lambda labels: propensities.counts[propensities.codes_of(labels)]
        if propensities is not NO_PROPENSITIES:
            columns["inverse_propensity"] = lambda labels: propensities.inverse[propensities.codes_of(labels)]
        if bins is not None:
            columns["bin"] = lambda labels: bins.by_code[propensities.codes_of(labels)]
        name = label_names(scoring.setup)
        return columns if name is None else columns | {"name": lambda labels: name(labels.tolist())}


def _is_of_labels(measure: Measure) -> bool:
    """Whether a measure has counts or values of labels."""
    return measure.k is not None or measure.metric.family in COUNTED or measure.average == "predicted"


def _describe_model(propensities: Propensities) -> dict[str, Any] | None:
    """Return constants and source of the propensities."""
    if propensities is NO_PROPENSITIES:
        return None
    return {name: getattr(propensities, name) for name in ("a", "b", "n", "source", "from_truth")}


def _count_wins(table: LabelTable, column: str) -> tuple[LabelWins, ...]:
    """Count the labels for which the system of a pair has more than the baseline; a value that is undefined is 0."""
    counts = np.zeros((len(table.pairs), 3), dtype=np.int64)
    for labels in table.pieces if table.pairs else ():
        values = np.nan_to_num(table.values[column](labels))
        for p, pair in enumerate(table.pairs):
            own, other = (values[:, runs].mean(axis=1) for runs in (pair.own, pair.other))
            counts[p] += [np.count_nonzero(own > other), np.count_nonzero(own == other), np.count_nonzero(own < other)]
    return tuple(
        LabelWins(pair.system, pair.baseline, column, *of_pair)
        for pair, of_pair in zip(table.pairs, counts.tolist(), strict=True)
    )


def label_names(setup: Setup) -> Callable[[Iterable[int]], list[str | None]] | None:
    """Return what gives the names of labels: those of --labels, or documents that got numbers in sorted order."""
    names, judgments = setup.opener.names, setup.truth.judgments
    if names is not None:
        return lambda labels: [names.name_of(label) for label in labels]
    documents = None if judgments is None or judgments.documents is None else judgments.documents.by_label
    if documents is None:
        return None
    names_of = {label: document.decode(errors="replace") for label, document in documents.items()}
    return lambda labels: [names_of.get(label) for label in labels]
