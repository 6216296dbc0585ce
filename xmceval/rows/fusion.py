"""Fusion: the predictions of several systems as those of one, row by row."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from xmceval.errors import Fault, UsageError, counted, listed
from xmceval.rows.block import Block, Float64, Int64, Rows, Scratch, Source, StoredRows
from xmceval.rows.checks import validated_scores
from xmceval.rows.lockstep import Lockstep
from xmceval.rows.width import Width

RANK_OFFSET = 60  # of reciprocal ranks


@dataclass(frozen=True)
class SystemEntries:
    """The entries of one system in some rows: for each its row, its score, and its rank from 1; and each row's length.

    ``least`` is the lowest score of each row, 0 where it has none; ``greatest`` the highest.
    """

    rows: Int64
    scores: Float64
    ranks: Int64
    lengths: Int64
    least: Float64
    greatest: Float64


@dataclass(frozen=True)
class Rule:
    """How the scores of several lists become one.

    Attributes
    ----------
    worth : callable
        What an entry of a list adds to its label.
    missing : callable
        What a list adds, by row, to a label that it lacks.
    text : str
        In words.
    """

    worth: Callable[[SystemEntries], Float64]
    missing: Callable[[SystemEntries], Float64]
    text: str


def _normalized(entries: SystemEntries) -> Float64:
    """Scale the finite scores of each row to 0..1, equal ones to 1; -inf has 0, and +inf has no place: NaN."""
    rows, scores = entries.rows, entries.scores
    least, greatest = entries.least, entries.greatest
    is_finite = np.isfinite(scores)
    if not is_finite.all():
        least, greatest = _extremes(rows[is_finite], scores[is_finite], entries.lengths.size)
    with np.errstate(over="ignore", invalid="ignore"):
        factor = np.where(np.isinf(greatest - least), 0.5, 1.0)  # a span may exceed what a float holds
        span, least, factor = (greatest * factor - least * factor)[rows], (least * factor)[rows], factor[rows]
        scaled = np.divide(scores * factor - least, span, out=np.ones(scores.size), where=span > 0)
    scaled[scores == -np.inf] = 0.0
    scaled[scores == np.inf] = np.nan
    return scaled


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "score": Rule(
            lambda entries: entries.scores,
            lambda entries: entries.least,
            "weighted sum of scores; a label that a list lacks has the lowest score of that list in the row",
        ),
        "normalized": Rule(
            _normalized,
            lambda entries: np.zeros(entries.lengths.size),
            "weighted sum of scores scaled to 0..1 within each row and list, equal ones or a single one to 1; a label "
            "that a list lacks, or whose score is -inf, has 0",
        ),
        "rank": Rule(
            lambda entries: -entries.ranks.astype(np.float64),
            lambda entries: -(entries.lengths + 1).astype(np.float64),
            "weighted sum of ranks, the lowest first; a label that a list lacks has the rank below its last",
        ),
        "reciprocal-rank": Rule(
            lambda entries: 1.0 / (RANK_OFFSET + entries.ranks),
            lambda entries: np.zeros(entries.lengths.size),
            f"weighted sum of 1 / ({RANK_OFFSET} + rank); a label that a list lacks has 0 "
            "(Cormack, Clarke, Buettcher, SIGIR 2009)",
        ),
    }
)


@dataclass
class FusedSource:
    """The fused predictions of several sources of the same rows.

    Parameters
    ----------
    sources : sequence of Source
        At least two.
    by : str
        A key of RULES.
    weights : sequence of float
        One per source.
    name : str
    """

    sources: Sequence[Source]
    by: str
    weights: Sequence[float]
    name: str
    warnings: list[str] = field(default_factory=list)
    dtype: None = None  # fused scores are computed in float64

    def __post_init__(self) -> None:
        if self.by not in RULES:
            raise UsageError(f"by must be one of {listed(RULES)}, got {self.by!r}")
        if len(self.sources) < 2:
            raise UsageError("fusion needs at least two files of predictions")
        if len(self.weights) != len(self.sources):
            raise UsageError(
                f"got {counted(len(self.weights), 'weight')} for "
                f"{counted(len(self.sources), 'system')}; expected one per system"
            )
        if not all(np.isfinite(weight) and weight >= 0 for weight in self.weights) or not any(self.weights):
            raise UsageError(f"weights must be at least 0 and not all 0, got {listed(self.weights)}")

    @property
    def n_rows(self) -> int | None:
        """The number of rows, if a source declares it."""
        return next((source.n_rows for source in self.sources if source.n_rows is not None), None)

    @property
    def width(self) -> Width:
        """The number of labels that the sources declare for certain."""
        width = Width()
        for source in self.sources:
            own = Width.of(source)
            width = width.agree(own.n_labels, source.name, "column") if own.is_known else width
        return width

    @property
    def n_labels(self) -> int | None:
        """The number of labels that the sources declare for certain, else the largest that one declares."""
        declared = [source.n_labels for source in self.sources if source.n_labels is not None]
        return self.width.n_labels if self.width.is_known else max(declared, default=None)

    @property
    def is_exact(self) -> bool:
        """Whether that can only be the number of labels."""
        return self.width.is_known

    def files(self) -> tuple[Path, ...]:
        """Return the files of all sources."""
        return tuple(dict.fromkeys(path for source in self.sources for path in source.files()))

    def blocks(self) -> Generator[Block, None, None]:
        """Yield blocks of the sources in step."""
        first, *others = self.sources
        width = self.width
        for blocks in Lockstep(first, others):
            yield Block(FusedRows(self, blocks, width), blocks[0].first_row)


@dataclass
class FusedRows(StoredRows):
    """Some rows of all sources, fused when they are parsed."""

    source: FusedSource
    blocks: Sequence[Block]
    width: Width

    def __post_init__(self) -> None:
        self.n_rows = self.blocks[0].n_rows
        self._scratch = [Scratch() for _ in self.blocks]

    def split(self, n_rows: int) -> tuple[FusedRows, FusedRows]:
        """Return the first rows, and the rest."""
        rest = [replace(block) for block in self.blocks]
        first = [block.take(n_rows) for block in rest]
        return replace(self, blocks=first), replace(self, blocks=rest)

    def place(self, row: int) -> str:
        """Return the name of the fusion, and where a row of the first source is."""
        return f"{self.source.name}: {self.blocks[0].place(row)}"

    def blank_from(self) -> int:
        """Return the row from which on all rows are blank lines."""
        return max(block.blank_from() for block in self.blocks)

    def parse(self, scratch: Scratch) -> Rows:
        """Parse and fuse the rows."""
        try:
            lists = [validated_scores(*each, self.width) for each in zip(self.blocks, self._scratch, strict=True)]
        except Fault as fault:
            raise Fault(fault.row - self.blocks[0].first_row, fault.message, fault.doubt) from None
        fused = fuse_rows(lists, RULES[self.source.by], self.source.weights)
        if np.isnan(fused.values).any():
            raise self._fault(lists, fused)
        rows = scratch.rows(self.n_rows, fused.indices.size)
        for target, values in zip(rows, fused, strict=True):
            target[:] = values
        return rows

    def _fault(self, lists: Sequence[Rows], fused: Rows) -> Fault:
        """Describe the first label whose scores have no sum: those of each system."""
        entry = int(np.flatnonzero(np.isnan(fused.values))[0])
        row, label = int(np.searchsorted(fused.indptr, entry, side="right")) - 1, int(fused.indices[entry])
        own = []
        for i, (block, (indptr, indices, values)) in enumerate(zip(self.blocks, lists, strict=True), 1):
            of_row = slice(int(indptr[row]), int(indptr[row + 1]))
            found = values[of_row][indices[of_row] == label]
            lowest = f"its lowest is {values[of_row].min():g}" if of_row.stop > of_row.start else "it is empty"
            own.append(f"system {i} has {f'{found[0]:g}' if found.size else f'none ({lowest})'} at {block.place(row)}")
        problem = f"the scores of label {label} cannot be fused by {self.source.by}: {', '.join(own)}"
        hint = " (hint: fuse by rank or reciprocal-rank)"
        return Fault(row, f"{self.source.name}: {problem}{hint}")


def fuse_rows(lists: Sequence[Rows], rule: Rule, weights: Sequence[float]) -> Rows:
    """Return the union of the labels of each row, with fused scores, in the order of the labels.

    NaN is the score of a label whose scores have no sum: +inf and -inf, or finite ones whose sum exceeds a float.
    """
    n_rows = lists[0].indptr.size - 1
    entries = [_entries(each) for each in lists]
    used = [each.indices[: each.indptr[-1]] for each in lists]
    labels, rows = np.concatenate(used), np.concatenate([each.rows for each in entries])
    order = np.lexsort((labels, rows))
    is_first = np.ones(order.size, dtype=np.bool_)
    is_first[1:] = (np.diff(rows[order]) != 0) | (np.diff(labels[order]) != 0)
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.cumsum(is_first) - 1
    kept = order[is_first]
    fused_rows = rows[kept]
    scores, has_infinite = np.zeros(kept.size), np.zeros(kept.size, dtype=np.bool_)
    start = 0
    for each, weight in zip(entries, weights, strict=True):
        worth = rule.missing(each)[fused_rows]
        own = place[start : start + each.rows.size]
        worth[own] = rule.worth(each)
        if weight:
            with np.errstate(over="ignore", invalid="ignore"):
                scores += weight * worth
            has_infinite |= np.isinf(worth)
        start += each.rows.size
    scores[np.isinf(scores) & ~has_infinite] = np.nan
    indptr = np.zeros(n_rows + 1, dtype=np.int64)
    np.cumsum(np.bincount(fused_rows, minlength=n_rows), out=indptr[1:])
    return Rows(indptr, labels[kept], scores)


def _entries(rows: Rows) -> SystemEntries:
    """Rank the entries of each row: by score, then by label."""
    lengths = np.diff(rows.indptr)
    of_row = np.repeat(np.arange(lengths.size), lengths)
    n_entries = int(rows.indptr[-1])
    labels, scores = rows.indices[:n_entries], rows.values[:n_entries]
    order = np.lexsort((labels, -scores, of_row))
    ranks = np.empty(n_entries, dtype=np.int64)
    ranks[order] = np.arange(n_entries) - rows.indptr[of_row[order]] + 1
    return SystemEntries(of_row, scores.copy(), ranks, lengths, *_extremes(of_row, scores, lengths.size))


def _extremes(rows: Int64, scores: Float64, n_rows: int) -> tuple[Float64, Float64]:
    """Return the lowest and the highest score of each row, float64 [n_rows]; 0 where it has no entry."""
    least, greatest = np.full(n_rows, np.inf), np.full(n_rows, -np.inf)
    np.minimum.at(least, rows, scores)
    np.maximum.at(greatest, rows, scores)
    is_empty = least > greatest
    least[is_empty] = greatest[is_empty] = 0.0
    return least, greatest
