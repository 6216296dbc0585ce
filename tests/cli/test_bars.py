"""Terminals: bars of every command that takes more than a second, which are gone at its end, and styles of tables."""

import gzip
import io
import os
import pty
import re
import sys
import threading
import time
from contextlib import contextmanager
from itertools import pairwise

import numpy as np
import pytest
from support.sample import PATHS

from xmceval.cli import inputs as systems, messages, options
from xmceval.cli.main import main
from xmceval.comparison.compare import compare_systems
from xmceval.comparison.options import Testing
from xmceval.comparison.pairs import Cost
from xmceval.files.io import streams
from xmceval.files.io.streams import open_bytes
from xmceval.rows import progress
from xmceval.rows.progress import in_turn, measure_progress, phase, watch_work
from xmceval.scoring.options import Options
from xmceval.scoring.setup.resolve import System
from xmceval.scoring.setup.truth import OpenedTruth

N_ROWS = 400
HIDDEN, SHOWN, REMOVED = "\x1b[?25l", "\x1b[?25h", "\r\x1b[K"  # the cursor, twice, and the line


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(2)
    rows = [" ".join(f"{label}:{value:.3f}" for label, value in enumerate(rng.random(30))) for _ in range(N_ROWS)]
    texts = {
        "truth.txt": f"{N_ROWS} 30\n" + "1:1 2:1\n" * N_ROWS,
        "preds.txt": f"{N_ROWS} 30\n" + "\n".join(rows) + "\n",
        "filter.txt": "0 1\n" * 2000 + "0 x\n" + "0 1\n" * 9000,
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "preds.txt.gz").write_bytes(gzip.compress(texts["preds.txt"].encode()))
    return tmp_path


@pytest.fixture
def at_once(monkeypatch):
    """Let bars be drawn from the first moment on, and all work pause when it is half done."""
    monkeypatch.setattr(messages, "PATIENCE", 0.0)
    monkeypatch.setattr(messages, "PAUSE", 0.001)

    def pause(worker, name, total, done):
        watch_work(worker, name, 2, lambda _: 1)
        time.sleep(0.02)
        watch_work(worker, name, total, done)

    monkeypatch.setattr(streams, "watch_work", pause)
    monkeypatch.setattr(progress, "watch_work", pause)


@contextmanager
def terminal(monkeypatch):
    """Make stderr a terminal, and collect what is written there."""
    seen, (reading, end) = [], pty.openpty()

    def collect():
        while text := os.read(reading, 1 << 16):
            seen.append(text.decode())
            if seen[-1].endswith("\0"):
                return

    thread = threading.Thread(target=collect)
    thread.start()
    with os.fdopen(end, "w") as stream, monkeypatch.context() as patch:
        patch.setenv("TERM", "xterm")
        patch.setenv("COLUMNS", "80")
        patch.setattr(sys, "stderr", stream)
        yield seen
        stream.write("\0")
        stream.flush()
        thread.join()
    os.close(reading)


def run(monkeypatch, *args):
    """Run a command on a terminal, and return what it writes there."""
    with terminal(monkeypatch) as seen, pytest.raises(SystemExit):
        main([*args])
    return "".join(seen).rstrip("\0")


