"""Inspect: what a file is, whether score takes it, and the classic mistakes with two of them."""

import json

import numpy as np
import pytest
from scipy.sparse import csr_matrix, save_npz

import xmceval
from xmceval.cli import main
from xmceval.files.writing.convert import convert
from xmceval.inspection.file import inspect
from xmceval.rows.matrices import as_scores, as_truth

TRUTH = "4 6\n0:1 2:1\n\n1:1\n2:1 5:1\n"
SCORES = "4 6\n0:0.9 1:-0.5 2:0\n1:0.3 3:0.3\n4:0.1\n\n"

TRUTH_REPORT = """\
t.txt
  text, rows of idx:value, header '4 6'; taken as truth: every value is 1
  4 rows · 6 labels, announced · 5 entries
  4 labels have an entry, the largest is 5 · 1 row has none
  values from 1 to 1
  order: all rows by label
  entries of a row: 0 to 2, median 1, mean 1.25
      0  ############              1 row, 0.0% of the entries
      1  ############              1 row, 20.0% of the entries
    2-3  ########################  2 rows, 80.0% of the entries
  entries of a label: 1 to 2, median 1, mean 1.25
      1  ########################  3 labels, 60.0% of the entries
    2-3  ########                  1 label, 40.0% of the entries
  head: 1% of these labels have 40.0% of the entries; tail: the rarer half 40.0%
  sound: score takes it
"""


def run(*words):
    with pytest.raises(SystemExit) as leave:
        main(["inspect", *map(str, words)])
    return leave.value.code


@pytest.fixture
def made(tmp_path, rng, monkeypatch):
    """A truth and predictions of a good model, 400 rows of 60 labels, and their matrices."""
    monkeypatch.chdir(tmp_path)
    truth = (rng.random((400, 60)) < 0.05).astype(float)
    scores = np.where(truth + (rng.random((400, 60)) < 0.1) > 0, rng.random((400, 60)) + 0.5 * truth, -np.inf)
    convert(as_truth(truth), "t.txt", are_scores=False)
    convert(as_scores(scores), "p.txt")
    return truth, scores


def warnings_of(capsys, *words):
    code = run(*words, "-o", "json")
    document = json.loads(capsys.readouterr().out)
    pair = document["together"][0]
    return code, pair["faults"], pair["warnings"]


def test_the_report_of_a_file_says_what_it_is(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.txt").write_text(TRUTH)
    assert run("t.txt") == 0
    assert capsys.readouterr().out == TRUTH_REPORT


def test_scores_are_counted(tmp_path):
    (tmp_path / "p.txt").write_text(SCORES)
    found = inspect(tmp_path / "p.txt")
    assert (found.kind, found.n_rows, found.n_labels, found.n_entries) == ("scores", 4, 6, 6)
    assert (found.empty_rows, found.tied_rows, found.zeros, found.negative) == (1, 1, 1, 1)
    assert (found.rows_by_label, found.rows_by_score) == (4, 3)
    assert (found.least, found.greatest, found.is_sound) == (-0.5, 0.9, True)


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("nan", "2 6\n0:0.5\n1:nan\n", "p.txt:3: the score value of label 1 is NaN; expected a number"),
        ("duplicate", "2 6\n0:0.5\n1:1 1:2\n", "p.txt:3: label 1 appears twice in this row; a label has one score"),
        ("number", "2 6\n0:0.5\n1:x\n", "p.txt:3: expected a number after the colon, found '1:x'"),
        ("cut", "3 6\n0:0.5\n1:1\n", "p.txt: the header '3 6' declares 3 rows"),
    ],
)
def test_what_score_refuses_is_told_and_exits_1(tmp_path, monkeypatch, capsys, name, text, fault):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "p.txt").write_text(text)
    (tmp_path / "t.txt").write_text(f"{text[0]} 6\n" + "0:1\n" * int(text[0]))
    with pytest.raises(xmceval.DataError):
        xmceval.score("t.txt", "p.txt", k=1, metrics="P")
    assert run("p.txt") == 1
    out = capsys.readouterr().out
    assert f"  error: {fault}" in out
    assert out.endswith("  not sound: score refuses it\n")


def test_a_missing_file_is_an_error(tmp_path, capsys):
    assert run(tmp_path / "none") == 1
    assert "no such file" in capsys.readouterr().err


def test_nothing_speaks_against_what_belongs_together(made, capsys):
    assert warnings_of(capsys, "t.txt", "p.txt", "--train", "t.txt")[1] == []
    assert warnings_of(capsys, "t.txt", "p.txt") == (0, [], [])


@pytest.mark.parametrize("shift", [-1, 1])
def test_labels_counted_from_1_are_told(made, capsys, shift):
    moved = np.roll(made[1], shift, axis=1)
    moved[:, 0 if shift > 0 else -1] = -np.inf
    convert(as_scores(moved), "q.txt")
    code, faults, warnings = warnings_of(capsys, "t.txt", "q.txt")
    assert (code, faults, len(warnings)) == (0, [], 1)
    assert warnings[0].endswith(
        "the labels of q.txt are "
        + ("1-based where the truth is 0-based" if shift > 0 else "0-based where the truth is 1-based")
    )


