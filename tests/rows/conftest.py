"""The matrices that every kind of input is tried with."""

import numpy as np
import pytest

SHAPE = 12, 9


@pytest.fixture
def truth(rng):
    return np.where(rng.random(SHAPE) < 0.25, rng.integers(1, 4, SHAPE), 0)


@pytest.fixture
def scores(rng):
    """Few enough levels that every dtype holds them, above 0 so that dense and sparse mean the same."""
    return rng.integers(1, 40, SHAPE).astype(np.float64)
