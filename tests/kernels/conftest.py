"""What holds for all tests of kernels."""

import pytest

from xmceval.kernels.compile import entries


@pytest.fixture(autouse=True)
def nothing_falls_back():
    """The kernels of the package are compiled in its own way with the numba that is installed."""
    yield
    assert [name for name in entries.fallen_back if not name.startswith("test_")] == []
