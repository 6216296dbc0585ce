"""Every broken file ends in one message with its place, the cause and a hint; tables hold the whole messages."""
# ruff: noqa: E501 - a message is compared as one line

import gzip
import pickle
from pathlib import Path

import numpy as np
import pytest
from support.files import LABELS, LEGACY, PREDS, SCORES, TRUTH, scored, write
from support.pieces import read_in_pieces

import xmceval

# Broken files: the whole message of each. The other file is good.

SIZES = "t.txt has 4 rows, p.txt has {} rows; they must be of the same instances"
WIDTH = "t.txt has 5 labels; labels are 0-based"
BROKEN_PREDS = {
    "row missing": (PREDS.rsplit("\n", 2)[0] + "\n", "p.txt: the header '4 5' declares 4 rows, but the file has 3 rows (is it truncated, or the header wrong?)"),
    "fewer rows": ("3 5\n1:1\n2:1\n3:1\n", SIZES.format(3)),
    "more rows": ("5 5" + "\n1:1" * 5 + "\n", SIZES.format(5)),
    "fewer rows, no header": ("1:1\n2:1\n3:1\n", SIZES.format(3)),
    "more rows, no header": ("1:1\n" * 5, SIZES.format(5)),
    "row beyond the header": (PREDS + "\n\n1:1\n", "p.txt:8: unexpected row; the header '4 5' declares 4 rows"),
    "label too large": (PREDS.replace("4:.5", "5:.5"), f"p.txt:5: label 5 is outside 0..4 ({WIDTH})"),
    "label beyond 64 bits": (PREDS.replace("4:", "9" * 20 + ":"), "p.txt:5: expected a 0-based column number below 2^63, found '99999999999999999999:.5'"),
    "negative label": (PREDS.replace("4:", "-1:"), "p.txt:5: expected a label id before the colon, found '-1:.5'"),
    "nan": (PREDS.replace("4:.5", "4:nan"), "p.txt:5: the score value of label 4 is NaN; expected a number"),
    "duplicate": (PREDS.replace("4:.5", "3:.5"), "p.txt:5: label 3 appears twice in this row; a label has one score (hint: pass duplicates='max' to count its largest value)"),
    "one number as header": (PREDS.replace("4 5", "4"), "p.txt:1: expected a header 'rows cols', or a row of idx:value, found '4'"),
    "four numbers as header": (PREDS.replace("4 5", "4 5 6 7"), "p.txt:1: expected a header 'rows cols', or a row of idx:value, found '4 5 6 7'"),
    "three numbers as header": (PREDS.replace("4 5", "4 9 5"), "p.txt:1: the header '4 9 5' declares points, features and labels, but no row begins with labels; expected the header 'rows cols' before rows of idx:value"),
    "header too large": (PREDS.replace("4 5", "4 " + "9" * 20), f"p.txt:1: a number of the header '4 {'9' * 20}' is above 2^63 - 2"),
    "header just too large": (PREDS.replace("4 5", f"4 {2**63 - 1}"), f"p.txt:1: a number of the header '4 {2**63 - 1}' is above 2^63 - 2"),
    "header of another width": (PREDS.replace("4 5", f"4 {2**63 - 2}"), "p.txt declares 9,223,372,036,854,775,806 labels, but t.txt has 5 labels"),
    "words as header": (PREDS.replace("4 5", "rows cols"), "p.txt:1: expected a label id before the colon, found 'rows'"),
    "cut in a number": (PREDS[:-2], "p.txt:5: expected a number after the colon, found '3:.'"),
    "cut after a colon": (PREDS[:-3], "p.txt:5: expected a number after the colon, found '3:'"),
    "cut in a label": (PREDS[:-4], "p.txt:5: expected idx:value, found '3'"),
    "empty": ("", "p.txt: the file is empty"),
    "empty, gzipped": (gzip.compress(b""), "p.txt: the file is empty"),
    "only blank lines": ("\n \n\n\n", "p.txt: has only blank lines; expected rows of idx:value"),
    "only a comment and blank lines": ("# scores\n\n\n", "p.txt: has only blank lines; expected rows of idx:value"),
    "no number": (PREDS.replace("4:.5", "4:abc"), "p.txt:5: expected a number after the colon, found '4:abc'"),
    "no label": (PREDS.replace("4:.5", "x:.5"), "p.txt:5: expected a label id before the colon, found 'x:.5'"),
    "bytes beyond ASCII": (PREDS.replace("4:.5", "4:é"), "p.txt:5: expected a number after the colon, found '4:\\xc3\\xa9'"),
    "a byte 0": (PREDS.replace("4:.5", "4:\0"), "p.txt:5: expected a number after the colon, found '4:\\x00'"),
    "long token": (PREDS.replace("4:.5", "4:" + "y" * 50), f"p.txt:5: expected a number after the colon, found '4:{'y' * 38}'..."),
    "no header": ("u1 d1 1\nu1 d2 0\n", "p.txt:1: expected rows of idx:value such as '12:0.5 90:0.25', found 'u1 d1 1' (hint: pass labels= if these are label names; of query, document and value name the columns, as in 'query_id,doc_id,score')"),
    "prose": ("hello world\n", "p.txt:1: expected rows of idx:value such as '12:0.5 90:0.25', found 'hello world' (hint: pass labels= if these are label names)"),
    "legacy": (LEGACY, "p.txt: looks like truth (text, rows of label,label feature:value, header '4 3 5'); expected predictions, such as rows of idx:score"),
    "utf-16": (PREDS.encode("utf-16"), "p.txt: is UTF-16 text; expected UTF-8 text, npz or npy (hint: convert it with iconv -f UTF-16 -t UTF-8)"),
    "binary": (b"\x7fELF\x02\x01\0\0\0", "p.txt: is binary data of an unknown kind, or UTF-16; expected UTF-8 text, npz or npy"),
    "carriage returns only": (PREDS.replace("\n", "\r"), "p.txt: its lines end with carriage returns only; expected newlines"),
    "pickle": (pickle.dumps({}), "p.txt: is a pickle, which runs code when it is loaded; expected UTF-8 text, npz or npy (hint: save the matrix with scipy.sparse.save_npz)"),
    "matlab": (b"MATLAB 5.0 MAT-file\n", "p.txt: is a MATLAB file; expected UTF-8 text, npz or npy (hint: save the matrix with scipy.sparse.save_npz)"),
    "hdf5": (b"\x89HDF\r\n\x1a\n", "p.txt: is an HDF5 file; expected UTF-8 text, npz or npy (hint: save the matrix with scipy.sparse.save_npz)"),
    "no zip": (b"PK\x03\x04" + bytes(50), "p.txt: cannot be read as an npz file; is it damaged or truncated? (it is no whole zip archive)"),
    "omikuji, a label without its score": ("0 0.9\t1 0.5\n4 0.3\t1\n\n\n", "p.txt:2: expected tab-separated 'label score', found '1'"),
    "bzip2 damaged": (b"BZh9xxxx", "p.txt: the compressed file is damaged or truncated (its bytes are wrong)"),
    "gzip cut": (gzip.compress(PREDS.encode())[:-12], "p.txt: the compressed file is damaged or truncated (it ends too early)"),
}  # fmt: skip

