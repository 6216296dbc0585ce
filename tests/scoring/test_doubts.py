"""Doubts: each is issued where the values may be wrong, by every function alike, and never without cause."""

import json
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array
from support.files import write

import xmceval

N_ROWS, N_LABELS, DEPTH = 40, 30, 5
LOW_IS_BEST = "are low scores the best?"
RANK_NOTHING = "they rank no label above another"


def ranked(scores, labels):
    """Return a matrix of rows whose scores and labels [n_rows, depth] are stored in this order."""
    ends = np.arange(0, scores.size + 1, scores.shape[1])
    return csr_array((scores.ravel(), labels.ravel(), ends), shape=(len(scores), N_LABELS))


@pytest.fixture
def data(rng):
    """Truth, and labels [n_rows, depth] of which the first is often true."""
    labels = np.argsort(rng.random((N_ROWS, N_LABELS)), axis=1)[:, :DEPTH]
    truth = np.zeros((N_ROWS, N_LABELS))
    truth[np.arange(N_ROWS), np.where(rng.random(N_ROWS) < 0.7, labels[:, 0], labels[:, 3])] = 1
    return csr_array(truth), labels


RISING = np.tile(np.arange(1.0, DEPTH + 1), (N_ROWS, 1))


@pytest.mark.parametrize("form", ["dict", "json", "csv", "run", "frame"])
def test_low_scores_that_hit_are_doubted_in_every_form_by_query(form):
    best = [sorted({i % 10, (i + 3) % 10, (i + 5) % 10}, reverse=True) for i in range(30)]  # best first
    cells = [(f"q{i}", f"d{label}", rank) for i, labels in enumerate(best) for rank, label in enumerate(labels, 1)]
    scores = {f"q{i}": {f"d{label}": rank for rank, label in enumerate(labels, 1)} for i, labels in enumerate(best)}
    y_true = {query: dict.fromkeys(list(row)[:1], 1) for query, row in scores.items()}
    if form == "dict":
        y_score = scores
    elif form == "frame":
        pd = pytest.importorskip("pandas")
        pytest.importorskip("pyarrow")
        y_score = pd.DataFrame(cells, columns=["query_id", "doc_id", "score"])
    else:
        write("q", "".join(f"{query} 0 {next(iter(row))} 1\n" for query, row in y_true.items()))
        y_true, y_score = "q", f"p.{form}"
        lines = {"csv": ["query_id,doc_id,score"], "json": [json.dumps(scores)]}.get(form, [])
        between = {"csv": "{},{},{}", "run": "{} Q0 {} 1 {} x"}.get(form)
        lines += [] if between is None else [between.format(*cell) for cell in cells]
        if form == "csv":
            pytest.importorskip("pyarrow")
        write(y_score, "\n".join(lines) + "\n")
    result = xmceval.score(y_true, y_score, metrics="P", k=1)
    changed = "P@1 is 0.00%, but 100.00% with the lowest score of each row as the best: "
    assert [line for line in result.doubts if "rank" not in line] == [changed + LOW_IS_BEST]


def test_few_rows_of_a_weak_model_are_not_doubted(rng):
    for n_rows, n_labels in ((12, 4), (30, 10), (150, 20)):
        for _ in range(30):
            truth, scores = rng.random((2, n_rows, n_labels))
            assert xmceval.score(csr_array(truth > 0.7), scores, metrics="P", k=1).doubts == ()


# Predictions from the labels [n_rows, depth], of which the first is often true: in whose order nothing is in doubt.
NO_DOUBT = {
    "lowest first, as numpy.argpartition leaves them": lambda labels: ranked(RISING, labels[:, ::-1]),
    "in the order of labels": lambda labels: ranked(RISING, np.sort(labels, axis=1)),
    "one list in all rows": lambda labels: np.tile(np.arange(DEPTH), (N_ROWS, 1)),
}


@pytest.mark.parametrize("make", NO_DOUBT.values(), ids=NO_DOUBT)
def test_orders_that_have_another_cause_are_not_doubted(data, make):
    truth, labels = data
    assert xmceval.score(truth, make(labels), metrics="P", k=1).doubts == ()
    assert "are they sets" in str(xmceval.score(truth, np.sort(labels, axis=1), metrics="P", k=1).doubts)


def test_a_dense_model_that_is_dead_is_named_and_one_that_saturates_is_not(data, rng):
    truth, _ = data
    saturated = np.minimum(rng.random((N_ROWS, N_LABELS)) + 0.9 * truth.toarray(), 1.0)
    for scores, doubt in ((np.full((N_ROWS, N_LABELS), 0.5), RANK_NOTHING), (saturated, "")):
        doubts = xmceval.score(truth, scores, metrics="P,LRAP", k=1).doubts
        assert any(RANK_NOTHING in line for line in doubts) == bool(doubt)


@pytest.mark.parametrize("metrics", ["f1_score,hamming_loss", "P@all,R@all,F1@all"])
def test_decisions_are_no_rankings(data, metrics):
    truth, labels = data
    decisions = ranked(np.ones((N_ROWS, DEPTH)), labels)
    assert xmceval.score(truth, decisions, metrics=metrics).doubts == ()


def test_values_that_ties_decide_are_named_unless_the_order_was_asked_for(data):
    truth, labels = data
    scores = ranked(np.tile(np.array([2.0, 2, 2, 2, 1]), (N_ROWS, 1)), labels)
    options = {"metrics": "P", "k": [1, 3]}
    evaluator = xmceval.Evaluator(**options, n_labels=N_LABELS)
    evaluator.update(truth, scores)
    [doubt] = evaluator.result().doubts
    assert doubt.startswith("P@1 (and 1 other value) depends on how ties are broken: ")
    assert xmceval.score(truth, scores, **options).doubts == (doubt,)
    assert xmceval.compare(truth, {"a": scores, "b": scores.copy()}, **options).doubts == (doubt,)
    assert xmceval.score(truth, scores, **options, ties="expected").doubts == ()


def test_doubts_are_warnings_of_python_and_in_json_and_facts_are_notes(data):
    truth, labels = data
    truth = truth.toarray()
    truth[0] = 0
    scores = ranked(np.full((N_ROWS, DEPTH), 0.5), labels)
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        result = xmceval.score(truth, scores, metrics="P", k=9)
    assert [str(warning.message) for warning in issued] == list(result.doubts)
    assert result.warnings == (*result.doubts, *result.facts)
    assert len(result.facts) == 2
    [system] = json.loads(result.to_json())["systems"]
    assert system["doubts"] == list(result.doubts)
    assert system["notes"][:2] == list(result.facts)
    for shown in (str(result), result.to_markdown(), result._repr_html_()):
        assert [fact for fact in result.facts if fact not in shown] == []
        assert [doubt for doubt in result.doubts if doubt in shown] == []
    assert all(line in result.to_html() for line in result.warnings)