@pytest.mark.parametrize(
    ("args", "names"),
    [
        ("score truth.txt preds.txt", {"truth.txt", "preds.txt"}),
        ("score truth.txt preds.txt.gz -m P", {"preds.txt.gz"}),
        ("compare truth.txt preds.txt preds.txt.gz -m P", {"preds.txt", "preds.txt.gz", "2 systems"}),
        ("inspect preds.txt", {"preds.txt"}),
        ("inspect truth.txt preds.txt", {"2 files, 1 of 2", "2 files, 2 of 2"}),
        ("convert preds.txt out.npz", {"preds.txt"}),
    ],
)
def test_commands_show_how_far_they_are_and_remove_it(args, names, files, at_once, monkeypatch, capsys):
    seen = run(monkeypatch, *args.split())
    assert names <= set(re.findall(r"\r\x1b\[\?25l(.+?)  \[[#-]+\] +\d+%", seen))
    assert seen.rindex(REMOVED) > seen.rindex(SHOWN) > seen.rindex("%")
    assert seen.count(HIDDEN) == seen.count(SHOWN)
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("args", "name"),
    [
        ("score truth-*.txt preds-*.txt -m P", "truth-*.txt"),  # pair by pair
        ("score truth.txt preds-*.txt -m P", "preds-*.txt"),
        ("score truth.txt preds.txt -m PSP --train truth-*.txt", "truth-*.txt"),
    ],
)
def test_all_shards_have_one_bar_with_the_number_of_the_current_one(args, name, files, at_once, monkeypatch):
    for part in range(4):
        for file in ("truth", "preds"):
            lines = (files / f"{file}.txt").read_text().splitlines(keepends=True)[1:]
            rows = lines[part * N_ROWS // 4 : (part + 1) * N_ROWS // 4]
            (files / f"{file}-{part}.txt").write_text("".join([f"{len(rows)} 30\n", *rows]))
    seen = run(monkeypatch, *args.split())
    bar = rf"\?25l{re.escape(name)}, (\d) of 4  \[[#-]+\] +(\d+)%"
    shown = [(int(place), int(percent)) for place, percent in re.findall(bar, seen)]
    assert {place for place, _ in shown} == {1, 2, 3, 4}
    assert sum(after < before for before, after in pairwise(shown)) <= 1  # they are opened, then scored
    assert {percent for place, percent in shown if place == 3} <= set(range(50, 76))
    assert not re.search(r"(truth|preds)-\d", seen)


def test_the_bar_of_shards_has_the_time_left(at_once, monkeypatch):
    with terminal(monkeypatch) as seen, messages.long_work(quiet=False):
        for _ in in_turn("a/preds-*.npz", range(4)):
            with phase("part", 2) as add:
                add(1)
                time.sleep(0.4)
    assert re.search(r"preds-\*.npz, 4 of 4  \[#+-+\] +87%  00:00:0\d", "".join(seen))


def test_parts_in_turn_are_one_work_that_never_goes_back():
    seen = []
    for _ in in_turn("a/preds-*.npz", range(4)):
        with phase("part", 2) as add:
            seen.append(measure_progress())
            add(1)
            seen.append(measure_progress())
        seen.append(measure_progress())
    shares = [0, 0.125, 0.125, 0.25, 0.375, 0.375, 0.5, 0.625, 0.625, 0.75, 0.875, 0.875]
    assert seen == [("a/preds-*.npz", share, f"{i // 3 + 1} of 4") for i, share in enumerate(shares)]
    assert measure_progress() is None


def test_nothing_is_shown_without_a_terminal(files, at_once, monkeypatch, capsys):
    args = ["score", "truth.txt", "preds.txt", "-m", "P"]
    assert run(monkeypatch, *args, "-q") == ""
    with monkeypatch.context() as patch:
        patch.setattr(pty, "openpty", os.pipe)
        assert "%" not in run(patch, *args)
    with pytest.raises(SystemExit):
        main(args)
    assert "%" not in capsys.readouterr().err


def test_a_terminal_that_can_remove_nothing_has_no_bar(files, at_once, monkeypatch):
    with terminal(monkeypatch) as seen, monkeypatch.context() as patch:
        patch.setenv("TERM", "dumb")
        with messages.long_work(quiet=False), phase("rows", 2) as add:
            add(1)
            time.sleep(0.05)
    assert seen == ["\0"]


def test_a_bar_waits_for_a_second_and_vanishes(monkeypatch):
    with terminal(monkeypatch) as seen, messages.long_work(quiet=False), phase("a/preds.txt", 8000) as add:
        add(2000)
        time.sleep(0.7)
        assert seen == []
        time.sleep(0.7)
    assert re.fullmatch(r"\r\x1b\[\?25lpreds.txt  \[#{10,}-{30,}\] +25%.*\x1b\[\?25h\r\x1b\[K\0", "".join(seen))


def test_an_error_leaves_no_bar(files, at_once, monkeypatch):
    seen = run(monkeypatch, "score", "truth.txt", "preds.txt", "-m", "P", "--filter", "filter.txt")
    assert "filter.txt  [" in seen
    assert f"{REMOVED}Error: filter.txt:2001: " in seen


def test_of_several_works_the_largest_has_its_name_and_the_slowest_its_share(files):
    assert measure_progress() is None
    with phase("rows", 10) as add, open_bytes(files / "preds.txt") as stream:
        add(5)
        size = (files / "preds.txt").stat().st_size
        stream.read(size // 4)
        assert measure_progress() == (str(files / "preds.txt"), size // 4 / size, "")
        stream.read(size // 2)
        assert measure_progress() == (str(files / "preds.txt"), 0.5, "")
        with phase("of unknown length", None) as add_more:
            add_more(7)
            assert measure_progress()[1] == 0.5
    assert measure_progress() is None


@pytest.mark.parametrize("name", ["preds.txt", "preds.txt.gz"])
def test_all_stored_bytes_are_read_at_the_end(files, name):
    with open_bytes(files / name) as stream:
        stream.read()
        assert measure_progress() == (str(files / name), 1.0, "")
    del stream
    assert measure_progress() is None


def test_resamples_are_counted():
    with systems.watch(quiet=False)(Cost(3, 10_000, 500, 48_000)) as add:
        add(6_400)
        assert measure_progress() == ("randomization", 6_400 / 30_000, "")
    large = "randomization: 1 test of 100 resamples of 2,000,000 instances, whose values take 64 MB"
    assert str(Cost(1, 100, 2_000_000, 64_000_000)) == large


@pytest.mark.parametrize(("testing", "n_tests"), [({"test": "randomization"}, 6), ({"test": "t"}, None)])
def test_all_resamples_of_the_cost_are_reported(testing, n_tests):
    """What progress reports comes to the total."""
    reported = []

    @contextmanager
    def watch(cost):
        assert not reported
        reported.append(-cost.n_tests * cost.n_resamples)
        assert cost.n_tests == n_tests
        yield reported.append

    truth_file, model_a, model_b, _ = PATHS
    named = [System(path, name) for path, name in ((model_a, "a"), (model_b, "b"), (model_a, "c"))]
    truth = OpenedTruth.of(truth_file, Options.of({"metrics": "P", "k": (1, 3), "threads": 2}), named)
    compare_systems(truth, named, Testing(**testing, resamples=200), watch=watch)
    assert sum(reported) == 0
    assert bool(reported) == (n_tests is not None)


class Terminal(io.StringIO):
    encoding = "UTF-8"

    def isatty(self):
        return True


@pytest.mark.parametrize(
    ("environment", "is_styled"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_a_terminal_may_ask_for_no_style(monkeypatch, environment, is_styled):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr("sys.stdout", Terminal())
    assert options.terminal() == {"width": options.terminal_width(), "is_terminal": True, "is_unicode": True} | {
        "is_styled": is_styled
    }
    monkeypatch.setattr("sys.stdout", io.StringIO())
    assert (options.terminal()["is_styled"], options.terminal()["is_unicode"]) == (False, False)
