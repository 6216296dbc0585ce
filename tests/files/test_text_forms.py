"""Text that could be read in two ways, or is written as elsewhere, is never read wrongly in silence."""

import re
import shlex
import subprocess
import time
import warnings
from contextlib import suppress
from pathlib import Path

import pytest
from support.files import LEGACY, PREDS, TRUTH, body, rows_in, same_numbers, scored, write
from test_formats import ROWS, _in_a_folder, lines, named, refused  # noqa: F401 - a fixture for all tests

import xmceval

NUMBERS = "4\n3\n2\n1\n0\n"


@pytest.mark.parametrize("join", [" ", ",", "\t"])
def test_names_that_are_numbers_are_never_read_as_ids(join):
    truth = lines(join.join(str(4 - i) for i in row) for row in ROWS)
    refused(
        "^p.txt: has numbers, and the names in n are numbers in another order",
        truth=write("x", truth),
        labels=write("n", NUMBERS),
    )
    Path("named").write_text(
        re.sub(r"([0-9]):", lambda each: f"__label__{4 - int(each[1])} ", Path("p.txt").read_text().partition("\n")[2])
    )
    same_numbers(scored("x", "named", labels="n"))
    message = r"^x:4: '7' is not in n, which has 5 label names \(hint: leave labels out if these are label ids\)$"
    refused(message, truth=write("x", truth.replace(f"1{join}0", f"1{join}7")), labels="n")
    refused(
        message,
        truth="named",
        preds=write("x", lines([join.join("43"), join.join("32"), "1", join.join("07")])),
        labels="n",
    )


