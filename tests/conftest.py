"""What all tests share: how many examples hypothesis tries, and where the real data lie."""

import os
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from support import examples
from support.sample import SAMPLE

settings.register_profile(
    "xmceval",
    deadline=None,
    derandomize=True,
    max_examples=examples.N,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("xmceval")


def pytest_sessionstart(session):
    """Compile all kernels once, before workers start."""
    from xmceval.kernels import load

    folder = None if load.is_disabled() or hasattr(session.config, "workerinput") else load.find_folder()
    if folder is not None:
        for _ in load.warm(list(load.all_kernels()), folder):
            pass


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path, monkeypatch):
    """Every test runs in an empty folder of its own, and its output is not as wide as some terminal."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("COLUMNS", raising=False)  # which runners of tests set


@pytest.fixture
def rng():
    return np.random.default_rng(20260)


@pytest.fixture
def interruptible():
    """Let signals that end a process do so: where a shell started the tests behind &, or nohup, they are ignored.

    Processes that a test starts would ignore them too.
    """
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    for number in before:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.fixture(scope="session")
def realdata():
    folder = os.environ.get("XMCEVAL_REALDATA")
    if not folder:
        pytest.skip("XMCEVAL_REALDATA is unset")
    return Path(folder)


@pytest.fixture
def run(capsys):
    """Return a function that runs a command, and returns its exit code and what it wrote to each stream."""

    from xmceval.cli.main import main
    from xmceval.kernels.load import COMPILING

    def run(*args):
        with pytest.raises(SystemExit) as ended:
            main([str(arg) for arg in args])
        written = capsys.readouterr()
        return ended.value.code, written.out, written.err.replace(f"{COMPILING}\n", "")

    return run


@pytest.fixture
def in_sample(monkeypatch):
    """Run where the sample is."""
    monkeypatch.chdir(SAMPLE)
