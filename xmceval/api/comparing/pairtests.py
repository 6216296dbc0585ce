"""Tests of pairs of systems: every metric of every pair, by t or by resampling, and adjusted for their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from xmceval.errors import counted
from xmceval.kernels.metrics.totals import FEW_DIFFER
from xmceval.report.compared import Difference
from xmceval.rows.threads import default_threads
from xmceval.scoring.comparing.pairsums import Output
from xmceval.scoring.comparing.testoptions import Testing
from xmceval.statistics.paired import Resampling, detectable, holm, randomization_p

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


def find_differences(
    names: Sequence[str],
    pairs: Sequence[tuple[int, int]],
    outputs: Sequence[Output],
    testing: Testing,
    threads: int | None,
    watch: Watch | None,
    others: Sequence[Difference] = (),
) -> list[Difference]:
    """Test the outputs of systems, pair by pair, and adjust p for the number of tests, together with `others`.

    Pairs are (system, baseline) by number; `watch` shows the cost of resampling, and how much of it is done.
    """
    held = [output for output in outputs if output.rows is not None]
    watching: AbstractContextManager[Callable[[int], None] | None] = nullcontext()
    if watch is not None and held and pairs and testing.holds_rows:
        n_rows = max(output.n(*pair) for output in held for pair in pairs)
        n_values = sum(output.n_runs for output in held) * n_rows
        watching = watch(Cost(len(held) * len(pairs), testing.resamples, n_rows, BYTES * n_values))
    differences = []
    with watching as progress:
        resampling = Resampling(testing.resamples, testing.seed, threads or default_threads(), progress)
        for system, baseline in pairs:
            for output in outputs:
                tested = output.difference(system, baseline)
                if tested is None:
                    continue
                if output.rows is not None and testing.test != "t" and tested.p is not None:
                    if tested.n_differing is None or tested.n_differing > FEW_DIFFER:
                        p = randomization_p(output.rows(system), output.rows(baseline), resampling)
                        tested = replace(tested, p=p)
                    elif progress is not None:  # where few rows differ, p is exact
                        progress(testing.resamples)
                pair = names[system], names[baseline]
                n, record = output.n(system, baseline), output.record(system, baseline) or (None, None, None)
                differences.append(Difference.of(output.measure, pair, tested, n=n, bin=output.bin, record=record))
    return _adjust([*differences, *others], testing)


def _adjust(differences: Sequence[Difference], testing: Testing) -> list[Difference]:
    """Adjust p by Holm's method where that was asked for, and add the smallest difference detectable after it.

    Tests are adjusted together within each metric, or over all; without Holm's method each is alone.
    """
    families: dict[Any, list[int]] = {}
    for i, difference in enumerate(differences):
        if difference.p is not None:
            within = () if testing.adjust_over == "all" else (difference.measure.name, difference.bin)
            families.setdefault(within if testing.adjust == "holm" else i, []).append(i)
    adjusted = list(differences)
    for members in families.values():
        ps = holm([differences[i].p for i in members]) if testing.adjust == "holm" else [None] * len(members)
        for i, p in zip(members, ps, strict=True):
            own, smallest = differences[i], None
            is_by_t = own.unit == "run" or testing.test == "t"
            if is_by_t and own.error is not None and own.degrees is not None:
                smallest = detectable(own.error, own.degrees, len(members))
            adjusted[i] = replace(own, p_adjusted=p, detectable=smallest)
    return adjusted
