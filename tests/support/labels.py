"""Simulation of label-wise metrics: rows with labels from frequent to rare, and two systems that predict them."""

import warnings
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy import sparse

import xmceval

SEED = 64
LEVEL = 0.05
N_LABELS, N_TRUE, SHARED = 20, 3.0, 0.5
N_POPULATION = 400_000


@dataclass(frozen=True)
class Pair:
    """How well two systems see that a label is true, and what they predict: k labels, or those above a threshold."""

    n_rows: int
    strengths: tuple[float, float]
    k: int | None = None
    thresholds: tuple[float, float] | None = None

    @property
    def metric(self):
        return "macroF1" if self.k else "f1_score(average=macro)"


PAIRS = {
    "exchangeable, at k": Pair(200, (1.5, 1.5), k=3),
    "exchangeable, decisions": Pair(300, (1.5, 1.5), thresholds=(1.0, 1.0)),
    "equal macro F1, 1.9 times as many predictions": Pair(300, (1.5, 1.5), thresholds=(0.4, 0.961)),
    "better, at k": Pair(1000, (1.3, 1.6), k=3),
}


def make(pair, n_rows, rng):
    """Return which labels are true, and which either system predicts, bool [n_rows, N_LABELS] each."""
    share = 1 / np.arange(1, N_LABELS + 1) ** 0.5
    share *= N_TRUE / share.sum()
    truth = rng.random((n_rows, N_LABELS)) < share
    common = SHARED**0.5 * rng.normal(size=truth.shape) + 0.3 * np.log(share)
    systems = []
    for number, strength in enumerate(pair.strengths):
        scores = strength * truth + common + (1 - SHARED) ** 0.5 * rng.normal(size=truth.shape)
        if pair.k:
            systems.append(scores >= np.sort(scores, axis=1)[:, [-pair.k]])
        else:
            systems.append(scores > pair.thresholds[number])
    return truth, systems


def compare(pair, truth, systems):
    """Return how the second system differs from the first."""
    matrices = [sparse.csr_matrix(array.astype(float)) for array in (truth, *systems)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", xmceval.XmcevalWarning)  # of rows without true or predicted labels
        [difference] = xmceval.compare(
            matrices[0], {"a": matrices[1], "b": matrices[2]}, metrics=pair.metric, k=pair.k, threads=1
        ).values()
    return difference


@cache
def population_of(name):
    """Return the difference in a large population, and how many labels the first predicts for each of the second."""
    rng = np.random.default_rng([SEED, *name.encode()])
    sums = np.zeros((2, 3, N_LABELS))
    for _ in range(N_POPULATION // 20_000):
        truth, systems = make(PAIRS[name], 20_000, rng)
        for number, predicted in enumerate(systems):
            sums[number] += (truth & predicted).sum(axis=0), truth.sum(axis=0), predicted.sum(axis=0)
    tp, true, predicted = np.moveaxis(sums, 1, 0)
    first, second = (2 * tp / (true + predicted)).mean(axis=1)
    return second - first, predicted[0].sum() / predicted[1].sum()


def simulate(name, repeats):
    """Return the shares of samples where p < 0.05, and intervals have the population's difference, or their own."""
    difference, _ = population_of(name)
    found = []
    for number in range(repeats):
        rng = np.random.default_rng([SEED, number, *name.encode()])
        tested = compare(PAIRS[name], *make(PAIRS[name], PAIRS[name].n_rows, rng))
        low, high = tested.interval
        found.append((tested.p < LEVEL, low <= difference <= high, low < tested.difference < high))
    return dict(zip(("detected", "covers", "holds"), np.mean(found, axis=0).tolist(), strict=True))
