"""How Python calls compiled kernels: arrays and numbers of every kind, and what of it needs numba."""

import gc
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from numba import config
from numba.core.types.functions import BaseFunction

from xmceval.kernels import cache, decorators, entries
from xmceval.kernels.counts import count_labels
from xmceval.kernels.decorators import function, helper, kernel

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

SAMPLE = Path(__file__).parents[2] / "datasets" / "sample"
TYPES = [np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)] + [np.dtype("f4"), np.dtype("f8")]


@helper
def _twice(x):
    return 2 * x


@function
def _row_sum(a, row):
    total = 0.0
    for j in range(a.shape[1]):
        total += a[row, j]
    return total


@kernel
def add_up(arrays, factor, is_twice, out):
    """Write the sums of the rows of two arrays; return the factor, doubled or not."""
    a, (b,) = arrays
    for row in range(a.shape[0]):
        out[row] = factor * (_row_sum(a, row) + b[row])
    return _twice(factor) if is_twice else factor


@kernel
def describe(a):
    """Return three numbers of an array."""
    return a.shape[0], a.strides[0], a.size


@kernel
def is_above(x, y):
    """Whether x is above y."""
    return x > y


@kernel
def count_down(n):
    """Use working space of its own."""
    space = np.empty(n)
    for i in range(n):
        space[i] = n - i
    return space.sum()


@kernel
def make_array(n):
    """Return what an entry cannot."""
    return np.arange(n)


def check(a, b, factor, is_twice):
    out = np.full(len(a), -1.0)
    result = add_up((a, (b,)), factor, is_twice, out)
    assert out.tolist() == [float(factor * (row.sum() + each)) for row, each in zip(a, b, strict=True)]
    assert (type(result), result) == (float, float(factor) * (2 if is_twice else 1))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_arrays_of_every_type(dtype):
    check(np.arange(12).reshape(3, 4).astype(dtype), np.array([1, 2, 3], dtype), 1.5, True)


@pytest.mark.parametrize(
    "view",
    [
        np.asfortranarray,
        lambda a: a[::-1, 1:],
        lambda a: a[:, ::2],
        lambda a: a.T.copy().T,
        lambda a: a[:, :0],
        lambda a: a[:0],
        lambda a: np.frombuffer(a.tobytes()).reshape(a.shape),  # cannot be written
        lambda a: a[:1],
        lambda a: a[:, :1],
    ],
)
def test_arrays_of_every_layout(view):
    a = view(np.arange(12.0).reshape(3, 4))
    check(a, np.arange(3.0)[: len(a)], 0.5, False)


def test_memory_maps_are_arrays(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((2, 3)))
    check(np.load(tmp_path / "a.npy", mmap_mode="r"), np.zeros(2), 2.0, False)


@pytest.mark.parametrize(
    "x", [2, -(2**63), 2**63 - 1, 0.5, -0.0, np.inf, True, np.int64(-5), np.uint64(2**64 - 1), np.int8(-3), np.bool_(1)]
)
def test_numbers_of_every_kind(x):
    result = is_above(x, 0)
    assert (type(result), result) == (bool, bool(x > 0))


def test_several_numbers_return_as_a_tuple():
    assert describe(np.zeros((4, 3))[::2]) == (2, 48, 6)


def test_what_an_entry_does_not_take_goes_through_numba():
    assert is_above(2**63, 0) is True
    assert is_above(np.float32(1), 0) is True
    assert make_array(3).tolist() == [0, 1, 2]
    with pytest.raises(Exception, match="No implementation of function"):
        is_above("a", 0)


def test_a_kernel_with_working_space_of_its_own():
    assert count_down(4) == 10.0


def test_threads_share_one_compiled_form():
    before = len(entries.compiled)
    found = []

    def work():
        counts, wraps = np.zeros(5, np.uint8), np.zeros(5, np.int32)
        found.append(count_labels(np.arange(5), counts, wraps) + counts.sum())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [9] * 8
    assert len(entries.compiled) - before <= 1