def test_numbers_beside_other_names_are_names():
    write("n", b"0\nfoo\nb\xffr\n3\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = xmceval.read(write("x", b"0 3\nfoo b\xffr\n"), labels="n", kind="truth")
    assert found.toarray().tolist() == [[1, 0, 0, 1], [0, 1, 1, 0]]
    write("x", b"0 3\n\xfe\n")
    refused(r"^x:2: .*xfe' is not in n", truth="x", labels="n")


def test_lists_of_ids_beside_other_names_are_read_as_ids():
    same_numbers(scored(write("x", named("01234", ROWS, ",")), labels="words.txt"))


def test_fasttext_ranks_are_labels_only():
    truth, preds = write("y", "1002 5\n" + "0:1\n" * 1002), write("x", "__label__0\n" * 1001 + "__label__1 0.5\n")
    refused("x:1002: expected only __label__name.* found '0.5'", truth, preds)


ODD_SCORES = {
    "percent signs": (PREDS.replace("0.9", "90%"), "p.txt:2", "90%", "s/%//g"),
    "decimal commas": (PREDS.replace(".5", "0,5"), "p.txt:3", "0,5", "sed -E 's/"),
    "omikuji, percent signs": ("0 90%\t1 80%\n1 5%\n3 1%\n4 5%\n", "p.txt:1", "90%", "s/%//g"),
    "omikuji, decimal commas": ("0 1\t1 0,8\n1 0,5\n3 1\n4 0,5\n", "p.txt:1", "0,8", "sed -E 's/"),
    "fastText": ("__label__0 90%\n__label__1 5%\n\n__label__4 5%\n", "p.txt:1", "90%", "s/%//g"),
    "JSON lines": ('{"data": []}\n{"data": [[0, "90%"]]}\n', "p.txt:2", "90%", "s/%//g"),
}


@pytest.mark.parametrize("form", ODD_SCORES)
def test_percent_signs_and_decimal_commas_are_refused_once(form):
    content, place, found, hint = ODD_SCORES[form]
    with pytest.raises(xmceval.DataError) as caught:
        scored(preds=write("p.txt", content))
    [message] = str(caught.value).split("\n")
    assert message.startswith(f"{place}: expected a number as the score, found '{found}'; ")
    assert hint in message


COMMAS = {  # predictions with decimal commas, whose best label is true in each row, beside commas that are none
    "pairs": "2 9\n5:0,44 7:0,31\n7:0,9\n",
    "omikuji": "5 0,44\t7 0,31\n7 0,9\n",
    "JSON lines": '{"data": [[5, "0,44"], [7, "0,31"]]}\n{"data": [[7, "0,9"]]}\n',
    "CSV": 'query_id,doc_id,score\n0,5,"0,44"\n0,7,"0,31"\n1,7,"0,9"\n',
    "CSV with semicolons": "query_id;doc_id;score\n0;5;0,44\n0;7;0,31\n1;7;9,1e-1\n",
    "TSV": "query_id\tdoc_id\tscore\r\n0\t5\t0,44\r\n0\t7\t0,31\r\n1\t7\t0,9\r\n",
    "a run": "0 Q0 5 1 0,44 x\n0 Q0 7 2 0,31 x\n1 Q0 7 1 0,9 x\n",
}


@pytest.mark.parametrize("form", COMMAS)
def test_the_command_for_decimal_commas_leaves_other_commas(form):
    if form.startswith(("CSV", "TSV")):
        pytest.importorskip("pyarrow")
    truth, preds = {"0": {"5": 1}, "1": {"7": 1}}, write("p", COMMAS[form])
    if form in {"pairs", "omikuji", "JSON lines"}:
        truth = write("t", "2 9\n5:1\n7:1\n")
    with pytest.raises(xmceval.DataError, match="decimal commas are not read") as caught:
        xmceval.score(truth, preds, metrics="P", k=1)
    command = re.search("sed -E '[^']+'", str(caught.value))[0]
    written = subprocess.run([*shlex.split(command), preds], check=True, capture_output=True, text=True).stdout
    if form == "CSV":
        assert written == COMMAS[form].replace("0,44", "0.44").replace("0,31", "0.31").replace("0,9", "0.9")
    assert xmceval.score(truth, write("q", written), metrics="P", k=1)["P@1"] == 1


GLUED = {  # a hash within a word: which file has it, where, and what is expected there
    "a score": ("p", PREDS.replace("0:0.9", "0:0.463#8"), "x:2: expected a number after the colon, found '0:0.463#8'"),
    "a value of truth": ("t", TRUTH.replace("1:1", "1:1#"), "x:3: expected a number after the colon, found '1:1#'"),
    "a label": ("p", PREDS.replace("3:1", "3#:1"), "x:4: expected a label id before the colon, found '3#:1'"),
    "a header": ("p", PREDS.replace("4 5", "4 5#"), "x:1: expected idx:value, found '4'"),
    "an id": ("p", "0 1\n1 2\n3#4\n4 3\n", "x:3: expected label ids separated by single commas, found '3#4'"),
    "the first id": ("t", "0#2\n1\n\n3 4\n", "x:1: expected rows of idx:value such as .* found '0#2'"),
    "omikuji": (
        "p",
        "0 0.9\t1 0.8\n1 0.5\t2 0.1\n3 1#\n4 0.5\n",
        "x:3: expected tab-separated 'label score', with a number as score, found '3 1#'",
    ),
    "labels": ("t", "0,2#1 3:1\n1 1:1\n 2:1\n3,4 1:1\n", "x:1: expected label ids separated by.* found '0,2#1'"),
}


@pytest.mark.parametrize("form", GLUED)
def test_a_hash_within_a_word_is_an_error_and_no_comment(form):
    role, content, message = GLUED[form]
    files = {"truth": write("t.txt", TRUTH), "preds": write("p.txt", PREDS)}
    refused(f"^{message}", **files | {"truth" if role == "t" else "preds": write("x", content)})


def test_a_hash_within_a_number_of_a_filter_is_an_error():
    for line in ("0 1#2", "0#1 2", "0 #1", "0 1 2"):
        filtered = write("f", f"# row label\n0 1\n{line}\n0 2 # a comment\n")
        found = line.partition(" #")[0]
        refused(f"^f:3: expected 'row label', two whole numbers of at least 0, found '{found}'", filter=filtered)
    assert scored(filter=write("f", "# row label\n0 1\n\n  # two\n0 2 # a comment\n")).filtered.removed == 1


@pytest.mark.parametrize("size", [1, 40])
def test_a_comment_may_follow_a_blank_wherever_a_word_may(size):
    lines = PREDS.splitlines()
    body = [f"{line} # {'x' * size} 9:9#9" if i % 2 else f"{line}\t#{i}" for i, line in enumerate(lines)]
    same_numbers(scored(preds=write("x", "\n".join(["# one", *body, "#"]) + "\n")))


LOST = "is the newline after the header missing?"


def test_a_header_whose_newline_is_lost_is_doubted():
    lost = TRUTH.replace("4 5\n", "4 5", 1)
    assert lost.startswith("4 50:1 2:1\n1:1\n")
    with pytest.warns(xmceval.XmcevalWarning) as caught:
        scored(write("x", lost), labels=None, n_labels=None)
    assert [str(each.message) for each in caught if LOST in str(each.message)] == [
        f"x:1: only this one of the first 3 rows begins with a label, '4 50:1 2:1'; {LOST}"
    ]


@pytest.mark.parametrize(
    "truth", [LEGACY, "0,2 0:0.5 2:1\n 0:1\n 1:2\n 3:4\n", "3 0:0.5 2:1\n 0:1\n\n1 2:3\n", "4 0:1\n"]
)
def test_rows_of_labels_and_features_are_not_doubted(truth):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert xmceval.read(write("x", truth), kind="truth").nnz


def test_fasttext_scores_are_told_of_a_last_label_without_one():
    refused("p.txt:1: .*; the last label has no score", preds=write("p.txt", "__label__0 0.9 __label__1\n\n\n\n"))


def test_a_header_with_an_empty_name_is_no_header_of_other_columns():
    content = "query,,score\n0,1,0.5\n1,2,0.5\n"
    with pytest.raises(xmceval.DataError) as caught:
        scored(preds=write("x", content))
    assert "the header is" not in str(caught.value)


@pytest.mark.parametrize("first", ["#new red", "# made by me", "#"])
@pytest.mark.parametrize("is_truth", [True, False])
def test_a_first_row_that_begins_with_a_hash_is_a_row_of_names(first, is_truth):
    write("n", "#green\nred\n#blue\n")
    rows, wrong = write("t", "#green red\nred\n#blue\n"), write("x", f"{first}\nred\n#blue\n")
    refused(rf"^x:1: '{first.split()[0]}' is not in n", *((wrong, rows) if is_truth else (rows, wrong)), labels="n")
    for text in ("#green red\nred\n#blue\n", "# 3, 3\n#green red\nred\n#blue\n"):
        assert scored(rows, write("x", text), labels="n")["P@1"] == 1


@pytest.mark.parametrize(
    ("truth", "preds"),
    [
        (LEGACY.replace("0,2", "0, 2").replace("3,4", "3 ,\t4"), PREDS),
        ("0, 2 0:1 2:1\n1 1:3\n 0:1\n3 , 4 2:2\n", body(PREDS)),
        ("0, 2\n1\n\n3, 4\n", body(PREDS)),
    ],
)
def test_labels_may_have_blanks_beside_their_commas(truth, preds):
    same_numbers(scored(write("x", truth), write("y", preds), n_labels=5))


def test_a_comma_before_features_is_an_error():
    refused("^x:2: expected label ids separated by single commas", write("x", LEGACY.replace("0,2 ", "0,2, ")))


@pytest.mark.parametrize(
    "preds", ["__label__1 0.9\nn/a\n", "__label__1\nn/a\n", "n/a\n__label__2 0.9 __label__1 0.1\n"]
)
def test_rows_for_which_fasttext_predicts_nothing_are_empty(preds):
    result = scored(write("t", "__label__1 some words\n__label__2 n/a\n"), write("x", preds), n_labels=3)
    assert (result["P@1"], result.counts.n_predictions) == (0.5, preds.count("__label"))


def test_ids_and_labels_of_kaggle_are_refused_with_what_to_do():
    kaggle = write("x", "Id,Predicted\n1,2 0\n2,0 1\n3,\n")
    refused(r"^x:1: 'Id,Predicted' is above lines of an id and labels; .*hint: sort the lines of both files", kaggle)


@pytest.mark.parametrize("lines", ["3,3\n4,4\n3,5\n3,3\n", "3,3\n4,4\n5,2\n2,2\n"], ids=["repeated", "named"])
def test_true_and_predicted_labels_in_one_file_are_split(lines):
    path = write("both labels.csv", f"y_true,y_pred\n{lines}")
    with pytest.raises(xmceval.DataError, match="'y_true' is no id of rows: are they the true and the pred") as caught:
        xmceval.score(path, path, metrics="P", k=1)
    for line in re.findall(r"tail .*? > \w+\.txt", str(caught.value)):
        subprocess.run(line, shell=True, check=True)
    assert xmceval.score("truth.txt", "preds.txt", metrics="P", k=1)["P@1"] == 0.75


AS_TEXT = {  # a matrix as text, or lists behind numbers, and what it is beside lists and tables of as many columns
    "0 and 1": ("1,0,1\n0,1,0\n", "looks like a matrix with a column per label, found '1,0,1'"),
    "numpy.savetxt": ("1.0e+00 0.0e+00\n0.0e+00 1.0e+00\n", "looks like a matrix with a column per label"),
    "decimals": ("0.9\t0.1\n0.2\t0.5\n", "looks like a matrix with a column per label"),
    "below names": ("id,toxic,obscene\na1,1,0\na2,0,1\n", "looks like a matrix with a column per label"),
    "two columns": ("1,0\n0,1\n1,0\n", "may be a matrix of 0 and 1 with two columns, or lists of the labels 0 and 1"),
    "numbers of rows": ("0\t2 4\n1\t3\n2\t1 0\n3\t1 2\n", "may begin with the number of the row, or with a label"),
    "lists of two ids": ("1 0\n2 1\n1 0\n3 4\n", None),
    "the same below a header": ("4 5\n1,0\n0,1\n1,0\n0,1\n", None),
    "labels and scores": ("0 0.9\t1 0.8\n1 0.5\t2 0.1\n3 1.0\t4 0.5\n4 0.5\t3 0.4\n", None),
}


@pytest.mark.parametrize("case", AS_TEXT)
@pytest.mark.parametrize("which", ["truth", "preds"])
@pytest.mark.parametrize("duplicates", ["error", "max"])
def test_a_matrix_as_text_is_not_read_as_lists(case, which, duplicates):
    content, message = AS_TEXT[case]
    if message is not None:
        refused(f"x:1: {message}", **{which: write("x", content)}, duplicates=duplicates)
    elif which == "preds" or "scores" not in case:
        assert scored(**{which: write("x", content)}, duplicates=duplicates)


@pytest.mark.parametrize("names", [["w0", "w1", "w2"], ["25", "15", "05"], ["#0", "#1", "#2"], ["1", "x1", "x2"]])
@pytest.mark.parametrize("join", [" ", "\t"])
def test_renaming_labels_changes_no_value(names, join):
    write("n", lines(names))
    truth, preds = ([join.join(names[i] for i in row) for row in rows] for rows in ([[0, 1], [2, 0]], [[0, 2], [1, 0]]))
    result = xmceval.score(write("t", lines(truth)), write("p", lines(preds)), labels="n", metrics="P,AP", k=2)
    assert (result["P@2"], result["AP@2"]) == (0.5, 0.375)


def test_ids_before_a_text_are_no_names():
    write("n", "girls\n1\nred shoes\n")
    assert rows_in(write("x", "0,2\tgirls ballet\n1\tgirls\n0\tred\n"), "truth", labels="n") == [
        [(0, 1), (2, 1)],
        [(1, 1)],
        [(0, 1)],
    ]


IDS = [str(label) for label in range(3000)]


@pytest.mark.parametrize(
    "row",
    [
        *(separator.join(IDS) for separator in (",", ", ", " ,", " , ", " ")),
        ",".join(IDS) + " 5",
        ",".join(IDS) + "\ttext",
        ",".join(IDS) + " x:5",
        "\t\t".join(f"{label} 0.5" for label in IDS) + "\tx",
    ],
)
def test_a_long_row_of_any_form_is_recognised_or_refused_at_once(tmp_path, row):
    """A pattern that could match in several ways took twice the time for each further comma."""
    path = tmp_path / "rows.txt"
    path.write_text(f"{row}\n1,2\n3\n")
    start = time.process_time()
    with suppress(xmceval.DataError):
        assert xmceval.read(path, kind="truth").shape[0] == 3
    assert time.process_time() - start < 5
