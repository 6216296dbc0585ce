"""What all tests share: how many examples hypothesis tries, and where the real data lie."""

import json
import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from numba import config
from support import schemas

# Without its compiler Numba runs the kernels as plain Python: the same examples, only fewer.
settings.register_profile(
    "xmceval",
    deadline=None,
    derandomize=True,
    max_examples=10 if config.DISABLE_JIT else 60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("xmceval")


json.dumps = schemas.dumps  # every JSON document that a test makes the program write is checked


@pytest.fixture
def rng():
    return np.random.default_rng(20260)


@pytest.fixture(scope="session")
def realdata():
    folder = os.environ.get("XMCEVAL_REALDATA")
    if not folder:
        pytest.skip("XMCEVAL_REALDATA is unset")
    return Path(folder)
