"""How many examples tests draw: XMCEVAL_EXAMPLES, or few enough that all tests take minutes."""

import os

from hypothesis import settings
from numba import config

# Without its compiler Numba runs the kernels as plain Python: the same examples, only fewer.
N = int(os.environ.get("XMCEVAL_EXAMPLES", "20")) // (5 if config.DISABLE_JIT else 1)


def examples(times: float) -> settings:
    """Draw this multiple of the examples that other tests draw."""
    return settings(max_examples=max(1, round(times * N)))
