"""What an input means is declared by its type, grammar, names and arguments: no ordinary call is refused or misread."""

import itertools
import json
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from judge import naive

import xmceval
from xmceval import DataError, XmcevalError

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

METRICS = ["P@1", "R@all"]


def write(name, text):
    Path(name).write_text(text)
    return name


def save(name, function, *args):
    function(name, *args)
    return name


def to_csr(rows, n_labels, scores=None):
    lengths = [len(row) for row in rows]
    values = np.ones(sum(lengths)) if scores is None else np.concatenate(scores)
    labels = np.array([*itertools.chain(*rows)], dtype=int)
    return sp.csr_array((values, labels, np.cumsum([0, *lengths])), shape=(len(rows), n_labels))


def to_dense(rows, n_labels, scores=None):
    dense = np.zeros((len(rows), n_labels), dtype=int) if scores is None else np.full((len(rows), n_labels), -np.inf)
    for row, labels in enumerate(rows):
        dense[row, labels] = 1 if scores is None else scores[row]
    return dense


def to_lines(rows, between):
    return "".join(between.join(map(str, row)) + "\n" for row in rows)


def to_pairs(rows, n_labels, scores=None):
    scores = [[1] * len(row) for row in rows] if scores is None else scores
    lines = (
        " ".join(f"{label}:{score}" for label, score in zip(*row, strict=True))
        for row in zip(rows, scores, strict=True)
    )
    return f"{len(rows)} {n_labels}\n" + "\n".join(lines) + "\n"


def padded(rows, fill, dtype):
    width = max(map(len, rows))
    return np.array([[*row, *[fill] * (width - len(row))] for row in rows], dtype=dtype)


def to_long(rows, scores=None):
    columns = {"row": np.repeat(np.arange(len(rows)), [len(row) for row in rows]), "label": [*itertools.chain(*rows)]}
    return pd.DataFrame(columns if scores is None else {**columns, "score": np.concatenate(scores)})


TRUTHS = {
    "lists": lambda rows, n: rows,
    "sets": lambda rows, n: [set(row) for row in rows],
    "arrays": lambda rows, n: [np.array(row) for row in rows],
    "csr": to_csr,
    "dense": to_dense,
    "bools": lambda rows, n: to_dense(rows, n).astype(bool),
    "frame": lambda rows, n: pd.DataFrame(to_dense(rows, n)),
    "npz": lambda rows, n: save("t.npz", sp.save_npz, sp.csr_matrix(to_csr(rows, n))),
    "npy": lambda rows, n: save("t.npy", np.save, to_dense(rows, n)),
    "text": lambda rows, n: write("t.txt", to_pairs(rows, n)),
    "blanks": lambda rows, n: write("t.txt", to_lines(rows, " ")),
    "commas": lambda rows, n: write("t.txt", to_lines(rows, ",")),
    "JSON lines": lambda rows, n: write("t.json", "".join(json.dumps({"target_ind": row}) + "\n" for row in rows)),
    "list table": lambda rows, n: pd.DataFrame({"labels": rows}),
    "long table": lambda rows, n: to_long(rows),
}
SCORED = {
    "csr": to_csr,
    "dense": to_dense,
    "frame": lambda rows, n, scores: pd.DataFrame(to_dense(rows, n, scores)),
    "pair": lambda rows, n, scores: (padded(rows, -1, int), padded(scores, 0.0, float)),
    "list of a pair": lambda rows, n, scores: [padded(rows, -1, int), padded(scores, 0.0, float)],
    "pairs": lambda rows, n, scores: [[*zip(*row, strict=True)] for row in zip(rows, scores, strict=True)],
    "dicts": lambda rows, n, scores: [dict(zip(*row, strict=True)) for row in zip(rows, scores, strict=True)],
    "npz": lambda rows, n, scores: save("p.npz", sp.save_npz, sp.csr_matrix(to_csr(rows, n, scores))),
    "npy": lambda rows, n, scores: save("p.npy", np.save, to_dense(rows, n, scores)),
    "text": lambda rows, n, scores: write("p.txt", to_pairs(rows, n, scores)),
    "list table": lambda rows, n, scores: pd.DataFrame({"labels": rows, "scores": scores}),
    "long table": lambda rows, n, scores: to_long(rows, scores),
}
RANKED = {
    "lists": lambda rows, n: rows,
    "arrays": lambda rows, n: [np.array(row) for row in rows],
    "padded": lambda rows, n: padded(rows, -1, int),
    "npy": lambda rows, n: save("p.npy", np.save, padded(rows, -1, int)),
    "frame": lambda rows, n: pd.DataFrame(padded(rows, -1, int)),
    "blanks": lambda rows, n: write("p.txt", to_lines(rows, " ")),
    "commas": lambda rows, n: write("p.txt", to_lines(rows, ",")),
    "list table": lambda rows, n: pd.DataFrame({"labels": rows}),
}
N_DRAWS = 40


