"""Files that list entries one by one: joined by row and label, and refused with a place where they are wrong."""
# ruff: noqa: E501 - a case is one line

import sys
from pathlib import Path

import pytest
import scipy.sparse as sp
from support.files import TRUTH, body, same_numbers, scored, write
from test_formats import SCORED, _in_a_folder, csv, lines, parquet, refused  # noqa: F401

import xmceval

HEAD = "row,label,score\n"


def test_triples_come_in_any_order():
    name = csv(SCORED)
    head, *rest = Path(name).read_text().splitlines()
    same_numbers(scored(preds=write("x", "\n".join([head, *reversed(rest), ""]))))


def test_rows_without_triples_have_no_predictions():
    result = scored(preds=write("x", HEAD + "0,0,0.9\n"))
    assert (result["P@1"], result.counts.n_predictions) == (0.25, 1)


def test_other_columns_comments_and_blank_lines_are_skipped():
    text = "# made by me\ninstance_id;text;prob;label_id\n" + lines(
        f"{i};a {i};{score};{label}" for i, row in enumerate(SCORED) for label, score in row
    )
    with pytest.raises(xmceval.DataError, match=r"^x:3: expected a number"):
        scored(preds=write("x", text.replace("0.9", "x")))
    same_numbers(scored(preds=write("x", text.replace("\n", "\r\n\n"))))


def test_whole_scores_below_a_header_are_scores():
    whole = [[(label, int(10 * score)) for label, score in row] for row in SCORED]
    same_numbers(scored(preds=csv(whole)))


WRONG = {
    "a field missing": (HEAD + "0,0,0.9\n1,1\n", "x:3: expected 3 fields, found 2: '1,1'"),
    "no row": (HEAD + "0,0,0.9\n-1,1,0.5\n", "x:3: expected a 0-based row number, found '-1'"),
    "no label": (HEAD + "0,0,0.9\n1,1.5,0.5\n", "x:3: expected a 0-based label number, found '1.5'"),
    "no number": (HEAD + "0,0,0.9\n1,1,\n", "x:3: expected a number as the score, found ''"),
    "percent": (HEAD + "0,0,0.9\n1,1,50%\n", "x:3: expected a number as the score, found '50%'; percent signs are not read (hint: remove them, for example with sed 's/%//g')"),
    "decimal comma": (HEAD.replace(",", ";") + "0;0;0,9\n", r"x:2: expected a number as the score, found '0,9'; decimal commas are not read (hint: write points, for example with sed -E 's/([0-9]),([0-9])/\1.\2/g')"),
    "row too large": (HEAD + "4,0,0.9\n", "x: has an entry in row 4, but the truth has 4 rows (rows are 0-based)"),
    "label too large": (HEAD + "1,5,0.9\n", "x row 1: label 5 is outside 0..4 (t.txt has 5 labels; labels are 0-based)"),
    "twice": (HEAD + "1,2,0.9\n1,2,0.8\n", "x row 1: label 2 appears twice in this row; a label has one score (hint: pass duplicates='max' to count its largest value)"),
    "nan": (HEAD + "1,2,nan\n", "x row 1: the score value of label 2 is NaN; expected a number"),
    "other names": ("user,movie,stars\n1,2,0.5\n", "x:1: the header is 'user,movie,stars'; expected the columns row or row_id or instance or instance_id; label or label_id or column or col; score or value or probability or prob or grade or relevance"),
    "triples or lists": (lines(f"{i // 2},{i % 5},1" for i in range(8)), "x: may be triples of row, label and score, or lists of three labels (hint: write a first line row,label,score above triples, and blanks between the labels of lists)"),
    "json, several rows": ('[{"row": 0, "label": 1, "score": 1}, {"row": 1, "label": 1, "score": 1}]\n', 'x: its first line has objects of several "row"; expected one row per line'),
    "json, a list differs": ('[{"label": 1, "score": 1}]\n[{"label": 1}]\n', """x:2: expected objects such as {"label": 12, "score": 0.9} in the list, found {'label': 1}"""),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_wrong_entries_are_reported_with_their_place(what):
    content, message = WRONG[what]
    with pytest.raises(xmceval.DataError) as caught:
        scored(preds=write("x", content))
    assert str(caught.value).split("\n")[0] == message


def test_an_unknown_name_in_triples_is_reported():
    message = r"^x:3: 'purple' is not in names\.txt, which has 5 label names$"
    refused(message, preds=write("x", HEAD + "0,tutu,1\n1,purple,2\n"), labels="names.txt")


def test_triples_whose_order_is_that_of_lists_of_labels_are_lists():
    assert scored(write("t", TRUTH), write("x", lines(["0,2,1", "1,2,0", "3,4,0", "4,3,0"])))["P@2"] == 0.625


def test_parquet_is_refused_in_words_without_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    refused(
        r"x: is a Parquet file; .* \(hint: pip install 'xmceval\[parquet\]'\)", preds=write("x", b"PAR1" + bytes(9))
    )


@pytest.mark.parametrize(
    ("message", "columns"),
    [
        ("x: expected the columns row or .* found a, label, score", {"a": [1], "label": [1], "score": [0.5]}),
        ("x: entry 1 has no score", {"row": [1, 2], "label": [1, 2], "score": [0.5, None]}),
        ("x: entry 1 has row -1; expected a 0-based number", {"row": [1, -1], "label": [1, 2], "score": [0.5, 1]}),
        ("x: column 'score' is of type list", {"row": [1], "label": [1], "score": [[0.5]]}),
        ("x: entry 0: 'a' is a name, not a label id", {"row": [1], "label": ["a"], "score": [0.5]}),
    ],
)
def test_parquet_with_other_columns_is_refused(message, columns):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(columns), "x")
    refused(message, preds="x")


def test_a_truncated_parquet_file_is_refused():
    content = Path(parquet(SCORED)).read_bytes()
    refused("x: cannot be read as a Parquet file; is it damaged or truncated", preds=write("x", content[:-9]))


def test_many_entries_are_read_part_by_part(monkeypatch):
    values = sp.random(300, 40, density=0.2, random_state=4, format="csr")
    truth = write("t", f"300 40\n{'3:1 7:1' + chr(10)}" + body(TRUTH).strip("\n")[:0] + "1:1\n" * 299)
    expected = scored(truth, values).estimates
    triples = [list(zip(row.indices.tolist(), row.data.tolist(), strict=True)) for row in values]
    monkeypatch.setattr("xmceval.files.io.chunks.CHUNK_BYTES", 512)
    monkeypatch.setattr("xmceval.files.records.parquet.ROWS_AT_ONCE", 100)
    assert scored(truth, csv(triples)).estimates == expected
    if "pyarrow" in sys.modules:
        assert scored(truth, parquet(triples)).estimates == expected
