"""Presence: all files are checked before the first of them is read, and all that are wrong are reported together."""

import numpy as np
import pytest

import xmceval
from xmceval import DataError, UsageError


@pytest.fixture(autouse=True)
def home(tmp_path):
    (tmp_path / "t.txt").write_text("2 3\n0:1\n1:1\n")
    (tmp_path / "p.txt").write_text("2 3\n0:.5\n1:.5\n")
    (tmp_path / "broken.txt").write_text("2 3\nx:1\n1:1\n")
    (tmp_path / "folder").mkdir()


def test_every_missing_file_is_reported_at_once():
    with pytest.raises(DataError) as error:
        xmceval.score("t.txt", "p1.txt", train="train.txt", sample_weight="folder")
    assert str(error.value).splitlines() == [
        "p1.txt: no such file",
        "train.txt: no such file",
        "folder: is a directory; expected a file",
    ]


def test_files_are_checked_before_the_first_is_read(run):
    for missing in (["p.txt", "nothing.txt"], ["p.txt", "--sample-weight", "nothing.txt"]):
        ended = run("score", "broken.txt", *missing, "--train", "broken.txt")
        assert ended == (1, "", "Error: nothing.txt: no such file\n")


def test_inspection_checks_them_too():
    with pytest.raises(DataError) as error:
        xmceval.inspect(["broken.txt", "p1.txt"], train="train.txt")
    assert str(error.value) == "p1.txt: no such file\ntrain.txt: no such file"


def test_files_that_exist_are_not_refused():
    np.save("x-labels.npy", np.zeros((2, 1), int))
    open("y.txt", "w").close()
    for name in ("x", "x-labels.npy"):
        assert xmceval.score("t.txt", name, metrics="P", k=1)["P@1"] == 0.5
    with pytest.raises(DataError, match=r"^y\.txt: the file is empty$"):
        xmceval.score("t.txt", "y.txt", metrics="P", k=1)


@pytest.mark.parametrize("which", ["truth", "scores", "train"])
def test_names_that_no_file_can_have_are_refused(which):
    files = {"truth": "t.txt", "scores": "p.txt"} | {which: "a\0b"}
    with pytest.raises(DataError, match="no such file"):
        xmceval.score(files.pop("truth"), files.pop("scores"), **files)


def test_standard_input_can_be_one_of_them():
    with pytest.raises(UsageError, match="can stand for one file only"):
        xmceval.score("-", "t.txt", train="-")
