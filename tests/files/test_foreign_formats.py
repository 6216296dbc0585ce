"""Files of other programs are refused with their name, and with a line that makes a file which is read.

Each line is run, Python as an expression and shell commands as printed; the value is that of the data in the file.
"""
# ruff: noqa: E501 - a case is one line

import ast
import contextlib
import csv
import json
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse
from support.files import write

import xmceval
from xmceval import DataError

TRUTH = "3 5\n0:1 2:1\n1:1\n3:1 4:1\n"
NAMES = "red\norange\nyellow\ngreen\nblue\n"

MATRIX_MARKET = "%%MatrixMarket matrix coordinate real general\n%\n3 5 3\n1 3 0.9\n2 4 0.8\n3 5 0.6\n"
ARFF = "% made by Mulan\n@relation 'x: -C 3'\n@attribute a numeric\n" + "".join(
    f"@attribute l{i} {{0,1}}\n" for i in range(3)
)
MEKA = (
    "|==== PREDICTIONS (N=2.0) =====>\n|     1 [ 1 0 1 ] [ 0.9 0.1 0.8 ]\n"
    "|     2 [ 0 1 0 ] [ 0.2 0.7 0.1 ]\n|==============================<\n"
)
BARS = "100|401.9|428.0\n101|250.00\n102|\n"


@pytest.fixture(autouse=True)
def _limit_of_csv():
    """Restore what scipy's reader of ARFF changes for the whole process."""
    limit = csv.field_size_limit()
    yield
    csv.field_size_limit(limit)


def save_tensor(path):
    torch = pytest.importorskip("torch")
    torch.save(torch.eye(3, 5), path)


def save_objects(path):
    np.save(path, np.array([[0, 2], [1], [3, 4]], dtype=object), allow_pickle=True)


# Each with the file and what is in it or writes it, what the message says of it, the other file, options, and P@1.
CASES = {
    "MatrixMarket": ("p.mtx", MATRIX_MARKET, "is a MatrixMarket file", TRUTH, {}, 2 / 3),
    "ARFF as truth": ("t.arff", f"{ARFF}@data\n0.5,1,0,1\n0.1,0,1,0\n", "is an ARFF file", "2 3\n0:1\n1:1\n", {}, 1.0),
    "MEKA": ("p.txt", MEKA, "has predictions as MEKA prints them", "2 3\n0:1\n2:1\n", {}, 1 / 2),
    "Excel": ("p.csv", "sep=;\nrow;label;score\n0;2;0.9\n1;3;0.8\n2;4;0.6\n", "has a first line for Excel", TRUTH, {}, 2 / 3),
    "VW as truth": ("t.vw", "0,2 | a b c\n1 | a c\n3,4 |w d:0.5 e\n", "is data of Vowpal Wabbit", "0 2\n1\n4 3\n", {}, 1.0),
    "bars as truth": ("t.psv", BARS, "has lines of an id and labels between bars", '{"100": {"428.0": 2}, "101": {"x": 1}}', {}, 1 / 3),
    "MIND": ("p.txt", "1 [2,1,3]\n2 [1,2]\n", "has lines of an id and the ranks", '{"1": {"1": 1}, "2": {"1": 1}}', {}, 1 / 2),
    "a semicolon": ("p.dat", "1;2,4\n5;3\n7;4\n", "has lines of an id and labels with a semicolon", TRUTH, {}, 2 / 3),
    "names and scores": ("p.txt", "yellow:0.9 blue:0.5 red:0.25\ngreen:0.8 orange:0.7\nblue:0.6\n", "has names of labels with a score after a colon", "red yellow\norange\ngreen blue\n", {"labels": "names.txt"}, 2 / 3),
    "names and grades": ("t.txt", "yellow:1 blue:1\ngreen:1\n", "has names of labels with a value after a colon", "blue\nred\n", {"labels": "names.txt"}, 1 / 2),
    "lists in CSV": ("p.csv", 'labels,scores\n"[2, 4, 0]","[0.9, 0.5, 0.25]"\n"[3, 1]","[0.8, 0.7]"\n[4],[0.6]\n', "is a table whose lists became text", TRUTH, {}, 2 / 3),
    "lists in CSV as truth": ("t.csv", ',text,labels\n0,a,"[0, 2]"\n1,b,[1]\n2,c,"[3, 4]"\n', "is a table whose lists became text", "2 0\n3 1\n4 3\n", {}, 2 / 3),
    "torch.save": ("p.pt", save_tensor, "was written by torch.save, as a pickle", TRUTH, {}, 2 / 3),
    "lists in an array of objects": ("t.npy", save_objects, r".* got shape \(3,\) of object", "2\n1\n0\n", {}, 2 / 3),
}  # fmt: skip


def convert(hint, file):
    """Do what the hint of a command says, and return the file that it makes."""
    line = hint.removeprefix("run ").removesuffix(", if both files have their ids in one order")
    if ">" not in line and (words := shlex.split(line))[:2] == ["python", "-c"]:
        exec(words[2], {})
    else:
        subprocess.run(re.sub(r"\Apython", sys.executable, line), shell=True, check=True)
    [new] = Path().glob(f"{Path(file).name.partition('.')[0]}-new.*")
    return str(new)


def value_of(hint):
    """Return the value of the expression in the hint of a Python call."""
    pandas = pytest.importorskip("pandas")
    names = {"ast": ast, "csv": csv, "json": json, "numpy": np, "pandas": pandas, "re": re, "scipy": scipy}
    return eval(hint.removeprefix("pass "), names | {"torch": sys.modules.get("torch")})


@pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning", "ignore::ResourceWarning", "ignore:Exception ignored")
@pytest.mark.parametrize("in_command", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_files_of_other_programs_are_named_and_converted_by_the_hint(case, in_command, run):
    name, content, what, other, options, expected = CASES[case]
    content(name) if callable(content) else write(name, content)
    write("names.txt", NAMES)
    is_truth = name.startswith("t")
    files = {
        "y_true": name if is_truth else write("t.other", other),
        "y_score": write("p.other", other) if is_truth else name,
    }
    if in_command:
        arguments = [part for key, value in options.items() for part in (f"--{key}", value)]
        code, _, message = run("score", *files.values(), "-m", "P", "-k", "1", *arguments)
        assert code == 1
        hint = re.search(r" \(hint: (.*)\)\n\Z", message)[1]
    else:
        with pytest.raises(DataError) as error:
            xmceval.score(*files.values(), metrics="P", k=1, **options)
        message, hint = str(error.value), error.value.hint
    assert re.search(rf"{re.escape(name)}(:1)?: {what}", message)
    assert "if these are label names" not in message
    is_of_shell = in_command or hint.startswith(("cut", "sed", "tail"))
    hint = hint.removeprefix("write Parquet, or ").removeprefix("of lists of ids ")
    files["y_true" if is_truth else "y_score"] = convert(hint, name) if is_of_shell else value_of(hint)
    if case == "bars as truth" and not is_of_shell:
        files["y_score"] = json.loads(other)
    if case == "MIND" and not is_of_shell:
        files["y_true"] = json.loads(other)
    assert xmceval.score(*files.values(), metrics="P", k=1, **options)["P@1"] == pytest.approx(expected)


# A pattern that can match these in several ways would take hours, or for ever.
LONG = {
    "indented comments": " % none\n" * 60 + "x\n",
    "ids between commas": ",".join(map(str, range(100_000))) + "\n",
    "names between commas": ",".join(f"n{i}" for i in range(100_000)) + "\n",
    "one word": "1" * 500_000 + "\n",
}


@pytest.mark.parametrize("kind", ["truth", "scores"])
@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
def test_long_lines_and_many_comments_are_told_apart_at_once(text, kind):
    path, began = write("x", text), time.process_time()
    with contextlib.suppress(DataError):
        xmceval.read(path, kind=kind)
    assert time.process_time() - began < 20


def test_a_sparse_arff_file_is_refused_with_the_package_that_reads_it():
    # The hint is not tried: it needs scikit-multilearn.
    write("t.arff", f"{ARFF}@data\n{{0 0.5,1 1}}\n")
    with pytest.raises(DataError) as error:
        xmceval.score("t.arff", write("p.txt", "0\n"))
    assert str(error.value) == (
        "t.arff: is a sparse ARFF file; expected rows or a table (hint: pass skmultilearn.dataset.load_from_arff("
        '"t.arff", label_count, load_sparse=True)[1].tocsr())'
    )


def test_xml_of_mulan_is_no_web_page():
    write(
        "t.xml", '<?xml version="1.0"?>\n<labels xmlns="http://mulan.sourceforge.net/labels">\n<label name="a"></label>'
    )
    with pytest.raises(
        DataError, match=r"t.xml: is XML with names of labels, .*the rows are in the ARFF file next to it"
    ):
        xmceval.score("t.xml", write("p.txt", "0\n"))


@pytest.mark.parametrize(
    ("text", "hints"),
    {
        "names": ("spam ham\n", ["pass labels= if these are label names"]),
        "query and document": (
            "S1-a\tr59.9\nS1-a\tn63\n",
            [
                "pass labels= if these are label names",
                "of query and document name the columns, with a tab between 'query_id' and 'doc_id'",
            ],
        ),
        "nothing that is a name": ("<< 1 >>\n[2] [3]\n", []),
    }.values(),
)
def test_names_are_guessed_only_where_a_word_can_be_one(text, hints):
    with pytest.raises(DataError, match="expected rows of idx:value") as error:
        xmceval.score(write("t.txt", text), write("p.txt", TRUTH))
    assert error.value.hint == "; ".join(hints)
    if len(hints) == 2:
        table = write("t.tsv", "query_id\tdoc_id\n" + text)
        found = xmceval.score(table, {"S1-a": {"r59.9": 1, "x": 0.5}}, metrics="P", k=1)
        assert found["P@1"] == 1.0


@pytest.mark.parametrize("is_truth", [False, True])
@pytest.mark.parametrize(
    "rows",
    [[{"3": 0.9, "1": 0.5}, {"2": 1}], [{"green": 0.9, "red": 0.5}, {"blue": 1}], [{"l": [3, 1], "s": [0.9, 0.5]}]],
)
def test_objects_by_label_are_converted_by_the_hint(rows, is_truth):
    if is_truth:
        rows = [
            {key: value if isinstance(value, list) else 1 for key, value in row.items() if key != "s"} for row in rows
        ]
    write("x.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    other, options = write("other", f"{len(rows)} 5\n" + "3:1\n" * len(rows)), {"metrics": "P", "k": 1}
    write("names.txt", NAMES)
    options |= {"labels": "names.txt"} if "green" in rows[0] else {}
    with pytest.raises(DataError) as error:
        xmceval.score(*(("x.jsonl", other) if is_truth else (other, "x.jsonl")), **options)
    code = re.fullmatch("write (.*) for each such row", error.value.hint.split("\n")[0])[1]
    write("x.jsonl", "".join(f"{json.dumps(eval(code, {'row': row}))}\n" for row in rows))
    found = xmceval.score(*(("x.jsonl", other) if is_truth else (other, "x.jsonl")), **options)
    assert found["P@1"] == 1 / len(rows)
