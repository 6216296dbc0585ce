"""When two numbers are the same: but for the rounding of a few sums of doubles."""

from functools import partial

import pytest

close = partial(pytest.approx, rel=1e-12, abs=1e-12)
