"""The threshold of decisions: it is a number of the type of the scores, and is doubted where no metric takes it."""

import numpy as np
import pytest
from scipy import sparse

import xmceval


@pytest.mark.parametrize("threshold", [0.5, 0.7, np.inf, -np.inf])
def test_a_threshold_is_rounded_to_the_type_of_the_scores(threshold):
    truth, scores = np.array([[1, 1, 0], [0, 1, 1]]), np.array([[0.7, 0.2, 0.9], [0.1, 0.5, 0.7]])
    for dtype in (np.float64, np.float32, np.float16):
        given = scores.astype(dtype)
        decided = given >= dtype(threshold)
        found = xmceval.score(truth, given, metrics="confusion", threshold=threshold)
        assert (found["tp"], found["fp"]) == ((decided & (truth > 0)).sum(), (decided & (truth == 0)).sum())


def test_a_threshold_without_a_metric_of_decisions_is_doubted():
    result = xmceval.score(sparse.eye(2), sparse.eye(2), k=1, metrics="macroF1", threshold=0.5)
    [line] = (each for each in result.warnings if each.startswith("the threshold has no effect"))
    assert "f1_score(average=macro)" in line
    assert not xmceval.score(sparse.eye(2), sparse.eye(2), metrics="f1_score(average=macro)", threshold=0.5).doubts


def test_scores_that_float64_would_round_have_no_threshold():
    for wide in ([[2**53 + 1, 1], [0, 1]], [[-(2**60) - 1, -(2**60)], [2**60 + 1, 0]]):
        with pytest.raises(xmceval.DataError, match=r"values that float64 would round .int64., so they cannot"):
            xmceval.score(np.eye(2), np.array(wide), threshold=0.5, metrics="confusion")
