"""Details: what a comparison shows beside the differences: how far lists overlap, and examples of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from xmceval.api.comparing.runs import Lineup
from xmceval.api.scoring.setup import Setup
from xmceval.errors import DataError, UsageError, argument, counted
from xmceval.files.io.lines import pick_lines
from xmceval.files.io.paths import to_path
from xmceval.scoring.comparing.examples import Example, Examples
from xmceval.scoring.comparing.overlap import Overlap, Overlaps
from xmceval.scoring.comparing.testoptions import Details
from xmceval.scoring.observing.observers import Observer


@dataclass(frozen=True)
class DetailWatch:
    """What watches the rows of systems for details, as far as they were asked for."""

    details: Details
    lineup: Lineup
    pairs: Sequence[tuple[int, int]]
    name_labels: Callable[[set[int]], dict[int, str]]
    overlaps: Overlaps | None = None
    examples: Examples | None = None

    @classmethod
    def of(cls, details: Details, setup: Setup, lineup: Lineup, pairs: Sequence[tuple[int, int]]) -> DetailWatch:
        """Make the observers.

        Raises
        ------
        UsageError
            A program that has no lists, or examples of systems that have several.
        """
        overlaps = examples = None
        if details.overlap:
            of_runs = [each for pair in pairs for each in _pairs_between(lineup, pair)]
            overlaps = Overlaps(setup.program, of_runs, drop_empty=setup.terms.drop_empty)
        if details.examples is not None:
            if lineup.has_runs:
                raise UsageError(
                    "examples show one list per system; they are not available for systems with several runs"
                )
            examples = Examples(setup.program, pairs, details.examples)
        return cls(details, lineup, pairs, partial(_name_labels, setup), overlaps, examples)

    @property
    def observers(self) -> Iterator[Observer]:
        """What sees the rows."""
        yield from (each for each in (self.overlaps, self.examples) if each is not None)

    def finish_overlaps(self) -> tuple[Overlap, ...]:
        """Return the overlap of each pair."""
        if self.overlaps is None:
            return ()
        called = self.lineup.names
        return tuple(
            self.overlaps.finish((called[pair[0]], called[pair[1]]), _pairs_between(self.lineup, pair))
            for pair in self.pairs
        )

    def finish_examples(self) -> tuple[Example, ...]:
        """Return the examples of each pair, with the names of their labels and their texts.

        Raises
        ------
        DataError
            Another number of texts than of rows.
        """
        if self.examples is None:
            return ()
        found = self.examples.finish(self.lineup.names)
        texts: Mapping[int, str] = {}
        if self.details.texts is not None:
            texts = _pick_texts(self.details.texts, {each.row for each in found}, self.examples.n_rows)
        return tuple(replace(each, names=self.name_labels(each.labels), text=texts.get(each.row)) for each in found)


def _pairs_between(lineup: Lineup, pair: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the pairs of runs of a system and its baseline."""
    return [(i, j) for i in lineup.groups[pair[0]] for j in lineup.groups[pair[1]]]


def _name_labels(setup: Setup, labels: set[int]) -> dict[int, str]:
    """Return the names of labels: those of --labels, or documents that got numbers in sorted order."""
    names, judgments = setup.opener.names, setup.truth.judgments
    if names is not None:
        named = ((label, names.name_of(label)) for label in sorted(labels))
        return {label: name for label, name in named if name is not None}
    places = None if judgments is None or judgments.documents is None else judgments.documents.places
    return {label: document.decode(errors="replace") for document, label in (places or {}).items() if label in labels}


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
            f"{problem}; expected one text per row (hint: pass {argument('texts', kind='FILE')} with those of TRUTH)"
        )
    return found


def _pick_items(texts: Sequence[str], rows: set[int]) -> tuple[dict[int, str], int]:
    items = list(texts)
    return {row: str(items[row]) for row in rows if row < len(items)}, len(items)
