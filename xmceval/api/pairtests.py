"""Tests of pairs of systems: every metric of every pair, by t or by resampling, and adjusted for their number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from xmceval.report.comparison import Difference
from xmceval.scoring.paired import Output
from xmceval.scoring.runs import MeanOutput
from xmceval.scoring.testing import Testing
from xmceval.statistics.multiplicity import holm
from xmceval.statistics.paired import PairedT
from xmceval.statistics.resampling import (
    Resampling,
    bootstrap_difference,
    bootstrap_sums,
    randomization_p,
    tukey_ps,
)


@dataclass
class PairTests:
    """Tests the outputs of systems, pair by pair.

    Parameters
    ----------
    names : sequence of str
        Of the systems.
    pairs : sequence of (system, baseline)
        By number.
    testing : Testing
    threads : int
    """

    names: Sequence[str]
    pairs: Sequence[tuple[int, int]]
    testing: Testing
    threads: int = 1
    _tukey: dict[int, Callable[[int, int], float] | None] = field(default_factory=dict)

    def differences(self, outputs: Sequence[Output | MeanOutput]) -> Iterator[Difference]:
        """Yield the differences of each pair in the order of the outputs, not adjusted for their number."""
        for system, baseline in self.pairs:
            for output in outputs:
                tested = output.difference(system, baseline)
                if tested is None:
                    continue
                tested = self._resampled(tested, output, system, baseline)
                wins, ties, losses = output.record(system, baseline) or (None, None, None)
                yield Difference(
                    output.measure,
                    self.names[system],
                    self.names[baseline],
                    tested.difference,
                    tested.low,
                    tested.high,
                    tested.p,
                    self._tukey_p(output, system, baseline),
                    tested.effect,
                    tested.detectable,
                    wins,
                    ties,
                    losses,
                    output.n(system, baseline),
                    output.bin,
                )

    def _resampled(self, tested: PairedT, output: Output | MeanOutput, system: int, baseline: int) -> PairedT:
        """Replace what a resampling test finds in place of t."""
        if output.rows is None or self.testing.test == "t":
            return tested
        a, b = output.rows(system), output.rows(baseline)
        resampling = self._resampling
        if self.testing.test == "randomization":
            return replace(tested, p=randomization_p(a, b, resampling))
        sums = bootstrap_sums(np.concatenate([a, b], axis=1), resampling)
        found = bootstrap_difference(sums, tested.difference, resampling)
        return replace(tested, low=found.low, high=found.high, p=found.p)

    @property
    def _resampling(self) -> Resampling:
        return Resampling(self.testing.resamples, self.testing.seed, self.threads)

    def _tukey_p(self, output: Output | MeanOutput, system: int, baseline: int) -> float | None:
        """Return p of a pair by the randomized Tukey test, where all systems have the same denominators."""
        if output.rows is None or self.testing.adjust != "tukey":
            return None
        if id(output) not in self._tukey:
            values = [output.rows(each) for each in range(len(self.names))]
            is_common = all(np.array_equal(values[0][:, 1], each[:, 1]) for each in values[1:])
            numerators = np.stack([each[:, 0] for each in values], axis=1)
            self._tukey[id(output)] = tukey_ps(numerators, self._resampling) if is_common else None
        ps = self._tukey[id(output)]
        return None if ps is None else float(ps(system, baseline))


def adjust(differences: Sequence[Difference], testing: Testing) -> list[Difference]:
    """Adjust p by Holm's method, where that was asked for: within each metric, or over all differences."""
    adjusted = list(differences)
    if testing.adjust != "holm":
        return adjusted
    groups: dict[tuple[str, str], list[int]] = {}
    for i, each in enumerate(differences):
        if each.p is not None:
            group = ("", "") if testing.adjust_over == "all" else (each.measure.name, each.bin)
            groups.setdefault(group, []).append(i)
    for members in groups.values():
        for i, p in zip(members, holm([differences[i].p for i in members]), strict=True):
            adjusted[i] = replace(differences[i], p_adjusted=p)
    return adjusted
