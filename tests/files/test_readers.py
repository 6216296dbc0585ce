"""Readers: every layout gives the same numbers, whole or in small pieces."""

import gzip
import re

import numpy as np
import pytest
from support.files import LABELS, LEGACY, PREDS, SCORES, TRUTH, body, rows_in, same_numbers, scored, write
from support.pieces import read_in_pieces

import xmceval

TEXTS = {
    "as it is": lambda text: text,
    "crlf": lambda text: text.replace("\n", "\r\n"),
    "tabs": lambda text: text.replace(" ", "\t"),
    "double blanks": lambda text: text.replace(" ", "  "),
    "outer blanks": lambda text: " " + text.replace("\n", " \n "),
    "bom": lambda text: "\ufeff" + text,
    "comments": lambda text: "# made by hand\n" + text.replace("\n1:", " # one\n\t# two\n1:") + "#\n",
    "commented header": lambda text: "# 4, 5\n " + body(text),
    "bom and comments": lambda text: "\ufeff# first\n#\n" + text,
    "blank lines after": lambda text: text + "\n \n\t\n",
    "blank lines and a comment after": lambda text: text + "\n# end\n\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_is_read_however_it_is_spaced(name):
    result = scored(write("t.txt", TEXTS[name](TRUTH)), write("p.txt", TEXTS[name](PREDS)))
    same_numbers(result)
    assert not any("newline" in warning for warning in result.warnings)


HEADERS = {
    "rows cols": PREDS,
    "rows k, DiSMEC++": PREDS.replace("4 5", "4 2"),
    "none, napkinXC": body(PREDS).replace("\n", " \n"),
    "none, with blank lines after": body(PREDS) + "\n\n",
    "integers with commas": PREDS.replace("4 5", "4,5"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_predictions_have_a_header_or_none(name):
    same_numbers(scored(write("t.txt", TRUTH), write("p.txt", HEADERS[name])))


TRUTHS = {
    "legacy": LEGACY,
    "legacy without features": "4 3 5\n0,2\n1\n\n3,4\n",
    "legacy without a header": body(LEGACY),
    "values with decimals": TRUTH.replace(":1", ":1.00000"),
    "no header": body(TRUTH),
    "explicit zeros": TRUTH.replace("0:1", "0:1 1:0"),
}


@pytest.mark.parametrize("name", TRUTHS)
def test_truth_has_three_text_forms(name):
    same_numbers(scored(write("t.txt", TRUTHS[name]), write("p.txt", PREDS)))


def test_a_header_of_legacy_truth_is_distinguished_from_a_row_of_labels():
    assert len(rows_in(write("t.txt", "0,1,2 0:1\n1 1:1\n"), "truth")) == 2
    assert len(rows_in(write("t.txt", LEGACY), "truth")) == 4


@pytest.mark.parametrize("name", ["r", "r-labels.npy", "r-scores.npy"])
@pytest.mark.parametrize("ending", ["", ".gz"])
def test_npy_pair_is_named_by_either_file_or_its_stem(name, ending):
    for part, array in (("labels", LABELS), ("scores", SCORES)):
        np.save(f"r-{part}.npy", array)
        if ending:
            with open(f"r-{part}.npy", "rb") as file:
                write(f"r-{part}.npy.gz", gzip.compress(file.read()))
    result = scored(write("t.txt", TRUTH), name + (ending if name != "r" else ""))
    same_numbers(result, scored("t.txt", (LABELS, SCORES)))


# Small pieces.


@pytest.mark.parametrize("size", [7, 8, 13, 32, 64, 1000])
@pytest.mark.parametrize("name", TEXTS)
def test_pieces_of_any_size_give_the_same_bits(size, name, monkeypatch):
    truth, preds = write("t.txt", TEXTS[name](TRUTH)), write("p.txt", TEXTS[name](PREDS))
    expected = scored(truth, preds)
    read_in_pieces(monkeypatch, text=size)
    for threads in (1, 2):
        same_numbers(scored(truth, preds, threads=threads), expected)
        same_numbers(scored(write("l.txt", LEGACY), preds, threads=threads), expected)


def long_files(n_rows, rng):
    truth = [" ".join(f"{label}:1" for label in sorted(rng.choice(50, 3, False))) for _ in range(n_rows)]
    preds = [" ".join(f"{label}:{rng.random():.6f}" for label in rng.permutation(50)[:8]) for _ in range(n_rows)]
    return truth, preds


def test_long_rows_and_pieces_of_either_file_stay_in_step(monkeypatch):
    rng = np.random.default_rng(3)
    truth, preds = long_files(300, rng)
    preds[100] = "# a comment that is longer than any piece: " + "x" * 500 + "\n" + preds[100]
    truth_name, preds_name = write("t.txt", "\n".join(["300 50", *truth, ""])), write("p.txt", "\n".join([*preds, ""]))
    expected = scored(truth_name, preds_name)
    for size in (8, 100, 977, 5000):
        read_in_pieces(monkeypatch, text=size)
        same_numbers(scored(truth_name, preds_name), expected)


@pytest.mark.parametrize("head", ["", "90 50\n", "# one\n# two\n90 50\n", "\ufeff90 50\n", "\ufeff"])
@pytest.mark.parametrize("row", [0, 1, pytest.param(45, marks=pytest.mark.thorough), 89])
@pytest.mark.parametrize("size", [64, 900, pytest.param(1 << 20, marks=pytest.mark.thorough)])
def test_line_of_a_fault_is_right(head, row, size, monkeypatch):
    truth, preds = long_files(90, np.random.default_rng(5))
    preds.insert(row, "# a comment, then a blank row and a fault" if row else preds[row])
    preds[row + (row > 0)] += " 99:1"
    lines = (head + "\n".join(preds[: 90 + (row > 0)])).split("\n")
    expected = next(number for number, line in enumerate(lines, 1) if "99:1" in line)
    write("t.txt", "\n".join(["90 50", *truth, ""]))
    read_in_pieces(monkeypatch, text=size)
    for threads in (1, 2):
        with pytest.raises(xmceval.DataError, match=rf"^p\.txt:{expected}: label 99 is outside 0\.\.49 "):
            scored("t.txt", write("p.txt", "\n".join([*lines, ""])), threads=threads)


def test_line_is_right_in_the_second_megabyte():
    truth = ["1:1"] * 60_000
    preds = ["1:0.123456 2:0.5 3:0.25"] * 60_000
    preds[57_000] = "1:0.5 2:x"
    write("t.txt", "\n".join(["60000 5", *truth, ""]))
    write("p.txt", "\n".join(["60000 5", *preds, ""]))
    message = "p.txt:57002: expected a number after the colon, found '2:x'"
    with pytest.raises(xmceval.DataError, match=f"^{re.escape(message)}$"):
        scored()


def test_the_earliest_fault_is_reported_whichever_thread_finds_it(monkeypatch):
    truth, preds = long_files(90, np.random.default_rng(7))
    preds[40] += " 77:1"
    preds[80] += " 88:1"
    write("t.txt", "\n".join(["90 50", *truth, ""]))
    write("p.txt", "\n".join([*preds, ""]))
    read_in_pieces(monkeypatch, text=256)
    for _ in range(5):
        with pytest.raises(xmceval.DataError, match=r"^p\.txt:41: label 77"):
            scored(threads=2)


def test_missing_last_newline_is_read_with_a_warning():
    result = scored(write("t.txt", TRUTH[:-1]), write("p.txt", PREDS[:-1]))
    same_numbers(result)
    for name in ("t.txt", "p.txt"):
        assert f"{name}: the last line has no newline; it was read (is the file truncated?)" in result.warnings


def test_numbers_are_read_one_per_line_or_from_npy():
    def weighted(weights):
        return xmceval.score(np.eye(3), np.eye(3)[[0, 2, 1]], metrics="P", k=1, sample_weight=weights)["P@1"]

    np.save("n.npy", np.array([1, 2, 3]))
    for name in (write("n.txt", "\ufeff1\n2.0\r\n3e0\n\n"), write("n.gz", gzip.compress(b"1\n2\n3")), "n.npy"):
        assert weighted(name) == weighted([1, 2, 3]) == 1 / 6
    np.save("n.npy", np.eye(2))
    for name, message in {
        write("a", "1\nx\n"): "a:2: expected one number per line, found 'x'",
        write("b", "1\n\n2\n"): "b:2: expected one number per line, found ''",
        write("c", "1 2\n"): "c:1: expected one number per line, found '1 2'",
        "n.npy": "n.npy: expected numbers in one dimension, got shape (2, 2) of float64",
    }.items():
        with pytest.raises(xmceval.DataError, match=f"^{re.escape(message)}$"):
            weighted(name)
