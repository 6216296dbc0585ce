"""What inspect says of unusual files: a run by itself, an archive, a web page, JSON lines of another shape."""

import json

import numpy as np
import pytest
from support.files import write

import xmceval
from xmceval import DataError

RUN = "q1 Q0 d7 1 2 tag\nq1 Q0 d9 2 2 tag\nq2 Q0 d7 1 5 tag\n"
QRELS = "q1 0 d9 1\nq3 0 d1 2\n"


def test_a_run_is_described_by_its_own_queries():
    report = xmceval.inspect(write("run", RUN))
    [file] = report.files
    assert (file.kind, file.n_rows, file.n_labels, file.n_entries, file.tied_rows) == ("scores", 2, 2, 3, 1)
    assert (file.per_row.least, file.per_row.most) == (1, 2)
    assert str(report) == (
        "run: valid: 2 queries, 2 documents, 3 retrieved documents; TREC run, scores from 2 to 5\n"
        "1 query with equal scores\n"
    )
    assert "TREC run, rows are queries" in report.to_text(verbose=True)


def test_a_run_is_joined_to_its_qrels_by_query():
    report = xmceval.inspect([write("qrels", QRELS), write("run", RUN)])
    assert report.is_sound
    assert report.pairs[0].precision_at_1 == 0.5
    assert "qrels and run: some problems found: P@1 50.00% (queries in random order 25.00%)\n" in str(report)
    assert any("ignored 1 query not in qrels" in line for line in report.pairs[0].warnings)


@pytest.mark.parametrize("form", ["run", "json", "csv"])
def test_queries_that_only_one_of_two_files_has_are_no_reason_against_them_in_any_form(form):
    text = RUN.replace("2 tag", "2.5 tag")  # whole numbers may be grades
    cells = [line.split() for line in text.splitlines()]
    if form == "csv":
        pytest.importorskip("pyarrow")
    content = {
        "run": text,
        "json": json.dumps({q: {c[2]: float(c[4]) for c in cells if c[0] == q} for q in ("q1", "q2")}),
        "csv": "query_id,doc_id,score\n" + "".join(f"{c[0]},{c[2]},{c[4]}\n" for c in cells),
    }[form]
    report = xmceval.inspect([write("qrels", "q1 0 d9 1\nq3 0 d1 2\nq4 0 d1 0\n"), write("run", content)])
    assert report.is_sound
    shown = report.to_text(verbose=True)
    assert shown.startswith("qrels: valid: 3 queries, 2 documents, 3 judgments; TREC qrels\n")
    assert "\nrun: valid: 2 queries, 2 documents, 3 retrieved documents; " in shown
    assert "1 judged 0 · " in shown
    for words in ("entries per query", "entries per document", "all queries by score", "queries in random order"):
        assert words in shown
    assert not any(word in shown.replace("rows are queries", "") for word in (" row", "label"))
    assert "has_queries" not in report.to_json()


REFUSED = {
    "a page": ("\n<!doctype HTML>\n<title> 404\n Not Found</title>", "is a web page, titled '404 Not Found'; expected"),
    "a page without a title": ("<html><body>x</body></html>", "is a web page; expected data"),
    "a pointer": ("version https://git-lfs.github.com/spec/v1\nsize 9\n", "is a pointer of Git LFS, not the data"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_was_downloaded_instead_of_data_is_named(case):
    content, message = REFUSED[case]
    with pytest.raises(DataError, match=f"^f: {message}"):
        xmceval.inspect(write("f", content))


def test_an_archive_of_several_arrays_lists_them():
    np.savez("both.npz", y_true=np.eye(2, 3), y_score=np.eye(2, 3, dtype=np.float32))
    with pytest.raises(DataError) as error:
        xmceval.inspect("both.npz")
    assert "arrays y_true (2 x 3, float64), y_score (2 x 3, float32); expected" in str(error.value)
    assert str(error.value).endswith("(hint: save each matrix in a file of its own)")


def test_an_archive_of_other_files_is_to_be_unzipped():
    import zipfile

    with zipfile.ZipFile("data.zip", "w") as archive:
        archive.writestr("tst_X_Y.txt", "1 1\n0:1\n")
    with pytest.raises(DataError, match=r"is a zip archive of tst_X_Y.txt; .*unzip it"):
        xmceval.inspect("data.zip")


def test_json_lines_of_another_shape_are_named_by_their_keys():
    report = xmceval.inspect(write("j", '{"uid": 1, "labels": [3]}\n{"uid": 2, "labels": [4]}\n'))
    assert not report.is_sound
    assert "found the keys 'uid', 'labels'" in report.files[0].faults[0]
    report = xmceval.inspect(write("j", json.dumps(dict.fromkeys(["x" * 30, *"abcdef"], 1)) + "\n"))
    assert f"found the keys '{'x' * 19}, 'a', 'b', 'c', 'd' ..." in report.files[0].faults[0]
