"""Checks: what the parser of text noticed saves a check only where nothing can be wrong."""

import pytest
from numba import config
from support.approved import check_lines
from support.pieces import watch

import xmceval

compiled_only = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="plain Python notices nothing")

TRUTH = b"3 9\n1:1 4:1\n\n0:1 2:1 8:1\n"
SCORES = b"3 9\n1:0.5 3:0.25\n2:0.5\n0:0.5 2:0.75 4:0.1 8:0.2\n"


@pytest.fixture
def checked(monkeypatch):
    """Return a list of the kernels that were called to check rows."""
    return watch(monkeypatch, "check of scores", "check of truth")


def score(folder, truth, scores, **options):
    (folder / "truth.txt").write_bytes(truth)
    (folder / "scores.txt").write_bytes(scores)
    options = {"k": (1, 2), "metrics": ["P", "nDCG"], "threads": 1} | options
    return xmceval.score(folder / "truth.txt", folder / "scores.txt", **options)


@compiled_only
@pytest.mark.parametrize("values", [b":1", b":1.0", b":1.00000", b":1e0"])
def test_rows_in_order_are_not_checked_again(tmp_path, checked, values):
    result = score(tmp_path, TRUTH.replace(b":1", values), SCORES)
    assert checked == []
    assert result.counts.n_true == 5
    assert result["P@1"] == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("old", "new", "is_checked"),
    [
        (b"0:1 2:1 8:1", b"8:1 0:1 2:1", True),
        (b"0:1 2:1 8:1", b"0:1 2:1 5:0 8:1", True),
        (b"0:1 2:1 8:1", b"0:1 2:1 8:1 # comment", False),
        (b"0:1 2:1 8:1", b"0:+1 2:01 8:1", False),
    ],
)
def test_truth_that_is_written_otherwise_gives_the_same(tmp_path, checked, old, new, is_checked):
    expected = score(tmp_path, TRUTH, SCORES)
    checked.clear()
    result = score(tmp_path, TRUTH.replace(old, new), SCORES)
    assert ("check of truth" in dict(checked)) == is_checked
    assert dict(result) == dict(expected)


def test_duplicates_are_merged_though_other_rows_have_none(tmp_path):
    expected = dict(score(tmp_path, TRUTH, SCORES))
    truth, scores = TRUTH.replace(b"8:1", b"8:1 8:1"), SCORES.replace(b"8:0.2", b"8:0.2 0:0.1")
    assert dict(score(tmp_path, TRUTH, SCORES, duplicates="max")) == expected
    assert dict(score(tmp_path, truth, scores, duplicates="max")) == expected


@pytest.mark.parametrize("value", [b":1", b":2"])
def test_labels_and_grades_are_the_same_noticed_or_looked_for(tmp_path, value):
    """Without a header the number of labels comes from the largest one."""
    truth, scores = (text.partition(b"\n")[2] for text in (TRUTH.replace(b":1", value), SCORES))
    noticed, looked_for = (
        score(tmp_path, truth + end, scores + end, metrics=["P", "nDCG", "macroP(over=seen)"], grades=True)
        for end in (b"", b"# end\n")
    )
    assert noticed == looked_for
    assert noticed.notes == looked_for.notes
    assert any(note.endswith("the largest label in any file + 1 is 9") for note in noticed.notes)


def test_files_without_labels_have_no_largest_one(tmp_path):
    none, some = b'{"target_ind": []}\n', b'{"data": [[3, 0.5], [2, 0.75]]}\n'
    assert score(tmp_path, none, some, metrics="P").counts.n_labels == 4
    assert score(tmp_path, none + b'{"target_ind": [6]}\n', some * 2, metrics="P").counts.n_labels == 7


def test_what_is_wrong_is_refused_in_these_words(tmp_path):
    def changed(old, new):
        return score(tmp_path, TRUTH.replace(old, new), SCORES.replace(old, new))

    check_lines(__file__, "checks.txt", globals() | locals())
