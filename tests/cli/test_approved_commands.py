"""Whole outputs of commands that list and explain, as they were approved; see support/approved.py."""

from pathlib import Path

import pytest
from support.approved import check
from support.sample import SAMPLE

BROKEN = "3 6\n0:1 2:x\n1:0.5 1:0.25 7:1\n0:nan\n"
TRUTH, SCORES = "4 6\n0:1 2:1\n\n5:1\n1:1\n", "4 6\n2:0.5 0:0.5 1:0.25\n0:1\n\n3:0.125 1:0.75\n"
SETS = "Eurlex-4K", "MM-AmazonTitles-300K", "wikipedia500k"
METRICS = "PSP", "macroF1", "P", "nDCG", "coverage_error", "microRecallAtPrecision", "ERR", "GAUC", "Abandonment"
MANY = "P,R,F1,AP,RR,Hit,PSP,PSnDCG,LRAP,coverage_error,label_ranking_loss,macroF1,microF1,macroAUC,hamming_loss"
THRESHOLD = ["--threshold", "0.3"]
COMMANDS = {
    "metrics": ["metrics"],
    "metrics-some": ["metrics", *METRICS],
    "metrics-asked": ["metrics", "psp_5", "nDCG(gain=exp)@5"],
    "metrics-json": ["metrics", *METRICS[:2], "-o", "json"],
    "datasets": ["datasets"],
    "datasets-some": ["datasets", *SETS],
    "datasets-json": ["datasets", SETS[0], "-o", "json"],
    "inspect-broken": ["inspect", "broken.txt", "truth.txt"],
    "inspect-two": ["inspect", "truth.txt", "scores.txt"],
    "inspect-sample": ["inspect", str(SAMPLE / "tst_X_Y.txt"), str(SAMPLE / "model_b.txt")],
    "inspect-verbose": ["inspect", str(SAMPLE / "tst_X_Y.txt"), str(SAMPLE / "model_b.txt"), "-v"],
    "inspect-json": ["inspect", "truth.txt", "scores.txt", "-o", "json"],
    "score": ["score", "truth.txt", "scores.txt", "-k", "1,3", "--train", "truth.txt", "--ceiling"],
    "score-many": ["score", "truth.txt", "scores.txt", "-k", "1,2", "--train", "truth.txt", "-m", MANY, *THRESHOLD],
    "compare": ["compare", "truth.txt", "scores.txt", "truth.txt", "-k", "1", "-m", "P,macroF1,LRAP"],
    "unknown-metric": ["score", "truth.txt", "scores.txt", "-m", "nDGC"],
    "broken": ["score", "broken.txt", "scores.txt"],
}
FIRST_LINES = {"datasets-json": 56}  # with the first result that is published


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_prints_is_as_it_was_approved(name, run):
    for file, text in {"broken.txt": BROKEN, "truth.txt": TRUTH, "scores.txt": SCORES}.items():
        Path(file).write_text(text, encoding="utf-8")
    code, out, err = run(*COMMANDS[name])
    out = "".join(out.splitlines(keepends=True)[: FIRST_LINES.get(name)])
    check(__file__, f"{name}.txt", f"{out}{err}exit code {code}\n".replace(f"{SAMPLE}/", ""))
