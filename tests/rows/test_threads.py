"""Threads: what an interrupt does while they work."""

import os
import signal
import threading
import time
from contextlib import contextmanager

import pytest

from xmceval.rows.threads import each_block


class Reading:
    """Items that are read slowly, by a generator that interrupts the main thread while it reads the third."""

    def __init__(self, n_interrupts):
        self.n_interrupts = n_interrupts
        self.n_read = self.n_done = 0
        self.is_closed = False

    def items(self):
        try:
            for self.n_read in range(1, 1000):
                if self.n_read == 3:
                    for _ in range(self.n_interrupts):
                        os.kill(os.getpid(), signal.SIGINT)
                        time.sleep(0.05)
                time.sleep(0.001)
                yield self.n_read
        finally:
            self.is_closed = True

    def work(self, _state, _item):
        self.n_done += 1

    def run(self, threads):
        each_block(self.items(), lambda: None, self.work, threads)


@contextmanager
def waiting(seconds):
    """Wait at the end, for interrupts that are still to come."""
    try:
        yield
    finally:
        time.sleep(seconds)


def wait_for_threads(number):
    deadline = time.monotonic() + 10
    while threading.active_count() > number:
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_an_interrupt_waits_for_the_threads_and_closes_what_they_read(threads):
    reading = Reading(n_interrupts=1)
    n_threads = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        reading.run(threads)
    assert reading.is_closed
    wait_for_threads(n_threads)
    assert 2 <= reading.n_done <= reading.n_read < 10


def test_a_second_interrupt_does_not_close_what_a_thread_reads():
    reading = Reading(n_interrupts=3)
    n_threads = threading.active_count()
    with pytest.raises(KeyboardInterrupt), waiting(0.3):  # not ValueError: generator already executing
        reading.run(2)
    wait_for_threads(n_threads)
