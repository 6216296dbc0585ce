"""The matrices that every kind of input is tried with."""

import numpy as np
import pytest
from support.judged import estimates

SHAPE = 12, 9


@pytest.fixture
def truth(rng):
    return np.where(rng.random(SHAPE) < 0.25, rng.integers(1, 4, SHAPE), 0)


@pytest.fixture
def scores(rng):
    """Few enough levels that every dtype holds them, above 0 so that dense and sparse mean the same."""
    return rng.integers(1, 40, SHAPE).astype(np.float64)


@pytest.fixture
def alike(truth, scores):
    """Return a function that reads the matrices in another kind of container: with the same bits in every place."""
    whole, weights = {"metrics": ["LRAP", "AUC"]}, np.arange(1.0, SHAPE[0] + 1)
    labels = np.argsort(-scores, axis=1, kind="stable")[:, ::-1]
    pair = labels, np.take_along_axis(scores, labels, axis=1)

    def read(y_true=truth, y_score=scores, **options):
        return [estimates(y_true, y_score, **options), estimates(y_true, y_score, **whole, **options)]

    expected, of_train, weighted = read(), read(train=truth), read(sample_weight=weights)

    def alike(make, *, are_pairs=False, are_weights=False):
        """Compare truth, scores and training labels, and where asked a pair of labels and scores, and weights."""
        assert read(make(truth)) == read(y_score=make(scores)) == expected
        assert read(train=make(truth)) == of_train
        if are_pairs:
            assert estimates(truth, tuple(map(make, pair))) == expected[0]
        if are_weights:
            assert read(sample_weight=make(weights)) == weighted

    return alike
