"""Places of faults: the row and the label that a message names, in any block and thread, and where rows are skipped."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from support.approved import check_lines
from support.files import write
from support.pieces import read_in_pieces

import xmceval
from xmceval import DataError

N_ROWS, N_LABELS = 9, 6
every_cut = pytest.mark.parametrize(("entries", "threads"), [(1, 1), (7, 1), (7, 2), (1 << 17, 1)])


def stored(n_entries=4):
    """Return rows of labels and values, every second one unsorted, with a stored zero in front."""
    rows = []
    for row in range(N_ROWS):
        labels = [(row + i) % N_LABELS for i in range(n_entries)]
        rows.append(([*sorted(labels)] if row % 2 else labels, [0.0, *[1.0] * (n_entries - 1)]))
    return rows


def to_matrix(rows):
    """Return rows as CSR, unseen by scipy's own checks."""
    matrix = csr_matrix((len(rows), N_LABELS))
    matrix.indptr = np.cumsum([0, *(len(labels) for labels, _ in rows)])
    matrix.indices = np.array([label for labels, _ in rows for label in labels])
    matrix.data = np.array([value for _, values in rows for value in values])
    return matrix


def with_value(rows, row, entry, value):
    rows[row][1][entry] = value
    return rows[row][0][entry]


def with_label(rows, row, entry, label):
    rows[row][0][entry] = label
    return label


TRUTH = {
    "a NaN": (lambda r, i, e: with_value(r, i, e, np.nan), "the truth value of label {} is NaN"),
    "a negative": (lambda r, i, e: with_value(r, i, e, -2.0), "the truth value of label {} is -2, negative"),
    "too large": (lambda r, i, e: with_value(r, i, e, 2.0**41), "the truth value of label {} is 2.19902e+12"),
    "outside": (lambda r, i, e: with_label(r, i, e, 6), "label {} is outside 0..5 (y_true has 6 labels; "),
    "below 0": (lambda r, i, e: with_label(r, i, e, -1), "label {} is negative; labels are 0-based column numbers"),
    "twice": (
        lambda r, i, e: with_label(r, i, e, r[i][0][1 if e != 1 else 2]),
        "label {} appears twice in this row; a label has one ",
    ),
}
SCORES = {name: TRUTH[name] for name in ("outside", "below 0", "twice")}
SCORES["a NaN"] = TRUTH["a NaN"][0], "the score value of label {} is NaN"


def lines_of(threads, **which):
    arguments = {"y_true": to_matrix(stored()), "y_score": to_matrix(stored()), "k": 1, "metrics": "P", "grades": True}
    arguments |= which
    with pytest.raises(DataError) as error:
        xmceval.score(**arguments, threads=threads)
    return str(error.value).splitlines()


CASES = [("y_true", entry, fault, *TRUTH[fault]) for entry in (1, 3) for fault in TRUTH]
CASES += [("y_score", entry, fault, *SCORES[fault]) for entry in (0, 3) for fault in SCORES]


@every_cut
@pytest.mark.parametrize("row", [0, 4, 8])
@pytest.mark.parametrize(("name", "entry", "fault", "make", "message"), CASES)
def test_a_fault_names_its_row_and_label(monkeypatch, entries, threads, row, name, entry, fault, make, message):
    read_in_pieces(monkeypatch, entries=entries)
    rows = stored()
    label = make(rows, row, entry)
    [line] = lines_of(threads, **{name: to_matrix(rows)})
    noun = {"y_true": "truth", "y_score": "score"}[name] * message.endswith("has one ")
    assert line.startswith(f"{name} row {row}: {message.format(label)}{noun}")


@every_cut
def test_every_faulty_row_is_named_once_in_order(monkeypatch, entries, threads):
    read_in_pieces(monkeypatch, entries=entries)
    truth, scores = stored(), stored()
    for row in (2, 3, 7):
        with_value(truth, row, 2, -0.5)
    for row in (0, 8):
        with_value(scores, row, 2, np.nan)
    lines = lines_of(threads, y_true=to_matrix(truth), y_score=to_matrix(scores))
    places = ["y_score row 0", "y_true row 2", "y_true row 3", "y_true row 7", "y_score row 8"]
    assert [line.partition(":")[0] for line in lines] == places


@every_cut
@pytest.mark.parametrize("wrong", [(1,), (5,), (8,), (1, 5, 8)])
@pytest.mark.parametrize("weights", [None, [0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0]])
def test_grades_above_the_scale_are_named_in_the_order_of_rows(monkeypatch, entries, threads, wrong, weights):
    read_in_pieces(monkeypatch, entries=entries)
    rows = stored()
    for row in wrong:
        with_value(rows, row, 3, 3.0)
    lines = lines_of(threads, y_true=to_matrix(rows), metrics="ERR@1", sample_weight=weights)
    starts = [f"y_true row {row}: a grade is above the greatest" for row in wrong]
    assert [line.partition(" of ERR")[0] for line in lines] == starts


@every_cut
def test_stored_zeros_of_all_blocks_are_counted_and_are_no_labels(monkeypatch, entries, threads):
    read_in_pieces(monkeypatch, entries=entries)
    rows = stored()
    for row in (1, 6):
        with_value(rows, row, 3, 0.0)
    result = xmceval.score(to_matrix(rows), to_matrix(stored()), k=1, metrics=["P", "R@all"], threads=threads)
    assert (result.counts.explicit_zeros, result.counts.n_true) == (N_ROWS + 2, 3 * N_ROWS - 2)
    assert result["R@all"] == 1.0


def wrong_rows(n_wrong):
    """Return truth with a label of -2 in the last rows, and scores with a NaN in the second row."""
    y_true, y_score = np.eye(15), np.ones((15, 15))
    y_true[15 - n_wrong :, 0] = -2
    y_score[1, 3] = np.nan
    return {"y_true": y_true, "y_score": y_score}


def ratings(rated):
    """Return a truth by query, which has grades, of which 12 are fractions."""
    rows = range(15)
    return {str(row): {"a": rated if row > 2 else 1.0, str(row): 1.0} for row in rows}


def longer(row):
    """Write predictions of which a row is longer than the header declares."""
    lines = ["0:1 1:1"] * 4
    if row is not None:
        lines[row] += " 2:1"
    return write("p.txt", "4 2\n" + "\n".join(lines) + "\n")


@pytest.mark.parametrize("n_threads", [1, 2])
def test_faults_of_many_rows_are_named_in_these_words(n_threads):
    def faults(**inputs):
        return "\n".join(lines_of(n_threads, **inputs))

    write("t.txt", "4 9\n" + "0:1\n" * 4)
    check_lines(__file__, "faults.txt", globals() | locals())
