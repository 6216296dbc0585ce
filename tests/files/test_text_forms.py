"""Text that could be read in two ways, or is written as elsewhere, is never read wrongly in silence."""

import pickle
import re
import time
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from support.asked import p_at_1
from support.files import LEGACY, PREDS, TRUTH, rows_in, same_numbers, scored, write
from support.pieces import read_in_pieces
from test_formats import ROWS, _in_a_folder, join, lines, refused  # noqa: F401 - a fixture for all tests

import xmceval

BACKWARDS = range(4, -1, -1)


@pytest.mark.parametrize("between", [" ", ",", "\t"])
def test_names_that_are_numbers_are_never_read_as_ids(between):
    truth = join(ROWS, between, names=BACKWARDS)
    message = "^p.txt: has numbers, and the names in n are other numbers"
    refused(message, truth=write("x", truth), labels=write("n", lines(BACKWARDS)))
    write("named", re.sub(r"([0-9]):", lambda label: f"__label__{4 - int(label[1])} ", PREDS.partition("\n")[2]))
    same_numbers(scored("x", "named", labels="n"))
    message = r"^x:4: '7' is not in n, which has 5 label names \(hint: leave labels out if these are label ids\)$"
    refused(message, truth=write("x", truth.replace(f"1{between}0", f"1{between}7")), labels="n")
    best = write("x", lines([between.join("43"), between.join("32"), "1", between.join("07")]))
    refused(message, truth="named", preds=best, labels="n")


def test_a_list_whose_words_are_both_names_and_ids_has_a_warning():
    names, preds = write("n", lines(BACKWARDS)), write("y", "2 0\n2\n\n3\n")
    result = scored(write("x", "1 2\n0\n\n3\n"), preds, labels=names)
    assert "x: its words were read as names in n, not as label ids" in result.warnings
    message = r"^p.txt: has numbers, and the names in n are other numbers: are these names too"
    refused(message, truth="x", labels=names)


def test_numbers_beside_other_names_are_names():
    write("n", b"0\nfoo\nb\xffr\n3\n")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        matrix = xmceval.read(write("x", b"0 3\nfoo b\xffr\n"), labels="n", kind="truth")
    assert matrix.toarray().tolist() == [[1, 0, 0, 1], [0, 1, 1, 0]]
    write("x", b"0 3\n\xfe\n")
    refused(r"^x:2: .*xfe' is not in n", truth="x", labels="n")


def test_ids_before_a_text_are_no_names():
    write("n", "girls\n1\nred shoes\n")
    rows = rows_in(write("x", "0,2\tgirls ballet\n1\tgirls\n0\tred\n"), "truth", labels="n")
    assert rows == [[(0, 1), (2, 1)], [(1, 1)], [(0, 1)]]


@pytest.mark.parametrize("first", ["#new red", "# made by me", "#"])
@pytest.mark.parametrize("is_truth", [True, False])
def test_a_first_row_that_begins_with_a_hash_is_a_row_of_names(first, is_truth):
    write("n", "#green\nred\n#blue\n")
    rows, wrong = write("t", "#green red\nred\n#blue\n"), write("x", f"{first}\nred\n#blue\n")
    refused(rf"^x:1: '{first.split()[0]}' is not in n", *((wrong, rows) if is_truth else (rows, wrong)), labels="n")
    for text in ("#green red\nred\n#blue\n", "# 3, 3\n#green red\nred\n#blue\n"):
        assert scored(rows, write("x", text), labels="n")["P@1"] == 1


@pytest.mark.parametrize("names", [["w0", "w1", "w2"], ["25", "15", "05"], ["#0", "#1", "#2"], ["1", "x1", "x2"]])
@pytest.mark.parametrize("between", [" ", "\t"])
def test_renaming_labels_changes_no_value(names, between):
    write("n", lines(names))
    truth, preds = (
        write(f"x{i}", join(rows, between, names=names)) for i, rows in enumerate([[[0, 1], [2, 0]], [[0, 2], [1, 0]]])
    )
    result = xmceval.score(truth, preds, labels="n", metrics="P,AP", k=2)
    assert (result["P@2"], result["AP@2"]) == (0.5, 0.375)


