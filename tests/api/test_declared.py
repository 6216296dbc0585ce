"""What an input means is declared by its type, grammar, names and arguments: no ordinary call is refused or misread."""

import itertools
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from judge import naive
from support.asked import doubts_of, p_at_1, refused
from support.files import write
from support.written import RANKED, SCORED, TRUE, save

import xmceval
from xmceval import XmcevalError

pd = pytest.importorskip("pandas")
pytest.importorskip("pyarrow")

METRICS = ["P@1", "R@all"]
SCORES = "csr,dense,wide frame,pair,list of a pair,lists of pairs,lists of dicts,npz,npy,text,list table,long table"
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
    forms = [("scored", *names) for names in itertools.product(TRUE, SCORES.split(","))]
    forms += [("ranked", *names) for names in itertools.product(TRUE, RANKED)]
    for number in range(N_DRAWS * len(forms) // 8):
        kind, of_truth, of_scores = forms[number % len(forms)]
        truth, ranked, scores, n_labels = draw(rng)
        if is_known:
            n_labels += max(map(len, [*truth, *ranked])) + 1  # more than any width
        if n_labels == 2 and of_scores in {"padded", "npy", "frame"}:
            n_labels = 3  # whole numbers in two columns would be scores of two labels
        if len(truth) == 1 and {of_truth, of_scores} & {"blanks"}:
            continue  # a single line of numbers would be a header
        y_true = TRUE[of_truth](truth, n_labels)
        if kind == "ranked":
            y_score = RANKED[of_scores](ranked, n_labels)
        else:
            cells = [[*zip(*row, strict=True)] for row in zip(ranked, scores, strict=True)]
            y_score = SCORED[of_scores](cells, n_labels)
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
    "text": lambda truth: write("g.txt", f"2 2\n0:1 1:{truth[0, 1]}\n1:1\n"),
    "value": lambda truth: pd.DataFrame({"row": [0, 0, 1], "label": [0, 1, 1], "value": truth[truth != 0]}),
    "weight": lambda truth: pd.DataFrame({"row": [0, 0, 1], "label": [0, 1, 1], "weight": truth[truth != 0]}),
}


@pytest.mark.parametrize("form", NOT_BINARY)
@pytest.mark.parametrize("value", [2, 0.5, -1, 7])
def test_other_values_than_0_and_1_are_refused_unless_they_are_declared_grades(form, value):
    truth, scores = np.array([[1, value], [0, 1]]), np.array([[0.2, 0.9], [0.3, 0.8]])
    y_true = NOT_BINARY[form](truth)
    expected = rf"the truth value of label 1 is {value:g}; expected 0 or 1 \(hint: pass grades=True if these are grades"
    refused(expected, y_true, scores, metrics="nDCG", k=1)
    refused(
        rf"the value of label 1 is {value:g}; expected 0 or 1 .* takes the labels of",
        np.eye(2),
        scores,
        metrics="PSP",
        k=1,
        train=y_true,
    )
    if value > 0:
        expected = (min(value, 1) + 1) / 2
        assert xmceval.score(y_true, scores, metrics="nDCG", k=1, grades=True)["nDCG@1"] == expected
        evaluator = xmceval.Evaluator(metrics="nDCG", k=1, grades=True)
        if not isinstance(y_true, str) and "row" not in getattr(y_true, "columns", ()):
            evaluator.update(y_true, scores)
            assert evaluator.result()["nDCG@1"] == expected


@pytest.mark.parametrize("column", ["relevance", "rel", "grade", "rating"])
def test_columns_named_for_a_grade_and_qrels_declare_grades(column):
    scores = pd.DataFrame({"row": [0, 0], "label": [0, 1], "score": [0.9, 0.5]})
    truth = pd.DataFrame({"row": [0, 0], "label": [0, 1], column: [1, 3]})
    assert 0 < xmceval.score(truth, scores, metrics="nDCG", k=2)["nDCG@2"] < 1
    assert 0 < xmceval.score({"q": {"a": 1, "b": 3}}, {"q": {"a": 0.9, "b": 0.5}}, metrics="nDCG", k=2)["nDCG@2"] < 1


BY_NATURE = {
    "dict": lambda: {"q": {"a": 0.25, "b": 0.75}},
    "records": lambda: [{"query": "q", "document": "a", "rel": 0.25}, {"query": "q", "document": "b", "rel": 0.75}],
    "table": lambda: pd.DataFrame({"query": ["q", "q"], "document": ["a", "b"], "rel": [0.25, 0.75]}),
    "JSON": lambda: write("q.json", '{"q": {"a": 0.25, "b": 0.75}}'),
    "qrels": lambda: write("q.qrels", "q 0 a 0.25\nq 0 b 0.75\n"),
    "BEIR": lambda: write("q.tsv", "query-id\tcorpus-id\tscore\nq\ta\t0.25\nq\tb\t0.75\n"),
}


