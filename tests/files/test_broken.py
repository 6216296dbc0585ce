"""Every broken file ends in one message with its place, the cause and a hint; tables hold the whole messages."""
# ruff: noqa: E501 - a message is compared as one line

import gzip
import pickle

import numpy as np
import pytest
from support.files import LABELS, LEGACY, PREDS, RUN, SCORES, TRUTH, scored, write
from support.pieces import read_in_pieces

import xmceval

# Broken files: the whole message of each, or how it begins. The other file is good.

SIZES = "t.txt has 4 rows, p.txt has {} rows; they must be of the same instances"
WIDTH = "t.txt has 5 labels; labels are 0-based"
BROKEN = {  # which file is broken, and how
    "row missing": ("p.txt", PREDS.rsplit("\n", 2)[0] + "\n", "p.txt: the header '4 5' declares 4 rows, but the file has 3 rows (is it truncated, or the header wrong?)"),
    "fewer rows": ("p.txt", "3 5\n1:1\n2:1\n3:1\n", SIZES.format(3)),
    "more rows": ("p.txt", "5 5" + "\n1:1" * 5 + "\n", SIZES.format(5)),
    "fewer rows, no header": ("p.txt", "1:1\n2:1\n3:1\n", SIZES.format(3)),
    "more rows, no header": ("p.txt", "1:1\n" * 5, SIZES.format(5)),
    "row beyond the header": ("p.txt", PREDS + "\n\n1:1\n", "p.txt:8: unexpected row; the header '4 5' declares 4 rows"),
    "label too large": ("p.txt", PREDS.replace("4:.5", "5:.5"), f"p.txt:5: label 5 is outside 0..4 ({WIDTH})"),
    "label beyond 64 bits": ("p.txt", PREDS.replace("4:", "9" * 20 + ":"), "p.txt:5: expected a 0-based column number below 2^63, found '99999999999999999999:.5'"),
    "negative label": ("p.txt", PREDS.replace("4:", "-1:"), "p.txt:5: expected a label id before the colon, found '-1:.5'"),
    "nan": ("p.txt", PREDS.replace("4:.5", "4:nan"), "p.txt:5: the score value of label 4 is NaN; expected a number"),
    "duplicate": ("p.txt", PREDS.replace("4:.5", "3:.5"), "p.txt:5: label 3 appears twice in this row; a label has one score (hint: pass duplicates='max' to count its largest value)"),
    "one number as header": ("p.txt", PREDS.replace("4 5", "4"), "p.txt:1: expected a header 'rows cols', or a row of idx:value, found '4'"),
    "four numbers as header": ("p.txt", PREDS.replace("4 5", "4 5 6 7"), "p.txt:1: expected a header 'rows cols', or a row of idx:value, found '4 5 6 7'"),
    "three numbers as header": ("p.txt", PREDS.replace("4 5", "4 9 5"), "p.txt:1: the header '4 9 5' declares points, features and labels, but no row begins with labels; expected the header 'rows cols' before rows of idx:value"),
    "header too large": ("p.txt", PREDS.replace("4 5", "4 " + "9" * 20), f"p.txt:1: a number of the header '4 {'9' * 20}' is above 2^63 - 2"),
    "header just too large": ("p.txt", PREDS.replace("4 5", f"4 {2**63 - 1}"), f"p.txt:1: a number of the header '4 {2**63 - 1}' is above 2^63 - 2"),
    "header of another width": ("p.txt", PREDS.replace("4 5", f"4 {2**63 - 2}"), "p.txt declares 9,223,372,036,854,775,806 labels, but t.txt has 5 labels"),
    "words as header": ("p.txt", PREDS.replace("4 5", "rows cols"), "p.txt:1: expected a label id before the colon, found 'rows'"),
    "cut in a number": ("p.txt", PREDS[:-2], "p.txt:5: expected a number after the colon, found '3:.'"),
    "cut after a colon": ("p.txt", PREDS[:-3], "p.txt:5: expected a number after the colon, found '3:'"),
    "cut in a label": ("p.txt", PREDS[:-4], "p.txt:5: expected idx:value, found '3'"),
    "empty": ("p.txt", "", "p.txt: the file is empty"),
    "empty, gzipped": ("p.txt", gzip.compress(b""), "p.txt: the file is empty"),
    "only blank lines": ("p.txt", "\n \n\n\n", "p.txt: has only blank lines; expected rows of idx:value"),
    "only comments": ("p.txt", "% scores\n%\n\n", "p.txt: has only comments, which begin with %; expected rows of idx:value"),
    "only a comment and blank lines": ("p.txt", "# scores\n\n\n", "p.txt: has only blank lines; expected rows of idx:value"),
    "no number": ("p.txt", PREDS.replace("4:.5", "4:abc"), "p.txt:5: expected a number after the colon, found '4:abc'"),
    "no label": ("p.txt", PREDS.replace("4:.5", "x:.5"), "p.txt:5: expected a label id before the colon, found 'x:.5'"),
    "bytes beyond ASCII": ("p.txt", PREDS.replace("4:.5", "4:é"), "p.txt:5: expected a number after the colon, found '4:\\xc3\\xa9'"),
    "a byte 0": ("p.txt", PREDS.replace("4:.5", "4:\0"), "p.txt:5: expected a number after the colon, found '4:\\x00'"),
    "long token": ("p.txt", PREDS.replace("4:.5", "4:" + "y" * 50), f"p.txt:5: expected a number after the colon, found '4:{'y' * 38}'..."),
    "no header": ("p.txt", "u1 d1 1\nu1 d2 0\n", "p.txt:1: expected rows of idx:value such as '12:0.5 90:0.25', found 'u1 d1 1' (hint: pass labels= if these are label names; for query, document and value, name the columns, as in 'query_id,doc_id,score')"),
    "prose": ("p.txt", "hello world\n", "p.txt:1: expected rows of idx:value such as '12:0.5 90:0.25', found 'hello world' (hint: pass labels= if these are label names)"),
    "legacy": ("p.txt", LEGACY, "p.txt: looks like truth (text, rows of label,label feature:value, header '4 3 5'); expected predictions, such as rows of idx:score"),
    "utf-16": ("p.txt", PREDS.encode("utf-16"), "p.txt: is UTF-16 text; expected UTF-8 text, npz or npy (hint: convert it with iconv -f UTF-16 -t UTF-8)"),
    "binary": ("p.txt", b"\x7fELF\x02\x01\0\0\0", "p.txt: is binary data of an unknown kind, or UTF-16; expected UTF-8 text, npz or npy"),
    "carriage returns only": ("p.txt", PREDS.replace("\n", "\r"), "p.txt: its lines end with carriage returns only; expected newlines"),
    "pickle": ("p.txt", pickle.dumps({}), "p.txt: is a pickle, which runs code when it is loaded; expected UTF-8 text, npz or npy (hint: save the matrix with scipy.sparse.save_npz)"),
    "matlab": ("p.txt", b"MATLAB 5.0 MAT-file\n", "p.txt: is a MATLAB file; expected UTF-8 text, npz or npy (hint: save the matrix with scipy.sparse.save_npz)"),
    "hdf5": ("p.txt", b"\x89HDF\r\n\x1a\n", "p.txt: is an HDF5 file; expected UTF-8 text, npz or npy (hint: save the matrix with scipy.sparse.save_npz)"),
    "no zip": ("p.txt", b"PK\x03\x04" + bytes(50), "p.txt: cannot be read as an npz file; is it damaged or truncated? (it is no whole zip archive)"),
    "omikuji, a label without its score": ("p.txt", "0 0.9\t1 0.5\n4 0.3\t1\n\n\n", "p.txt:2: expected tab-separated 'label score', found '1'"),
    "bzip2 damaged": ("p.txt", b"BZh9xxxx", "p.txt: the compressed file is damaged or truncated (its bytes are wrong)"),
    "gzip cut": ("p.txt", gzip.compress(PREDS.encode())[:-12], "p.txt: the compressed file is damaged or truncated (it ends too early)"),
    "json lines of truth": ("p.txt", '{"target_ind": [1]}\n', 'p.txt:1: expected an object with a list "data"...'),
    "json, a name": ("p.txt", '{"data": [["pink", 1]]}\n', "p.txt:1: 'pink' is a name, not a label id..."),
    "ids, two commas": ("p.txt", "1,2\n1\n1,,2\n3\n", "p.txt:3: expected label ids separated by single commas, found ',2'"),
    "omikuji, no label": ("p.txt", "1 x\t2 0.5\n\n\n\n", "p.txt:1: expected rows of idx:value..."),
    "fasttext, a last label without score": ("p.txt", "__label__0 0.9 __label__1\n\n\n\n", "p.txt:1: expected pairs of __label__name and score; the last label has no score"),
    "a run": ("p.txt", RUN, "p.txt: is a TREC run, so the truth must be TREC qrels..."),
    "hash in a score": ("p.txt", PREDS.replace("0:0.9", "0:0.463#8"), "p.txt:2: expected a number after the colon, found '0:0.463#8'"),
    "hash in a label": ("p.txt", PREDS.replace("3:1", "3#:1"), "p.txt:4: expected a label id before the colon, found '3#:1'"),
    "hash in a header": ("p.txt", PREDS.replace("4 5", "4 5#"), "p.txt:1: expected idx:value, found '4'"),
    "hash in an id": ("p.txt", "0 1\n1 2\n3#4\n4 3\n", "p.txt:3: expected label ids separated by single commas, found '3#4'"),
    "hash, omikuji": ("p.txt", "0 0.9\t1 0.8\n1 0.5\t2 0.1\n3 1#\n4 0.5\n", "p.txt:3: expected tab-separated 'label score', with a number as score, found '3 1#'"),
    "truth, label too large": ("t.txt", TRUTH.replace("4:1", "5:1"), f"t.txt:5: label 5 is outside 0..4 ({WIDTH})"),
    "truth, label too large, legacy": ("t.txt", LEGACY.replace("3,4", "3,5"), f"t.txt:5: label 5 is outside 0..4 ({WIDTH})"),
    "truth, nan": ("t.txt", TRUTH.replace("4:1", "4:nan"), "t.txt:5: the truth value of label 4 is NaN; expected a number"),
    "truth, negative": ("t.txt", TRUTH.replace("4:1", "4:-1"), "t.txt:5: the truth value of label 4 is -1; expected 0 or 1 (hint: pass grades=True if these are grades, lists or sets of ids without values if these are ids; are truth and predictions swapped?)"),
    "truth, duplicate": ("t.txt", TRUTH.replace("4:1", "3:1"), "t.txt:5: label 3 appears twice in this row; a label has one truth (hint: pass duplicates='max' to count its largest value)"),
    "truth, predictions": ("t.txt", PREDS, "t.txt:2: the truth value of label 0 is 0.9; expected 0 or 1 (3 such rows; hint: pass grades=True if these are grades, lists or sets of ids without values if these are ids; are truth and predictions swapped?)"),
    "truth, two commas": ("t.txt", LEGACY.replace("3,4", "3,,4"), "t.txt:5: expected label ids separated by single commas, found '3,,4'"),
    "truth, header declares more": ("t.txt", TRUTH.replace("4 5", "6 5"), "t.txt: the header '6 5' declares 6 rows, but the file has 4 rows (is it truncated, or the header wrong?)"),
    "truth, row beyond the header": ("t.txt", TRUTH.replace("4 5", "3 5"), "t.txt:5: unexpected row; the header '3 5' declares 3 rows"),
    "truth, only blank lines": ("t.txt", "\n" * 4, "t.txt: has only blank lines; expected rows of idx:value"),
    "truth, hash in a value": ("t.txt", TRUTH.replace("1:1", "1:1#"), "t.txt:3: expected a number after the colon, found '1:1#'"),
    "truth, hash in the first id": ("t.txt", "0#2\n1\n\n3 4\n", "t.txt:1: expected rows of idx:value such as '12:0.5 90:0.25', found '0#2'..."),
    "truth, hash in labels": ("t.txt", "0,2#1 3:1\n1 1:1\n 2:1\n3,4 1:1\n", "t.txt:1: expected label ids separated by single commas, found '0,2#1'"),
    "truth, a comma before features": ("t.txt", LEGACY.replace("0,2 ", "0,2, "), "t.txt:2: expected label ids separated by single commas..."),
    "truth, labels and scores": ("t.txt", "1 0.5\t2 0.25\n", "t.txt: looks like predictions (text, rows of tab-separated 'label..."),
    "truth, a run": ("t.txt", RUN, "t.txt: is a TREC run, which holds predictions; expected truth..."),
    "truth, kaggle": ("t.txt", "Id,Predicted\n1,2 0\n2,0 1\n3,\n", "t.txt:1: found the columns Id, Predicted; expected a column of queries..."),
    "names, one twice": ("n", "a\nb\na\n", "n: labels 0 and 2 have the same name, 'a'; names must differ"),
    "names, empty lines": ("n", "a\n\nb\n\nc\n", "n:2: 2 lines without a name; expected one label name per line"),
    "names, a byte 0": ("n", "a\0b\n", "n: expected text with one label name per line"),
}  # fmt: skip


