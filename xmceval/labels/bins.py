"""Bins: labels grouped by how often they occur in training, such as head, torso and tail."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from xmceval.errors import DataError, UsageError, counted
from xmceval.labels.propensity import Propensities
from xmceval.rows.block import Int64


@dataclass(frozen=True)
class Bin:
    """Labels of similar training frequency.

    Attributes
    ----------
    name : str
    low, high : int
        The fewest and the most training rows of its labels.
    n_labels : int
    mass : float
        Their share of all training positives.
    """

    name: str
    low: int
    high: int
    n_labels: int
    mass: float

    def __str__(self) -> str:
        return self.describe()

    def describe(self, truth: str = "") -> str:
        """Describe it in one line; `truth` is the file whose own rows were counted, without training labels."""
        rows, positives = (f"rows of {truth} itself", "its") if truth else ("training rows", "the training")
        return (
            f"{self.name}: {counted(self.n_labels, 'label')} with {self.low:,} to {self.high:,} {rows}, "
            f"{self.mass:.1%} of {positives} positives"
        )


@dataclass(frozen=True)
class Bins:
    """Bins from the most frequent labels to the rarest; `by_code` is the bin by the code of a label's propensity."""

    bins: tuple[Bin, ...]
    by_code: Int64

    def __len__(self) -> int:
        return len(self.bins)


def make_bins(spec: int | str | Sequence[int | str], propensities: Propensities, n_labels: int) -> Bins:
    """Group labels by training frequency.

    Parameters
    ----------
    spec : int, str or sequence
        A number of bins of equal mass, each with about the same share of the training positives; or their names, from
        the most frequent labels on, such as ``"head,torso,tail"``; or ascending numbers of training rows at which bins
        begin, such as ``"10,100"``; a sequence may have a single one, ``[10]``. Labels of one frequency are never
        separated.
    propensities : Propensities
        From training counts.
    n_labels : int

    Raises
    ------
    UsageError
        A spec that is none of these.
    DataError
        Inverse propensities that were given without counts.
    """
    if propensities.n is None:
        raise DataError("bins by frequency need training counts (hint: pass --train or --counts)")
    words, are_edges = _read_spec(spec)
    numbers = [int(word) for word in words if word.isascii() and word.isdigit()]
    if not words or not all(words) or (any(map(_is_number, words)) and len(numbers) < len(words)):
        raise UsageError(
            f"by_frequency must be a number of bins, names of bins, or ascending training counts, got {spec!r}"
        )
    counts = propensities.counts
    labels = np.bincount(propensities.codes, minlength=counts.size)
    labels[0] += n_labels - propensities.codes.size
    positives = labels * counts.astype(np.float64)
    if numbers and are_edges:
        edges = np.array(numbers, dtype=np.float64)
        if np.any(np.diff(edges) <= 0) or edges[0] < 1:
            raise UsageError(f"training counts at which bins begin must ascend from at least 1, got {spec!r}")
        by_code = edges.size - np.searchsorted(edges, counts, side="right")
        names = [f"from {edge:,}" for edge in reversed(numbers)] + [f"below {numbers[0]:,}"]
    else:
        n_bins = numbers[0] if numbers else len(words)
        if n_bins < 1:
            raise UsageError("by_frequency needs at least 1 bin")
        names = [f"bin {i + 1}" for i in range(n_bins)] if numbers else _check_names(words, spec)
        mass = positives[::-1]
        before = (np.cumsum(mass) - mass)[::-1] / max(mass.sum(), 1.0)
        by_code = np.minimum((n_bins * before).astype(np.int64), n_bins - 1)
    by_code = by_code.astype(np.int64)
    return Bins(tuple(_bin(name, by_code == i, labels, counts) for i, name in enumerate(names)), by_code)


def _read_spec(spec: Any) -> tuple[list[str], bool]:
    """Return the words of a spec, and whether numbers among them are training counts at which bins begin."""
    if isinstance(spec, str):
        words = [word.strip() for word in spec.split(",")]
        return words, len(words) > 1
    if isinstance(spec, Iterable) and getattr(spec, "ndim", 1) > 0:
        return [str(word).strip() for word in spec], True
    return [] if isinstance(spec, bool) else [str(spec)], False


def _check_names(words: list[str], spec: Any) -> list[str]:
    """Refuse a single name, which would be one bin of all labels, and a name that appears twice.

    Raises
    ------
    UsageError
    """
    if len(words) == 1:
        raise UsageError(
            f"by_frequency={spec!r} would be one bin with all labels; expected at least two names such as head,tail, "
            "a number of bins such as 3, or ascending training counts such as 10,100"
        )
    repeated = [word for i, word in enumerate(words) if word in words[:i]]
    if repeated:
        raise UsageError(f"by_frequency names {repeated[0]!r} twice; expected a name of its own for each bin")
    return words


def _is_number(word: str) -> bool:
    """Whether a word is a number of any kind, and so not a name."""
    try:
        float(word)
    except ValueError:
        return word.isnumeric()
    return True


def _bin(name: str, inside: NDArray[np.bool_], labels: Int64, counts: Int64) -> Bin:
    positives = labels * counts.astype(np.float64)
    present = counts[inside & (labels > 0)]
    low, high = (int(present[0]), int(present[-1])) if present.size else (0, 0)
    mass = float(positives[inside].sum() / max(positives.sum(), 1.0))
    return Bin(name, low, high, int(labels[inside].sum()), mass)
