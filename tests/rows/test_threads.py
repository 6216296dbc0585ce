"""Threads: the error is the same for any number of them, and an interrupt waits for them."""

import os
import signal
import threading
import time
from dataclasses import dataclass

import pytest
from hypothesis import given, strategies as st
from support.files import PREDS, TRUTH, write
from support.pieces import read_in_pieces
from support.processes import wait_for

import xmceval
from xmceval import DataError
from xmceval.errors import Fault
from xmceval.rows import threads as engine
from xmceval.rows.block import Block, Scratch

THREADS = (1, 2, 3, 8)


@dataclass
class Rows:
    """A block of rows, some of which are wrong."""

    first_row: int
    n_rows: int

    def take(self, n_rows):
        head = Rows(self.first_row, n_rows)
        self.first_row, self.n_rows = self.first_row + n_rows, self.n_rows - n_rows
        return head


def message_of(function, *args, **options):
    try:
        function(*args, **options)
    except DataError as error:
        return str(error)
    return ""


def items(n_blocks, ends_in_error):
    for i in range(n_blocks):
        yield Rows(3 * i, 3)
    if ends_in_error:
        raise DataError("the file ends too early")


@given(
    n_blocks=st.integers(0, 12),
    wrong=st.sets(st.integers(0, 35), max_size=8),
    broken=st.sets(st.integers(0, 11), max_size=2),
    slow=st.sets(st.integers(0, 11)),
    ends_in_error=st.booleans(),
    all_faults=st.booleans(),
    most=st.sampled_from([2, 1000]),
)
def test_the_error_is_the_same_for_any_number_of_threads(
    n_blocks, wrong, broken, slow, ends_in_error, all_faults, most
):
    def work(_, block):
        time.sleep(0.0005 * (block.first_row // 3 in slow))
        rows = range(block.first_row, block.first_row + block.n_rows)
        if block.first_row // 3 in broken and not wrong.intersection(rows):
            raise DataError(f"block {block.first_row // 3} is broken")
        for row in rows:
            if row in wrong:
                raise Fault(row, f"row {row} is wrong")

    def run(n_threads):
        blocks = items(n_blocks, ends_in_error)
        return message_of(engine.each_block, blocks, Scratch, work, n_threads, all_faults=all_faults)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(engine, "COUNTED", most)
        patch.setattr(engine, "REPORTED", 1)
        expected = run(1)
        assert [run(n_threads) for n_threads in THREADS[1:]] == [expected] * 3
    first = min((row for row in wrong if row < 3 * n_blocks), default=None)
    first_broken = min((i for i in broken if i < n_blocks and not wrong & set(range(3 * i, 3 * i + 3))), default=99)
    if first is not None and first // 3 < first_broken:
        assert expected.startswith(f"row {first} is wrong")
    elif first_broken < 99:
        assert expected == f"block {first_broken} is broken"
    else:
        assert expected == ("the file ends too early" if ends_in_error else "")


@pytest.mark.parametrize("wrong", [range(500), range(0, 500, 2), range(499, 500), range(250, 260)])
@pytest.mark.parametrize("stages", [1, 2])
def test_a_row_is_worked_on_a_few_times_however_many_rows_are_wrong(wrong, stages):
    n_worked = 0

    def work(_, block):
        nonlocal n_worked
        rows = range(block.first_row, block.first_row + block.n_rows)
        for stage in range(stages):  # as parsing ends before the labels and values of the first row are checked
            for row in rows:
                n_worked += 1
                if row in wrong and row % stages == stage:
                    raise Fault(row, f"row {row} is wrong")

    message = message_of(engine.each_block, (each for each in [Rows(0, 500)]), Scratch, work, 1, all_faults=True)
    assert message == f"row {wrong[0]} is wrong" + (f" ({len(wrong):,} such rows)" if len(wrong) > 1 else "")
    assert n_worked <= stages * 500 * 11  # the halves of halves of 500 rows, and the whole block before them


CASES = {
    "a wrong row and too few rows": (TRUTH.replace("4:1", "4:-1"), PREDS.replace("4 5", "5 5") + "1:1\n"),
    "a wrong row and a wrong header": (TRUTH, PREDS.replace("4 5", "9 5").replace(".5 2", ".x 2")),
    "two wrong rows": (TRUTH, PREDS.replace("0:0.9", "0:nan").replace("4:.5", "4:z")),
    "only too few rows": (TRUTH, PREDS.replace("4 5", "5 5") + "1:1\n"),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("size", [8, 1 << 20])
def test_every_command_reports_the_same_for_any_number_of_threads(monkeypatch, case, size):
    read_in_pieces(monkeypatch, text=size)
    for name, text in zip(("t.txt", "p.txt"), CASES[case], strict=True):
        write(name, text)

    def messages(n_threads):
        yield message_of(xmceval.score, "t.txt", "p.txt", k=1, metrics="P", threads=n_threads)
        yield message_of(xmceval.convert, "p.txt", "out.txt", threads=n_threads, force=True)
        yield xmceval.inspect(["t.txt", "p.txt"], threads=n_threads).to_text(verbose=True)

    expected = list(messages(1))
    assert expected[0].startswith("t.txt has 4 rows" if "only" in case else ("t.txt:5", "p.txt:2", "p.txt:3"))
    for n_threads in THREADS[1:]:
        assert list(messages(n_threads)) == expected


@pytest.mark.parametrize("threads", THREADS)
def test_rows_are_collected_in_order_although_earlier_blocks_take_longer(monkeypatch, threads):
    read_in_pieces(monkeypatch, text=8)
    parse = Block.rows

    def late(block, scratch):
        time.sleep(0.002 * (block.first_row % 2 == 0))
        return parse(block, scratch)

    monkeypatch.setattr(Block, "rows", late)
    write("p.txt", "20 20\n" + "".join(f"{row}:0.5\n" for row in range(20)))
    assert xmceval.read("p.txt", kind="scores", threads=threads).indices.tolist() == list(range(20))


# Interrupts

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
            engine.each_block(self.items(), lambda: None, self.work, threads)
        finally:
            signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_an_interrupt_waits_for_the_threads_and_closes_what_they_read(threads):
    reading = Reading(n_interrupts=1)
    n_threads = threading.active_count()
    with pytest.raises(KeyboardInterrupt):
        reading.run(threads)
    assert reading.is_closed
    wait_for(lambda: threading.active_count() <= n_threads)
    assert 2 <= reading.n_done <= reading.n_read < MANY - 1


@pytest.mark.usefixtures("interruptible")
def test_a_second_interrupt_does_not_close_what_a_thread_reads():
    reading = Reading(n_interrupts=2)
    n_threads = threading.active_count()
    with pytest.raises(KeyboardInterrupt):  # not ValueError: generator already executing
        reading.run(2)
    wait_for(lambda: threading.active_count() <= n_threads)