def fails_with(message, *args, **options):
    with pytest.raises(xmceval.DataError) as caught:
        scored(*args, **options)
    line = str(caught.value).split("\n")[0]
    assert line == message or (message.endswith("...") and line.startswith(message[:-3]))


@pytest.mark.parametrize("name", BROKEN)
@pytest.mark.parametrize("size", [32, 1 << 20])
def test_a_broken_file_is_reported(name, size, monkeypatch):
    file, content, message = BROKEN[name]
    read_in_pieces(monkeypatch, text=size)
    for other, text in {"t.txt": TRUTH, "p.txt": PREDS, file: content}.items():
        write(other, text)
    fails_with(message, labels="n" if file == "n" else None)


def test_fasttext_ranks_are_labels_only():
    truth, preds = write("y", "1002 5\n" + "0:1\n" * 1002), write("x", "__label__0\n" * 1001 + "__label__1 0.5\n")
    with pytest.raises(xmceval.DataError, match=r"x:1002: expected only __label__name.* found '0.5'"):
        scored(truth, preds)


@pytest.mark.parametrize("which", ["t.txt", "p.txt"])
def test_blank_lines_are_refused_also_beyond_the_bytes_that_the_format_is_detected_by(which, monkeypatch):
    read_in_pieces(monkeypatch, head=8)
    contents = {"t.txt": "0:1\n" * 20, "p.txt": "0:.5\n" * 20}
    for rest in "", "0:1\n":
        for name, content in {**contents, which: "\n" * (20 - bool(rest)) + rest}.items():
            write(name, content)
        if rest:
            scored("t.txt", "p.txt", n_labels=5)
        else:
            fails_with(f"{which}: has only blank lines; expected rows of idx:value", "t.txt", "p.txt", n_labels=5)