def draw(rng):
    """Draw true labels, ranked labels and falling scores of each row, and the number of labels."""
    n_rows, n_labels = int(rng.integers(1, 13)), int(rng.integers(2, 31))
    most = min(6, n_labels)
    is_even = rng.random() < 0.5  # as many labels in each row
    lengths = [
        [int(rng.integers(1, most + 1))] * n_rows if is_even else rng.integers(1, most + 1, n_rows) for _ in "tp"
    ]
    truth, ranked = ([rng.permutation(n_labels)[:n].tolist() for n in of_rows] for of_rows in lengths)
    scores = [(np.sort(rng.random(len(row)))[::-1] * 8).tolist() for row in ranked]
    return truth, ranked, scores, n_labels


def judged(truth, ranked):
    rows = [dict.fromkeys(row, 1.0) for row in truth]
    scored = [{label: -place for place, label in enumerate(row)} for row in ranked]
    return [naive.evaluate("P", 1, {}, rows, scored), naive.evaluate("R", None, {}, rows, scored)]


def tried(y_true, y_score, **options):
    """Return the values, or None where the call is refused."""
    try:
        with warnings.catch_warnings(action="ignore"):
            found = xmceval.score(y_true, y_score, metrics=METRICS, **options)
    except XmcevalError:
        return None
    return [found[name] for name in METRICS]


