"""Simulation: samples of rows from a population that is known, to count how often tests err and intervals miss.

Rows are drawn with replacement. That two systems do not differ is made so: they are swapped in random rows.
"""

import warnings
from collections import Counter
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import sparse

import xmceval

SEED = 6
LEVEL = 0.05
WHAT = "given", "cautioned", "errs", "unwarned"


@dataclass(frozen=True)
class Law:
    """How rows come about: the share of true labels that a system finds, and whether a few labels have most weight.

    With a tail, inverse propensities are as heavy as they come: their tail has the index 0.9. Else they are 1 to 5.
    """

    metric: str
    hit: float
    has_tail: bool = False
    n_runs: int = 1


LAWS = {
    "P@1 = 0.98": Law("P@1", 0.98),
    "PSP@5, tail 0.9": Law("PSP@5", 0.5, has_tail=True),
    "PSP@5, tail 0.9, 2 runs": Law("PSP@5", 0.5, has_tail=True, n_runs=2),
    "P@1 = 0.5, 3 runs": Law("P@1", 0.5, n_runs=3),
    "P@1 = 0.5": Law("P@1", 0.5),
    "P@3 = 0.5": Law("P@3", 0.5),
    "PSP@3 = 0.5": Law("PSP@3", 0.5),
}
N_DRAWN, N_TAIL = 200_000, 5_000


@dataclass(frozen=True)
class Rows:
    """Rows whose true labels are known, and which of these are found by each run of two systems."""

    labels: np.ndarray
    is_true: np.ndarray
    found: np.ndarray  # of [n_rows, 2 * n_runs, n_true]
    inverse: np.ndarray

    def take(self, rows, swap=None):
        """Return some of the rows, the systems swapped where asked."""
        found = self.found[rows]
        if swap is not None:
            n_runs = found.shape[1] // 2
            found = np.where(swap[:, None, None], np.roll(found, n_runs, axis=1), found)
        return Rows(self.labels[rows], self.is_true[rows], found, self.inverse)

    def compare(self, metric, **testing):
        n_runs = self.found.shape[1] // 2
        runs = [self._matrix(self.found[:, run]) for run in range(2 * n_runs)]
        systems = {"a": runs[:n_runs], "b": runs[n_runs:]} if n_runs > 1 else {"a": runs[0], "b": runs[1]}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", xmceval.XmcevalWarning)  # of rows without a true label
            options = {"metrics": metric, "inverse_propensities": self.inverse, "threads": 1, **testing}
            return xmceval.compare(self._matrix(self.is_true), systems, **options)

    def _matrix(self, is_there):
        rows = np.repeat(np.arange(len(is_there)), is_there.sum(axis=1))
        labels = self.labels[is_there]
        return sparse.csr_matrix((np.ones(labels.size), (rows, labels)), (len(is_there), self.inverse.size))


@cache
def make_rows(name):
    """Make rows of up to 5 true labels, of which the systems find some: they agree more than by chance."""
    law, rng = LAWS[name], np.random.default_rng([SEED, list(LAWS).index(name)])
    n, k = N_DRAWN, int(law.metric.partition("@")[2])
    n_true = np.minimum(1 + rng.poisson(2.0 if law.has_tail else 4.0, n), k)
    size = N_TAIL if law.has_tail else k
    labels = rng.integers(size // k, size=(n, k)) * k + np.arange(k)
    is_true = np.arange(k) < n_true[:, None]
    inverse = (size / (1.0 + rng.permutation(size))) ** (1 / 0.9)
    inverse = inverse if law.has_tail else np.linspace(1, 5, size)
    ability, shared = rng.beta(2 * law.hit, 2 * (1 - law.hit), (n, 1)), rng.random((n, k))
    found = np.empty((n, 2 * law.n_runs, k), dtype=bool)
    for run in range(2 * law.n_runs):
        draws = np.where(rng.random((n, k)) < 0.5, shared, rng.random((n, k)))
        shift = 0.1 * min(law.hit, 1 - law.hit) * (run >= law.n_runs)
        found[:, run] = is_true & (draws < ability + shift)
    return Rows(labels, is_true, found, inverse)


@cache
def known_values(name):
    """Return the value of the first run of `a` in the whole population, and how far `b` is above `a`."""
    whole, metric = make_rows(name).compare(LAWS[name].metric), LAWS[name].metric
    return {"value": whole.results[0][metric], "difference": whole[metric, "b", "a"].difference}


def make_lucky_runs(law, n_rows, rng):
    """Make runs of two systems that do not differ, each with its own luck as a whole, as seeds of a training have."""
    spread = 0.02 * min(law.hit, 1 - law.hit)
    ability = np.clip(rng.beta(2 * law.hit, 2 * (1 - law.hit), n_rows), 4 * spread, 1 - 4 * spread)
    found = rng.random((n_rows, 2 * law.n_runs)) < ability[:, None] + rng.normal(0.0, spread, 2 * law.n_runs)
    one = np.ones((n_rows, 1), dtype=bool)
    return Rows(np.zeros((n_rows, 1), dtype=int), one, found[:, :, None], np.ones(1))


def simulate(name, n_rows, repeats, **testing):
    """Return by kind the shares of samples with an answer, with a caution, that err, and that err without one.

    A value or a difference errs where its interval misses what it has in the whole population, a test where p < 0.05.
    """
    law, counts = LAWS[name], Counter()
    metric, is_over_runs = law.metric, law.n_runs >= 3
    known = {"difference": 0.0} if is_over_runs else known_values(name)
    kinds = ["value", "difference", "test"] if law.n_runs == 1 else ["difference", "test"]
    for number in range(repeats):
        rng = np.random.default_rng([SEED, list(LAWS).index(name), n_rows, number])
        if is_over_runs:
            found = make_lucky_runs(law, n_rows, rng).compare(metric, **testing)
            null = found[metric, "b", "a"]
        else:
            rows = make_rows(name).take(rng.integers(N_DRAWN, size=n_rows))
            found = rows.compare(metric, **testing)
            null = rows.take(slice(None), rng.random(n_rows) < 0.5).compare(metric, **testing)[metric, "b", "a"]
        answers = {"difference": found[metric, "b", "a"]}
        if "value" in kinds:
            [answers["value"]] = found.results[0].estimates.values()
        for kind, answer in answers.items():
            low, high = answer.interval
            errs = not (np.isnan(low) or low - 1e-12 <= known[kind] <= high + 1e-12)
            _count(counts, kind, not np.isnan(low), errs, answer.caution)
        _count(counts, "test", null.p is not None, null.p is not None and null.p < LEVEL, null.caution)
    return {kind: {what: counts[kind, what] / repeats for what in WHAT} for kind in kinds}


def _count(counts, kind, is_given, errs, caution):
    is_cautioned = is_given and caution is not None
    happened = dict(zip(WHAT, (is_given, is_cautioned, errs, errs and not is_cautioned), strict=True))
    counts.update({(kind, what): is_so for what, is_so in happened.items()})
