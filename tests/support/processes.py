"""The commands, and processes that are ended at a place that they have reached, not after some seconds."""

import os
import signal
import time
from contextlib import contextmanager

from xmceval.cli.main import COMMANDS, cli  # noqa: F401 - for tests
from xmceval.kernels.load import COMPILING  # noqa: F401 - for tests

SIGNALS = {signal.SIGINT: "\ninterrupted\n", signal.SIGTERM: "\nterminated\n", signal.SIGHUP: "\nhung up\n"}


def wait_for(condition):
    deadline = time.monotonic() + 60
    while not (result := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return result


@contextmanager
def fed(process, path, text):
    """Write to a named pipe once a process reads it, and keep it open, so that the process waits for more."""

    def open_pipe():
        assert process.poll() is None
        try:
            return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:  # it has no reader yet
            return None

    pipe = wait_for(open_pipe)
    try:
        os.write(pipe, text)
        yield
    finally:
        os.close(pipe)


@contextmanager
def room(n_bytes):
    """Limit the size of files; the system then writes only a part, or refuses to write."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
