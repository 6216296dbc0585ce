"""Threads: what an interrupt does while they work."""

import os
import signal
import threading
import time

import pytest
from support.processes import wait_for

from xmceval.rows.threads import each_block

pytestmark = pytest.mark.usefixtures("interruptible")
MANY = 100_000  # items, of which none is read long after an interrupt


class Reading:
    """Items that are read slowly, by a generator that interrupts the main thread while it reads the third.

    Each interrupt is sent when the main thread has got the one before it, however busy the machine is.
    """

    def __init__(self, n_interrupts):
        self.n_interrupts = n_interrupts
        self.n_read = self.n_done = self.n_got = 0
        self.is_closed = False

    def items(self):
        try:
            for self.n_read in range(1, MANY):
                if self.n_read == 3:
                    for number in range(self.n_interrupts):
                        os.kill(os.getpid(), signal.SIGINT)
                        wait_for(lambda number=number: self.n_got > number)
                time.sleep(0.001)
                yield self.n_read
        finally:
            self.is_closed = True

    def work(self, _state, _item):
        self.n_done += 1

    def interrupt(self, *_):
        self.n_got += 1
        raise KeyboardInterrupt

    def run(self, threads):
        before = signal.signal(signal.SIGINT, self.interrupt)
        try:
            each_block(self.items(), lambda: None, self.work, threads)
        finally:
            signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_an_interrupt_waits_for_the_threads_and_closes_what_they_read(threads):
    reading = Reading(n_interrupts=1)
    n_threads = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        reading.run(threads)
    assert reading.is_closed
    wait_for(lambda: threading.active_count() <= n_threads)
    assert 2 <= reading.n_done <= reading.n_read < MANY - 1


def test_a_second_interrupt_does_not_close_what_a_thread_reads():
    reading = Reading(n_interrupts=2)
    n_threads = threading.active_count()
    with pytest.raises(KeyboardInterrupt):  # not ValueError: generator already executing
        reading.run(2)
    wait_for(lambda: threading.active_count() <= n_threads)
