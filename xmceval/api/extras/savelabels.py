"""Saving the values of labels when systems have been scored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from xmceval.api.scoring.propensities import find_propensities
from xmceval.api.scoring.setup import Setup
from xmceval.errors import UsageError, argument
from xmceval.files.io.paths import to_path
from xmceval.files.saved.labelwriting import LabelPair, LabelTable, check_label_file, write_label_values
from xmceval.files.writing.targets import open_targets
from xmceval.labels.propensity import NO_PROPENSITIES, Propensities
from xmceval.report.result import Result
from xmceval.scoring.options import SOURCES
from xmceval.scoring.system import System
from xmceval.scoring.totals import Totals

if TYPE_CHECKING:  # loaded where a file is named: each start pays for what it loads
    from xmceval.files.saved.labelwriting import LabelPair, LabelTable
    from xmceval.report.comparison import LabelWins


def counting_labels(setup: Setup, path: str | Path | None, rows: str | Path | None = None) -> Setup:
    """Return a setup that counts every label, if a file for values of labels is named; `rows` is that of rows.

    Raises
    ------
    UsageError
        Another ending than .npz, .csv or .jsonl, a file that exists, metrics of which none has a cutoff or decisions,
        another treatment of ties than by label, or the same file for rows.
    """
    if path is None:
        return setup

    check_label_file(path)
    if rows is not None and to_path(rows).resolve() == to_path(path).resolve():
        raise UsageError(f"{path}: cannot be the file of both rows and labels")
    program = setup.program.counting_labels()
    if not any(measure.k is not None or measure.metric.family in COUNTED for measure in program.measures):
        raise UsageError(f"{path}: none of the metrics counts labels (hint: add a metric at a cutoff, such as P@5)")
    if setup.terms.ties != "label":
        ties = argument("ties", setup.terms.ties)
        raise UsageError(f"{path}: counts by label follow the order by label, not {ties}")
    return replace(setup, program=program)


COUNTED = frozenset({"confusion", "column"})


@dataclass(frozen=True)
class LabelSaving:
    """Values of labels that are being saved, or nothing."""

    setup: Setup
    opened: Sequence[System]
    file: BinaryIO | None = None
    path: Path = Path()
    propensities: Propensities = NO_PROPENSITIES

    def finish(
        self, results: Sequence[Result], totals: Sequence[Totals], pairs: tuple[LabelPair, ...] = ()
    ) -> tuple[LabelWins, ...]:
        """Write the file, and return who wins how many labels."""
        if self.file is None:
            return ()
        from xmceval.files.saved.labelwriting import LabelTable
        from xmceval.scoring.per_label.labelvalues import LabelValues

        n_labels = max(result.counts.n_labels for result in results)
        terms = [each.terms for each in self.opened]
        values = LabelValues(self.setup.program, totals, terms)
        bins = terms[0].bins
        table = LabelTable(
            values.labels(n_labels),
            tuple(result.name for result in results),
            values.columns,
            **self._label_columns(),
            bins=() if bins is None else tuple(each.name for each in bins.bins),
            pairs=pairs,
        )
        wins = _count_wins(table, values.deciding)
        meta = {
            "truth": results[0].truth,
            "n_instances": results[0].counts.n_instances,
            "n_labels": n_labels,
            "options": dict(results[0].options),
            "propensities": self._model(),
            "wins": [vars(each) for each in wins],
        }
        write_label_values(self.file, self.path, replace(table, meta=meta))
        return wins

    def _label_columns(self) -> dict[str, Any]:
        """Return what gives training rows, 1/p, the bin and the name of labels, as far as they are known."""
        propensities, bins = self.propensities, self.opened[0].terms.bins
        columns: dict[str, Any] = {}
        if propensities.from_training:
            columns["n_train"] = lambda labels: propensities.counts[propensities.codes_of(labels)]
        if propensities is not NO_PROPENSITIES:
            columns["inverse_propensity"] = lambda labels: propensities.inverse[propensities.codes_of(labels)]
        if bins is not None:
            columns["bin"] = lambda labels: bins.by_code[propensities.codes_of(labels)]
        name = _find_names(self.setup)
        return columns if name is None else columns | {"name": name}

    def _model(self) -> dict[str, Any] | None:
        """Return constants and source of the propensities."""
        if self.propensities is NO_PROPENSITIES:
            return None
        return {name: getattr(self.propensities, name) for name in ("a", "b", "n", "source", "from_truth")}


@contextmanager
def saving_labels(setup: Setup, opened: Sequence[System], path: str | Path | None) -> Iterator[LabelSaving]:
    """Write the values of labels to a file, if one is named; the setup counts labels then.

    Training rows and 1/p are those that the metrics use, or where none does those of the file that is passed.
    """
    if path is None:
        yield LabelSaving(setup, opened)
        return
    propensities = setup.terms.propensities
    is_passed = any(getattr(setup.options, name) is not None for name in SOURCES)
    if propensities is NO_PROPENSITIES and is_passed:
        lookup = find_propensities(setup.opener, setup.truth.source, setup.terms.width)
        propensities = lookup.propensities or NO_PROPENSITIES
    path = to_path(path)
    with open_targets([path], force=False) as [file]:
        yield LabelSaving(setup, opened, file, path, propensities)


def _count_wins(table: LabelTable, column: str) -> tuple[LabelWins, ...]:
    """Count the labels for which the system of a pair has more than the baseline; a value that is undefined is 0."""
    from xmceval.report.comparison import LabelWins

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


def _find_names(setup: Setup) -> Callable[[Any], list[str | None]] | None:
    """Return what gives the names of labels: those of --labels, or documents that got numbers in sorted order."""
    names, judgments = setup.opener.names, setup.truth.judgments
    if names is not None:
        return lambda labels: [names.name_of(label) for label in labels.tolist()]
    places = None if judgments is None or judgments.documents is None else judgments.documents.places
    if places is None:
        return None
    documents = {label: document.decode(errors="replace") for document, label in places.items()}
    return lambda labels: [documents.get(label) for label in labels.tolist()]
