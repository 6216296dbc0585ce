"""The threshold of decisions: it is a number of the type of the scores, and is doubted where no metric takes it."""

import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from support.asked import refused
from support.files import write
from support.written import SCORED

import xmceval


@pytest.mark.parametrize("threshold", [0.5, 0.7, np.inf, -np.inf])
def test_a_threshold_is_rounded_to_the_type_of_the_scores(threshold):
    truth, scores = np.array([[1, 1, 0], [0, 1, 1]]), np.array([[0.7, 0.2, 0.9], [0.1, 0.5, 0.7]])
    for dtype in (np.float64, np.float32, np.float16):
        given = scores.astype(dtype)
        decided = given >= dtype(threshold)
        found = xmceval.score(truth, given, metrics="confusion", threshold=threshold)
        assert (found["tp"], found["fp"]) == ((decided & (truth > 0)).sum(), (decided & (truth == 0)).sum())


def test_scores_that_float64_would_round_are_not_compared_across_rows(tmp_path):
    for wide in ([[2**53 + 1, 1], [0, 1]], [[-(2**60) - 1, -(2**60)], [2**60 + 1, 0]]):
        files = tmp_path / "s.npy", tmp_path / "s.npz"
        np.save(files[0], np.array(wide))
        sparse.save_npz(files[1], sparse.csr_array(np.array(wide)))
        for scores in (np.array(wide), sparse.csr_array(np.array(wide)), *files):
            name = scores if isinstance(scores, Path) else "y_score"
            message = rf"^{name}: has values that float64 would round \(int64\), so they cannot be compared {{}} \(hint"
            refused(message.format("with a threshold"), np.eye(2), scores, threshold=0.5, metrics="confusion")
            refused(message.format(r"across rows for macroAUC"), np.eye(2), scores, metrics="macroAUC")


SCORES = np.array([[0.9, 0.25, 0.0], [0.125, 0.5, 0.75]])
CELLS = [[cell for cell in enumerate(row) if cell[1]] for row in SCORES.tolist()]
SOME = ["csr", "coo", "pair", "text", "npz", "npy"]
FORMS = {
    **{form: lambda form=form: SCORED[form](CELLS, 3) for form in SOME},
    "dense": lambda: SCORES,
    "float16": lambda: SCORES.astype(np.float16),
    "shards": lambda: [SCORES],
}


@pytest.mark.parametrize("metrics", [None, "f1_score", "f1_score(average=macro)", "recall_score", "MCC", "tn"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weights", [None, [0.5, 2.0]])
def test_a_threshold_that_no_score_reaches_is_doubted(form, metrics, weights):
    truth, options = np.eye(3)[:2], {"metrics": metrics, "n_labels": 3, "sample_weight": weights}
    for threshold, question in ((30, "is it in percent"), (0.95, "are the scores on another scale")):
        line = f"no score reaches the threshold {threshold}, so no label counts as predicted: {question}?"
        with pytest.warns(xmceval.XmcevalWarning, match=f"^{line[:-1]}"):
            found = xmceval.score([truth] if form == "shards" else truth, FORMS[form](), threshold=threshold, **options)
        assert line in found.doubts
    for threshold in (0.9, 0.7, np.inf):
        found = xmceval.score([truth] if form == "shards" else truth, FORMS[form](), threshold=threshold, **options)
        assert not [line for line in found.doubts if "threshold" in line]


def in_all_ways(truth, rows, **options):
    """Return the results of batches, states and parts: by an Evaluator, merged, by an executor and of shards."""
    evaluator = xmceval.Evaluator(**options)
    with ThreadPoolExecutor(2) as executor, warnings.catch_warnings(action="ignore"):
        for number, scores in enumerate(rows):
            evaluator.update(truth, scores)
            xmceval.score(truth, scores, **options, save_state=f"{number}.state", force=True)
        return [
            evaluator.result(),
            xmceval.merge(["1.state", "0.state"]),
            xmceval.score([truth] * 2, rows, executor=executor, **options),
            xmceval.score([truth] * 2, rows, **options),
        ]


def test_the_doubt_is_that_of_all_rows_in_batches_states_and_parts():
    truth, options = np.eye(3)[:2], {"metrics": "f1_score,f1_score(average=macro)", "n_labels": 3, "threshold": 0.8}
    low, high = np.full((2, 3), 0.5), SCORES
    for rows, is_doubted in (([low, low], True), ([low, high], False), ([high, low], False)):
        results = in_all_ways(truth, rows, **options)
        assert [any("no score reaches" in line for line in result.doubts) for result in results] == [is_doubted] * 4


def test_nothing_is_doubted_where_there_are_no_scores_at_all():
    empty = sparse.csr_matrix((2, 3))
    assert not xmceval.score(np.eye(3)[:2], empty, metrics="f1_score", threshold=0.5).doubts


LOGIT = np.array([[2.5, -3, 0.75], [-8, 4, 0]])


def test_the_values_seen_are_named_and_are_those_of_all_rows_in_batches_states_and_parts():
    truth, options = np.eye(3)[:2], {"metrics": "f1_score,f1_score(average=macro)", "n_labels": 3, "threshold": 0.5}
    results = in_all_ways(truth, [SCORES, LOGIT], **options)
    whole, both = np.tile(truth, (2, 1)), np.vstack([SCORES, LOGIT])
    with warnings.catch_warnings(action="ignore"):
        results.append(xmceval.score(whole, both, **options))
        comparison = xmceval.compare(whole, {"a": both, "b": np.tile(SCORES, (2, 1))}, **options)
    doubt = (
        "the threshold 0.5 is in 0..1, but the scores are from -8 to 4: are they logits? (hint: pass threshold=0 for "
        "logits, or convert the scores with scipy.special.expit)"
    )
    assert [doubt in result.doubts for result in results] == [True] * 5
    assert comparison.doubts == (f"a: {doubt}",)


@pytest.mark.parametrize("duplicates", ["error", "max"])
def test_the_places_of_labels_without_scores_are_on_no_scale(run, duplicates):
    true, best = [[0, 2], [1], [3, 4]], [[2, 4, 0], [3, 1], [4]]
    options = {"metrics": "f1_score", "n_labels": 5, "duplicates": duplicates}
    evaluator = xmceval.Evaluator(**options)
    evaluator.update(true, best)
    for result in (xmceval.score(true, best, **options), evaluator.result()):
        assert (result["f1_score"], result.doubts) == (8 / 11, ())
    write("t.txt", "3 5\n0:1 2:1\n1:1\n3:1 4:1\n")
    write("p.txt", "2 4 0\n3 1\n4\n")
    code, _, err = run("score", "t.txt", "p.txt", "-m", "f1_score", "-q", "--strict")
    assert (code, err) == (0, "")
    code, _, err = run("score", "t.txt", "p.txt", "-m", "f1_score,microAP", "--threshold", "0.5")
    assert (code, err.count("p.txt has rankings without scores"), "leave out --threshold" in err) == (1, 2, True)
