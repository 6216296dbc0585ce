"""Presence: all files are checked before the first of them is read, and all that are wrong are reported together."""

import numpy as np
import pytest
from click.testing import CliRunner

import xmceval
from xmceval.cli.main import cli
from xmceval.errors import DataError, UsageError
from xmceval.files.shards import check_files


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


def test_files_are_checked_before_the_first_is_read():
    for missing in (["p.txt", "nothing.txt"], ["p.txt", "--sample-weight", "nothing.txt"]):
        ended = CliRunner().invoke(cli, ["score", "broken.txt", *missing, "--train", "broken.txt"])
        assert str(ended.exception) == "nothing.txt: no such file"


def test_inspection_checks_them_too():
    with pytest.raises(DataError) as error:
        xmceval.inspect(["broken.txt", "p1.txt"], train="train.txt")
    assert str(error.value) == "p1.txt: no such file\ntrain.txt: no such file"


def test_files_that_exist_are_not_refused():
    np.save("x-labels.npy", np.zeros((2, 1), int))
    (open("y.txt", "w")).close()
    check_files(["t.txt", "x", "x-labels.npy", "x-scores.npy", "-", np.ones(3), None, ("a", "b"), "/dev/null"])


def test_names_that_no_file_can_have_are_refused():
    with pytest.raises(DataError, match="no such file"):
        check_files(["a\0b"])


def test_standard_input_can_be_one_of_them():
    check_files(["-"])
    with pytest.raises(UsageError, match="can stand for one file only"):
        check_files(["-", "t.txt", "-"])
