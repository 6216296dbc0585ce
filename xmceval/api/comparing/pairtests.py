"""Tests of pairs of systems: every metric of every pair, by t or by resampling, and adjusted for their number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from xmceval.errors import counted
from xmceval.kernels.metrics.totals import FEW_DIFFER
from xmceval.report.comparison import Difference
from xmceval.scoring.comparing.outputs import Output
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.statistics.multiplicity import holm
from xmceval.statistics.paired import PairedT, detectable
from xmceval.statistics.resampling import (
    Resampling,
    bootstrap_difference,
    bootstrap_sums,
    randomization_p,
    tukey_ps,
)

BYTES = 16  # of a row's value, which is a numerator and a denominator


@dataclass(frozen=True)
class Cost:
    """What resampling costs.

    Attributes
    ----------
    what : str
        The kind of test.
    n_tests, n_resamples, n_rows : int
        So many tests, each of so many resamples of so many rows. Where rows take few values, these are counted, and a
        resample costs less than its rows.
    n_bytes : int
        The memory that the values of rows take.
    """

    what: str
    n_tests: int
    n_resamples: int
    n_rows: int
    n_bytes: int

    @property
    def steps(self) -> int:
        """How many rows are drawn in all, at most."""
        return self.n_tests * self.n_resamples * self.n_rows

    def __str__(self) -> str:
        tests = f"{counted(self.n_tests, 'test')} of {counted(self.n_resamples, 'resample')}"
        memory = f", whose values take {self.n_bytes / 1e6:,.0f} MB" if self.n_bytes >= 1e6 else ""
        return f"{self.what}: {tests} of {counted(self.n_rows, 'instance')}{memory}"


# Called with the cost before resampling starts; what it returns is called with resamples done.
Watch = Callable[[Cost], AbstractContextManager[Callable[[int], None] | None]]


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
    watch : callable, optional
        Shows the cost of resampling, and how much of it is done.
    """

    names: Sequence[str]
    pairs: Sequence[tuple[int, int]]
    testing: Testing
    threads: int = 1
    watch: Watch | None = None
    _progress: Callable[[int], None] | None = None
    _tukey: dict[int, Callable[[int, int], float]] = field(default_factory=dict)

    def differences(self, outputs: Sequence[Output]) -> Iterator[Difference]:
        """Yield the differences of each pair in the order of the outputs, not adjusted for their number."""
        cost = self.cost(outputs)
        with nullcontext() if self.watch is None or cost is None else self.watch(cost) as self._progress:
            yield from self._differences(outputs)

    def cost(self, outputs: Sequence[Output]) -> Cost | None:
        """Return what resampling costs; None where nothing is resampled."""
        held = [output for output in outputs if output.rows is not None]
        is_tukey, test = self.testing.adjust == "tukey", self.testing.test
        if not held or not self.pairs or not self.testing.holds_rows:
            return None
        n_tests = len(held) * (len(self.pairs) * (test != "t") + is_tukey)
        what = " and ".join([*([test] if test != "t" else []), *(["tukey"] if is_tukey else [])])
        n_rows = max(output.n(*pair) for output in held for pair in self.pairs)
        n_values = sum(output.n_runs for output in held) * n_rows
        return Cost(what, n_tests, self.testing.resamples, n_rows, BYTES * n_values)

    def _differences(self, outputs: Sequence[Output]) -> Iterator[Difference]:
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
                    **vars(tested),
                    p_adjusted=None if tested.p is None else self._tukey_p(output, system, baseline),
                    wins=wins,
                    ties=ties,
                    losses=losses,
                    n=output.n(system, baseline),
                    bin=output.bin,
                )

    def _resampled(self, tested: PairedT, output: Output, system: int, baseline: int) -> PairedT:
        """Replace what a resampling test finds in place of t; where few rows differ, p is exact."""
        test, m = self.testing.test, tested.n_differing
        if output.rows is None or test == "t" or tested.p is None:
            return tested
        # Of differences that are all equal, all bootstrap samples have the same.
        if m is not None and (m <= FEW_DIFFER or test == "bootstrap"):
            if self._progress is not None:
                self._progress(self.testing.resamples)
            return tested
        a, b = output.rows(system), output.rows(baseline)
        resampling = self._resampling
        if test == "randomization":
            return replace(tested, p=randomization_p(a, b, resampling))
        sums = bootstrap_sums(np.concatenate([a, b], axis=1), resampling)
        found = bootstrap_difference(sums, tested.difference, resampling)
        return replace(tested, low=found.low, high=found.high, p=found.p)

    @property
    def _resampling(self) -> Resampling:
        return Resampling(self.testing.resamples, self.testing.seed, self.threads, self._progress)

    def _tukey_p(self, output: Output, system: int, baseline: int) -> float | None:
        """Return p of a pair by the randomized Tukey test."""
        if output.rows is None or self.testing.adjust != "tukey":
            return None
        if id(output) not in self._tukey:
            values = np.stack([output.rows(each) for each in range(len(self.names))], axis=1)
            self._tukey[id(output)] = tukey_ps(values, self._resampling)
        return self._tukey[id(output)](system, baseline)


def adjust(differences: Sequence[Difference], testing: Testing) -> list[Difference]:
    """Adjust p by Holm's method, where that was asked for, and add what so many tests could detect."""
    adjusted = list(differences)
    for members in _list_families(differences, testing):
        own = [differences[i] for i in members]
        ps = holm([each.p for each in own]) if testing.adjust == "holm" else [each.p_adjusted for each in own]
        for i, each, p in zip(members, own, ps, strict=True):
            adjusted[i] = replace(each, p_adjusted=p, detectable=_detectable(each, testing, len(members)))
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
    is_by_t = difference.unit == "run" or (testing.test == "t" and testing.adjust != "tukey")
    if difference.error is None or difference.degrees is None or not is_by_t:
        return None
    return detectable(difference.error, difference.degrees, n_tests)
