"""Bars of progress: on a terminal only, of every command that takes more than a second, and gone at its end."""

import gzip
import os
import pty
import sys
import threading
from contextlib import contextmanager

import numpy as np
import pytest

from xmceval.api.comparing.pairtests import Cost
from xmceval.cli import main, progressbar, runner
from xmceval.cli.progressbar import Bar, describe
from xmceval.files.io import chunks
from xmceval.files.io.streams import open_bytes, read_all_bytes
from xmceval.rows.progress import find_watcher, named, phase, watched_by

N_ROWS = 400


@pytest.fixture
def files(tmp_path, monkeypatch):
    rng = np.random.default_rng(2)
    rows = [" ".join(f"{label}:{value:.3f}" for label, value in enumerate(rng.random(30))) for _ in range(N_ROWS)]
    texts = {
        "truth.txt": f"{N_ROWS} 30\n" + "1:1 2:1\n" * N_ROWS,
        "preds.txt": f"{N_ROWS} 30\n" + "\n".join(rows) + "\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "preds.txt.gz").write_bytes(gzip.compress(texts["preds.txt"].encode()))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(chunks, "CHUNK_BYTES", 1 << 12)
    monkeypatch.setattr(progressbar, "PATIENCE", 0.0)
    monkeypatch.setattr(progressbar, "PAUSE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    return tmp_path


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
        patch.setattr(sys, "stderr", stream)
        yield seen
        stream.write("\0")
        stream.flush()
        thread.join()
    os.close(reading)


def run(monkeypatch, *args):
    """Run a command on a terminal, and return the frames of its bars."""
    with terminal(monkeypatch) as seen, pytest.raises(SystemExit) as left:
        main([*args])
    assert left.value.code == 0
    return [frame for frame in "".join(seen).rstrip("\0").split("\r") if frame]


COMMANDS = {
    "score": ("score truth.txt preds.txt --threads 1", ["preds.txt"]),
    "a phase for the training labels": ("score truth.txt preds.txt --train truth.txt -m PSP", ["truth.txt"]),
    "a compressed file": ("score truth.txt preds.txt.gz -m P", ["preds.txt.gz"]),
    "compare": ("compare truth.txt preds.txt preds.txt.gz -m P", ["2 systems"]),
    "inspect": ("inspect preds.txt", ["preds.txt"]),
    "convert": ("convert preds.txt out.npz", ["preds.txt"]),
}


@pytest.mark.parametrize(("args", "names"), COMMANDS.values(), ids=COMMANDS)
def test_commands_show_how_far_they_are(args, names, files, monkeypatch, capsys):
    frames = run(monkeypatch, *args.split())
    for name in names:
        own = [frame for frame in frames if frame.startswith(f"{name}  ")]
        assert any(" left" in frame and "[#" in frame for frame in own)
        assert any("100%" in frame for frame in own)
        assert any(f"  {N_ROWS} rows  " in frame and "/s" in frame for frame in own)
    assert frames.count("\x1b[K") >= len(names)  # each bar is removed
    out, _ = capsys.readouterr()
    assert "\x1b" not in out


def test_nothing_is_shown_where_nobody_looks(files, monkeypatch, capsys):
    main_args = ["score", "truth.txt", "preds.txt", "-m", "P"]
    assert run(monkeypatch, *main_args, "-q") == []
    with monkeypatch.context() as patch:
        patch.setenv("TERM", "dumb")
        assert not any(" left" in frame for frame in run(patch, *main_args))
    with pytest.raises(SystemExit):
        main(main_args)  # in a pipe
    assert " left" not in capsys.readouterr().err
    assert find_watcher() is None


def test_a_bar_waits_for_a_second_and_vanishes(monkeypatch):
    clock = iter([0.0, 0.0, 0.0, 0.5, 1.5, 1.55, 2.0, 3.0])
    monkeypatch.setattr(progressbar.time, "monotonic", lambda: next(clock))
    monkeypatch.setenv("COLUMNS", "80")
    with terminal(monkeypatch) as seen, watched_by(Bar()), phase("preds.txt", 8000) as add:
        for _ in range(4):
            add(1000)
    assert "".join(seen) == (
        "\rpreds.txt  [#######-----------------------]   25%  0:04 left  2,000 rows  1,333/s\x1b[K"[:1]
        + "preds.txt  [#######---------------------]   25%  0:04 left  2,000 rows  1,333/s\x1b[K"
        + "\rpreds.txt  [##############--------------]   50%  0:02 left  4,000 rows  2,000/s\x1b[K"
        "\r\x1b[K\0"
    )


def test_an_error_leaves_no_bar(files, monkeypatch):
    """Reading a filter is no phase: the bar is that of the file."""
    (files / "filter.txt").write_text("0 1\n" * 2000 + "0 x\n" + "0 1\n" * 9000)
    with terminal(monkeypatch) as seen, pytest.raises(SystemExit):
        main(["score", "truth.txt", "preds.txt", "-m", "P", "--filter", "filter.txt"])
    frames = "".join(seen).split("\r")
    assert any(frame.startswith("filter.txt  [#") for frame in frames)
    assert frames[-2].startswith("\x1b[KError: filter.txt:2001: ")


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (99, "a.txt  [###############---------------]   50%  1:01:05 left  1,234,567 rows  337/s"),
        (50, "a.txt   50%  1:01:05 left  1,234,567 rows  337/s"),
        (40, "a.txt  [#####------]   50%  1:01:05 left"),
        (12, "a.txt   50%"),
        (3, "a.t"),
    ],
)
def test_a_line_has_what_fits(width, line):
    assert describe("a.txt", 0.5, (1_234_567, "rows"), 3665.0, width) == line


def test_names_are_cut_where_they_say_least():
    named = {name: describe(name, None, (0, ""), 1.0, 80) for name in ("a" * 40, "x/" * 20 + "b.txt")}
    assert list(named.values()) == [f"...{'a' * 25}", "b.txt"]


def test_the_watcher_sees_every_stored_byte(files, tmp_path):
    class Counter:
        opened, n_read = 0, 0

        def open(self, name, size):
            self.opened += size

        def read(self, n_bytes):
            self.n_read += n_bytes

    for name in ("preds.txt", "preds.txt.gz"):
        counter, path = Counter(), tmp_path / name
        plain = read_all_bytes(path)
        with watched_by(counter):
            assert read_all_bytes(path) == plain
        size = path.stat().st_size
        assert counter.opened == size
        assert size <= counter.n_read <= size + 8  # the first bytes show that a file is compressed
        with watched_by(counter):
            stream = open_bytes(path)
        stream.close()


def test_resamples_have_a_bar(monkeypatch):
    clock = iter([0.0, 0.0, 0.0, 2.0, 2.0])
    monkeypatch.setattr(progressbar.time, "monotonic", lambda: next(clock))
    cost = Cost(3, 10_000, 500, 48_000)
    with terminal(monkeypatch) as seen, watched_by(Bar()), runner.watch(quiet=False)(cost) as add:
        add(6_400)
    assert "  21%  0:07 left  6,400 resamples  3,200/s" in "".join(seen)


def test_phases_of_a_named_work_have_its_name():
    names = []

    class Names(Bar):
        def start(self, name, total, unit):
            names.append(name)

    with watched_by(Names()):
        with named("Bibtex"), phase("7 systems"):
            pass
        with phase("7 systems"):
            pass
    assert names == ["Bibtex", "7 systems"]