COMMAS = {  # predictions with decimal commas, whose best label is true in each row, and commas that are not decimal
    "pairs": "2 9\n5:0,44 7:0,31\n7:0,9\n",
    "omikuji": "5 0,44\t7 0,31\n7 0,9\n",
    "JSON lines": '{"data": [[5, "0,44"], [7, "0,31"]]}\n{"data": [[7, "0,9"]]}\n',
    "CSV": 'query_id,doc_id,score\n0,5,"0,44"\n0,7,"0,31"\n1,7,"0,9"\n',
    "CSV with semicolons": "query_id;doc_id;score\n0;5;0,44\n0;7;0,31\n1;7;9,1e-1\n",
    "TSV": "query_id\tdoc_id\tscore\r\n0\t5\t0,44\r\n0\t7\t0,31\r\n1\t7\t0,9\r\n",
    "a run": "0 Q0 5 1 0,44 x\n0 Q0 7 2 0,31 x\n1 Q0 7 1 0,9 x\n",
}


@pytest.mark.parametrize("form", COMMAS)
def test_numbers_with_decimal_commas_are_read_once_they_have_points(form):
    if form.startswith(("CSV", "TSV")):
        pytest.importorskip("pyarrow")
    by_label, preds = form in {"pairs", "omikuji", "JSON lines"}, write("p", COMMAS[form])
    truth = write("t", "2 9\n5:1\n7:1\n") if by_label else {"0": {"5": 1}, "1": {"7": 1}}
    with pytest.raises(xmceval.DataError, match=r"decimal commas are not read \(hint: write the numbers with points\)"):
        xmceval.score(truth, preds, metrics="P", k=1)
    written = re.sub(r'"?\b([09]),(44|31|9|1e-1)\b"?', r"\1.\2", COMMAS[form])
    assert p_at_1(truth, write("q", written)) == 1


# Headers


def test_a_header_is_distinguished_from_a_row():
    for text, labels in {
        "0,1,2 0:1\n1 1:1\n": [[0, 1, 2], [1]],
        "0,1,2\n1 1:0.5\n2 0:1\n": [[0, 1, 2], [1], [2]],  # three numbers with commas are no header
        "3,9\n1,2\n4\n5,0\n": [[3, 9], [1, 2], [4], [0, 5]],  # nor are two, though three rows follow below 9
        "3 9\n1,2\n4\n5,0\n": [[1, 2], [4], [0, 5]],
        "# 3,9\n1,2\n4\n5,0\n": [[1, 2], [4], [0, 5]],
    }.items():
        assert [[label for label, _ in row] for row in rows_in(write("t.txt", text), "truth")] == labels
    assert xmceval.score(write("x", "3 1 2\n0\n"), write("y", "1 0\n0\n"), k=1, metrics=["P"])["P@1"] == 1


def test_a_header_whose_newline_is_lost_is_doubted():
    lost = TRUTH.replace("4 5\n", "4 5", 1)
    assert lost.startswith("4 50:1 2:1\n1:1\n")
    doubt = "is the newline after the header missing?"
    with pytest.warns(xmceval.XmcevalWarning) as caught:
        scored(write("x", lost), labels=None, n_labels=None)
    assert [str(each.message) for each in caught if doubt in str(each.message)] == [
        f"x:1: only this one of the first 3 rows begins with a label, '4 50:1 2:1'; {doubt}"
    ]


@pytest.mark.parametrize(
    "truth", [LEGACY, "0,2 0:0.5 2:1\n 0:1\n 1:2\n 3:4\n", "3 0:0.5 2:1\n 0:1\n\n1 2:3\n", "4 0:1\n"]
)
def test_rows_of_labels_and_features_are_not_doubted(truth):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert xmceval.read(write("x", truth), kind="truth").nnz


@pytest.mark.parametrize(
    "preds", ["__label__1 0.9\nn/a\n", "__label__1\nn/a\n", "n/a\n__label__2 0.9 __label__1 0.1\n"]
)
def test_rows_for_which_fasttext_predicts_nothing_are_empty(preds):
    result = scored(write("t", "__label__1 some words\n__label__2 n/a\n"), write("x", preds), n_labels=3)
    assert (result["P@1"], result.counts.n_predictions) == (0.5, preds.count("__label"))


@pytest.mark.parametrize("content", ["3,3\n4,4\n3,5\n3,3\n", "3,3\n4,4\n5,2\n2,2\n"], ids=["repeated", "named"])
def test_true_and_predicted_labels_in_two_files_are_read(content):
    for name, column in (("truth.txt", 0), ("preds.txt", 1)):
        write(name, "".join(f"{line.split(',')[column]}\n" for line in content.splitlines()))
    assert p_at_1("truth.txt", "preds.txt") == 0.75


