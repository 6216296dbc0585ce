"""Doubts about labels and grades: numbers of rows, constants and ids that were read as such, and what looks alike."""

import numpy as np
import pytest
from support.files import write

import xmceval

N_ROWS, N_LABELS, DEPTH = 60, 200, 4
NUMBERS, CONSTANT, IDS = "are these row numbers, read as labels?", "is it a constant, read as a label?", "as ids do"


def beside(first, rows):
    """Return lists with a first label each, which is removed from the others."""
    return [[label, *(other for other in row if other != label)] for label, row in zip(first, rows, strict=True)]


@pytest.fixture
def lists(rng):
    """Lists of true labels, and of predictions that begin with one of them in two of three rows."""
    truth = [rng.choice(np.arange(5, N_LABELS), DEPTH, replace=False).tolist() for _ in range(N_ROWS)]
    predicted = [rng.choice(np.arange(5, N_LABELS), DEPTH, replace=False).tolist() for _ in range(N_ROWS)]
    heads = [
        row[0] if number % 3 else other[0] for number, (row, other) in enumerate(zip(truth, predicted, strict=True))
    ]
    return truth, beside(heads, predicted)


def of_labels(y_true, y_score, **options):
    """Return the doubts about labels and grades."""
    doubts = xmceval.score(y_true, y_score, metrics="P", k=1, **options).doubts
    return [doubt for doubt in doubts if NUMBERS in doubt or CONSTANT in doubt or IDS in doubt]


COUNT, ONE, SAME = range(7, 7 + N_ROWS), [3] * N_ROWS, "label 3 is"
# The first labels of truth and of predictions, None for what they have, and the doubts.
FIRST = {
    "as they are": (None, None, []),
    "numbers in the truth": (COUNT, None, [f"the truth has the labels 7, 8, 9 and so on, one in ?: {NUMBERS}"]),
    "numbers in both": (COUNT, COUNT, [f"the truth has the labels 7, 8, 9 and so on, one in ?: {NUMBERS}"]),
    "numbers in predictions": (
        None,
        COUNT,
        [f"the first predictions are the labels 7, 8, 9 and so on, one in ?: {NUMBERS}"],
    ),
    "one in the truth": (ONE, None, [f"{SAME} true in ?, and none of the two best predictions: {CONSTANT}"]),
    "one in both": (ONE, ONE, [f"{SAME} true in ?, and the first prediction: {CONSTANT}"]),
    "one in predictions": (None, ONE, [f"{SAME} the first prediction in ?, and true in none: {CONSTANT}"]),
}


@pytest.mark.parametrize(("of_truth", "of_scores", "doubts"), FIRST.values(), ids=FIRST)
@pytest.mark.parametrize("form", ["lists", "text"])
def test_first_words_that_count_up_or_agree_are_doubted(lists, run, form, of_truth, of_scores, doubts):
    truth, predicted = lists
    truth = truth if of_truth is None else beside(of_truth, truth)
    predicted = predicted if of_scores is None else beside(of_scores, predicted)
    expected = [doubt.replace("?", f"each of the first {N_ROWS} instances", 1) for doubt in doubts]
    if form == "lists":
        assert of_labels(truth, predicted) == expected
        return
    true, scores = "t.txt", "p.txt"
    for path, rows in ((true, truth), (scores, predicted)):
        write(path, "".join(" ".join(map(str, row)) + "\n" for row in rows))
    assert of_labels(true, scores) == expected
    code, _, err = run("score", true, scores, "-m", "P", "-k", "1", "--strict", "-q")
    assert code == bool(doubts)
    assert [line for line in expected if line not in err] == []


TRIPLES = "are these columns, such as user, item and rating, read as labels? (hint: name the columns)"


