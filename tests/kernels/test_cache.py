"""The cache of compiled kernels: what makes a saved form stale."""

import importlib.util
import sys

import pytest

from xmceval.kernels import cache


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Load files as kernels: a function from a name and its source to the module."""

    def load(name, source):
        path = tmp_path / f"{name}.py"
        path.write_text(source)
        spec = importlib.util.spec_from_file_location(f"xmceval.kernels.{name}", path)
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        return module

    return load


def test_a_digest_changes_with_every_file_that_a_kernel_imports_from(load):
    def digest(deepest, middle):
        load("deepest", f"SIZE = {deepest}\n")
        load("middle", f"from xmceval.kernels.deepest import SIZE\nEDGE = {middle}\n")
        return cache.digest_of_source(load("top", "from xmceval.kernels.middle import (\n    EDGE,\n)\n"))

    assert digest(1, 1) == digest(1, 1)
    assert len({digest(1, 1), digest(2, 1), digest(1, 2)}) == 3
