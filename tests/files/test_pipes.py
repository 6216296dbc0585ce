"""Pipes: standard input, process substitution and named pipes are read like files, or refused in words."""

import gzip
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import numpy as np
import pytest
from support.approved import check_lines
from support.files import PREDS, TRUTH, Stdin, matrix, same_numbers, scored, write

import xmceval
from xmceval.files.io import streams as pipes

DENSE = np.where(matrix().toarray() == 0, -np.inf, matrix().toarray())


@pytest.fixture(autouse=True)
def _in_a_folder(monkeypatch):
    monkeypatch.setattr(pipes, "_copies", {})
    write("t.txt", TRUTH)
    write("p.txt", PREDS)
    write("names", "a\nb\nc\nd\ne\n")
    np.save("dense.npy", DENSE)


def feed(content, name="pipe"):
    """Make a named pipe that a thread writes to."""
    if not os.path.exists(name):
        os.mkfifo(name)

    def write_all():
        with open(name, "wb") as file:
            file.write(content)

    threading.Thread(target=write_all, daemon=True).start()
    return name


def shell(script):
    """Run a line of bash in which $x is the command."""
    setup = f'x() {{ "{sys.executable}" -m xmceval "$@"; }}\n'
    done = subprocess.run(["bash", "-c", setup + script], check=False, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    return done


@pytest.mark.parametrize("name", ["t.txt", "p.txt", "dense.npy"])
@pytest.mark.parametrize("way", ["-", "pipe"])
def test_what_comes_once_is_scored_and_inspected_like_a_file(name, way, monkeypatch):
    content = Path(name).read_bytes()

    def path():
        monkeypatch.setattr(sys, "stdin", Stdin(content))
        return way if way == "-" else feed(content)

    same_numbers(scored(**{"truth" if name == "t.txt" else "preds": path()}))
    report = xmceval.inspect([path(), "p.txt"] if name == "t.txt" else ["t.txt", path()])
    assert report.is_sound
    assert report.pairs[0].precision is not None
    assert "copied to a temporary file" in report.to_text(verbose=True)


def test_a_copy_is_reported(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Stdin(TRUTH.encode()))
    how = "; rows by position, labels by number"
    assert scored("-").inputs == (
        f"-: text, rows of idx:value, header '4 5', copied to a temporary file{how}",
        f"p.txt: text, rows of idx:value, header '4 5'{how}",
    )


def test_a_truth_from_a_pipe_is_recognised_where_predictions_were_tried_first(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Stdin(b"1 2 3\n0,2 0:0.5\n"))
    assert xmceval.convert("-", "out.txt").n_entries == 2


def test_a_named_pipe_may_be_written_to_again():
    for which, content in (("preds", PREDS), ("preds", PREDS), ("truth", TRUTH), ("truth", TRUTH)):
        same_numbers(scored(**{which: feed(content.encode())}))


def test_no_call_reads_what_came_to_an_earlier_one(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Stdin(PREDS.encode()))
    assert xmceval.read("-", kind="scores").nnz == 7
    with pytest.raises(xmceval.DataError, match=r"^-: standard input is empty$"):
        xmceval.read("-", kind="scores")
    with pytest.raises(xmceval.DataError, match=r"^-: standard input is empty$"):
        scored("-")


def test_a_pipe_is_one_of_the_files():
    truth = descriptor(TRUTH.encode())
    with pytest.raises(xmceval.UsageError, match=f"{truth}: a pipe can stand for one file only"):
        scored(truth, train=truth)


def test_a_shell_passes_pipes(run):
    expected = run("score", "t.txt", "p.txt", "-m", "P", "-q")[1]
    for name in ("t.txt", "p.txt"):
        write(f"{name}.gz", gzip.compress(Path(name).read_bytes()))
    done = shell("zcat p.txt.gz | x score <(zcat t.txt.gz) a=/dev/stdin b=<(cat p.txt.gz) -m P -q")
    (value,) = (line.split()[1] for line in expected.splitlines() if line.startswith("P "))
    assert (done.stdout.count(value), done.stderr) == (2, ""), done
    assert shell("x score t.txt /dev/stdin -m P -q < p.txt").stdout == expected
    closed = shell("x score t.txt - <&-")
    assert (closed.returncode, closed.stderr) == (1, "Error: -: standard input is closed\n")


def descriptor(content):
    """Return the name of a pipe as process substitution makes it."""
    read_end, write_end = os.pipe()
    with os.fdopen(write_end, "wb") as file:
        file.write(content)
    return f"/dev/fd/{read_end}"


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_descriptors_are_read_like_files(pack):
    same_numbers(scored(descriptor(pack(TRUTH.encode())), descriptor(pack(PREDS.encode()))))


def test_standard_input_has_two_names(monkeypatch):
    path = descriptor(TRUTH.encode())
    with open(int(path.rpartition("/")[2])) as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        with pytest.raises(xmceval.UsageError, match="can stand for one file only"):
            scored("-", path)


def test_the_numbers_of_a_filter_may_come_through_a_pipe(monkeypatch):
    expected = scored(filter=write("f.txt", "0 0\n"))
    monkeypatch.setattr(sys, "stdin", Stdin(b"0 0\n"))
    same_numbers(scored(filter="-"), expected)


def test_training_labels_may_come_through_a_pipe():
    options = {"metrics": "PSP", "k": 1}
    expected = xmceval.score("t.txt", "p.txt", train="t.txt", **options)
    assert dict(xmceval.score("t.txt", "p.txt", train=feed(TRUTH.encode()), **options)) == dict(expected)


def test_copies_are_deleted(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "stdin", Stdin(TRUTH.encode()))
    (tmp_path / "copies").mkdir()
    monkeypatch.setattr("tempfile.tempdir", "copies")
    scored("-")
    assert len(list((tmp_path / "copies").iterdir())) == 1
    pipes._copies.clear()
    assert not list((tmp_path / "copies").iterdir())


def test_no_room_for_a_copy_is_reported(monkeypatch):
    monkeypatch.setattr(sys, "stdin", Stdin(TRUTH.encode()))

    def full(**_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "mkdtemp", full)
    with pytest.raises(xmceval.DataError) as caught:
        scored("-")
    expected = "-: cannot be copied to a temporary file: No space left on device (hint: set TMPDIR)"
    assert str(caught.value) == expected


def test_what_cannot_be_read_is_refused_in_these_words(run, monkeypatch):
    def piped(words, stdin):
        """Return what a command writes to stderr, and its exit code."""
        monkeypatch.setattr(sys, "stdin", None if stdin is None else Stdin(stdin))
        pipe = descriptor(b"")
        code, _, err = run(*words.format(pipe=pipe).split())
        return f"exit {code}\n{err}".replace(pipe, "pipe")

    check_lines(__file__, "pipes.txt", globals() | locals())
