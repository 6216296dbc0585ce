"""Outputs: a file appears when it is complete, replaces another only when forced, and never an input."""

import os
import random
import secrets
import stat
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import xmceval
from xmceval import DataError, UsageError
from xmceval.files.io.streams import remove_all
from xmceval.files.io.write import open_output, write_output

INPUTS = {
    "t.txt": "2 3\n0:1\n1:1 2:1\n",
    "a.txt": "2 3\n0:1 1:0.5\n0:1 2:0.5\n",
    "b.txt": "2 3\n1:1 0:0.5\n0:1 1:0.5\n",
}
SCORE = "t.txt a.txt -m P@1,nDCG@2"
BENCHMARK = 'metrics = "P@1"\n[datasets.one]\ntruth = "t.txt"\n[systems]\na = "a.txt"\nb = "b.txt"\n'
COMMANDS = {
    "rows.npz": f"score {SCORE} --save-rows",
    "rows.csv": f"score {SCORE} --save-rows",
    "labels.csv": f"score {SCORE} -m macroF1@2 --save-labels",
    "pair.labels.csv": f"compare {SCORE} b.txt -m macroF1@2 --save-labels",
    "a.state": f"score {SCORE} --save-state",
    "score.svg": f"score {SCORE} --plot",
    "pair.rows.npz": f"compare {SCORE} b.txt --save-rows",
    "compare.svg": f"compare {SCORE} b.txt --plot",
    "page.html": f"score {SCORE} --page",
    "pair.html": f"compare {SCORE} b.txt --page",
    "all.state": "merge 1.state --save-state",
    "bench.svg": "benchmark --plot",
    "c.npz": "convert a.txt",
    "c.txt.gz": "convert a.txt",
}


@pytest.fixture(autouse=True)
def folder():
    for name, text in INPUTS.items():
        Path(name).write_text(text)
    Path("benchmark.toml").write_text(BENCHMARK)
    xmceval.score("t.txt", "a.txt", metrics="P@1,nDCG@2", save_state="1.state")


def hidden():
    return sorted(path.name for path in Path().iterdir() if path.name.startswith("."))


def write_late(name, *, force):
    """Write a file that somebody else writes meanwhile."""
    with open_output(Path(name), force=force) as file:
        file.write(b"ours")
        Path(name).write_bytes(b"theirs")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_file_that_exists_is_overwritten_only_by_force(name, run):
    words = [*COMMANDS[name].split(), name, "-q"]
    Path(name).write_bytes(b"mine")
    code, out, error = run(*words)
    assert (code, out) == (2, "")
    assert error == f"Error: {name}: already exists (hint: pass --force to overwrite)\n"
    assert Path(name).read_bytes() == b"mine"
    assert run(*words, "--force")[0] == 0
    forced = Path(name).read_bytes()
    Path(name).unlink()
    assert run(*words)[0] == 0
    assert forced == Path(name).read_bytes()
    assert not hidden()


def test_a_file_that_appears_meanwhile_is_kept_unless_forced():
    with pytest.raises(UsageError, match="x: already exists"):
        write_late("x", force=False)
    assert (Path("x").read_bytes(), hidden()) == (b"theirs", [])
    write_late("x", force=True)
    assert (Path("x").read_bytes(), hidden()) == (b"ours", [])


def test_a_file_system_without_hard_links_has_the_same_rules(monkeypatch):
    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    write_output("x", "ours", force=False)
    with pytest.raises(UsageError, match="y: already exists"):
        write_late("y", force=False)
    assert (Path("x").read_bytes(), Path("y").read_bytes(), hidden()) == (b"ours", b"theirs", [])


def test_links_are_never_followed(monkeypatch):
    Path("precious").write_text("data")
    Path("link").symlink_to("precious")
    Path("broken").symlink_to("nothing")
    for name in ("link", "broken"):
        with pytest.raises(UsageError, match=f"{name}: already exists"):
            write_output(name, "ours", force=False)
        write_output(name, "ours", force=True)
        assert (Path(name).is_symlink(), Path(name).read_text()) == (False, "ours")
    monkeypatch.setattr(secrets, "token_hex", lambda _: "guessed")
    Path(".xmceval-guessed").symlink_to("precious")
    with pytest.raises(DataError, match="x: File exists"):
        write_output("x", "ours", force=True)
    assert (Path("precious").read_text(), Path("nothing").exists()) == ("data", False)


def test_temporary_names_cannot_be_guessed():
    names = set()
    for _ in range(3):
        with open_output(Path("x"), force=True):
            names.update(hidden())
    assert len(names) == 3
    assert not any(str(os.getpid()) in name or "x.txt" in name for name in names)


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640, 0o664])
@pytest.mark.parametrize("name", ["a.txt", "a.npz"])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path, name, mode):
    path = tmp_path / name
    path.write_bytes(b"old")
    path.chmod(mode)
    np.save(tmp_path / "source.npy", np.eye(2))
    xmceval.convert(tmp_path / "source.npy", path, force=True)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert xmceval.read(path).toarray().tolist() == np.eye(2).tolist()


def test_new_files_have_the_usual_mode():
    mask = os.umask(0o027)
    try:
        write_output("x", "ours", force=False)
    finally:
        os.umask(mask)
    assert stat.S_IMODE(Path("x").stat().st_mode) == 0o640


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks a process")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_process_that_ends_leaves_the_files_of_its_parent():
    with open_output(Path("x"), force=False) as file:
        child = os.fork()
        if child == 0:
            remove_all()
            os._exit(0)
        os.waitpid(child, 0)
        file.write(b"ours")
    assert Path("x").read_bytes() == b"ours"


# Writes the same letter many times to one file, again and again.
WRITER = """
import pathlib, sys, time
from xmceval.files.io.write import open_output
print("ready", flush=True)
while True:
    with open_output(pathlib.Path("x"), force=True) as file:
        for _ in range(50):
            file.write(sys.argv[1].encode() * 20_000)
            time.sleep(0.001)
"""


def test_six_writers_that_are_killed_leave_nothing_half_written():
    chance = random.Random(41)
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, letter], stdout=-1) for letter in "abcdef"]
    try:
        for writer in writers:
            assert writer.stdout.readline() == b"ready\n"
        chance.shuffle(writers)
        for writer in writers:
            time.sleep(chance.random() / 5)
            writer.kill()
            if Path("x").exists():
                text = Path("x").read_bytes()
                assert (len(text), len(set(text))) == (1_000_000, 1)
    finally:
        for writer in writers:
            writer.kill()
            writer.communicate()
    assert hidden(), "none of them was killed in the middle of its work"
    assert all(name.startswith(".xmceval-") for name in hidden())
    before = hidden()
    write_output("x", "done", force=True)
    assert (Path("x").read_text(), hidden()) == ("done", before)


def test_what_a_killed_writer_left_is_no_shard(run):
    Path("shards").mkdir()
    for name in ("1.txt", ".xmceval-0123456789abcdef"):
        Path("shards", name).write_text(INPUTS["a.txt"])
    expected = run("score", "t.txt", "a=a.txt", "-q", "-o", "csv")
    assert run("score", "t.txt", "a=shards/*", "-q", "-o", "csv") == expected
