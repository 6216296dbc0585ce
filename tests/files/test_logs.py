"""Logs: which line is a header, and which columns are the group, the label and the score."""

import csv
import io
import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, strategies as st

import xmceval
from xmceval.cli import cli
from xmceval.errors import DataError, UsageError
from xmceval.files.io import chunks
from xmceval.files.records.logs import read_log

ROWS = "7,0,0.1\n7,1,0.4\n8,1,0.3\n"


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "log.csv"
        path.write_text(text, newline="")
        return path

    return write


@pytest.mark.parametrize("header", ["group,label,score", "user,clicked,p", "User, Clicked ,Logit", '"a,b",c,d'])
def test_a_line_of_words_is_a_header_which_is_reported(written, header):
    path = written(f"{header}\n{ROWS}")
    result = xmceval.auc(path)
    names = [name.strip() for name in next(csv.reader([header]))]
    assert result.n_rows == 3
    assert result.header == ",".join(names)
    assert f"\nthe first line is the header {result.header}\n" in str(result)
    assert json.loads(result.to_json())["header"] == result.header


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("7,1,", ":1: the score is ''; expected a number"),
        ("7,1,  ", ":1: the score is '  '"),
        ("7,1,n/a", ":1: the score is 'n/a'"),
        ("7,yes,0.5", ":1: the label is 'yes'; expected 0 or 1"),
        ("7,,0.5", ":1: the label is ''"),
        ("7,,", ":1: the label is ''"),
        ("user,clicked,", ":1: the label is 'clicked'"),
        ("user,,score", ":1: the label is ''"),
        ("7,true,missing", ":1: the score is 'missing'"),
        ("7,1,nan", ":1: the score is 'nan'"),
    ],
)
def test_a_first_row_with_a_fault_is_no_header(written, line, message):
    with pytest.raises(DataError) as error:
        read_log(written(f"{line}\n{ROWS}"))
    assert message in str(error.value)


WIDE = 'day,score,user,clicked,"note"\n1,0.1,7,0,"a,b"\n1,0.4,7,1,""\n\n2,0.3,"8,9",1,x"y\r\n'


@pytest.mark.parametrize("columns", ["user,clicked,score", ["user", "clicked", "score"], "3,4,2", (3, 4, 2), "3, 4 ,2"])
def test_columns_are_names_or_numbers(written, columns):
    path = written(WIDE)
    log = read_log(path, columns)
    assert log.header == "user,clicked,score"
    assert log.labels.tolist() == [False, True, True]
    assert log.scores.tolist() == [0.1, 0.4, 0.3]
    assert log.groups[0] == log.groups[1] != log.groups[2]
    assert xmceval.auc(path, columns=columns).columns == tuple(
        str(each).strip() for each in (columns.split(",") if isinstance(columns, str) else columns)
    )


def test_columns_of_a_file_without_a_header_are_numbers(written):
    path = written("0.1,x,7,0\n0.4,x,7,1\n")
    assert read_log(path, "3,4,1").header == ""
    assert xmceval.auc(path, columns=[3, 4, 1]).auc == 1
    with pytest.raises(DataError, match=r"log.csv:1: no column 'user'; the line has 0.1,x,7,0"):
        read_log(path, "user,clicked,score")
    with pytest.raises(DataError, match=r"log.csv:1: the first line is a row, not a header"):
        read_log(written("0.1,x,7,0\n"), "x,7,0")


@pytest.mark.parametrize(
    ("text", "columns", "message"),
    [
        (WIDE, "user,clicked,p", ":1: no column 'p'; the line has day,score,user,clicked,note"),
        ("a,a,b,c\n", "a,b,c", ":1: more than one column 'a'"),
        (WIDE, "1,2,6", ":1: there is no column 6; the line has 5 columns"),
        ("u,l,s,x\n7,1,.5,0\n7,1,.5\n", "u,l,s", ":3: expected 4 fields as in line 1, found 3 fields: '7,1,.5'"),
        ("u,l,s,x\n7,1,.5,0\n7,1,.5,0,0\n", "u,l,s", ":3: expected 4 fields as in line 1, found 5 fields"),
        ("u,l,s,x\n7,1,.5,0\n7,1,,0\n", "u,l,s", ":3: the score is ''"),
        ("7,1,.5,0\n7,2,.5,0\n", "1,2,3", ":2: the label is '2'"),
    ],
)
def test_wrong_columns_have_their_place(written, text, columns, message):
    with pytest.raises(DataError) as error:
        read_log(written(text), columns)
    assert message in str(error.value)


@pytest.mark.parametrize("columns", ["a,b", "a,b,c,d", "a,a,b", "1,0,2", "1,2,02", "a,,b", "", [1, 2]])
def test_other_than_three_columns_are_refused(written, columns):
    with pytest.raises(UsageError, match="columns must be three different names or positions"):
        read_log(written(WIDE), columns)


def test_a_file_with_other_columns_has_a_hint(written):
    with pytest.raises(DataError, match=r"found 5 fields: .* \(hint: pass columns"):
        read_log(written(WIDE))
    with pytest.raises(DataError, match=r"expected group,label,score \(hint: pass columns='group,label,scor"):
        read_log(written("label,group,score\n1,a,0.5\n"))


def test_the_command_takes_columns(written):
    path = written(WIDE)
    ended = CliRunner().invoke(cli, ["auc", str(path), "--columns", "user,clicked,score", "-o", "json", "--quiet"])
    document = json.loads(ended.stdout)
    assert document["n_rows"] == 3
    assert (document["columns"], document["header"]) == (["user", "clicked", "score"], "user,clicked,score")


words = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=5)


@given(
    rows=st.lists(st.tuples(st.integers(0, 99), st.integers(0, 1), st.floats(-9, 9), words, words), min_size=1),
    order=st.permutations(range(5)),
    end=st.sampled_from(["\n", "\r\n"]),
    quoting=st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    chunk=st.sampled_from([64, 1 << 20]),
)
def test_columns_in_any_order_are_those_of_the_plain_file(tmp_path_factory, rows, order, end, quoting, chunk):
    folder = tmp_path_factory.mktemp("logs")
    plain, wide = io.StringIO(), io.StringIO()
    csv.writer(plain, lineterminator=end).writerows([g, y, repr(s)] for g, y, s, *_ in rows)
    writer = csv.writer(wide, lineterminator=end, quoting=quoting)
    writer.writerows([[row[0], row[1], repr(row[2]), *row[3:]][i] for i in order] for row in rows)
    (folder / "plain.csv").write_text(plain.getvalue(), newline="")
    (folder / "wide.csv").write_text(wide.getvalue(), newline="")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "CHUNK_BYTES", chunk)
        expected = read_log(folder / "plain.csv")
        found = read_log(folder / "wide.csv", [order.index(i) + 1 for i in range(3)])
    np.testing.assert_array_equal(found.groups, expected.groups)
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_array_equal(found.scores, expected.scores)


@pytest.mark.parametrize("line", ["a,b\r1,c", '"' + "x" * 200_000 + '",1'])
def test_lines_that_are_no_csv_have_their_place(written, line):
    with pytest.raises(DataError, match=":1: expected group,label,score, found 1 field"):
        read_log(written(line + "\n"))
