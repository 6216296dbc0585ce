"""Tests of pairs of systems: every metric of every pair, by t or by resampling, and adjusted for their number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from xmceval.errors import counted
from xmceval.kernels.metrics.totals import FEW_DIFFER
from xmceval.report.compared import Difference
from xmceval.scoring.comparing.pairsums import Output
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.statistics.paired import PairedT, Resampling, detectable, holm, randomization_p

BYTES = 16  # of a row's value, which is a numerator and a denominator


@dataclass(frozen=True)
class Cost:
    """What randomization costs: tests, the resamples of each, the rows of each, and the bytes of their values."""

    n_tests: int
    n_resamples: int
    n_rows: int
    n_bytes: int

    @property
    def steps(self) -> int:
        """How many rows are drawn in all, at most: where rows take few values, these are counted instead."""
        return self.n_tests * self.n_resamples * self.n_rows

    def __str__(self) -> str:
        tests = f"{counted(self.n_tests, 'test')} of {counted(self.n_resamples, 'resample')}"
        memory = f", whose values take {self.n_bytes / 1e6:,.0f} MB" if self.n_bytes >= 1e6 else ""
        return f"randomization: {tests} of {counted(self.n_rows, 'instance')}{memory}"


# Called with the cost before resampling starts; what it returns is called with resamples done.
Watch = Callable[[Cost], AbstractContextManager[Callable[[int], None] | None]]


@dataclass
class PairTests:
    """Tests the outputs of systems, pair by pair."""

    names: Sequence[str]  # of the systems
    pairs: Sequence[tuple[int, int]]  # (system, baseline) by number
    testing: Testing
    threads: int = 1
    watch: Watch | None = None  # shows the cost of resampling, and how much of it is done
    _progress: Callable[[int], None] | None = None

    def differences(self, outputs: Sequence[Output]) -> Iterator[Difference]:
        """Yield the differences of each pair in the order of the outputs, not adjusted for their number."""
        cost = self.cost(outputs)
        with nullcontext() if self.watch is None or cost is None else self.watch(cost) as self._progress:
            yield from self._differences(outputs)

    def cost(self, outputs: Sequence[Output]) -> Cost | None:
        """Return what resampling costs; None where nothing is resampled."""
        held = [output for output in outputs if output.rows is not None]
        if not held or not self.pairs or not self.testing.holds_rows:
            return None
        n_rows = max(output.n(*pair) for output in held for pair in self.pairs)
        n_values = sum(output.n_runs for output in held) * n_rows
        return Cost(len(held) * len(self.pairs), self.testing.resamples, n_rows, BYTES * n_values)

    def _differences(self, outputs: Sequence[Output]) -> Iterator[Difference]:
        for system, baseline in self.pairs:
            for output in outputs:
                tested = output.difference(system, baseline)
                if tested is None:
                    continue
                yield Difference.of(
                    output.measure,
                    (self.names[system], self.names[baseline]),
                    self._resampled(tested, output, system, baseline),
                    n=output.n(system, baseline),
                    bin=output.bin,
                    record=output.record(system, baseline) or (None, None, None),
                )

    def _resampled(self, tested: PairedT, output: Output, system: int, baseline: int) -> PairedT:
        """Replace p of t by that of randomization; where few rows differ, p is exact."""
        m = tested.n_differing
        if output.rows is None or self.testing.test == "t" or tested.p is None:
            return tested
        if m is not None and m <= FEW_DIFFER:
            if self._progress is not None:
                self._progress(self.testing.resamples)
            return tested
        resampling = Resampling(self.testing.resamples, self.testing.seed, self.threads, self._progress)
        return replace(tested, p=randomization_p(output.rows(system), output.rows(baseline), resampling))


def adjust(differences: Sequence[Difference], testing: Testing) -> list[Difference]:
    """Adjust p by Holm's method, where that was asked for, and add what so many tests could detect."""
    adjusted = list(differences)
    for members in _list_families(differences, testing):
        ps = holm([differences[i].p for i in members]) if testing.adjust == "holm" else [None] * len(members)
        for i, p in zip(members, ps, strict=True):
            smallest = _detectable(differences[i], testing, len(members))
            adjusted[i] = replace(differences[i], p_adjusted=p, detectable=smallest)
    return adjusted


def _list_families(differences: Sequence[Difference], testing: Testing) -> list[list[int]]:
    """Return which tests are adjusted together: within each metric, over all, or each alone."""
    families: dict[Any, list[int]] = {}
    for i, each in enumerate(differences):
        if each.p is not None:
            within = () if testing.adjust_over == "all" else (each.measure.name, each.bin)
            families.setdefault(within if testing.adjust == "holm" else i, []).append(i)
    return list(families.values())


def _detectable(difference: Difference, testing: Testing, n_tests: int) -> float | None:
    """Return the smallest difference that one of so many tests detects; None where the test is not by t."""
    is_by_t = difference.unit == "run" or testing.test == "t"
    if difference.error is None or difference.degrees is None or not is_by_t:
        return None
    return detectable(difference.error, difference.degrees, n_tests)