@pytest.mark.parametrize("form", ["lists", "text"])
@pytest.mark.parametrize("other", [None, "as good", "of two lengths", "one user more"])
def test_triples_of_user_item_and_rating_are_doubted(rng, form, other):
    users = np.repeat(1000 + np.arange(20), 3)
    rng.shuffle(users)
    items = rng.permutation(np.arange(100, 200))[:N_ROWS]
    truth, scores = (np.column_stack([users, ids, rng.integers(1, 6, N_ROWS)]) for ids in (items, np.roll(items, 1)))
    scores[::2, 1] = truth[::2, 1]
    truth, scores = truth.tolist(), (truth if other == "as good" else scores).tolist()
    if other == "of two lengths":
        truth[5].pop()
    if other == "one user more":
        scores[5][0] = 1020
    pair = (truth, scores)
    if form == "text":
        texts = ["".join(f"{' '.join(map(str, row))}\n" for row in rows) for rows in pair]
        pair = [write(name, text) for name, text in zip("tp", texts, strict=True)]
    doubts = xmceval.score(*pair, metrics="P", k=1).doubts
    assert any(TRIPLES in doubt for doubt in doubts) == (other is None)


def test_labels_that_only_look_like_numbers_of_rows_or_constants_are_not_doubted(lists, rng):
    truth, predicted = lists
    own = [[row] for row in range(N_ROWS)]
    scores = rng.random((N_ROWS, N_LABELS))
    assert of_labels(own, scores, n_labels=N_LABELS) == []  # a label per row, as where pairs are retrieved
    assert of_labels(own, own) == []
    popular = beside([3] * N_ROWS, predicted)
    common = [[*row, 3] if number % 2 else row for number, row in enumerate(truth)]
    assert of_labels(common, popular) == []  # a popular label is ranked first, and often true
    scores[:, 3] = rng.random(N_ROWS) + 0.7
    assert of_labels(beside([3] * N_ROWS, truth), scores, n_labels=N_LABELS) == []  # a label that all rows have
    assert of_labels([*beside(range(5, 24), truth[:19]), *truth[19:]], predicted) == []
    assert of_labels(beside(range(5, 24), truth[:19]), predicted[:19]) == []  # too few


GRADES = {
    "ids": (lambda rng: [rng.choice(np.arange(1, 500), DEPTH, replace=False) for _ in range(N_ROWS)], True),
    "grades": (lambda rng: rng.integers(0, 5, (N_ROWS, DEPTH)), False),
    "orders": (lambda rng: [1 + rng.permutation(DEPTH) for _ in range(N_ROWS)], False),
    "0 and 1": (lambda rng: rng.integers(0, 2, (N_ROWS, DEPTH)), False),
    "fractions": (lambda rng: rng.random((N_ROWS, DEPTH)), False),
}


@pytest.mark.parametrize(("make", "is_doubted"), GRADES.values(), ids=GRADES)
def test_declared_grades_that_all_differ_are_doubted(rng, run, make, is_doubted):
    truth, scores = np.array(make(rng)), rng.random((N_ROWS, DEPTH))
    line = (
        f"the grades of the truth all differ within each of the first {N_ROWS} instances, as ids do: are they ids of "
        "labels? (hint: pass lists of ids, without "
    )
    assert of_labels(truth, scores, grades=True) == is_doubted * [f"{line}grades)"]
    assert of_labels(truth[:19], scores[:19], grades=True) == []
    files = ["t.npy", "p.npy"]
    for file, array in zip(files, (truth, scores), strict=True):
        np.save(file, array)
    code, _, err = run("score", *files, "-m", "P", "-k", "1", "--grades", "--strict", "-q")
    assert (code, f"{line}--grades)" in err) == (is_doubted, is_doubted)


def test_items_that_are_found_for_the_rows_of_their_number_are_not_doubted(rng):
    """Image i belongs to text i, and to others."""
    truth = [[row, (7 * row + 3) % 40] for row in range(40)]
    scores = np.eye(40) + rng.random((40, 40))
    result = xmceval.score(truth, scores, n_labels=40, metrics="P", k=1)
    assert (result["P@1"], result.doubts) == (1.0, ())
