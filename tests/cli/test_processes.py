"""Processes: the cache of kernels that they share, the second one that compiles, and interrupts."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import pytest
from numba import config
from support.files import A_ALONE
from support.processes import COUNT, SIGNALS, wait_for
from support.sample import MODEL_A, SAMPLE, TRAIN, TRUTH

import xmceval
from xmceval.cli import runner
from xmceval.kernels.compile import cache, locks
from xmceval.scoring import ahead

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

SCORE = ["score", f"{SAMPLE}/{TRUTH}", f"{SAMPLE}/{MODEL_A}", "--train", f"{SAMPLE}/{TRAIN}", "-q"]
HOME = Path(xmceval.__file__).parent


def environment(folder):
    return {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONPATH": os.pathsep.join(map(str, sys.path))}


def start(folder, *args, **options):
    return subprocess.Popen(
        [sys.executable, *args],
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def run(folder, *args, **options):
    process = start(folder, *args, **options)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return out


def saved(folder):
    return sorted(folder.rglob("*.nbc"))


# The cache of compiled kernels.


@pytest.mark.parametrize(
    "damage",
    [lambda content: b"", lambda content: content[:-1], lambda content: content[:40] + b"x" + content[41:]],
    ids=["empty", "short", "altered"],
)
def test_a_damaged_file_is_compiled_again_and_overwritten(tmp_path, damage):
    assert run(tmp_path, "-c", COUNT) == "1 0 2 1\n"
    [path] = saved(tmp_path)
    path.write_bytes(damage(path.read_bytes()))
    assert run(tmp_path, "-c", COUNT) == "1 0 2 1\n"
    assert run(tmp_path, "-c", COUNT) == "1 0 2 0\n"
    assert [path] == [each for each in tmp_path.rglob("*") if each.is_file()]


def test_what_cannot_be_read_or_written_is_compiled(tmp_path):
    run(tmp_path, "-c", COUNT)
    [path] = saved(tmp_path)
    path.unlink()
    path.mkdir()
    assert [run(tmp_path, "-c", COUNT) for _ in range(2)] == ["1 0 2 1\n"] * 2
    assert [path] == saved(tmp_path)


# A kernel whose helper is in another file, and calls one in a third; both have a global of the same name.
FAR = """
from xmceval.kernels.compile.decorators import helper
STEP = 10

@helper
def far(x):
    return x + STEP
"""
NEAR = """
from xmceval.kernels.compile.decorators import function
from xmceval.kernels.far import far
STEP = 1

@function
def near(x):
    return far(x) + STEP
"""
USED = """
from xmceval.kernels.compile.decorators import kernel
from xmceval.kernels.near import near

@kernel
def use(x):
    return near(x)
"""
USE = """
from xmceval.kernels import used
from xmceval.kernels.compile import entries

