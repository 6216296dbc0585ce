"""The names of labels are a sequence or a file, at every door, and whole numbers among them are never positions."""

import io
from pathlib import Path

import numpy as np
import pytest
from support.asked import measured, p_at_1
from support.written import to_lines, write

import xmceval
from xmceval import DataError

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")

NAMES = ["red", "blue", "green", "teal"]
SEQUENCES = {
    "list": NAMES,
    "tuple": tuple(NAMES),
    "array": np.array(NAMES),
    "objects": np.array(NAMES, dtype=object),
    "bytes": np.array(NAMES, dtype="S"),
    "index": pd.Index(NAMES),
    "series": pd.Series(NAMES),
    "generator": NAMES,
}
TRUTH = pd.DataFrame({"labels": [["red", "blue"], ["green"], ["teal"], []]})
S = np.array([[0.1, 0.9, 0.2, 0.3], [0.8, 0.1, 0.3, 0.2], [0.1, 0.2, 0.3, 0.9], [1.0, 0.0, 0.0, 0.0]])
INDICATORS = np.array([[1, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [0, 0, 0, 0]])
OPTIONS = {"metrics": "P@1,nDCG@2,macroF1@1"}
EXPECTED = measured(INDICATORS, S, **OPTIONS)


@pytest.mark.parametrize("form", SEQUENCES)
def test_a_sequence_of_names_is_read_like_a_file_of_them(form):
    def take():
        names = SEQUENCES[form]
        return (name for name in names) if form == "generator" else names

    assert measured(TRUTH, S, labels=take(), **OPTIONS) == EXPECTED
    assert dict(xmceval.score_all(TRUTH, {"a": S, "b": S}, labels=take(), **OPTIONS)["a"]) == EXPECTED
    compared = xmceval.compare(TRUTH, {"a": S, "b": S}, labels=take(), **OPTIONS)
    assert [dict(result) for result in compared.results] == [EXPECTED] * 2
    evaluator = xmceval.Evaluator(labels=take(), **OPTIONS)
    columns = [2, 0, 3, 1]
    evaluator.update(INDICATORS, pd.DataFrame(S[:, columns], columns=[NAMES[column] for column in columns]))
    assert dict(evaluator.result()) == EXPECTED
    Path("t.txt").write_text("red blue\ngreen\nteal\n\n")
    write("names.txt", NAMES)
    read = xmceval.read("t.txt", kind="truth", labels=take()).toarray()
    assert read.tolist() == xmceval.read("t.txt", kind="truth", labels="names.txt").toarray().tolist()
    assert read.tolist() == INDICATORS.tolist()
    written = io.BytesIO()
    xmceval.convert("t.txt", written, kind="truth", labels=take())
    assert written.getvalue() == b"4 4\n0:1 1:1\n2:1\n3:1\n\n"
    assert xmceval.inspect("t.txt", kind="truth", labels=take()).files[0].n_labels == len(NAMES)


@pytest.mark.parametrize("names", [["3", "0", "1", "2"], [3, 0, 1, 2], [1, 2, 3, 4], [10, 2, 5, 7]])
def test_whole_numbers_beside_names_that_are_numbers_are_names_or_refused(names):
    numbers = [np.flatnonzero(row).tolist() for row in INDICATORS]
    words = [[str(names[label]) for label in row] for row in numbers]
    to_lines(words, " ", "words.txt")
    ranked = np.argsort(-S, axis=1).tolist()
    write("ids.txt", [" ".join(f"{label}:1" for label in row) for row in numbers])
    tables = [pd.DataFrame({"labels": words}), "words.txt"]
    for truth in tables:
        if set(map(int, names)) != {0, 1, 2, 3}:  # else the columns may be meant by their numbers
            assert measured(truth, S, labels=names, **OPTIONS) == EXPECTED
        assert measured(truth, pd.DataFrame(S, columns=names), labels=names, **OPTIONS) == EXPECTED
    for truth, scores in [*((truth, ranked) for truth in tables), (numbers, S), ("ids.txt", S), (INDICATORS, ranked)]:
        with pytest.raises(DataError, match="are these names too"):
            xmceval.score(truth, scores, labels=names, **OPTIONS)
    same = [0, 1, 2, 3]
    assert measured(numbers, S, labels=same, **OPTIONS) == EXPECTED


@pytest.mark.parametrize("names", [["[1]", "[a, b]"], ["{x", "y"], ["tab\tbed", "bar"], ["0 red", "1 blue"]])
def test_names_that_look_a_little_like_it_are_read(names):
    write("names", names)
    truth = pd.DataFrame({"labels": [[names[1]]]})
    assert p_at_1(truth, np.array([[0.0, 1.0]]), labels="names") == 1


@pytest.mark.parametrize("y_true", [[[1], [2], [1, 3]], pd.DataFrame({"labels": [[1], [2], [1, 3]]})])
def test_whole_numbers_in_both_inputs_beside_names_that_are_not_other_numbers_count_them(y_true):
    best = [[1, 2], [2, 1], [3, 1]]
    for names in (range(5), list("abcde")):
        assert p_at_1(y_true, best, labels=names) == 1.0


def test_training_rows_may_be_of_names_that_are_numbers():
    truth = pd.DataFrame({"labels": [["1"], ["2"], ["3"]]})
    assert measured(truth, truth, metrics="PSP", k=1, labels=list("12345"), train=truth) == {"PSP@1": 1.0}


def test_columns_that_are_numbers_beside_names_that_do_not_permute_them_are_read(rng):
    truth, scores = (rng.random((6, 5)) < 0.4).astype(int), rng.random((6, 5))
    frame = pd.DataFrame(scores, columns=list("01234"))
    by_position = p_at_1(truth, scores)
    for labels in (list("01234"), list("abcde")):
        assert p_at_1(truth, frame, labels=labels) == by_position
