"""Typos: a message suggests what was probably meant, or lists what there is."""

from importlib.metadata import version

import pytest
from click.testing import CliRunner
from support.files import PREDS, TRUTH, write

from xmceval.cli import cli

QUOTES = tuple(map(int, version("click").split(".")[:2])) >= (8, 4)  # before, click lists options without quotes
SCORE = ["score", "t.txt", "p.txt"]
CASES = {
    "an unknown form": ([*SCORE, "-o", "xml"], "'xml' is not one of 'table', 'md', 'latex', 'csv', 'json'"),
    "a letter": ([*SCORE, "--trian", "t.txt"], "'--train'" if QUOTES else ": --n-train, --train, "),
    "nothing": (["frobnicate"], "No such command 'frobnicate'.\n"),
    "blanks": ([*SCORE, "-m", "P@1 P@5"], "(hint: separate metrics by commas: P@1,P@5)"),
    "blanks between names": ([*SCORE, "-m", "P nDCG"], "(hint: separate metrics by commas: P,nDCG)"),
    "a blank and no metric": ([*SCORE, "-m", "P 5"], "unknown metric 'P 5' (hint: xmceval metrics lists all)"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_message_suggests_what_was_meant(tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    write("t.txt", TRUTH)
    write("p.txt", PREDS)
    arguments, hint = CASES[case]
    ended = CliRunner().invoke(cli, arguments)
    assert ended.exit_code != 0
    assert hint in f"{ended.stderr}{ended.exception}"