print(used.use(0), len(entries.compiled))
"""


def test_an_edited_helper_of_another_file_and_an_edited_kernel_are_compiled_again(tmp_path):
    copy = tmp_path / "copy" / "xmceval"
    shutil.copytree(HOME, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "kernels" / "far.py").write_text(FAR)
    (copy / "kernels" / "near.py").write_text(NEAR)
    (copy / "kernels" / "used.py").write_text(USED)
    code = f"import sys; sys.path.insert(0, {str(copy.parent)!r})\n{USE}"
    assert [run(tmp_path / "cache", "-c", code) for _ in range(2)] == ["11 1\n", "11 0\n"]
    # Of another length: Python takes bytecode for current that has the size of the source and its second.
    (copy / "kernels" / "far.py").write_text(FAR.replace("10", "200"))
    assert run(tmp_path / "cache", "-c", code) == "201 1\n"
    (copy / "kernels" / "used.py").write_text(USED.replace("near(x)", "near(x) + 1000"))
    assert run(tmp_path / "cache", "-c", code) == "1201 1\n"
    assert len(saved(tmp_path)) == 1


def test_simultaneous_first_runs_compile_once(tmp_path):
    processes = [start(tmp_path, "-c", COUNT) for _ in range(5)]
    outputs = sorted(process.communicate(timeout=120)[0] for process in processes)
    assert outputs == ["1 0 2 0\n"] * 4 + ["1 0 2 1\n"]


@pytest.mark.parametrize(("folder", "line"), [(Path("/saved"), runner.COMPILING), (None, runner.UNSAVED)])
def test_compiling_is_reported_with_what_becomes_of_it(monkeypatch, capsys, folder, line):
    monkeypatch.setattr(cache, "folder_to_write", lambda: folder)
    monkeypatch.setattr(cache, "_reports", [])
    runner._report_compilation.__wrapped__(False, False)
    assert capsys.readouterr().err == ""
    cache.report_compilation()
    cache.report_compilation()
    assert capsys.readouterr().err == f"{line}\n"


@pytest.fixture
def private(monkeypatch, tmp_path):
    """A private folder for the locks of this process."""
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    locks.make_private_folder.cache_clear()
    yield tmp_path / f"xmceval-{os.getuid()}"
    locks.make_private_folder.cache_clear()


def test_a_lock_is_held_once_and_leaves_nothing(private):
    lock = locks.take_lock("a kernel", 0)
    assert locks.take_lock("a kernel", 0) is None
    other = locks.take_lock("another kernel", 0)
    lock.release()
    other.release()
    assert list(private.iterdir()) == []
    locks.take_lock("a kernel", 0).release()


def test_a_stale_lock_never_blocks(private):
    locks.make_private_folder()
    code = (
        "import os, signal, tempfile; from xmceval.kernels.compile.locks import take_lock\n"
        f"tempfile.tempdir = {str(private.parent)!r}\n"
        "assert take_lock('a kernel', 0); os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = start(private, "-c", code)
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL
    assert len(list(private.iterdir())) == 1
    locks.take_lock("a kernel", 0).release()

    stopped = locks.take_lock("a kernel", 0)
    begin = time.monotonic()
    assert locks.take_lock("a kernel", 0.1) is None
    assert 0.1 <= time.monotonic() - begin < 10
    stopped.release()


@pytest.mark.parametrize("mode", [0o777, 0o750])
def test_a_folder_that_others_can_read_is_not_used(private, mode):
    private.mkdir()
    private.chmod(mode)
    assert locks.make_private_folder() is None
    assert locks.take_lock("a kernel", 0) is None


def test_kernels_are_saved_in_the_first_folder_that_can_be_written(monkeypatch, private):
    base = private.parent
    monkeypatch.delenv("NUMBA_CACHE_DIR", raising=False)
    monkeypatch.setenv("HOME", str(base / "home"))
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    beside, user, temporary = cache._candidates()
    assert beside == HOME / "kernels" / "__pycache__"
    assert user == base / "home" / ".cache" / "numba" / temporary.name
    assert temporary.parent == private
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(base / "own"))
    assert list(cache._candidates()) == [base / "own" / temporary.name, beside, user, temporary]

    (base / "file").touch()
    blocked = base / "file" / "a"
    for candidates, read, written in (
        ([blocked, user, temporary], [blocked, user], user),
        ([temporary, user], [temporary], temporary),
        ([blocked], [blocked], None),
    ):
        monkeypatch.setattr(cache, "_candidates", lambda candidates=candidates: candidates)
        cache.folders.cache_clear()
        assert (cache.folders(), cache.folder_to_write()) == (read, written)
    cache.folders.cache_clear()


# What an import changes.

STATE = """
import json, sys, tempfile
from numba import config
from numba.core import caching, dispatcher, event

def state():
    return {
        "config": {name: repr(value) for name, value in vars(config).items() if name.isupper()},
        "dispatcher": {name: id(value) for name, value in vars(dispatcher.Dispatcher).items()},
        "caching": {name: repr(value) for name, value in vars(caching).items()},
        "locators": repr(caching.CacheImpl._locator_classes),
        "listeners": repr({kind: each for kind, each in event._registered.items() if each}),
    }

