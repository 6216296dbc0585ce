"""Round trips: rows that are converted to any form are read back with the same bits, whatever their scores are."""

import os
import stat
import struct
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import csr_matrix
from support.examples import examples

import xmceval
from xmceval.errors import UsageError
from xmceval.files.opening import open_scores, open_truth
from xmceval.files.writing import targets
from xmceval.files.writing.conversion import convert
from xmceval.rows.block import Scratch
from xmceval.rows.checks import validated_scores
from xmceval.rows.matrices.matrices import as_scores, as_truth
from xmceval.rows.width import Width

INFINITE = st.sampled_from([float("inf"), float("-inf"), 0.0, -0.0])
SCORES = {
    "int": (np.int64, st.integers(-(2**53), 2**53)),
    "small int": (np.int32, st.integers(0, 30)),
    "float32": (np.float32, st.floats(width=32, allow_nan=False)),
    "float64": (np.float64, st.floats(allow_nan=False)),
    "whole": (np.float64, st.integers(-20, 20).map(float)),
    "huge": (np.float64, st.sampled_from([1e300, -1e300, 1e15, 1e16, 1e17, 123456789012345678.0, 5e-324])),
    "ties": (np.float64, st.sampled_from([0.5, 1.0])),
    "infinite": (np.float64, INFINITE | st.integers(0, 9).map(float)),
}
FORMS = {
    "xmc": "a.txt",
    "plain": "a",
    "omikuji": "a",
    "npz": "a.npz",
    "npy": "a-labels.npy",
    "xmc.gz": "a.txt.gz",
    "plain.bz2": "a.bz2",
    "omikuji.xz": "a.txt.XZ",
}
KEYS = st.integers(0, 12) | st.integers(0, 2**31 - 1)


def rows_of(source):
    rows = []
    for block in source.blocks():
        indptr, indices, values = validated_scores(block, Scratch(), Width())
        pairs = [(int(i), struct.pack("<d", v)) for i, v in zip(indices, values, strict=False)]
        rows += [pairs[a:b] for a, b in pairwise(indptr)]
    return rows


def to_csr(rows, dtype):
    indptr = np.cumsum([0, *map(len, rows)])
    indices = [label for row in rows for label in row]
    values = [value for row in rows for value in row.values()]
    shape = len(rows), max(indices, default=0) + 1
    return csr_matrix((np.array(values, dtype), np.array(indices, np.int64), indptr), shape=shape)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", SCORES)
def test_scores_of_every_type_come_back_from_every_form(tmp_path, form, kind):
    dtype, values = SCORES[kind]
    path = tmp_path / FORMS[form]

    @examples(1)
    @given(st.lists(st.dictionaries(KEYS, values, max_size=4), min_size=1, max_size=5).filter(any))
    def check(rows):
        expected = rows_of(as_scores(to_csr(rows, dtype)))
        convert(as_scores(to_csr(rows, dtype)), path, to=form.partition(".")[0], force=True, threads=1)
        back = rows_of(open_scores(path).source)
        assert back + [[]] * (len(rows) - len(back)) == expected  # blank lines at the end of a file without a header

    check()


@pytest.mark.parametrize("form", ["xmc", "plain", "lists", "npz"])
def test_truth_comes_back_from_every_form(tmp_path, form):
    path = tmp_path / ("a.npz" if form == "npz" else "a.txt")

    @given(st.lists(st.sets(KEYS, max_size=4), min_size=1, max_size=6).filter(any))
    def check(rows):
        truth = to_csr([dict.fromkeys(sorted(row), 1.0) for row in rows], np.float64)
        convert(as_truth(truth), path, to=form, are_scores=False, force=True, threads=1)
        back = rows_of(open_truth(path).source)
        assert back + [[]] * (len(rows) - len(back)) == rows_of(as_truth(truth))

    check()


