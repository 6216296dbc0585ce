"""Typos: a message suggests what was probably meant."""

from importlib.metadata import version

import pytest
from click.testing import CliRunner
from support.files import PREDS, TRUTH, write

from xmceval.cli import cli

QUOTES = tuple(map(int, version("click").split(".")[:2])) >= (8, 4)  # before, click lists options without quotes
SCORE = ["score", "t.txt", "p.txt"]
CASES = {
    "a file as form": ([*SCORE, "-o", "out.csv"], "(hint: -o csv > out.csv)"),
    "a file of unknown ending": ([*SCORE, "-o", "./out"], "(hint: -o table > ./out)"),
    "a LaTeX file": ([*SCORE, "-o", "t.tex"], "(hint: -o latex > t.tex)"),
    "an unknown form": ([*SCORE, "-o", "xml"], "'xml' is not one of 'table', 'md', 'latex', 'csv', 'json'"),
    "a name of Python": ([*SCORE, "--metrics", "P"], "Did you mean '-m'?"),
    "weights of instances": ([*SCORE, "--weights", "w.txt"], "Did you mean '--sample-weight'?"),
    "a label of LaTeX": ([*SCORE, "--label", "tab:x"], "Did you mean '--latex-label'?"),
    "shards in folders": ([*SCORE, "--shards"], "Did you mean '--shard-dirs'?"),
    "counts to write": (["propensity", "t.txt", "c.txt", "--counts"], "Did you mean '--write-counts'?"),
    "truth to convert": (["convert", "t.txt", "c.txt", "--truth"], "Did you mean '--as'?"),
    "a word of others": (["convert", "p.txt", "q.npz", "--format", "npz"], "Did you mean '--to'?"),
    "a page to write": (["report", "t.txt", "p.txt", "-o", "page.html"], "Did you mean '--html'?"),
    "a page as form": ([*SCORE, "-o", "html"], "(hint: xmceval report writes a page)"),
    "a form as option": ([*SCORE, "--latex"], "Did you mean '--output-format'?"),
    "cutoffs": ([*SCORE, "--topk", "5"], "Did you mean '-k'?"),
    "a baseline": (["compare", "t.txt", "p.txt", "q.txt", "--baseline", "p"], "Did you mean '--against'?"),
    "a command of others": (["evaluate", "t.txt", "p.txt"], "No such command 'evaluate'. Did you mean score?"),
    "a letter": ([*SCORE, "--trian", "t.txt"], "'--train'" if QUOTES else ": --n-train, --train, "),
    "a command": (["scor", "t.txt", "p.txt"], "No such command 'scor'. Did you mean score?"),
    "no command": (["t.txt", "p.txt"], "It is a file (hint: xmceval score TRUTH PREDS"),
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