before = state()
import xmceval, importlib, pkgutil
import xmceval.kernels as kernels
for module in pkgutil.walk_packages(kernels.__path__, "xmceval.kernels."):
    importlib.import_module(module.name)
for name in xmceval.__all__:
    getattr(xmceval, name)
import numpy as np
print(xmceval.score(np.eye(3), np.eye(3), k=1, metrics=["P"])["P@1"])
after = state()
print(*(kind for kind in before if before[kind] != after[kind]))
print(*(name for name in before["config"] if before["config"][name] != after["config"].get(name)))
"""


def test_the_package_changes_nothing_of_numba_and_needs_no_cache(tmp_path):
    copy = tmp_path / "xmceval"
    shutil.copytree(HOME, copy, ignore=shutil.ignore_patterns("__pycache__"))
    (copy / "kernels" / "__pycache__").touch()  # a file, so that not even root can write there
    code = f"import sys, tempfile; sys.path.insert(0, {str(tmp_path)!r}); tempfile.tempdir = '/dev/null'\n{STATE}"
    environ = {**environment("/dev/null/cache"), "HOME": "/dev/null", "XDG_CACHE_HOME": "/dev/null"}
    ended = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "1.0\n\n\n", "")
    assert saved(tmp_path) == []


# The second process.


def test_the_second_process_never_has_the_current_directory_on_its_path(monkeypatch, tmp_path):
    for name in ("numpy", "json", "xmceval"):
        (tmp_path / f"{name}.py").write_text("open('executed', 'w').close()")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.syspath_prepend("")
    monkeypatch.syspath_prepend(tmp_path / "users" / "site")
    command = ahead.command()
    assert "-I" in command
    path = json.loads(command[-1])["path"]
    assert str(tmp_path / "users" / "site") in path
    assert str(tmp_path) not in path
    assert "" not in path
    environ = {**environment(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    with subprocess.Popen(command, env=environ, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        err = process.stderr.read()
        assert (process.wait(120), err) == (0, b"")
    assert not Path("executed").exists()
    assert any(path.name.startswith("topk.compute_rows") for path in saved(tmp_path))


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


@on_linux
@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_second_process_never_outlives_the_first(tmp_path, number):
    process = start(tmp_path, "-m", "xmceval", *SCORE)
    wait_for(lambda: len(relatives(tmp_path)) == 2)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert out == ""
    assert "Traceback" not in err
    assert process.returncode == (-number if number == signal.SIGKILL else 128 + number)
    wait_for(lambda: not relatives(tmp_path))  # it may just have been born
    assert {path.suffix for path in tmp_path.rglob("*") if path.is_file()} <= {".nbc"}


@on_linux
def test_a_command_that_needs_no_metrics_starts_no_second_process(tmp_path):
    process = start(tmp_path, "-m", "xmceval", "inspect", SCORE[1])
    most = 0
    while process.poll() is None:
        most = max(most, len(relatives(tmp_path)))
        time.sleep(0.02)
    process.communicate()
    assert (process.returncode, most, relatives(tmp_path)) == (0, 1, [])
    assert saved(tmp_path)


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
        assert (out, err) == (A_ALONE, "")
    else:
        assert process.returncode == 130
        assert (out, err) in {("", "\ninterrupted\n"), (A_ALONE, "\ninterrupted\n")}


@pytest.mark.parametrize("name", ["SIGINT", "SIGHUP", "SIGTERM"])
def test_an_ignored_signal_stays_ignored(name):
    before = f"import signal; signal.signal(signal.{name}, signal.SIG_IGN)"
    with ready(*SCORE, before=before) as process:
        process.send_signal(getattr(signal, name))
        assert process.communicate(timeout=60)[0] == A_ALONE
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
        assert process.stderr.readline().removeprefix(runner.COMPILING) in {"writing\n", "\n"}
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