def test_kernels_pass_between_processes_by_name():
    assert pickle.loads(pickle.dumps(count_labels)) is count_labels


def test_a_file_of_settings_is_numbas_business(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path(decorators.SETTINGS).touch()
    assert decorators._is_plain() is False


LARGE = np.arange(200_000.0)  # numba takes its address, as it is so large


@kernel
def take(i):
    """Return an element of a large global array."""
    return LARGE[i]


def test_code_with_addresses_of_its_process_is_not_saved(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "folders", lambda: [tmp_path])
    assert take(3) == 3.0
    assert not list(tmp_path.iterdir())


def test_numba_is_left_as_it_was(monkeypatch, tmp_path):
    before = BaseFunction.get_call_type
    monkeypatch.setattr(cache, "folders", lambda: [tmp_path])
    fresh = decorators.Kernel(is_above.py_func)
    assert fresh(2.0, 1.0) is True
    assert BaseFunction.get_call_type is before
    assert gc.isenabled()
    assert [path.suffix for path in tmp_path.iterdir()] == [".nbc"]


def test_what_is_not_on_the_short_way_takes_the_long_one(monkeypatch, tmp_path):
    def fail(*_):
        raise AttributeError("something of another numba")

    monkeypatch.setattr("xmceval.kernels.pipeline.Passes.run", fail)
    monkeypatch.setattr(cache, "folders", lambda: [tmp_path])
    fresh = decorators.Kernel(add_up.py_func)
    a, out = np.ones((2, 3)), np.zeros(2)
    assert fresh((a, (a[:, 0],)), 2.0, True, out) == 4.0
    assert out.tolist() == [8.0, 8.0]
    assert [path.suffix for path in tmp_path.iterdir()] == [".nbc"]


# The default path of a score.

LIST = """
import json, sys
from xmceval.__main__ import main
try:
    main()
finally:
    from xmceval.kernels import entries
    print(json.dumps([sorted(sys.modules), entries.compiled]), file=sys.stderr)
"""
HEAVY = {
    *("numba", "scipy", "importlib.metadata", "email", "socket", "multiprocessing"),
    *(
        "xmceval.report.comparison",
        "xmceval.scoring.paired",
        "xmceval.files.remote.reading",
        "xmceval.files.arrays.npz",
    ),
    *("xmceval.kernels.compiler", "xmceval.cli.ahead"),
}


def test_a_score_with_compiled_kernels_loads_nothing_heavy(tmp_path):
    names = ("tst_X_Y.txt", "model_a.txt", "--train", "trn_X_Y.txt", "-o", "json")
    argv = ["score", *(str(SAMPLE / name) if name.endswith(".txt") else name for name in names)]
    environ = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    run = [sys.executable, "-c", LIST, *argv]
    first, second = (subprocess.run(run, env=environ, capture_output=True, text=True, check=True) for _ in range(2))
    assert first.stdout == second.stdout
    modules, compiled = eval(second.stderr.splitlines()[-1])
    assert (sorted(HEAVY & set(modules)), compiled) == ([], [])
    assert sum(name.startswith("xmceval.") for name in modules) < 175
    assert compiled == []
    files = [path.name.rpartition("-")[0] for path in tmp_path.rglob("*.nbc")]
    assert len(files) == len(set(files)), "a kernel is compiled for two signatures"
    assert len(files) <= 12


def test_a_numba_that_cannot_be_asked_for_its_code_still_compiles(monkeypatch, tmp_path):
    def fail(*_):
        raise AttributeError("serialize_using_object_code")

    monkeypatch.setattr("xmceval.kernels.compiler.compile_form", fail)
    monkeypatch.setattr(cache, "folders", lambda: [tmp_path])
    fresh = decorators.Kernel(count_labels.py_func)
    assert fresh(np.array([2, 0, 2]), np.zeros(3, np.uint8), np.zeros(3, np.int32)) == 2
    assert not list(tmp_path.iterdir())
