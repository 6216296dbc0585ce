"""Processes: what one changes and loads, and how it ends when it is interrupted."""

import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from support.files import A_QUIET
from support.processes import COMPILING, SIGNALS, wait_for
from support.sample import MODEL_A, SAMPLE, TRAIN, TRUTH

import xmceval
from xmceval.kernels.load import is_disabled

pytestmark = pytest.mark.skipif(is_disabled(), reason="nothing is compiled")

SCORE = ["score", f"{SAMPLE}/{TRUTH}", f"{SAMPLE}/{MODEL_A}", "--train", f"{SAMPLE}/{TRAIN}", "-q"]
HOME = Path(xmceval.__file__).parent


def environment(folder):
    return {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": os.pathsep.join(map(str, sys.path))}


def start(folder, *args):
    return subprocess.Popen(
        [sys.executable, *args],
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


# What an import changes.

STATE = """
import sys
import numba

def state():
    names = [name for name in dir(numba.config) if name.isupper()]
    return {name: repr(getattr(numba.config, name)) for name in names}

before = state()
import xmceval
from xmceval.kernels.load import all_kernels
all_kernels()
for name in xmceval.__all__:
    getattr(xmceval, name)
print(xmceval.roc_auc([0, 1], [0.1, 0.2]))
print(*(name for name, value in state().items() if value != before[name]))
"""


@pytest.mark.parametrize("has_cache", [True, False])
def test_the_package_changes_nothing_of_numba_and_needs_no_cache(tmp_path, has_cache):
    copy = tmp_path / "xmceval"
    shutil.copytree(HOME, copy, ignore=shutil.ignore_patterns("__pycache__"))
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{STATE}"
    environ = environment(tmp_path / "cache")
    if not has_cache:
        environ |= {"NUMBA_CACHE_DIR": "/dev/null/cache", "HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null"}
    ended = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "1.0\n\n", "")
    homes = {path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*.o")}
    assert homes == ({"cache"} if has_cache else set())


LIST = """
import sys
from xmceval.__main__ import main
try:
    main()
finally:
    from xmceval.kernels.load import KERNELS
    print(sum(kernel.run is not None for kernel in KERNELS.values()), *sys.modules, file=sys.stderr)
"""
HEAVY = {
    "multiprocessing",
    "numba",
    "scipy",
    "xmceval.comparison.comparison",
    "xmceval.comparison.sums",
    "xmceval.files.io.remote",
    "xmceval.files.arrays.npz",
    "xmceval.files.sidecars.filters",
    "xmceval.api.saving",
    "xmceval.page.page",
    "xmceval.report.labels",
    "xmceval.scoring.held_rows",
    "xmceval.scoring.setup.per_row",
    "xmceval.scoring.state_file",
}


def test_a_score_loads_nothing_heavy_and_few_kernels():
    """Each kernel is one that a first run compiles."""
    process = subprocess.run([sys.executable, "-c", LIST, *SCORE], capture_output=True, text=True, check=False)
    assert (process.returncode, process.stdout) == (0, A_QUIET)
    n_kernels, *modules = process.stderr.split()
    assert all(map(find_spec, HEAVY)), "a name that is not there any more would never be loaded"
    assert not HEAVY & set(modules)
    assert sum(name.startswith("xmceval.") for name in modules) <= 160
    assert int(n_kernels) <= 12


def relatives(folder):
    """Return the processes that were started with this cache."""
    mark = f"NUMBA_CACHE_DIR={folder}\0".encode()
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            found += [path.parent.name] if mark in path.read_bytes() else []
        except OSError:
            continue
    return found


on_linux = pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="looks for processes in /proc")


# Signals.

# Reports on stderr when the handlers of signals are there.
READY = """
import gc, os, sys
import xmceval.__main__ as command
gc.set_threshold = lambda *_: os.write(2, b"ready\\n")
sys.argv[:1] = ["xmceval"]
command.main()
"""


@contextmanager
def ready(*args, before="", **options):
    """Start a command, and wait until it is ready for signals."""
    code = f"{before}\n{READY}"
    with subprocess.Popen(
        [sys.executable, "-c", code, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    ) as process:
        try:
            assert process.stderr.readline() == "ready\n"
            yield process
        finally:
            process.kill()


@pytest.mark.usefixtures("interruptible")
def test_commands_that_are_ended_while_they_compile_leave_a_cache_that_works(tmp_path):
    """One ends after its first kernel, the next one, which finds it, after its second; so do those they start."""
    convert = ["-m", "xmceval", "convert", SCORE[1], str(tmp_path / "x.npz"), "-q"]
    ways = (signal.SIGTERM, 143, convert), (signal.SIGKILL, -signal.SIGKILL, ["-m", "xmceval", *SCORE])
    for n_saved, (number, code, command) in enumerate(ways, 1):
        with start(tmp_path / "cache", *command) as process:
            wait_for(lambda least=n_saved: len(list(tmp_path.rglob("*.o"))) >= least)
            process.send_signal(number)
            out, err = process.communicate(timeout=60)
        assert (process.returncode, out, err) == (code, "", SIGNALS.get(number, ""))
    ended = start(tmp_path / "cache", *convert)
    assert (*ended.communicate(timeout=120), ended.returncode) == ("", "", 0)


MORE_DELAYS = (0.02, 0.05, 0.15, 0.2, 0.3, 0.35, 0.45, 0.5, 0.55)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize(
    "delay", [0.0, 0.1, 0.25, 0.4, 0.6, *(pytest.param(delay, marks=pytest.mark.thorough) for delay in MORE_DELAYS)]
)
def test_an_interrupt_ends_with_130_or_the_whole_output(delay):
    with ready(*SCORE) as process:
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    if process.returncode == 0:
        assert (out, err) == (A_QUIET, "")
    else:
        assert process.returncode == 130
        assert (out, err) in {("", "\ninterrupted\n"), (A_QUIET, "\ninterrupted\n")}


@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP", "SIGTERM"])
def test_an_ignored_signal_stays_ignored(name):
    before = f"import signal; signal.signal(signal.{name}, signal.SIG_IGN)"
    with ready(*SCORE, before=before) as process:
        process.send_signal(getattr(signal, name))
        assert process.communicate(timeout=60)[0] == A_QUIET
    assert process.returncode == 0


# Lets a conversion be written forever.
WRITING = """
import os, time
from xmceval.conversion import convert
def write(*_, **__):
    os.write(2, b"writing\\n")
    time.sleep(600)
convert.collect_rows = write
"""


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", SIGNALS)
def test_a_conversion_that_is_ended_leaves_no_file(tmp_path, number):
    with ready("convert", SCORE[1], tmp_path / "x.npz", before=WRITING) as process:
        assert process.stderr.readline().removeprefix(COMPILING) in {"writing\n", "\n"}
        wait_for(lambda: list(tmp_path.iterdir()))
        process.send_signal(number)
        err = process.communicate(timeout=60)[1].removeprefix("writing\n")
    assert (process.returncode, err) == (128 + number, SIGNALS[number])
    assert not list(tmp_path.iterdir())


@on_linux
@pytest.mark.usefixtures("interruptible")
def test_processes_of_dask_end_with_the_command(tmp_path):
    pytest.importorskip("distributed")
    process = start(tmp_path, "-m", "xmceval", *SCORE, "--dask", "local:1")
    wait_for(lambda: len(relatives(tmp_path)) >= 3)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (143, "")
    assert err.startswith(SIGNALS[signal.SIGTERM])  # then multiprocessing may warn of its semaphores
    assert "/xmceval/" not in err  # a process of multiprocessing that ends while it starts shows a traceback
    wait_for(lambda: not relatives(tmp_path))
