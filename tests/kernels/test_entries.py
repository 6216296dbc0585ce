"""How Python calls compiled kernels: arrays and numbers of every kind, and what of it needs numba."""

import gc
import os
import pickle
import struct
import subprocess
import sys
import threading

import llvmlite.binding as llvm
import numpy as np
import pytest
from numba import config
from numba.core.errors import NumbaWarning
from numba.core.types.functions import BaseFunction
from support.sample import SAMPLE

from xmceval.kernels.compile import cache, decorators, entries
from xmceval.kernels.compile.decorators import function, helper, kernel
from xmceval.kernels.compile.forms import Form
from xmceval.kernels.compile.settings import WITH_NUMBA
from xmceval.kernels.metrics.counts import count_labels

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")
short_way = pytest.mark.skipif(WITH_NUMBA, reason="kernels are compiled in numba's own way")

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


@kernel
def same(x):
    """Return a number as it is."""
    return x


@kernel
def pair(x, y):
    """Return two numbers as they are."""
    return x, y


@kernel
def first(a):
    """Return the first element of an array as it is."""
    return a[0]


@helper
def _fail(number):
    if number == 0:
        raise ValueError("no")
    if number == 1:
        raise KeyError
    if number == 2:
        raise IndexError("a", 3)
    return np.empty(-1 if number == 4 else 2**44 if number == 5 else 5).size


@kernel
def fail_quietly(number, out):
    """Raise what a number stands for, or write a size."""
    out[0] = _fail(number)


@kernel
def fail_with_result(number, out):
    """Raise what a number stands for, or return a size."""
    out[0] = 1
    return _fail(number)


@kernel
def fail_with_number(number):
    """Raise what has the number."""
    if number > 0:
        raise ValueError(number)
    return number


@kernel
def fail_plainly(number):
    """Raise something without working space."""
    if number == 0:
        raise ValueError("no")
    return number


@kernel
def call_library(a, out):
    """Call functions of the mathematical library."""
    for i in range(a.size):
        out[i] = np.floor(a[i]) + np.log2(a[i]) + a[i] ** 0.3 + np.exp(a[i])


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


INTEGERS = [dtype for dtype in TYPES if dtype.kind in "iu"]


def is_same(result, value):
    return (type(result), result) == (type(value), value)


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_integers_of_every_width_return_with_their_sign(dtype):
    limits = np.iinfo(dtype)
    for number in sorted({int(limits.min), int(limits.max), 0, 1, max(int(limits.min), -3), int(limits.max) // 2 + 1}):
        x = dtype.type(number)
        assert is_same(same(x), number)
        assert is_same(first(np.array([x])), number)
        assert pair(x, 0.5) == (number, 0.5)
        assert pair(x, x) == (number, number)
        assert all(is_same(*each) for each in zip(pair(True, x), (True, number), strict=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.bool_])
def test_other_numbers_of_every_width_return_as_they_are(dtype):
    for number in (dtype(1), dtype(0)):
        assert is_same(first(np.array([number])), number.item())
        assert is_same(same(number), number.item())
        assert all(is_same(each, number.item()) for each in pair(number, number))
    assert np.isnan(first(np.array([np.nan], np.float32)))


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (0, ValueError("no")),
        (1, KeyError()),
        (2, IndexError("a", 3)),
        (4, ValueError("negative dimensions not allowed")),
        (5, MemoryError("Allocation failed (probably too large).")),
    ],
)
def test_an_exception_in_a_kernel_keeps_its_kind(number, expected):
    before = len(entries.fallen_back)
    for fail in (fail_quietly, fail_with_result):
        with pytest.raises(type(expected)) as raised:
            fail(number, np.zeros(1))
        assert raised.value.args == expected.args
    assert fail_with_result(-1, np.zeros(1)) == 5
    assert entries.fallen_back[before:] == []


def test_an_exception_with_what_only_the_kernel_knows_goes_through_numba():
    with pytest.raises(ValueError, match=r"\A7\Z"):
        fail_with_number(7)
    assert fail_with_number(0) == 0


@short_way
def test_what_is_raised_with_constants_goes_the_short_way(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "folders", lambda: [tmp_path])
    before = len(entries.fallen_back)
    fresh = decorators.Kernel(fail_plainly.py_func)
    with pytest.raises(ValueError, match=r"\Ano\Z"):
        fresh(0)
    assert fresh(-2) == -2
    assert entries.fallen_back[before:] == []


@short_way
def test_code_that_needs_what_is_not_there_is_never_called(monkeypatch, tmp_path):
    for name in ("_folders", "folders"):
        monkeypatch.setattr(cache, name, lambda: [tmp_path])
    assert decorators.Kernel(same.py_func)(7) == 7
    read = cache.Slot.read

    def read_altered(slot):
        for payload in read(slot):
            yield Form.from_bytes(payload)._replace(names=("__svml_log24",)).to_bytes()

    monkeypatch.setattr(cache.Slot, "read", read_altered)
    before = len(entries.fallen_back)
    assert decorators.Kernel(same.py_func)(7) == 7
    assert entries.fallen_back[before:] == ["test_entries.same"]


@short_way
@pytest.mark.skipif(sys.platform != "linux", reason="reads the symbols of ELF files")
def test_a_form_names_all_symbols_that_its_code_lacks(monkeypatch, tmp_path):
    for name in ("folders", "_folders"):  # to write to, and to read from
        monkeypatch.setattr(cache, name, lambda: [tmp_path])
    decorators.Kernel(count_down.py_func)(3)
    decorators.Kernel(call_library.py_func)(np.array([2.5, 3.5, 1.5]), np.zeros(3))
    forms = [Form.from_bytes(path.read_bytes()[cache.DIGEST_SIZE :]) for path in tmp_path.glob("*.nbc")]
    undefined = [undefined_symbols(form.code) for form in forms]
    assert all(names <= {*form.names, "_GLOBAL_OFFSET_TABLE_"} for names, form in zip(undefined, forms, strict=True))
    assert {"NRT_MemInfo_alloc_aligned", "log2", "pow"} <= set().union(*undefined)


