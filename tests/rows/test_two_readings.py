"""Arrays with two readings: full rankings and lines of row, label and value are decided by the caller, or refused."""

import numpy as np
import pytest
import scipy.sparse as sp
from test_containers import evaluate

import xmceval
from xmceval import DataError

N_ROWS, N_LABELS = 30, 8


@pytest.fixture
def y_true(rng):
    return (rng.random((N_ROWS, N_LABELS)) < 0.3).astype(int)


@pytest.fixture
def y_score(rng, y_true):
    return rng.random(y_true.shape) + y_true


def saved(array, name="ranking.npy"):
    np.save(name, array)
    return name


FORMS = {
    "array": np.asarray,
    "unsigned": lambda ranking: ranking.astype(np.uint8),
    "floats": lambda ranking: ranking.astype(np.float32),
    "lists": np.ndarray.tolist,
    "lists of floats": lambda ranking: ranking.astype(float).tolist(),
    "tensor": lambda ranking: pytest.importorskip("torch").tensor(ranking.copy()),
    "half tensor": lambda ranking: pytest.importorskip("torch").tensor(ranking).bfloat16(),
    "npy": saved,
    "npy of floats": lambda ranking: saved(ranking.astype(np.float64)),
    "npy by column": lambda ranking: saved(np.asfortranarray(ranking)),
}
CALLS = {
    "score": lambda *inputs, **options: xmceval.score(*inputs, metrics="P", k=1, **options)["P@1"],
    "compare": lambda y_true, y_score, **options: xmceval.compare(
        y_true, {"a": y_score, "b": y_true + 0.5}, metrics="P", k=1, **options
    ).results[0]["P@1"],
    "Evaluator": lambda *inputs, **options: evaluate(*inputs, metrics="P", k=1, **options),
    "at k": lambda *inputs, **options: xmceval.precision_at_k(*inputs, k=1, **options),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("call", CALLS)
def test_a_ranking_of_all_labels_is_refused_unless_the_number_of_labels_is_passed(y_true, y_score, form, call):
    if call == "Evaluator" and form.startswith("npy"):
        pytest.skip("an Evaluator takes no files")
    order = np.argsort(-y_score, axis=1)
    expected, ranking = CALLS[call](y_true, y_score), FORMS[form](order)
    with pytest.raises(DataError, match=r"permutation of 0\.\.7: ids of labels, .* or scores of 8 labels\?"):
        CALLS[call](y_true, ranking)
    if call != "at k":
        assert CALLS[call](y_true, ranking, n_labels=N_LABELS) == expected
    if not form.startswith(("lists", "npy")):
        assert CALLS[call](y_true, 1 + (N_LABELS - 1 - ranking)) == CALLS[call](y_true, -order)


@pytest.mark.parametrize("n_labels", [None, 3])
@pytest.mark.parametrize("y_score", [[[0, 1, 0], [1, 0, 0]], [[0, 3, 1], [2, 0, 1]], [[0, 1, 2], [2, 2, 0]]])
def test_other_integers_as_wide_as_the_truth_are_scores(y_score, n_labels):
    y_true = np.eye(3, dtype=int)[:2]
    assert xmceval.score(y_true, np.array(y_score), metrics="P", k=1, n_labels=n_labels) == xmceval.score(
        y_true, np.array(y_score, dtype=float) + 0.5, metrics="P", k=1
    )


def test_fractions_far_down_in_a_ranking_of_floats_are_refused(tmp_path):
    ranking = np.tile(np.arange(3.0), (200_000, 1))
    ranking[-1] = [0, 1.5, 1]
    truth = sp.csr_array(ranking.shape)
    np.save(tmp_path / "r.npy", ranking)
    for y_score in (ranking, tmp_path / "r.npy"):
        with pytest.raises(xmceval.DataError, match="is read as ids of labels, but some are fractions"):
            xmceval.score(truth, y_score, metrics="P", k=1, n_labels=3)


def test_a_file_of_a_ranking_is_not_read_as_truth_either(y_score, tmp_path):
    np.save(tmp_path / "r.npy", np.argsort(-y_score, axis=1))
    with pytest.raises(DataError, match="permutation"):
        xmceval.read(tmp_path / "r.npy")
    expected = np.argsort(np.argsort(-y_score, axis=1), axis=1)
    read = xmceval.read(tmp_path / "r.npy", n_labels=N_LABELS).toarray()
    assert (N_LABELS - read == expected).all()


# Lines of row, label and value

RATINGS = np.array([[11, 101, 5], [12, 102, 3], [12, 107, 4], [14, 104, 5]])
PREDICTED = np.array([[11, 101, 0.9], [12, 109, 0.8], [14, 108, 0.7], [14, 104, 0.6]])


LINES = {
    "repeated": (RATINGS, PREDICTED),
    "in any order": (RATINGS[[3, 1, 0, 2]], PREDICTED),
    "counting up": (RATINGS[[0, 1, 3]], PREDICTED[[0, 1, 2]]),
    "ranks": (RATINGS, RATINGS[::-1]),
    "fewer": (RATINGS, PREDICTED[:3]),
}


@pytest.mark.parametrize("lines", LINES)
@pytest.mark.parametrize("form", ["array", "lists", "tensor", "npy"])
@pytest.mark.parametrize("duplicates", ["error", "max"])
def test_lines_of_row_label_and_value_are_refused_as_matrices(lines, form, duplicates):
    y_true, y_score = (
        saved(array, name) if form == "npy" else FORMS[form](array)
        for array, name in zip(LINES[lines], ("t.npy", "p.npy"), strict=True)
    )
    with pytest.raises(DataError, match=r"may be matrices of three labels, or have a row, a label and a value"):
        xmceval.score(y_true, y_score, metrics="P", k=1, duplicates=duplicates)


@pytest.mark.parametrize("dtype", [str, object, complex, "M8[D]"])
@pytest.mark.parametrize("wrong", ["y_true", "y_score"])
def test_three_columns_that_have_no_numbers_are_refused_in_words(wrong, dtype):
    inputs = {"y_true": RATINGS, "y_score": RATINGS[::-1]}
    with pytest.raises(DataError, match=f"^{wrong}: (expected numbers, got|has numbers as text)"):
        xmceval.score(**inputs | {wrong: inputs[wrong].astype(dtype)}, metrics="P", k=1)


MATRICES = {
    "0 and 1": ([[1, 0, 1], [0, 1, 0], [1, 1, 0]], [[1, 0, 2], [0, 1, 3], [1, 1, 4]]),
    "fractions": ([[4, 0, 1], [2, 1, 0]], [[0.9, 0.1, 0.4], [0.2, 0.3, 0.1]]),
    "a pair twice": ([[2, 0, 1], [2, 0, 3], [1, 1, 0]], [[2, 1, 1], [2, 3, 9], [1, 5, 0]]),
    "other rows": ([[4, 0, 1], [2, 1, 0], [4, 1, 1]], [[3, 1, 1], [1, 5, 0], [3, 3, 2]]),
    "two rows": ([[3, 0, 2], [4, 1, 1]], [[3, 2, 1], [4, 0, 2]]),
}


def test_matrices_of_three_labels_are_scored():
    for y_true, y_score in [*(map(np.array, pair) for pair in MATRICES.values()), (sp.csr_array(RATINGS), PREDICTED)]:
        assert 0 <= xmceval.score(y_true, y_score, metrics="P", k=1)["P@1"] <= 1


@pytest.mark.parametrize("make", [list, np.array])
@pytest.mark.parametrize("call", ["score", "Evaluator", "at k"])
def test_lists_of_ids_of_one_length_are_refused_beside_lists_of_another(call, make):
    true = [[4, 1, 2], [0, 3, 4], [1, 3, 2]] * 4
    best = [[4, 1, 0, 3], [2, 3, 4, 1], [1, 3, 0, 4]] * 4
    sets = [set(row) for row in true]
    expected = xmceval.score(sets, best, metrics="P", k=1)["P@1"]
    hint = r"are these ids\? \(hint: pass \[set\(row\) for row in numpy\.asarray\(y_true\)\.tolist\(\)\]\)"
    with pytest.raises(xmceval.DataError, match=hint):
        CALLS[call](make(true), best)
    assert CALLS[call]([set(row) for row in np.asarray(true).tolist()], best) == expected


@pytest.mark.parametrize("make", [list, np.array])
def test_a_list_of_labels_and_scores_is_a_pair_as_a_tuple_is(make):
    true = [[1, 4, 7], [2, 5, 8], [3, 6, 9], [0, 1, 2]] * 5
    ids, scores = np.array(true), np.tile([0.9, 0.5, 0.1], (20, 1))
    hint = r"the predictions are of ids of labels: are these ids\?"
    for pair in ((ids, scores), [ids, scores]):
        with pytest.raises(xmceval.DataError, match=hint):
            xmceval.score(make(true), pair, metrics="P", k=1)