@pytest.mark.parametrize("is_known", [False, True])
def test_ordinary_inputs_of_every_form_have_the_judges_values(is_known):
    rng, n_refused, n_tried = np.random.default_rng(8), 0, 0
    forms = [("scored", *names) for names in itertools.product(TRUTHS, SCORED)]
    forms += [("ranked", *names) for names in itertools.product(TRUTHS, RANKED)]
    for number in range(N_DRAWS * len(forms) // 8):
        kind, of_truth, of_scores = forms[number % len(forms)]
        truth, ranked, scores, n_labels = draw(rng)
        if is_known:
            n_labels += max(map(len, [*truth, *ranked])) + 1  # more than any width
        if n_labels == 2 and of_scores in {"padded", "npy", "frame"}:
            n_labels = 3  # whole numbers in two columns would be scores of two labels
        if len(truth) == 1 and {of_truth, of_scores} & {"blanks"}:
            continue  # a single line of numbers would be a header
        y_true = TRUTHS[of_truth](truth, n_labels)
        y_score = (
            RANKED[of_scores](ranked, n_labels) if kind == "ranked" else SCORED[of_scores](ranked, n_labels, scores)
        )
        found = tried(y_true, y_score, **({"n_labels": n_labels} if is_known else {}))
        n_tried += 1
        n_refused += found is None
        where = kind, of_truth, of_scores, truth, ranked, n_labels
        assert found is None or found == pytest.approx(judged(truth, ranked), rel=1e-12), where
        assert not (is_known and found is None), where
    assert n_refused <= 0.02 * n_tried


# Truth holds 0 and 1


NOT_BINARY = {
    "dense": lambda truth: truth,
    "csr": sp.csr_array,
    "frame": pd.DataFrame,
    "lists": lambda truth: (truth + 0.0).tolist(),
    "npz": lambda truth: save("g.npz", sp.save_npz, sp.csr_matrix(truth)),
    "npy": lambda truth: save("g.npy", np.save, truth),
    "text": lambda truth: write("g.txt", to_pairs([[0, 1], [1]], 2, [truth[0].tolist(), [truth[1][1]]])),
    "value": lambda truth: pd.DataFrame({"row": [0, 0, 1], "label": [0, 1, 1], "value": truth[truth != 0]}),
    "weight": lambda truth: pd.DataFrame({"row": [0, 0, 1], "label": [0, 1, 1], "weight": truth[truth != 0]}),
}


@pytest.mark.parametrize("form", NOT_BINARY)
@pytest.mark.parametrize("value", [2, 0.5, -1, 7])
def test_other_values_than_0_and_1_are_refused_unless_they_are_declared_grades(form, value):
    truth, scores = np.array([[1, value], [0, 1]]), np.array([[0.2, 0.9], [0.3, 0.8]])
    y_true = NOT_BINARY[form](truth)
    expected = rf"the truth value of label 1 is {value:g}; expected 0 or 1 \(hint: pass grades=True if these are grades"
    with pytest.raises(DataError, match=expected):
        xmceval.score(y_true, scores, metrics="nDCG", k=1)
    with pytest.raises(DataError, match=rf"the value of label 1 is {value:g}; expected 0 or 1 .* takes the labels of"):
        xmceval.score(np.eye(2), scores, metrics="PSP", k=1, train=y_true)
    if value in {2, 7}:
        assert xmceval.score(y_true, scores, metrics="nDCG", k=1, grades=True)["nDCG@1"] == 1.0
        evaluator = xmceval.Evaluator(metrics="nDCG", k=1, grades=True)
        if not isinstance(y_true, str) and "row" not in getattr(y_true, "columns", ()):
            evaluator.update(y_true, scores)
            assert evaluator.result()["nDCG@1"] == 1.0


@pytest.mark.parametrize("column", ["relevance", "rel", "grade", "rating"])
def test_columns_named_for_a_grade_and_qrels_declare_grades(column):
    scores = pd.DataFrame({"row": [0, 0], "label": [0, 1], "score": [0.9, 0.5]})
    truth = pd.DataFrame({"row": [0, 0], "label": [0, 1], column: [1, 3]})
    assert 0 < xmceval.score(truth, scores, metrics="nDCG", k=2)["nDCG@2"] < 1
    assert 0 < xmceval.score({"q": {"a": 1, "b": 3}}, {"q": {"a": 0.9, "b": 0.5}}, metrics="nDCG", k=2)["nDCG@2"] < 1


# Whole numbers as predictions


def test_whole_numbers_are_ids_unless_their_width_is_the_number_of_labels():
    truth = np.array([[1, 0, 0, 0], [0, 1, 0, 0]])
    votes = np.array([[5, 0, 0, 1], [2, 4, 1, 1]])
    assert xmceval.score(truth, votes, metrics="P", k=1)["P@1"] == 1.0  # scores of four labels
    assert xmceval.score(truth, np.array([[0, 3], [1, 2]]), metrics="P", k=1)["P@1"] == 1.0  # ids
    assert xmceval.score([[0], [1]], np.array([[0, 3], [1, 2]]), metrics="P", k=1)["P@1"] == 1.0
    decisions = np.array([[1, 0, 1], [0, 1, 0]])
    assert xmceval.score([[0, 2], [1]], decisions, metrics="P", k=1)["P@1"] == 1.0
    for known in ([[0, 1, 2, 3], [1, 0, 3, 2]], [[0, 1, -1, -1], [1, 0, 3, -1]]):
        with pytest.raises(DataError, match=r"different numbers of 0\.\.3: ids .* or scores\? \(hint: \.tolist\(\)"):
            xmceval.score(truth, np.array(known), metrics="P", k=1)
        assert xmceval.score(truth, known, metrics="P", k=1)["P@1"] == 1.0
    with pytest.raises(DataError, match=r"every row is a permutation of 0\.\.2, and the number of labels is not known"):
        xmceval.score([[0], [1]], np.array([[0, 1, 2], [1, 2, 0]]), metrics="P", k=1)
    doubts = xmceval.score(truth, np.array([[0.0, 1, 2, 3], [1, 0, 3, 2]]), metrics="P", k=1).doubts
    assert any("different whole numbers of 0..3, read as scores: are these ids" in doubt for doubt in doubts)


def test_lists_of_two_zeros_and_ones_are_refused_unless_the_number_of_labels_tells():
    lists = [[0, 1], [1, 0]]
    for name, y_true, y_score in (("y_true", lists, [[0], [1]]), ("y_score", [[0], [1]], lists)):
        with pytest.raises(DataError, match=rf"{name}: its lists have two numbers each, all 0 or 1: a matrix of two"):
            xmceval.score(y_true, y_score, metrics="P", k=1)
        assert xmceval.score(y_true, y_score, metrics="P", k=1, n_labels=5)["P@1"] == 1.0
    write("t.txt", "0 1\n1 0\n")
    with pytest.raises(DataError, match=r"t\.txt:1: its rows have two numbers each, all 0 or 1"):
        xmceval.score("t.txt", [[0], [1]], metrics="P", k=1)
    assert xmceval.score("t.txt", [[0], [1]], metrics="P", k=1, n_labels=5)["P@1"] == 1.0


def test_whole_numbers_between_tabs_are_columns():
    write("t.txt", "3\t1\n2\t5\n")
    with pytest.raises(DataError, match=r"t\.txt:1: has whole numbers between tabs, which are columns, but no header"):
        xmceval.score("t.txt", [[3], [2]], metrics="P", k=1)


# Names of rows


def test_a_column_with_a_known_name_names_the_rows_of_frames_and_tables():
    truth = pd.DataFrame(np.eye(3, dtype=int), columns=list("abc"))
    scores = pd.DataFrame(np.eye(3) + 0.1, columns=list("abc"))
    order = [2, 0, 1]
    for name in ("id", "uid", "query_id", "User ID"):
        ours, theirs = truth.assign(**{name: list("xyz")}), scores.assign(**{name: list("xyz")}).iloc[order]
        assert xmceval.score(ours, theirs.reset_index(drop=True), metrics="P", k=1)["P@1"] == 1.0
    numbered = scores.assign(row=[0, 1, 2]).iloc[order].reset_index(drop=True)
    assert xmceval.score(truth.assign(row=[0, 1, 2]), numbered, metrics="P", k=1)["P@1"] == 1.0
    with pytest.raises(
        DataError, match=r"its column 'id' names the rows by its name; expected different ids \(hint: ren"
    ):
        xmceval.score(truth.assign(id=[1, 1, 2]), scores, metrics="P", k=1)
    with pytest.raises(
        DataError, match=r"its column 'asin' has no numbers; .* set_index\('asin'\) if it names the rows"
    ):
        xmceval.score(truth.assign(asin=list("xyz")), scores, metrics="P", k=1)
    lists = pd.DataFrame({"id": list("xyz"), "labels": [[0], [1], [2]]})
    ranked = pd.DataFrame({"id": list("zxy"), "labels": [[2], [0], [1]]})
    assert xmceval.score(lists, ranked, metrics="P", k=1)["P@1"] == 1.0
    lists, ranked = (table.rename(columns={"id": "asin"}) for table in (lists, ranked))
    with pytest.raises(DataError, match=r"y_score: its 'asin' differs from 'asin' of y_true, and nothing else names"):
        xmceval.score(lists, ranked, metrics="P", k=1)


def test_lines_of_json_are_joined_by_a_known_key_in_one_order():
    write("t.json", '{"uid": "a", "target_ind": [0]}\n{"uid": "b", "target_ind": [1]}\n')
    write("p.json", '{"uid": "b", "data": [[1, 0.5]]}\n{"uid": "a", "data": [[0, 0.5]]}\n')
    write("q.json", '{"uid": "a", "data": [[0, 0.5]]}\n{"uid": "b", "data": [[1, 0.5]]}\n')
    assert xmceval.score("t.json", "q.json", metrics="P", k=1)["P@1"] == 1.0
    with pytest.raises(DataError, match=r"p\.json: its column 'uid' has the ids of t\.json in another order"):
        xmceval.score("t.json", "p.json", metrics="P", k=1)


def test_an_index_in_which_names_repeat_names_nothing_and_that_is_said():
    truth, scores = pd.DataFrame(np.eye(3, dtype=int)), pd.DataFrame(np.eye(3) + 0.1)
    found = xmceval.score(truth.set_axis([0, 1, 0]), scores.set_axis([0, 1, 0]), metrics="P", k=1)
    assert found["P@1"] == 1.0
    found = xmceval.score(truth.set_axis([0, 1, 0]), scores, metrics="P", k=1)
    assert any("rows by position, as the index of y_true repeats names" in line for line in found.inputs)
    with pytest.raises(DataError, match="its index repeats names, and so does y_true, in another order"):
        xmceval.score(truth.set_axis([0, 1, 0]), scores.set_axis([0, 0, 1]), metrics="P", k=1)