BROKEN_TRUTHS = {
    "label too large": (TRUTH.replace("4:1", "5:1"), f"t.txt:5: label 5 is outside 0..4 ({WIDTH})"),
    "label too large, legacy": (LEGACY.replace("3,4", "3,5"), f"t.txt:5: label 5 is outside 0..4 ({WIDTH})"),
    "nan": (TRUTH.replace("4:1", "4:nan"), "t.txt:5: the truth value of label 4 is NaN; expected a number"),
    "negative": (TRUTH.replace("4:1", "4:-1"), "t.txt:5: the truth value of label 4 is -1, negative; expected 0, 1 or a whole grade (does -1 mean false? then pass 0)"),
    "duplicate": (TRUTH.replace("4:1", "3:1"), "t.txt:5: label 3 appears twice in this row; a label has one truth (hint: pass duplicates='max' to count its largest value)"),
    "predictions": (PREDS, "t.txt:2: the truth value of label 0 is 0.9, a fraction; expected 1 or a whole grade (3 such rows: are truth and predictions swapped?)"),
    "two commas": (LEGACY.replace("3,4", "3,,4"), "t.txt:5: expected label ids separated by single commas, found '3,,4'"),
    "header declares more": (TRUTH.replace("4 5", "6 5"), "t.txt: the header '6 5' declares 6 rows, but the file has 4 rows (is it truncated, or the header wrong?)"),
    "row beyond the header": (TRUTH.replace("4 5", "3 5"), "t.txt:5: unexpected row; the header '3 5' declares 3 rows"),
    "only blank lines": ("\n" * 4, "t.txt: has only blank lines; expected rows of idx:value"),
}  # fmt: skip


def fails_with(message, *args, **options):
    with pytest.raises(xmceval.DataError) as caught:
        scored(*args, **options)
    assert str(caught.value).split("\n")[0] == message


@pytest.mark.parametrize("name", BROKEN_PREDS)
@pytest.mark.parametrize("size", [32, 1 << 20])
def test_broken_predictions_are_reported(name, size, monkeypatch):
    content, message = BROKEN_PREDS[name]
    read_in_pieces(monkeypatch, text=size)
    fails_with(message, write("t.txt", TRUTH), write("p.txt", content))


@pytest.mark.parametrize("name", BROKEN_TRUTHS)
@pytest.mark.parametrize("size", [32, 1 << 20])
def test_broken_truth_is_reported(name, size, monkeypatch):
    content, message = BROKEN_TRUTHS[name]
    read_in_pieces(monkeypatch, text=size)
    fails_with(message, write("t.txt", content), write("p.txt", PREDS))


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


def test_an_unreadable_file_is_reported(monkeypatch):
    write("t.txt", TRUTH)
    write("p.txt", PREDS)
    opened = Path.open

    def refuse(path, *args, **options):
        if path.name == "p.txt":
            raise PermissionError(13, "Permission denied")
        return opened(path, *args, **options)

    monkeypatch.setattr(Path, "open", refuse)
    fails_with("p.txt: Permission denied")


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