def test_whole_numbers_between_tabs_are_scores(tmp_path):
    convert(as_scores(np.array([[0, 30.0, -2]])), tmp_path / "a", to="omikuji")
    assert (tmp_path / "a").read_text() == "0 0.0\t1 30.0\t2 -2.0\n"
    for text in ("3 30\t5 20\n", "7 1\n3 30\t5 20\n", "3 30\t5 0.5\n", "3 30 \t5 20\n"):
        (tmp_path / "b").write_text(text)
        opened = open_scores(tmp_path / "b")
        assert not opened.is_ranked
        assert [label for label, _ in rows_of(opened.source)[-1]] == [3, 5]
    (tmp_path / "c").write_text("3\t5\t7\n1 2\n")  # ranked ids
    assert open_scores(tmp_path / "c").is_ranked


def test_a_first_row_of_a_list_is_no_header(tmp_path):
    (tmp_path / "a").write_text("2,9\n0\n1\n")
    assert [[label for label, _ in row] for row in rows_of(open_truth(tmp_path / "a").source)] == [[2, 9], [0], [1]]


@pytest.mark.parametrize(
    "name",
    ["a.csv", "a.tsv", "a.jsonl", "a.svm", "a.CSV", "a.csv.gz", "a.svm.GZ", "a.txt.lz4", "a.json", "a.PARQUET"],
)
def test_an_ending_of_another_format_is_refused_unless_a_format_is_named(tmp_path, name):
    scores = as_scores(np.array([[0.5, 0.25]]))
    with pytest.raises(UsageError) as error:
        convert(scores, tmp_path / name)
    ending = "." + name.lower().split(".")[2 if "lz4" in name else 1]
    assert f"{name}: cannot write {ending} (hint: use a name ending in .npz or .txt, or pass to=, one of" in str(
        error.value
    )
    assert not list(tmp_path.iterdir())
    convert(scores, tmp_path / name, to="xmc")
    assert rows_of(open_scores(tmp_path / name).source) == rows_of(scores)


def test_endings_in_capitals_are_what_they_say(tmp_path):
    scores = as_scores(np.array([[0.5, 0.25]]))
    for name, start in (("a.NPZ", b"PK"), ("a.TXT.GZ", b"\x1f\x8b"), ("a.BZ2", b"BZh"), ("a.XZ", b"\xfd7zXZ")):
        convert(scores, tmp_path / name)
        assert (tmp_path / name).read_bytes().startswith(start)
        assert rows_of(open_scores(tmp_path / name).source) == rows_of(scores)
    with pytest.raises(UsageError, match="npz cannot be compressed; only text can"):
        convert(scores, tmp_path / "a.NPZ.GZ")


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o640, 0o664])
@pytest.mark.parametrize("name", ["a.txt", "a.npz"])
def test_a_file_that_is_replaced_keeps_its_mode(tmp_path, name, mode):
    path = tmp_path / name
    path.write_bytes(b"old")
    path.chmod(mode)
    convert(as_scores(np.eye(2)), path, force=True)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert rows_of(open_scores(path).source) == rows_of(as_scores(np.eye(2)))


KILLED = """
import os, pathlib, signal, sys
from xmceval.files.writing.targets import open_targets
with open_targets([pathlib.Path(sys.argv[1])], force=True) as files:
    files[0].write(b"half")
    files[0].flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_killed_run_left_is_removed_by_the_next(tmp_path):
    path = tmp_path / "a [1].txt"
    subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False, env={**os.environ, "HOME": str(tmp_path)})
    [part] = tmp_path.iterdir()
    assert part.name.startswith(".a [1].txt.")
    assert part.name.endswith(".part")
    others = [part.with_name(part.name.replace(".txt.", f".txt.{more}")) for more in ("elsewhere.", "x.")]
    alive = targets._part_name(path).with_name(targets._part_name(path).name.replace(str(os.getpid()), "1"))
    for other in (*others, alive):  # of another machine, of another file, of a process that runs
        other.write_bytes(b"kept")
    xmceval.convert(_source(tmp_path), path)
    assert sorted(tmp_path.iterdir()) == sorted([*others, alive, path, tmp_path / "source"])


def _source(folder):
    (folder / "source").write_text("0:1\n")
    return folder / "source"
