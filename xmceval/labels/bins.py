"""Group labels into bins by how often they occur in training, such as head, torso and tail."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from xmceval.errors import DataError, agreeing, argument, counted, plural
from xmceval.labels.bin_spec import read_bin_spec, span
from xmceval.labels.propensity import Propensities
from xmceval.rows.block import Int64
from xmceval.rows.nouns import OF_LABELS, Nouns


@dataclass(frozen=True)
class Bin:
    """Labels of similar training frequency."""

    noun: ClassVar[str] = "bin"
    name: str
    low: int  # the range of training rows of its labels
    high: int
    n_labels: int
    mass: float  # the share of all training positives in the bin

    def __str__(self) -> str:
        return self.describe()

    @property
    def is_empty(self) -> bool:
        """Whether it has no labels, and hence no values."""
        return self.n_labels == 0

    @property
    def extent(self) -> str:
        """The range of training rows of its labels, as text."""
        if self.is_empty:
            return "empty"
        return span(self.low, self.high, "\N{EN DASH}")

    def describe(self, truth: str = "", nouns: Nouns = OF_LABELS) -> str:
        """Describe it in one line; `truth` is the file whose own rows were counted, without training labels."""
        if self.is_empty:
            return f"{self.name}: no {plural(nouns.label)}"
        rows = agreeing(self.high, nouns.row, plural(nouns.row))
        labels = f"{self.name}: {counted(self.n_labels, nouns.label)} with {span(self.low, self.high)}"
        if truth:
            return f"{labels} {rows} of {truth} itself, {self.mass:.1%} of its positives"
        return f"{labels} training {rows}, {self.mass:.1%} of the training positives"


@dataclass(frozen=True)
class Bins:
    """Bins from the most frequent labels to the rarest; `by_code` maps the code of a propensity to its bin."""

    bins: tuple[Bin, ...]
    by_code: Int64

    def __len__(self) -> int:
        return len(self.bins)


def make_bins(spec: int | str | Sequence[int | str], propensities: Propensities, n_labels: int) -> Bins:
    """Group labels into bins by training frequency, as in `score`; labels of equal frequency stay together."""
    if propensities.n is None:
        raise DataError(
            f"bins by frequency need training counts (hint: pass {argument('train')} or {argument('counts')})"
        )
    asked = read_bin_spec(spec)
    counts = propensities.counts
    labels = np.bincount(propensities.codes, minlength=counts.size)
    labels[0] += n_labels - propensities.codes.size
    positives = labels * counts.astype(np.float64)
    if asked.edges:
        edges = np.array(asked.edges, dtype=np.float64)
        by_code = edges.size - np.searchsorted(edges, counts, side="right")
    else:
        n_bins = len(asked.names)
        mass = positives[::-1]
        before = (np.cumsum(mass) - mass)[::-1] / max(mass.sum(), 1.0)
        by_code = np.minimum((n_bins * before).astype(np.int64), n_bins - 1)
    by_code = by_code.astype(np.int64)
    bins = []
    for number, name in enumerate(asked.names):
        inside = by_code == number
        present = counts[inside & (labels > 0)]
        low = 0
        high = 0
        if present.size:
            low = int(present[0])
            high = int(present[-1])
        share = float(positives[inside].sum() / max(positives.sum(), 1.0))
        bins.append(Bin(name, low, high, int(labels[inside].sum()), share))
    return Bins(tuple(bins), by_code)
