"""Examples: the rows that a system loses most and wins most against another, with both lists of labels."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from xmceval.errors import UsageError
from xmceval.kernels.metrics.totals import TIE
from xmceval.metrics.measure import Measure
from xmceval.scoring.comparing.overlap import check_cutoffs
from xmceval.scoring.observing.observers import BlockValues, Observer, divide
from xmceval.scoring.program import Program

LOSS, WIN = "loss", "win"
DIGITS = 12  # of what a row gains: rounding must not decide which of two like rows comes first
SIGNS = {LOSS: -1.0, WIN: 1.0}

Pair = tuple[int, int]


@dataclass(frozen=True)
class Example:
    """A row that a system wins or loses.

    Attributes
    ----------
    system, baseline : str
        Their names.
    kind : {"loss", "win"}
        How the system does.
    measure : Measure
        On which metric.
    row : int
        Counted from 0.
    value, baseline_value : float
        Of the metric in this row.
    true : tuple of int
        The true labels.
    ranked, baseline_ranked : tuple of int
        The best labels of both, best first, down to the cutoff of the metric, or else the deepest cutoff.
    names : mapping of int to str
        The names of these labels, where label names were passed.
    text : str or None
        The text of the row, where texts were passed.
    id : str or None
        The id of the row, where rows have any.
    """

    system: str
    baseline: str
    kind: str
    measure: Measure
    row: int
    value: float
    baseline_value: float
    true: tuple[int, ...]
    ranked: tuple[int, ...]
    baseline_ranked: tuple[int, ...]
    names: Mapping[int, str] = field(default_factory=dict)
    text: str | None = None
    id: str | None = None

    @property
    def called(self) -> str:
        """What the row is called: by its id, where it has one."""
        return f"instance {self.row if self.id is None else self.id}"

    @property
    def labels(self) -> set[int]:
        """All labels that it shows."""
        return {*self.true, *self.ranked, *self.baseline_ranked}


class Candidate(NamedTuple):
    """A row as it is kept while others may still be more extreme: they sort by what they gain, then by row."""

    loss: float  # what the row gains, negated
    row: int
    values: tuple[float, float]
    true: tuple[int, ...]
    lists: tuple[tuple[int, ...], tuple[int, ...]]


class Examples(Observer):
    """An observer that keeps the most extreme rows of pairs of systems: at most `n` losses and `n` wins of each.

    Parameters
    ----------
    program : Program
    pairs : sequence of (system, baseline)
        By number.
    n : int

    Attributes
    ----------
    measure : Measure
        The first metric that has values of rows, at its largest cutoff.
    n_rows : int
        The rows of all blocks, also those of weight 0.

    Raises
    ------
    UsageError
        No metric has values of rows, or none has a cutoff.
    """

    needs_rankings = True

    def __init__(self, program: Program, pairs: Sequence[Pair], n: int) -> None:
        check_cutoffs(program, "examples")
        first = next(iter(program.columns), None)
        if first is None:
            raise UsageError("examples need a metric with per-instance values (hint: add one, such as P@5)")
        alike = [each for each in program.columns if each.head == first.head]
        self.measure, self.n_rows = max(alike, key=lambda each: each.k or 0), 0
        self._column = program.columns[self.measure]
        self._depth, self._n = self.measure.k or program.deepest, n
        self._kept: dict[tuple[Pair, str], list[Candidate]] = {(pair, kind): [] for pair in pairs for kind in SIGNS}
        self._lock = threading.Lock()

    def add(self, block: BlockValues) -> None:
        """Keep the rows of a block that are more extreme than those kept before."""
        fractions = [of_system[:, self._column] for of_system in block.values]
        values = [divide(each[:, 0], each[:, 1]) for each in fractions]
        direction = 1.0 if self.measure.metric.higher_is_better else -1.0
        with self._lock:
            self.n_rows = max(self.n_rows, block.first_row + block.n_rows)
            for (pair, kind), kept in self._kept.items():
                x, y = (values[each] for each in pair)
                gains = np.round(SIGNS[kind] * direction * (x - y), DIGITS)
                least = -kept[-1].loss if len(kept) == self._n else 0.0
                with np.errstate(invalid="ignore"):
                    is_wanted = (gains >= least) & (gains > TIE * np.maximum(np.abs(x), np.abs(y)))
                wanted = np.flatnonzero(is_wanted)
                best = wanted[np.argsort(-gains[wanted], kind="stable")[: self._n]]
                found = [self._copy(block, int(i), float(gains[i]), (x[i], y[i]), pair) for i in best]
                kept[:] = sorted([*kept, *found], key=lambda each: each[:2])[: self._n]

    def _copy(self, block: BlockValues, i: int, gain: float, values: tuple[float, float], pair: Pair) -> Candidate:
        """Copy the i-th row with values of a block."""
        entries = slice(*block.truth.indptr[i : i + 2])
        true = block.truth.indices[entries][block.truth.values[entries] >= self.measure.rel]
        rankings = (block.rankings[each] for each in pair)
        a, b = (tuple(each.labels[i, : min(each.n_ranked[i], self._depth)].tolist()) for each in rankings)
        row = block.first_row + (i if block.kept is None else int(block.kept[i]))
        return Candidate(-gain, row, (float(values[0]), float(values[1])), tuple(true.tolist()), (a, b))

    def finish(self, names: Sequence[str]) -> list[Example]:
        """Return the examples: of each pair losses, then wins, the largest first."""
        return [
            Example(names[pair[0]], names[pair[1]], kind, self.measure, each.row, *each.values, each.true, *each.lists)
            for (pair, kind), kept in self._kept.items()
            for each in kept
        ]