def undefined_symbols(code):
    """Return the names that an ELF object of 64 bits uses and does not define."""
    found = {each.name(): each.data() for each in llvm.ObjectFileRef.from_data(code).sections()}
    sections = {name.decode() if isinstance(name, bytes) else name: data for name, data in found.items()}
    names, symbols = sections[".strtab"], struct.iter_unpack("<IBBHQQ", sections[".symtab"])
    starts = [name for name, _, _, section, _, _ in symbols if name and section == 0]
    return {names[start : names.index(b"\0", start)].decode() for start in starts}


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


LARGE = np.arange(200_000.0)  # numba takes its address, as it is so large


@kernel
def take(i):
    """Return an element of a large global array."""
    return LARGE[i]


@short_way
def test_code_with_addresses_of_its_process_is_not_saved(monkeypatch, tmp_path):
    monkeypatch.setattr(cache, "folders", lambda: [tmp_path])
    with pytest.warns(NumbaWarning, match="Cannot cache compiled function"):
        assert take(3) == 3.0
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@short_way
def test_numba_is_left_as_it_was(monkeypatch, tmp_path):
    before = BaseFunction.get_call_type
    monkeypatch.setattr(cache, "folders", lambda: [tmp_path])
    fresh = decorators.Kernel(is_above.py_func)
    assert fresh(2.0, 1.0) is True
    assert BaseFunction.get_call_type is before
    assert gc.isenabled()
    assert [path.suffix for path in tmp_path.iterdir()] == [".nbc"]


@short_way
def test_what_is_not_on_the_short_way_takes_the_long_one(monkeypatch, tmp_path):
    def fail(*_):
        raise AttributeError("something of another numba")

    monkeypatch.setattr("xmceval.kernels.compile.pipeline.Passes.run", fail)
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
    from xmceval.kernels.compile import entries
    print(json.dumps([sorted(sys.modules), entries.compiled, entries.fallen_back]), file=sys.stderr)
"""
HEAVY = {
    *("numba", "scipy", "importlib.metadata", "email", "socket", "multiprocessing"),
    *(
        "xmceval.report.comparison",
        "xmceval.scoring.comparing.pairsums",
        "xmceval.files.io.remote",
        "xmceval.files.arrays.npz",
    ),
    *("xmceval.kernels.compile.compiler", "xmceval.scoring.ahead"),
    *("xmceval.api.scoring.holdrows", "xmceval.api.scoring.savestate", "xmceval.scoring.states.file"),
}


@short_way
def test_a_score_with_compiled_kernels_loads_nothing_heavy(tmp_path):
    names = ("tst_X_Y.txt", "model_a.txt", "--train", "trn_X_Y.txt", "-o", "json")
    argv = ["score", *(str(SAMPLE / name) if name.endswith(".txt") else name for name in names)]
    environ = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    run = [sys.executable, "-c", LIST, *argv]
    first, second = (subprocess.run(run, env=environ, capture_output=True, text=True, check=True) for _ in range(2))
    assert first.stdout == second.stdout
    modules, compiled, fallen_back = eval(second.stderr.splitlines()[-1])
    assert fallen_back == eval(first.stderr.splitlines()[-1])[2] == []
    assert (sorted(HEAVY & set(modules)), compiled) == ([], [])
    assert sum(name.startswith("xmceval.") for name in modules) <= 223
    assert compiled == []
    files = [path.name.rpartition("-")[0] for path in tmp_path.rglob("*.nbc")]
    assert len(files) == len(set(files)), "a kernel is compiled for two signatures"
    assert len(files) <= 12
    forms = [Form.from_bytes(path.read_bytes()[cache.DIGEST_SIZE :]) for path in tmp_path.rglob("*.nbc")]
    named = {name for form in forms for name in form.names}
    assert not [name for name in named if name.startswith("NRT_")], "compiled with all of numba's passes"


# Commands that call most kernels between them.
COMMANDS = """
import contextlib, io, sys
from xmceval.cli import main
sample, folder = sys.argv[1:]
truth, a, b, train = (f"{sample}/{name}.txt" for name in ("tst_X_Y", "model_a", "model_b", "trn_X_Y"))
chosen = [word for name in ("P", "RP", "nDCG", "AP", "RR", "LRAP", "AUC", "macroF1") for word in ("-m", name)]
for arguments in (
    ["score", truth, a, "--train", train, "-k", "1,3", *chosen],
    ["compare", truth, a, b, "--train", train, "--test", "randomization"],
    ["convert", a, f"{folder}/a.npz"],
    ["convert", b, f"{folder}/b.txt", "--top", "3"],
    ["score", truth, f"{folder}/a.npz", "-m", "P", "--by-frequency", "3", "--train", train],
    ["inspect", truth, a],
):
    with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(SystemExit):
        main([*arguments, "-q"] if arguments[0] != "inspect" else arguments)
from xmceval.kernels.compile import entries
print(len(entries._engines), entries.fallen_back)
"""


@short_way
def test_with_this_numba_no_kernel_falls_back(tmp_path):
    command = [sys.executable, "-c", COMMANDS, str(SAMPLE), str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=True)
    n, _, fallen_back = ended.stdout.strip().partition(" ")
    assert (int(n) > 20, fallen_back) == (True, "[]"), ended.stderr
