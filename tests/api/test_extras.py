"""Extras: arguments choose what scoring does besides; it counts beside the program, and leaves whole files or none."""

from pathlib import Path

import numpy as np
import pytest

from xmceval.api.extras.choose import choose_extras
from xmceval.api.extras.extra import Extra
from xmceval.api.extras.holdrows import HoldRows
from xmceval.api.scoring.score import score_systems
from xmceval.api.scoring.setup import Named, Setup
from xmceval.errors import UsageError
from xmceval.scoring.options import Options

OPTIONS = Options(metrics="P,macroF1", k=2)


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(name="setup")
def make_setup():
    rng = np.random.default_rng(5)
    truth = (rng.random((30, 8)) < 0.3).astype(float)
    return Setup.of(truth, OPTIONS), [Named(rng.random(truth.shape))]


def test_a_plain_score_has_no_extras():
    assert choose_extras(OPTIONS, []) == []


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"rows": True}, "HoldRows"),
        ({"save_rows": "x.csv"}, "HoldRows"),
        ({"save_state": "x.state", "shard": "2/3"}, "SaveState"),
    ],
)
def test_each_argument_makes_one_extra(arguments, name):
    extras = choose_extras(OPTIONS, [Named("p.txt")], **arguments)
    assert [type(each).__name__ for each in extras] == [name]


def test_a_shard_needs_a_state():
    with pytest.raises(UsageError, match="shard has no effect without save_state"):
        choose_extras(OPTIONS, [], shard="1/2")


def test_files_of_extras_are_whole_or_not_there(setup):
    class Failing(Extra):
        def finish(self, outcome):
            raise UsageError("something went wrong")

    with pytest.raises(UsageError, match="something went wrong"):
        score_systems(*setup, [Failing(), HoldRows(in_results=False, path="x.rows.csv", force=False)])
    assert list(Path().iterdir()) == []
    score_systems(*setup, [HoldRows(in_results=False, path="x.rows.csv", force=False)])
    assert len(Path("x.rows.csv").read_text().splitlines()) == 31
