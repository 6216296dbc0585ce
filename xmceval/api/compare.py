"""Compare: which system is better, by how much, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from xmceval.api.setup import Named, Opened, Setup
from xmceval.errors import UsageError, listed, warn
from xmceval.metrics.measure import Measure
from xmceval.report.comparison import Comparison, Difference
from xmceval.report.result import Result
from xmceval.rows.threads import Progress, default_threads
from xmceval.scoring.heldrows import HeldRows
from xmceval.scoring.options import Options, specs
from xmceval.scoring.paired import Pairs, all_pairs, difference, n_counted, n_tied
from xmceval.scoring.testing import Adjust, AdjustOver, Test, Testing
from xmceval.scoring.totals import Totals
from xmceval.statistics.multiplicity import holm
from xmceval.statistics.paired import PairedT
from xmceval.statistics.resampling import (
    Resampling,
    bootstrap_difference,
    bootstrap_sums,
    randomization_p,
    tukey_ps,
)


def compare(
    y_true: Any,
    systems: Mapping[str, Any],
    *,
    against: str | None = None,
    test: Test = "t",
    adjust: Adjust = "holm",
    adjust_over: AdjustOver = "metric",
    resamples: int = 10_000,
    seed: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> Comparison:
    """Compare systems on the same truth, row by row.

    Parameters
    ----------
    y_true : sparse matrix, array or path [n_rows, n_labels]
        As in `score`.
    systems : mapping of str to matrix or path
        The scores of at least two systems by name, each as in `score`.
    against : str, optional
        Compare with this system only; without it every pair is compared, the earlier system being the baseline.
    test : {"t", "randomization", "bootstrap"}
        The paired t test (by the delta method for ratios of sums); random signs of the rows' differences, with the
        interval of t; or rows drawn with replacement, with the percentile interval.
    adjust : {"holm", "none", "tukey"}
        How p is adjusted for the number of pairs: Holm's method; not at all; or the randomized two-way Tukey test.
    adjust_over : {"metric", "all"}
        Holm over the pairs within each metric, or over all differences.
    resamples, seed : int
        Of the randomization, bootstrap and tukey: the digits depend on the seed alone.
    progress : callable, optional
        Called with a number of rows each time that many more are done.
    **options
        Any option of `score`.

    Returns
    -------
    Comparison
        A mapping: ``comparison["P@5", "b", "a"]`` is the difference of b minus a.

    Raises
    ------
    DataError
        Data that is wrong, or does not fit together, with its place.
    UsageError
        An argument that is wrong, fewer than two systems, or a name in `against` that is none of them.

    Warns
    -----
    XmcevalWarning
        What a reader must know before trusting the differences.

    Notes
    -----
    Sakai, Laboratory Experiments in Information Retrieval, 2018; for ratios of sums Cochran, Sampling Techniques, 1977,
    ch. 6. Rows are instances: nothing here tells how much training again, with another seed, would change.

    Examples
    --------
    >>> import numpy as np
    >>> y_true = np.eye(6)
    >>> scores = {"a": np.eye(6)[::-1], "b": np.eye(6)}
    >>> found = compare(y_true, scores, k=1, metrics="P")
    >>> found["P@1", "b", "a"].difference, found["P@1", "b", "a"].wins
    (1.0, 6)
    """
    unknown = set(options) - set(specs())
    if unknown:
        raise TypeError(f"compare() got an unexpected option {listed(sorted(unknown))}")
    setup = Setup.of(y_true, Options.of(options))
    named = [Named(y_score, name) for name, y_score in systems.items()]
    comparison = compare_systems(setup, named, Testing.of(locals()), progress)
    warn(dict.fromkeys([*comparison.warnings, *(line for each in comparison.results for line in each.warnings)]))
    return comparison


def compare_systems(
    setup: Setup, systems: Sequence[Named], testing: Testing, progress: Progress | None = None
) -> Comparison:
    """Compare systems on an opened truth."""
    pairs = _find_pairs([str(each.name) for each in systems], testing)
    opened = setup.open_systems(systems)
    watch = Pairs(setup.program, opened[0].terms.n_bins, pairs)
    held = HeldRows() if testing.holds_rows else None
    totals = setup.evaluate(opened, [watch] if held is None else [watch, held], progress)
    results = setup.results(opened, totals)
    differences = [*_Tests(setup, opened, totals, watch, held, testing).differences(results)]
    return Comparison(
        tuple(results), tuple(_adjusted(differences, testing)), testing, tuple(_warnings(systems, differences, testing))
    )


def _find_pairs(names: Sequence[str], testing: Testing) -> list[tuple[int, int]]:
    if len(names) < 2:
        raise UsageError("a comparison needs at least two systems")
    if testing.against is not None and testing.against not in names:
        raise UsageError(f"against names {testing.against!r}, which is not one of the systems: {listed(names)}")
    return all_pairs(len(names), None if testing.against is None else names.index(testing.against))


class _Tests:
    """The tests of all pairs of systems."""

    def __init__(
        self,
        setup: Setup,
        opened: Sequence[Opened],
        totals: Sequence[Totals],
        watch: Pairs,
        held: HeldRows | None,
        testing: Testing,
    ) -> None:
        self._opened, self._totals, self._watch, self._held, self._testing = opened, totals, watch, held, testing
        self._parts = [i for i, task in enumerate(setup.program.tasks) if task.has_rows]
        threads = setup.options.threads or default_threads()
        self._resampling = Resampling(testing.resamples, testing.seed, threads)
        self._tukey: dict[tuple[int, int], Any] = {}

    def differences(self, results: Sequence[Result]) -> Iterator[Difference]:
        """Yield the differences of each pair in the order of the metrics, then those of bins."""
        for system, baseline in self._watch.pairs:
            by_name = {each.measure.name: each for each in self._of_pair(system, baseline)}
            for figure, other in zip(results[system].figures, results[baseline].figures, strict=True):
                plain = figure.estimate.value - other.estimate.value
                names = self._opened[system].name, self._opened[baseline].name
                yield by_name.get(figure.name) or Difference(figure.measure, *names, plain)
        for system, baseline in self._watch.pairs:
            yield from self._of_bins(system, baseline)

    def _of_pair(self, system: int, baseline: int) -> Iterator[Difference]:
        n_rows = self._totals[system].tally.n_rows
        for t, task in enumerate(self._watch.tasks):
            a, b = (self._totals[each].parts[self._parts[t]] for each in (system, baseline))
            pair = self._watch.sums[system, baseline][t]
            for o, measure in enumerate(task.measures):
                n = n_counted(a, b, o, n_rows)
                tested = difference(a.sums[o], b.sums[o], pair.products[o], n)
                if tested is None:
                    continue
                tested = self._resampled(tested, system, baseline, (t, o))
                counts = dict(zip(("wins", "ties", "losses"), n_tied(pair, o, n), strict=True))
                adjusted = self._tukey_p(system, baseline, (t, o)) if self._testing.adjust == "tukey" else None
                yield self._difference(measure, system, baseline, tested, n=n, p_adjusted=adjusted, **counts)

    def _of_bins(self, system: int, baseline: int) -> Iterator[Difference]:
        terms, n_rows = self._opened[system].terms, self._totals[system].tally.n_rows
        for b, bin_ in enumerate(() if terms.bins is None else terms.bins.bins):
            for t, task in enumerate(self._watch.tasks):
                left, right = (self._totals[each].parts[self._parts[t]] for each in (system, baseline))
                pair = self._watch.shares[system, baseline][t]
                for o, measure in enumerate(task.measures if len(pair.products) else ()):
                    place = o * terms.n_bins + b
                    if measure.metric.complement:
                        continue
                    tested = difference(left.shares[place], right.shares[place], pair.products[place], n_rows)
                    if tested is not None:
                        counts = dict(zip(("wins", "ties", "losses"), n_tied(pair, place, n_rows), strict=True))
                        yield self._difference(measure, system, baseline, tested, n=n_rows, bin=bin_.name, **counts)

    def _difference(self, measure: Measure, system: int, baseline: int, tested: PairedT, **more: Any) -> Difference:
        return Difference(
            measure,
            self._opened[system].name,
            self._opened[baseline].name,
            tested.difference,
            tested.low,
            tested.high,
            tested.p,
            effect=tested.effect,
            detectable=tested.detectable,
            **more,
        )

    def _resampled(self, tested: PairedT, system: int, baseline: int, where: tuple[int, int]) -> PairedT:
        """Replace what a resampling test finds in place of t."""
        if self._held is None or self._testing.test == "t":
            return tested
        t, o = where
        a, b = (self._held.values(each, t)[:, o] for each in (system, baseline))
        if self._testing.test == "randomization":
            return replace(tested, p=randomization_p(a, b, self._resampling))
        import numpy as np

        sums = bootstrap_sums(np.concatenate([a, b], axis=1), self._resampling)
        found = bootstrap_difference(sums, tested.difference, self._resampling)
        return replace(tested, low=found.low, high=found.high, p=found.p)

    def _tukey_p(self, system: int, baseline: int, where: tuple[int, int]) -> float | None:
        """Return p of a pair by the randomized Tukey test, where all systems have the same denominators."""
        import numpy as np

        if self._held is None:
            return None
        if where not in self._tukey:
            t, o = where
            values = [self._held.values(each, t)[:, o] for each in range(len(self._opened))]
            is_common = all(np.array_equal(values[0][:, 1], each[:, 1]) for each in values[1:])
            numerators = np.stack([each[:, 0] for each in values], axis=1)
            self._tukey[where] = tukey_ps(numerators, self._resampling) if is_common else None
        ps = self._tukey[where]
        return None if ps is None else float(ps(system, baseline))


def _adjusted(differences: Sequence[Difference], testing: Testing) -> list[Difference]:
    """Adjust p within each metric, or over all differences."""
    if testing.adjust != "holm":
        return list(differences)
    groups: dict[tuple[str, str], list[int]] = {}
    for i, each in enumerate(differences):
        group = ("", "") if testing.adjust_over == "all" else (each.measure.name, each.bin)
        groups.setdefault(group, []).append(i)
    adjusted = list(differences)
    for members in groups.values():
        for i, p in zip(members, holm([differences[i].p for i in members]), strict=True):
            adjusted[i] = replace(differences[i], p_adjusted=p)
    return adjusted


def _warnings(systems: Sequence[Named], differences: Sequence[Difference], testing: Testing) -> Iterator[str]:
    seen: dict[Path, str] = {}
    for each in systems:
        if isinstance(each.y_score, (str, Path)) and Path(each.y_score).exists():
            path = Path(each.y_score).resolve()
            if path in seen:
                yield f"{seen[path]} and {each.name} are the same file: all of their rows tie"
            seen[path] = str(each.name)
    untested = list(dict.fromkeys(each.measure.name for each in differences if each.p is None and not each.bin))
    if untested:
        why = "they are not means over rows" if testing.test != "bootstrap" else "they are not resampled"
        yield f"no test and no interval for {listed(untested)}: {why}"