def test_what_is_not_a_file_is_reported(tmp_path, monkeypatch):
    write("t.txt", TRUTH)
    (tmp_path / "folder").mkdir()
    hint = "(hint: pass a pattern such as 'shards/*', to take its files as shards)"
    fails_with(f"folder: is a directory; expected a file {hint}", preds="folder")
    fails_with("nothing: no such file", preds="nothing")
    fails_with("/dev/null: is a device or a socket; expected a file or a pipe", preds="/dev/null")


NPZ = {
    "shape": np.array([4, 5]),
    "data": np.ones(2),
    "indices": np.array([0, 1]),
    "indptr": np.array([0, 1, 2, 2, 2]),
    "format": np.array(b"csr"),
}
BROKEN_NPZ = {
    "label too large": ({"indices": np.array([0, 7])}, f"m.npz row 1: label 7 is outside 0..4 ({WIDTH})"),
    "negative label": ({"indices": np.array([0, -1])}, "m.npz row 1: label -1 is negative; labels are 0-based column numbers"),
    "fractional labels": ({"indices": np.array([0, 0.5])}, "m.npz: its 'indices' has shape (2,) and dtype float64; expected integers in one dimension"),
    "wrong indptr": ({"indptr": np.array([0, 1, 2, 2, 9])}, "m.npz: its indptr does not describe 4 rows with 2 stored entries"),
    "short indptr": ({"indptr": np.array([0, 1])}, "m.npz: its indptr does not describe 4 rows with 2 stored entries"),
    "duplicates": ({"indices": np.array([1, 1]), "indptr": np.array([0, 2, 2, 2, 2])}, "m.npz row 0: label 1 appears twice in this row; a label has one score (hint: pass duplicates='max' to count its largest value)"),
    "names": ({"data": np.array(["a", "b"])}, "m.npz: its 'data' has shape (2,) and dtype <U1; expected numbers in one dimension"),
    "objects": ({"data": np.array([1, "a"], object)}, "m.npz: its 'data' has shape (2,) and dtype object; expected numbers in one dimension"),
    "negative shape": ({"shape": np.array([-4, 5])}, "m.npz: its shape is (-4, 5); expected rows and columns"),
    "another format": ({"format": np.array(b"bsr")}, "m.npz: is a sparse matrix of format 'bsr'; expected one of csr, csc, coo (hint: convert it with .tocsr())"),
    "a part missing": ({"format": np.array(b"coo"), "row": np.array([0, 1])}, "m.npz: lacks the array 'col'; a coo matrix has shape, data, row, col"),
    "coo, duplicates": ({"format": b"coo", "row": [1, 1], "col": [2, 2]}, "m.npz row 1: label 2 appears twice in this row; a label has one score (hint: pass duplicates='max' to count its largest value)"),
    "csc, duplicates": ({"format": b"csc", "indices": [1, 1], "indptr": [0, 0, 0, 2, 2, 2]}, "m.npz row 1: label 2 appears twice in this row; a label has one score (hint: pass duplicates='max' to count its largest value)"),
    "coo, a row too large": ({"format": b"coo", "row": [1, 4], "col": [0, 0]}, "m.npz: has an entry in row 4, but its shape has 4 rows"),
    "coo, a negative row": ({"format": b"coo", "row": [0, -1], "col": [0, 0]}, "m.npz: has an entry in row -1, but its shape has 4 rows"),
    "coo, other lengths": ({"format": b"coo", "row": [0], "col": [0, 0]}, "m.npz: its arrays of rows, columns and data have different lengths"),
    "coo, too many rows": ({"format": b"coo", "row": [0, 1], "col": [0, 0], "shape": [1 << 40, 5]}, "m.npz: its shape declares 1,099,511,627,776 rows for 2 stored entries"),
    "more labels": ({"shape": np.array([4, 7])}, "m.npz has 7 columns, but t.txt has 5 labels"),
    "fewer rows": ({"shape": np.array([2, 5]), "indptr": np.array([0, 1, 2])}, "t.txt has 4 rows, m.npz has 2 rows; they must be of the same instances"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN_NPZ)
def test_a_broken_npz_is_reported(name):
    changes, message = BROKEN_NPZ[name]
    np.savez("m.npz", **{**NPZ, **changes})
    fails_with(message, write("t.txt", TRUTH), "m.npz")


def test_an_npz_of_another_kind_is_reported():
    write("t.txt", TRUTH)
    np.savez("m.npz", np.eye(3))
    fails_with(
        "m.npz: is not a sparse matrix but has the array arr_0 (3 x 3, float64); expected a file of scipy.sparse.save_npz (hint: save it as .npy)",
        preds="m.npz",
    )
    np.savez_compressed("m.npz", **{**NPZ, "data": np.random.default_rng(1).random(2)})
    with open("m.npz", "rb") as file:
        whole = file.read()
    write("m.npz", whole[: len(whole) // 2])
    fails_with(
        "m.npz: cannot be read as an npz file; is it damaged or truncated? (it is no whole zip archive)", preds="m.npz"
    )


BROKEN_PAIRS = {
    "shapes": (LABELS[:, :1], SCORES, "r-labels.npy has shape (4, 1), but r-scores.npy has shape (4, 2); expected the same"),
    "rows": (LABELS[:3], SCORES[:3], "t.txt has 4 rows, r-labels.npy has 3 rows; they must be of the same instances"),
    "names": (LABELS.astype(object), SCORES, "r-labels.npy: has label names, not ids (hint: pass labels=, with one name per line)"),
    "nan": (LABELS, SCORES * np.nan, "r-labels.npy row 0: the score value of label 0 is NaN; expected a number (4 such rows)"),
    "negative": (LABELS - 1, SCORES, "r-labels.npy row 2: label -2 is negative; labels are 0-based column numbers"),
}  # fmt: skip


@pytest.mark.parametrize("name", BROKEN_PAIRS)
def test_a_broken_npy_pair_is_reported(name):
    labels, scores, message = BROKEN_PAIRS[name]
    np.save("r-labels.npy", labels)
    np.save("r-scores.npy", scores)
    fails_with(message, write("t.txt", TRUTH), "r")


def test_an_npy_that_does_not_fit_is_reported():
    write("t.txt", TRUTH)
    np.save("dense.npy", SCORES)
    fails_with("dense.npy has 2 columns, but t.txt has 5 labels", preds="dense.npy")
    fails_with("r-labels.npy: no such file; a pair is r-labels.npy and r-scores.npy", preds="r-labels.npy")
