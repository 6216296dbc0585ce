"""Details: what a comparison shows beside the differences: how far lists overlap, and examples of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from xmceval.api.extras.extra import Extra, Outcome, Scoring
from xmceval.api.extras.savelabels import label_names
from xmceval.api.scoring.setup import Setup
from xmceval.errors import DataError, UsageError, argument, counted
from xmceval.files.io.lines import pick_lines
from xmceval.files.io.paths import to_path
from xmceval.files.io.presence import check_files
from xmceval.scoring.comparing.examples import Examples
from xmceval.scoring.comparing.overlap import Overlaps
from xmceval.scoring.comparing.testoptions import Details


def choose_details(details: Details) -> Iterator[Extra]:
    """Yield the details that are asked for; a file of texts must exist."""
    check_files([details.texts])
    if details.overlap:
        yield FindOverlaps()
    if details.examples is not None:
        yield PickExamples(details.examples, details.texts)


class FindOverlaps(Extra):
    """Find how far the lists of each pair of systems agree."""

    def start(self, scoring: Scoring, files: ExitStack) -> None:  # noqa: ARG002 - extras share one signature
        """Make the observer.

        Raises
        ------
        UsageError
            A program that has no lists.
        """
        setup, groups = scoring.setup, scoring.groups
        self._runs = [[(i, j) for i in groups[one] for j in groups[other]] for one, other in scoring.pairs]
        of_runs = [pair for pairs in self._runs for pair in pairs]
        self._overlaps = Overlaps(setup.program, of_runs, drop_empty=setup.terms.drop_empty)
        self.observers = [self._overlaps]

    def finish(self, outcome: Outcome) -> Outcome:
        """Add the overlap of each pair."""
        named = zip(outcome.scoring.named_pairs, self._runs, strict=True)
        return replace(outcome, overlaps=tuple(self._overlaps.finish(names, pairs) for names, pairs in named))


class PickExamples(Extra):
    """Pick the rows that each system of a pair loses and wins most, with the names of their labels and their texts."""

    def __init__(self, n: int, texts: Any) -> None:
        self._n, self._texts = n, texts

    def start(self, scoring: Scoring, files: ExitStack) -> None:  # noqa: ARG002
        """Make the observer.

        Raises
        ------
        UsageError
            A program that has no lists, or systems that have several.
        """
        if scoring.has_runs:
            raise UsageError("examples show one list per system; they are not available for systems with several runs")
        self._examples = Examples(scoring.setup.program, scoring.pairs, self._n)
        self.observers = [self._examples]

    def finish(self, outcome: Outcome) -> Outcome:
        """Add the examples of each pair.

        Raises
        ------
        DataError
            Another number of texts than of rows.
        """
        found = self._examples.finish(outcome.scoring.names)
        texts: Mapping[int, str] = {}
        if self._texts is not None:
            texts = _pick_texts(self._texts, {each.row for each in found}, self._examples.n_rows)
        setup, ids = outcome.scoring.setup, outcome.scoring.setup.row_ids
        if ids is not None:
            ids.check_number(self._examples.n_rows)
        examples = (
            replace(
                each,
                names=_name(setup, each.labels),
                text=texts.get(each.row),
                id=None if ids is None else ids.ids[each.row],
            )
            for each in found
        )
        return replace(outcome, examples=tuple(examples))


def _name(setup: Setup, labels: set[int]) -> dict[int, str]:
    """Return the names of labels that have one."""
    find, ordered = label_names(setup), sorted(labels)
    if find is None:
        return {}
    return {label: name for label, name in zip(ordered, find(ordered), strict=True) if name is not None}


def _pick_texts(texts: Any, rows: set[int], n_rows: int) -> Mapping[int, str]:
    """Return the texts of some rows; there must be one for each of all rows."""
    is_file = isinstance(texts, (str, Path))
    found, n_texts = pick_lines(to_path(texts), rows) if is_file else _pick_items(texts, rows)
    if n_texts != n_rows:
        if is_file:
            problem = f"{texts}: has {counted(n_texts, 'line')}, and there are {counted(n_rows, 'row')}"
        else:
            problem = f"there are {counted(n_texts, 'text')} for {counted(n_rows, 'row')}"
        raise DataError(
            f"{problem}; expected one per instance (hint: pass {argument('texts', kind='FILE')} with all of them)"
        )
    return found


def _pick_items(texts: Sequence[str], rows: set[int]) -> tuple[dict[int, str], int]:
    items = list(texts)
    return {row: str(items[row]) for row in rows if row < len(items)}, len(items)
