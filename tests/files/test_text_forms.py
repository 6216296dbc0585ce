"""Text that could be read in two ways, or is written as elsewhere, is never read wrongly in silence."""

# ruff: noqa: F401 - lines use what is imported here

import pickle
import re
import time
import warnings
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from support.approved import check_lines
from support.files import LEGACY, PREDS, TRUTH, rows_in, same_numbers, scored, write
from support.pieces import read_in_pieces
from test_formats import ROWS, _in_a_folder, join, lines, refused

import xmceval


def p_at_1(truth, preds, **options):
    """Return P@1, and what is said of the first lines."""
    result = xmceval.score(truth, preds, metrics="P", k=1, **options)
    return "\n".join(
        [
            f"{result['P@1']:.4}",
            *(line for line in (*result.facts, *result.doubts) if line.startswith(("t:", "x:", "p:"))),
        ]
    )


def rows(text, **options):
    """Return the labels of the rows of truth."""
    return [[label for label, _ in row] for row in rows_in(write("x", text), "truth", **options)]


def strict(read, *inputs, **options):
    """Return what is read without any warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return read(*inputs, **options)


def hint_of(*inputs):
    """Return the hint of an error, which is kept where the error is pickled."""
    with pytest.raises(xmceval.DataError) as error:
        xmceval.score(*inputs, metrics="P", k=1)
    return pickle.loads(pickle.dumps(error.value)).hint


def reading(text):
    """Return how a text is read as truth, and as predictions: P@1 or the message of a refusal, in both ways."""
    write("x", text)
    said = {}
    for role, inputs in (("truth", ("x", "p.txt")), ("predictions", ("t.txt", "x"))):
        for duplicates in ("error", "max"):
            try:
                said[role, duplicates] = p_at_1(*inputs, duplicates=duplicates)
            except xmceval.DataError as error:
                said[role, duplicates] = str(error).partition("; pass")[0]
        assert said[role, "error"] == said[role, "max"]
    return f"truth: {said['truth', 'error']}\npredictions: {said['predictions', 'error']}"


def with_points(text):
    """Write numbers with decimal commas with points."""
    return re.sub(r'"?\b([09]),(44|31|9|1e-1)\b"?', r"\1.\2", text)


def test_text_that_could_be_read_in_two_ways_is_read_or_refused_in_these_words(run):
    for name, text in (
        ("backwards", "4\n3\n2\n1\n0\n"),
        ("hashes", "#green\nred\n#blue\n"),
        ("girls", "girls\n1\nred shoes\n"),
    ):
        write(name, text)
    by_id, by_query = write("two", "2 9\n5:1\n7:1\n"), {"0": {"5": 1}, "1": {"7": 1}}
    write("good", "2 3\n0:1\n1:1\n")
    write("broken", "2 3\nx:1\n1:1\n")
    Path("folder").mkdir()
    np.save("pair-labels.npy", np.zeros((2, 1), int))
    check_lines(__file__, "text.txt", globals() | locals())


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


def test_an_unreadable_file_is_reported(monkeypatch):
    opened = Path.open

    def refuse(path, *args, **options):
        if path.name == "p.txt":
            raise PermissionError(13, "Permission denied")
        return opened(path, *args, **options)

    monkeypatch.setattr(Path, "open", refuse)
    refused("^p.txt: Permission denied$")