def test_shuffled_rows_are_told(made, rng, capsys):
    convert(as_scores(made[1][rng.permutation(400)]), "q.txt")
    code, faults, warnings = warnings_of(capsys, "t.txt", "q.txt")
    assert (code, faults, len(warnings)) == (0, [], 1)
    assert "are the rows shuffled, or the labels numbered in another way?" in warnings[0]


def test_a_transposed_matrix_is_told(made, capsys):
    convert(as_scores(made[1].T.copy()), "q.txt")
    code, faults, _ = warnings_of(capsys, "t.txt", "q.txt")
    told = "t.txt has 400 rows, q.txt has 60 rows; one of them is transposed: rows are instances, columns are labels"
    assert (code, faults) == (1, [told])


def test_labels_of_the_training_set_are_told(made, capsys):
    convert(as_truth(made[0][:300]), "small.txt", are_scores=False)
    code, faults, _ = warnings_of(capsys, "small.txt", "p.txt", "--train", "t.txt")
    assert (code, faults) == (
        1,
        ["small.txt has 300 rows, p.txt has 400 rows; these predictions are for the training instances"],
    )
    code, _, warnings = warnings_of(capsys, "t.txt", "p.txt", "--train", "t.txt")
    assert warnings == ["t.txt is as large as the training labels to the last entry: is it the training set?"]


def test_training_labels_of_another_set_are_told(made, capsys):
    convert(as_truth(made[0][:300, :50]), "other.txt", are_scores=False)
    _, _, warnings = warnings_of(capsys, "t.txt", "p.txt", "--train", "other.txt")
    assert warnings == [
        "the training labels are of 50 labels, t.txt of 60 labels: propensities from another set's file?"
    ]


def test_a_filter_that_was_not_applied_is_told(made, tmp_path, capsys):
    rows, labels = np.nonzero(made[1] > -np.inf)
    (tmp_path / "f.txt").write_text(f"{rows[0]} {labels[0]}\n{rows[9]} {labels[9]}\n")
    _, _, warnings = warnings_of(capsys, "t.txt", "p.txt", "--filter", "f.txt")
    told = "the filter is not applied: 2 predictions of p.txt are pairs of it (hint: score with --filter)"
    assert warnings == [told]


def test_a_label_beyond_the_truth_is_told(made, capsys):
    wide = np.hstack([np.full((400, 1), -np.inf), made[1]])
    save_npz("q.npz", csr_matrix(np.where(wide > -np.inf, wide, 0)))
    code, faults, _ = warnings_of(capsys, "t.txt", "q.npz")
    assert (code, len(faults)) == (1, 1)
    assert "one column more than t.txt" in faults[0]


def test_real_files_are_sound_and_belong_together(realdata, capsys):
    folder = realdata / "cs771_bonsai"
    files = folder / "tst_X_Y.txt.gz", folder / "score_mat.txt.gz", "--train", folder / "trn_X_Y.txt.gz"
    assert run(*files, "-o", "json") == 0
    document = json.loads(capsys.readouterr().out)
    assert [each["kind"] for each in document["files"]] == ["truth", "scores"]
    assert document["together"][0]["precision_at_1"] == pytest.approx(0.814)
    assert document["together"][0]["warnings"] == []


def test_json_truth_with_a_bad_line_is_told_as_score_tells_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "js").write_text('{"target_ind":[0,2]}\n{"target_ind":[]}\n{"target_ind":["x"]}\n')
    assert run("js") == 1
    told = capsys.readouterr().out.splitlines()
    assert told[1] == "  text, JSON lines, no header; nothing was read"
    assert told[2].startswith("  error: js:3: 'x' is a name, not a label id")
    assert len(told) == 4


def test_what_cannot_be_parsed_has_no_statistics(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad").write_text("0:1 x\n")
    assert run("bad") == 1
    told = capsys.readouterr().out
    assert "nothing was read" in told
    assert "empty" not in told
    assert "rows ·" not in told


def test_the_same_file_twice_is_told(made, capsys):
    code, faults, warnings = warnings_of(capsys, "t.txt", "./t.txt")
    assert (code, faults) == (0, [])
    assert warnings == ["t.txt and ./t.txt are the same file"]


def test_ranks_are_not_called_values(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "l").write_text("0,1,2\n1,2\n3\n")
    assert run("l", "--as", "scores") == 0
    assert "no values but ranks from 1 to 3, the first label of a row has the most" in capsys.readouterr().out
    assert run("l") == 0
    told = capsys.readouterr().out
    assert "taken as truth: lists may be either" in told
    assert "no values: each label of a list counts 1" in told
    assert "best first" not in told
