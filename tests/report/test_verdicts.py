"""Verdicts of many pairs: one sentence per metric."""

import numpy as np
import pytest

import xmceval
from xmceval.report.verdicts import summarise

N_ROWS = 60
HIT, MISS = np.tile([0.9, 0.1], (N_ROWS, 1)), np.tile([0.1, 0.9], (N_ROWS, 1))
TRUTH = np.tile([1, 0], (N_ROWS, 1))


def hits(n):
    """Scores whose first n rows are hits."""
    return np.concatenate([HIT[:n], MISS[n:]])


@pytest.mark.parametrize(
    ("numbers", "sentence"),
    [
        ((50, 20, 10, 5), "a is better than all others"),
        ((50, 49, 10, 5), "a is better than c, d; no difference from b was detected"),
        ((50, 49, 48, 48), "a is best, but no difference from any other was detected"),
        ((50, 50, 10, 5), "a and b have the same value, and are better than all others"),
        ((50, 50, 49, 5), "a and b have the same value, and are better than d; no difference from c was detected"),
        ((50, 50, 49, 49), "a and b have the same value, and are best, but no difference from any other was detected"),
        ((50, 50, 50, 50), "all systems have the same value"),
    ],
)
def test_a_sentence_says_what_the_best_are_better_than(numbers, sentence):
    systems = {name: hits(n) for name, n in zip("abcd", numbers, strict=True)}
    assert summarise(xmceval.compare(TRUTH, systems, k=1, metrics="P")) == [f"P@1: {sentence}"]