@pytest.mark.parametrize("form", BY_NATURE)
def test_formats_that_have_grades_have_fractions_only_where_grades_are_declared(form):
    """A dict of scores that is passed as truth by mistake looks like one of fractions."""
    inputs = {"y_true": BY_NATURE[form](), "y_score": {"q": {"a": 0.9, "b": 0.5}}, "metrics": "DCG(discount=none)@1"}
    hint = r"pass grades=True if grades are fractions; are truth and predictions swapped\?"
    refused(
        rf"the truth value of document 'a' is 0.25, a fraction; expected 1 or a whole grade \(hint: {hint}", **inputs
    )
    result = xmceval.score(**inputs, grades=True)
    assert (result["DCG(discount=none)@1"], result.counts.grades) == (0.25, (0.25, 0.75))


# Whole numbers as predictions


def test_whole_numbers_are_ids_unless_their_width_is_the_number_of_labels():
    truth = np.array([[1, 0, 0, 0], [0, 1, 0, 0]])
    votes = np.array([[5, 0, 0, 1], [2, 4, 1, 1]])
    assert p_at_1(truth, votes) == 1.0  # scores of four labels
    assert p_at_1(truth, np.array([[0, 3], [1, 2]])) == 1.0  # ids
    assert p_at_1([[0], [1]], np.array([[0, 3], [1, 2]])) == 1.0
    decisions = np.array([[1, 0, 1], [0, 1, 0]])
    assert p_at_1([[0, 2], [1]], decisions) == 1.0
    for known in ([[0, 1, 2, 3], [1, 0, 3, 2]], [[0, 1, -1, -1], [1, 0, 3, -1]]):
        assert p_at_1(truth, known) == 1.0
    doubts = doubts_of(truth, np.array([[0.0, 1, 2, 3], [1, 0, 3, 2]]))
    assert "different whole numbers of 0..3, read as scores: are these ids" in doubts


def test_lists_of_two_zeros_and_ones_are_ids_where_the_number_of_labels_tells():
    lists = [[0, 1], [1, 0]]
    for y_true, y_score in ((lists, [[0], [1]]), ([[0], [1]], lists), (write("t.txt", "0 1\n1 0\n"), [[0], [1]])):
        assert p_at_1(y_true, y_score, n_labels=5) == 1.0


# Names of rows


def test_a_column_with_a_known_name_names_the_rows_of_frames_and_tables():
    truth = pd.DataFrame(np.eye(3, dtype=int), columns=list("abc"))
    scores = pd.DataFrame(np.eye(3) + 0.1, columns=list("abc"))
    order = [2, 0, 1]
    for name in ("id", "uid", "query_id", "User ID"):
        ours, theirs = truth.assign(**{name: list("xyz")}), scores.assign(**{name: list("xyz")}).iloc[order]
        assert p_at_1(ours, theirs.reset_index(drop=True)) == 1.0
    numbered = scores.assign(row=[0, 1, 2]).iloc[order].reset_index(drop=True)
    assert p_at_1(truth.assign(row=[0, 1, 2]), numbered) == 1.0
    lists = pd.DataFrame({"id": list("xyz"), "labels": [[0], [1], [2]]})
    ranked = pd.DataFrame({"id": list("zxy"), "labels": [[2], [0], [1]]})
    assert p_at_1(lists, ranked) == 1.0


def test_lines_of_json_may_have_a_known_key_in_one_order():
    write("t.json", '{"uid": "a", "target_ind": [0]}\n{"uid": "b", "target_ind": [1]}\n')
    write("q.json", '{"uid": "a", "data": [[0, 0.5]]}\n{"uid": "b", "data": [[1, 0.5]]}\n')
    assert p_at_1("t.json", "q.json") == 1.0


def test_an_index_in_which_names_repeat_names_nothing_and_that_is_said():
    truth, scores = pd.DataFrame(np.eye(3, dtype=int)), pd.DataFrame(np.eye(3) + 0.1)
    found = xmceval.score(truth.set_axis([0, 1, 0]), scores.set_axis([0, 1, 0]), metrics="P", k=1)
    assert found["P@1"] == 1.0
    found = xmceval.score(truth.set_axis([0, 1, 0]), scores, metrics="P", k=1)
    assert any("rows by position, as the index of y_true repeats names" in line for line in found.inputs)