AS_TEXT = {  # a matrix as text, or lists behind numbers, and lists and tables with the same number of columns
    "0 and 1": ("1,0,1\n0,1,0\n", "looks like a matrix with a column per label, found '1,0,1'"),
    "numpy.savetxt": (
        "1.0e+00 0.0e+00\n0.0e+00 1.0e+00\n",
        "expected rows of idx:value .*hint: save a matrix with numpy.save",
    ),
    "decimals": ("0.9\t0.1\n0.2\t0.5\n", "expected rows of idx:value .*save a matrix with numpy.save"),
    "below names": ("id,toxic,obscene\na1,1,0\na2,0,1\n", "found the columns id, toxic, obscene; expected"),
    "two columns": (
        "1,0\n0,1\n1,0\n0,1\n",
        "its rows have two numbers each, all 0 or 1: a matrix of two labels, or lists of ids",
    ),
    "numbers of rows": (
        "0\t2 4\n1\t3\n2\t1 0\n3\t1 2\n",
        "has whole numbers between tabs, which are columns, but no header line",
    ),
    "lists of two ids": ("1 0\n2 1\n1 0\n3 4\n", None),
    "the same below a header": ("4 5\n1,0\n0,1\n1,0\n0,1\n", None),
    "labels and scores": ("0 0.9\t1 0.8\n1 0.5\t2 0.1\n3 1.0\t4 0.5\n4 0.5\t3 0.4\n", None),
}


@pytest.mark.parametrize("case", AS_TEXT)
@pytest.mark.parametrize("which", ["truth", "preds"])
@pytest.mark.parametrize("duplicates", ["error", "max"])
def test_a_matrix_as_text_is_not_read_as_lists(case, which, duplicates):
    content, message = AS_TEXT[case]
    if case == "two columns" and which == "preds":  # the header of the truth has five labels
        assert scored(preds=write("x", content), duplicates=duplicates)
    elif message is not None:
        refused(f"x:1: {message}", **{which: write("x", content)}, duplicates=duplicates)
    elif which == "preds" or "scores" not in case:
        assert scored(**{which: write("x", content)}, duplicates=duplicates)


IDS = [str(label) for label in range(3000)]


@pytest.mark.parametrize(
    "row",
    [
        *(between.join(IDS) for between in (",", ", ", " ,", " , ", " ")),
        *(",".join(IDS) + end for end in (" 5", "\ttext", " x:5")),
        "\t\t".join(f"{label} 0.5" for label in IDS) + "\tx",
    ],
)
def test_a_long_row_of_any_form_is_recognised_or_refused_at_once(row):
    """A pattern that could match in several ways took twice the time for each further comma."""
    write("x", f"{row}\n1,2\n3\n")
    start = time.process_time()
    with suppress(xmceval.DataError):
        assert xmceval.read("x", kind="truth").shape[0] == 3
    assert time.process_time() - start < 5


# Lines


def long_files(n_rows, seed):
    rng = np.random.default_rng(seed)
    truth = [" ".join(f"{label}:1" for label in sorted(rng.choice(50, 3, False))) for _ in range(n_rows)]
    preds = [" ".join(f"{label}:{rng.random():.6f}" for label in rng.permutation(50)[:8]) for _ in range(n_rows)]
    return truth, preds


def test_long_rows_and_pieces_of_either_file_stay_in_step(monkeypatch):
    truth, preds = long_files(300, 3)
    preds[100] = "# a comment that is longer than any piece: " + "x" * 500 + "\n" + preds[100]
    expected = scored(write("t.txt", lines(["300 50", *truth])), write("p.txt", lines(preds)))
    for size in (8, 100, 977, 5000):
        read_in_pieces(monkeypatch, text=size)
        same_numbers(scored(), expected)


@pytest.mark.parametrize("head", ["", "90 50\n", "# one\n# two\n90 50\n", "\ufeff90 50\n", "\ufeff"])
@pytest.mark.parametrize("row", [0, 1, pytest.param(45, marks=pytest.mark.thorough), 89])
@pytest.mark.parametrize("size", [64, 900, pytest.param(1 << 20, marks=pytest.mark.thorough)])
def test_line_of_a_fault_is_right(head, row, size, monkeypatch):
    truth, preds = long_files(90, 5)
    preds.insert(row, "# a comment, then a blank row and a fault" if row else preds[row])
    preds[row + (row > 0)] += " 99:1"
    rows = (head + "\n".join(preds[: 90 + (row > 0)])).split("\n")
    expected = next(number for number, line in enumerate(rows, 1) if "99:1" in line)
    write("t.txt", lines(["90 50", *truth]))
    read_in_pieces(monkeypatch, text=size)
    for threads in (1, 2):
        message = rf"^p\.txt:{expected}: label 99 is outside 0\.\.49 "
        refused(message, preds=write("p.txt", lines(rows)), threads=threads)


