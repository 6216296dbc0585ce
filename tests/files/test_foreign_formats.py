"""Files of other programs are refused with their name and what to do."""
# ruff: noqa: E501 - a case is one line

import contextlib
import json
import re
import tarfile
import time
import zipfile

import numpy as np
import pytest
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


def save_tensor(path):
    torch = pytest.importorskip("torch")
    torch.save(torch.eye(3, 5), path)


def save_objects(path):
    np.save(path, np.array([[0, 2], [1], [3, 4]], dtype=object), allow_pickle=True)


def zipped(*members):
    return lambda path: save_zip(path, members)


def save_zip(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for member in members:
            archive.writestr(member, "<x/>")


def save_tar(path):
    with tarfile.open(path, "w:gz" if path.endswith(".gz") else "w") as archive:
        archive.add(write("run.txt", "q1 Q0 d1 1 0.9 me\n" * 9))


SAFETENSORS = b'{"logits":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}}'
RECIPES = "see the recipes for other formats in xmceval guide inputs"

# Each with the file and what is in it or writes it, what the message says of it, the other file, options, and the hint.
CASES = {
    "MatrixMarket": ("p.mtx", MATRIX_MARKET, "is a MatrixMarket file", TRUTH, {}, RECIPES),
    "ARFF as truth": ("t.arff", f"{ARFF}@data\n0.5,1,0,1\n0.1,0,1,0\n", "is an ARFF file", "2 3\n0:1\n1:1\n", {}, RECIPES),
    "MEKA": ("p.txt", MEKA, "has predictions as MEKA prints them", "2 3\n0:1\n2:1\n", {}, RECIPES),
    "Excel": ("p.csv", "sep=;\nrow;label;score\n0;2;0.9\n1;3;0.8\n2;4;0.6\n", "has a first line for Excel", TRUTH, {}, "leave out the first line"),
    "VW as truth": ("t.vw", "0,2 | a b c\n1 | a c\n3,4 |w d:0.5 e\n", "is data of Vowpal Wabbit", "0 2\n1\n4 3\n", {}, RECIPES),
    "bars as truth": ("t.psv", BARS, "has lines of an id and labels between bars", '{"100": {"428.0": 2}, "101": {"x": 1}}', {}, RECIPES),
    "MIND": ("p.txt", "1 [2,1,3]\n2 [1,2]\n", "has lines of an id and the ranks", '{"1": {"1": 1}, "2": {"1": 1}}', {}, RECIPES),
    "a semicolon": ("p.dat", "1;2,4\n5;3\n7;4\n", "has lines of an id and labels with a semicolon", TRUTH, {}, "keep what follows the semicolon, with the rows of both files in one order"),
    "names and scores": ("p.txt", "yellow:0.9 blue:0.5 red:0.25\ngreen:0.8 orange:0.7\nblue:0.6\n", "has names of labels with a score after a colon", "red yellow\norange\ngreen blue\n", {"labels": "names.txt"}, "write lines of __label__name score"),
    "names and grades": ("t.txt", "yellow:1 blue:1\ngreen:1\n", "has names of labels with a value after a colon", "blue\nred\n", {"labels": "names.txt"}, "write the names alone"),
    "lists in CSV": ("p.csv", 'labels,scores\n"[2, 4, 0]","[0.9, 0.5, 0.25]"\n"[3, 1]","[0.8, 0.7]"\n[4],[0.6]\n', "is a table whose lists became text", TRUTH, {}, "write Parquet"),
    "lists in CSV as truth": ("t.csv", ',text,labels\n0,a,"[0, 2]"\n1,b,[1]\n2,c,"[3, 4]"\n', "is a table whose lists became text", "2 0\n3 1\n4 3\n", {}, "write Parquet"),
    "torch.save": ("p.pt", save_tensor, "was written by torch.save, as a pickle", TRUTH, {}, "save the tensor's .numpy() with numpy.save"),
    "xlsx": ("p.xlsx", zipped("[Content_Types].xml", "xl/workbook.xml"), "is a spreadsheet", TRUTH, {}, "save it as CSV"),
    "ods as truth": ("t.ods", zipped("mimetype", "content.xml"), "is a spreadsheet", TRUTH, {}, "save it as CSV"),
    "tar": ("p.tar", save_tar, "is a tar archive", TRUTH, {}, "extract it and pass the file inside"),
    "tar in gzip as truth": ("t.tar.gz", save_tar, "is a tar archive", TRUTH, {}, "extract it and pass the file inside"),
    "lz4": ("p.lz4", b"\x04\x22\x4d\x18d@\x7f" + bytes(range(200)), "is compressed by lz4", TRUTH, {}, "lz4 -d"),
    "safetensors": ("p.safetensors", len(SAFETENSORS).to_bytes(8, "little") + SAFETENSORS + bytes(8), "is a safetensors file", TRUTH, {}, "save the matrix with numpy.save"),
    "lists in an array of objects": ("t.npy", save_objects, r".* got shape \(3,\) of object", "2\n1\n0\n", {}, "write lists of ids as text, one row per line"),
}  # fmt: skip


@pytest.mark.parametrize("in_command", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_files_of_other_programs_are_named_with_what_to_do(case, in_command, run):
    name, content, what, other, options, hint = CASES[case]
    content(name) if callable(content) else write(name, content)
    write("names.txt", NAMES)
    is_truth = name.startswith("t")
    files = [name, write("p.other", other)] if is_truth else [write("t.other", other), name]
    if in_command:
        arguments = [part for key, value in options.items() for part in (f"--{key}", value)]
        code, _, message = run("score", *files, "-m", "P", "-k", "1", *arguments)
        assert code == 1
    else:
        with pytest.raises(DataError) as error:
            xmceval.score(*files, metrics="P", k=1, **options)
        message = str(error.value)
    assert re.search(rf"{re.escape(name)}(:1)?: {what}", message)
    assert "if these are label names" not in message
    assert hint in message


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


@pytest.mark.parametrize(
    ("text", "hints"),
    {
        "names": ("spam ham\n", ["pass labels= if these are label names"]),
        "query and document": (
            "S1-a\tr59.9\nS1-a\tn63\n",
            [
                "pass labels= if these are label names",
                "for query and document, name the columns, with a tab between 'query_id' and 'doc_id'",
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
    [[{"3": 0.9, "1": 0.5}, {"2": 1}], [{"green": 0.9, "red": 0.5}, {"blue": 1}]],
)
def test_objects_by_label_are_refused_with_the_layout_that_is_read(rows, is_truth):
    if is_truth:
        rows = [dict.fromkeys(row, 1) for row in rows]
    write("x.jsonl", "".join(f"{json.dumps(row)}\n" for row in rows))
    other, options = write("other", f"{len(rows)} 5\n" + "3:1\n" * len(rows)), {"metrics": "P", "k": 1}
    write("names.txt", NAMES)
    options |= {"labels": "names.txt"} if "green" in rows[0] else {}
    with pytest.raises(DataError) as error:
        xmceval.score(*(("x.jsonl", other) if is_truth else (other, "x.jsonl")), **options)
    hint = 'a line of truth is {"target_ind": [label, ...]}, one of predictions {"data": [[label, score], ...]}'
    assert hint in error.value.hint
