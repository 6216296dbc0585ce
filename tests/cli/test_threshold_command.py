"""``xmceval threshold`` writes thresholds that ``score --thresholds`` takes."""

import json
from pathlib import Path

import pytest
from support.files import write


def test_the_command_writes_what_score_takes(run, tmp_path):
    truth, scores, written = (str(tmp_path / name) for name in ("t.txt", "p.txt", "thresholds.txt"))
    write(truth, "3 3\n0:1\n1:1\n0:1 1:1\n")
    write(scores, "3 3\n0:0.9 1:0.2\n0:0.4 1:0.3\n0:0.8 1:0.1\n")
    code, out, err = run("threshold", truth, scores, written, "--for", "macroF1", "--per-label")
    assert (code, out) == (0, "")
    assert "3 thresholds, one per label, for macroF1" in err
    assert Path(written).read_text() == "0.8\n0.1\ninf\n"
    _, out, _ = run("score", truth, scores, "--thresholds", written, "-m", "f1_score(average=macro)", "-o", "json")
    document = json.loads(out)
    assert document["systems"][0]["metrics"]["f1_score(average=macro)"]["value"] == pytest.approx(0.6)
    assert document["options"]["thresholds"] == "thresholds.txt"
    assert run("threshold", truth, scores, "-")[1] == "0.1\n"


def test_what_cannot_be_written_is_refused_before_the_work(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("old.txt").write_text("1\n")
    for dst, message in (
        ("old.txt", "old.txt: already exists (hint: pass --force to overwrite)"),
        ("a.npz", "a.npz: cannot write numbers as .npz (hint: use a name ending in .txt or .npy)"),
    ):
        assert run("threshold", "no.txt", "no.txt", dst) == (2, "", f"Error: {message}\n")
        assert run("propensity", "no.txt", dst) == (2, "", f"Error: {message}\n")