def test_line_is_right_in_the_second_megabyte():
    preds = ["1:0.123456 2:0.5 3:0.25"] * 60_000
    preds[57_000] = "1:0.5 2:x"
    truth = write("t.txt", lines(["60000 5", *["1:1"] * 60_000]))
    message = "p.txt:57002: expected a number after the colon, found '2:x'"
    refused(f"^{re.escape(message)}$", truth, write("p.txt", lines(["60000 5", *preds])))


def test_faults_are_reported_together_one_line_per_kind():
    rows = [f"{i}:x" if i % 2 else f"{i}:0.5 {i}:0.5" for i in range(12)]
    preds = write("x", "14 20\n0:1\n" + lines(rows) + "0:1\n")
    with pytest.raises(xmceval.DataError) as caught:
        xmceval.score(write("y", "14 20\n" + "0:1\n" * 14), preds, k=1, metrics=["P"])
    hint = "pass duplicates='max' to count its largest value"
    assert str(caught.value).split("\n") == [
        f"x:3: label 0 appears twice in this row; a label has one score (6 such rows; hint: {hint})",
        "x:4: expected a number after the colon, found '1:x' (6 such rows)",
    ]
    assert caught.value.hint == pickle.loads(pickle.dumps(caught.value)).hint == hint


# Which files there are


@pytest.fixture
def home(tmp_path):
    write("t.txt", "2 3\n0:1\n1:1\n")
    write("p.txt", "2 3\n0:.5\n1:.5\n")
    write("broken.txt", "2 3\nx:1\n1:1\n")
    (tmp_path / "folder").mkdir()


@pytest.mark.usefixtures("home")
def test_every_missing_file_is_reported_at_once_before_the_first_is_read(run):
    missing = ["p1.txt: no such file", "train.txt: no such file", "folder: is a directory; expected a file"]
    for call, message in (
        (lambda: xmceval.score("t.txt", "p1.txt", train="train.txt", sample_weight="folder"), missing),
        (lambda: xmceval.inspect(["broken.txt", "p1.txt"], train="train.txt"), missing[:2]),
    ):
        with pytest.raises(xmceval.DataError) as caught:
            call()
        assert str(caught.value).splitlines() == message
    for arguments in (["p.txt", "nothing.txt"], ["p.txt", "--sample-weight", "nothing.txt"]):
        ended = run("score", "broken.txt", *arguments, "--train", "broken.txt")
        assert ended == (1, "", "Error: nothing.txt: no such file\n")


@pytest.mark.usefixtures("home")
def test_files_that_exist_are_not_refused():
    np.save("x-labels.npy", np.zeros((2, 1), int))
    for name in ("x", "x-labels.npy"):
        assert p_at_1("t.txt", name) == 0.5


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("which", ["truth", "scores", "train"])
def test_names_that_no_file_can_have_are_refused(which):
    files = {"truth": "t.txt", "scores": "p.txt"} | {which: "a\0b"}
    with pytest.raises(xmceval.DataError, match="no such file"):
        xmceval.score(files.pop("truth"), files.pop("scores"), **files)


def test_an_unreadable_file_is_reported(monkeypatch):
    opened = Path.open

    def refuse(path, *args, **options):
        if path.name == "p.txt":
            raise PermissionError(13, "Permission denied")
        return opened(path, *args, **options)

    monkeypatch.setattr(Path, "open", refuse)
    refused("^p.txt: Permission denied$")


def test_a_first_row_of_features_without_labels_begins_with_a_blank():
    preds = write("p", "3 4\n0:1\n1:1\n3:0.5\n")
    result = xmceval.score(write("t", " 0:1 3:2\n1,2 0:1 5:1\n3 1:1\n"), preds, metrics="P", k=1, n_labels=4)
    assert result["P@1"] == p_at_1([[], [1, 2], [3]], preds, n_labels=4) == 2 / 3
    assert scored(write("t", " 0:1 3:1\n 1:1\n"), write("p", "2 4\n0:1\n1:1\n"), n_labels=4)["P@1"] == 1
