"""Thresholds chosen on validation data are the best of all, by trying every one."""

import io
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from judge import naive_thresholds as judge
from scipy import sparse

import xmceval

FOR_ALL = [("microF1", ""), ("macroF1", ""), ("F1", ""), ("precision", "0.5"), ("precision", "0.9"), ("recall", "0.5"),
           ("recall", "1")]  # fmt: skip
PER_LABEL = [each for each in FOR_ALL if each[0] != "F1"]
SCORES = st.sampled_from([-2.5, -0.5, 0.0, 0.1, 0.7, 3.0])


@st.composite
def data(draw):
    """Draw truth and stored scores with ties, explicit zeros, negative scores and labels without either."""
    n_labels = draw(st.integers(1, 3))
    labels = st.integers(0, n_labels - 1)
    rows = draw(st.lists(st.tuples(st.sets(labels), st.dictionaries(labels, SCORES)), min_size=1, max_size=5))
    return [each for each, _ in rows], [each for _, each in rows], n_labels


def as_matrices(truth, scores, n_labels, dtype=np.float64):
    def matrix(rows, kind):
        indptr = np.cumsum([0, *map(len, rows)])
        indices = [label for row in rows for label in sorted(row)]
        values = [row[label] if isinstance(row, dict) else 1 for row in rows for label in sorted(row)]
        return sparse.csr_matrix((np.array(values, dtype=kind), indices, indptr), shape=(len(rows), n_labels))

    return matrix(truth, np.int64), matrix(scores, dtype)


def choose(case, kind, level="", **options):
    return xmceval.choose_thresholds(*as_matrices(*case), target=f"{kind}={level}" if level else kind, **options)


@pytest.mark.parametrize(("kind", "level"), FOR_ALL)
@settings(max_examples=60)
@given(case=data())
def test_one_threshold_is_the_highest_of_the_best(kind, level, case):
    chosen = choose(case, kind, level)
    assert chosen.values.tolist() == [judge.best_of_all(judge.judge(kind, level, *case), *case[1:])]


@pytest.mark.parametrize("kind", ["microF1", "macroF1"])
@settings(max_examples=60)
@given(case=data())
def test_thresholds_per_label_are_the_highest_of_the_best(kind, case):
    value, chosen = judge.judge(kind, "", *case), choose(case, kind, per_label=True)
    best = judge.best_value(value, *case[1:])
    assert value(chosen.values) == best
    assert chosen.measured[kind] == pytest.approx(float(best), abs=1e-15)
    for label, own in enumerate(chosen.values):
        for higher in judge.candidates(case[1], [label]):
            if higher > own:
                assert value([*chosen.values[:label], higher, *chosen.values[label + 1 :]]) < best


@pytest.mark.parametrize(("kind", "level"), [each for each in PER_LABEL if each[1]])
@settings(max_examples=60)
@given(case=data())
def test_targets_per_label_are_those_of_each_label_alone(kind, level, case):
    truth, scores, n_labels = case
    chosen = choose(case, kind, level, per_label=True)
    for label in range(n_labels):
        alone = [{0} if label in row else set() for row in truth], [{0: r[label]} if label in r else {} for r in scores]
        assert chosen.values[label] == judge.best_of_all(judge.judge(kind, level, *alone, 1), alone[1], 1)


@settings(max_examples=60)
@given(case=data(), dtype=st.sampled_from([np.float32, np.float64]))
def test_score_reaches_the_measured_value(case, dtype):
    matrices = as_matrices(*case, dtype)
    averages = {"microF1": "micro", "macroF1": "macro", "F1": "samples"}
    for target, average in averages.items():
        chosen = xmceval.choose_thresholds(*matrices, target=target)
        file = io.BytesIO()
        chosen.write(file)
        metric = f"f1_score(average={average})"
        [value] = xmceval.score(*matrices, metrics=metric, threshold=float(file.getvalue())).values()
        assert value == pytest.approx(chosen.measured[target], abs=1e-15)


def test_the_value_on_held_out_halves_is_that_of_two_choices():
    rng = np.random.default_rng(5)
    truth = sparse.csr_matrix(rng.random((41, 6)) < 0.3)
    scores = sparse.csr_matrix(np.round(rng.random((41, 6)) + 0.4 * truth.toarray(), 1))
    for target in ("microF1", "macroF1", "F1"):
        chosen, values = xmceval.choose_thresholds(truth, scores, target=target), []
        for own, other in ((0, 1), (1, 0)):
            [limit] = xmceval.choose_thresholds(truth[own::2], scores[own::2], target=target).values
            average = {"microF1": "micro", "macroF1": "macro", "F1": "samples"}[target]
            options = {"metrics": f"f1_score(average={average})", "threshold": limit}
            values += xmceval.score(truth[other::2], scores[other::2], **options).values()
        assert chosen.held_out[target] == pytest.approx(sum(values) / 2, abs=1e-15)


def test_a_label_that_cannot_reach_the_precision_is_never_predicted_and_counted():
    truth, scores = np.array([[1, 0, 1], [0, 1, 0]]), np.array([[0.9, 0.8, 0.3], [0.2, 0.4, 0.3]])
    chosen = xmceval.choose_thresholds(truth, scores, target="precision=0.9", per_label=True)
    assert chosen.values.tolist() == [0.9, math.inf, math.inf]
    assert chosen.n_never == 2
    assert "2 labels never predicted" in str(chosen)


@settings(max_examples=60)
@given(case=data(), dtype=st.sampled_from([np.float32, np.float64]))
def test_predictions_per_label_reach_the_measured_value(case, dtype):
    truth, scores = as_matrices(*case, dtype)
    for target, average in (("microF1", "micro"), ("macroF1", "macro")):
        chosen = xmceval.choose_thresholds(truth, scores, target=target, per_label=True)
        metric = f"f1_score(average={average})"
        [value] = xmceval.score(truth, chosen.predict(scores), metrics=metric).values()
        assert value == pytest.approx(chosen.measured[target], abs=1e-15)


def test_predictions_of_other_labels_are_refused():
    chosen = xmceval.choose_thresholds(np.eye(2), np.eye(2), per_label=True)
    with pytest.raises(xmceval.DataError, match="y_score has 3 labels, the thresholds are for 2"):
        chosen.predict(np.eye(3))


def test_filtered_pairs_are_not_looked_at():
    truth, scores = np.array([[1, 0], [0, 1]]), np.array([[0.5, 0.9], [0.1, 0.4]])
    assert xmceval.choose_thresholds(truth, scores, filter=[(0, 1)]).values.tolist() == [0.4]
    assert xmceval.choose_thresholds(truth, scores[:, :]).measured == {"microF1": 0.8}


def test_no_scores_and_one_instance():
    nothing = xmceval.choose_thresholds(np.array([[1, 0]]), sparse.csr_matrix((1, 2)))
    assert (nothing.values.tolist(), nothing.measured, nothing.held_out) == ([math.inf], {"microF1": 0.0}, None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "F1", "per_label": True}, "F1 of instances has no thresholds per label"),
        ({"target": "accuracy"}, "the target must be microF1, macroF1, F1, precision=X or recall=X, got 'accuracy'"),
        ({"target": "precision"}, "the target must be"),
        ({"target": "F1=0.5"}, "the target must be"),
        ({"target": "recall=1.5"}, "recall must be a number above 0 and at most 1, got '1.5'"),
        ({"target": "recall=x"}, "got 'x'"),
        ({"target": "precision=nan"}, "got 'nan'"),
    ],
)
def test_wrong_targets_are_refused(options, message):
    with pytest.raises(xmceval.UsageError, match=message.replace("(", r"\(")):
        xmceval.choose_thresholds(np.eye(2), np.eye(2), **options)


def test_wrong_data_is_refused():
    with pytest.raises(xmceval.DataError, match="rows"):
        xmceval.choose_thresholds(np.eye(2), np.eye(3, 2))
    with pytest.raises(xmceval.DataError, match="NaN"):
        xmceval.choose_thresholds(np.eye(2), np.array([[np.nan, 1.0], [0.0, 1.0]]))
    with pytest.raises(xmceval.DataError, match="float64 would round"):
        xmceval.choose_thresholds(np.eye(2), np.array([[2**53 + 1, 1], [0, 1]]))


DECISIONS = ["f1_score", "f1_score(average=macro)", "F1@all", "hamming_loss", "confusion"]


@settings(max_examples=40)
@given(case=data(), per_label=st.booleans())
def test_chosen_thresholds_make_the_decisions_of_predict(case, per_label):
    truth, scores = as_matrices(*case, dtype=np.float32)
    chosen = choose(case, "microF1", per_label=per_label)
    found = xmceval.score(truth, scores, metrics=DECISIONS, thresholds=chosen.values)
    predicted = xmceval.score(truth, chosen.predict(scores), metrics=DECISIONS)
    names = [name for name in found if name != "F1@all"]
    assert {name: found.estimates[name] for name in names} == {name: predicted.estimates[name] for name in names}
    if chosen.values.size == 1 and np.isfinite(chosen.values[0]):
        single = xmceval.score(truth, scores, metrics=DECISIONS, threshold=float(chosen.values[0]))
        assert single.estimates == found.estimates


@pytest.mark.parametrize("thresholds", [[0.5, 0.5, 0.5], [0.7, -np.inf, np.inf], [0.7]])
def test_thresholds_are_rounded_to_the_type_of_the_scores(thresholds):
    truth, scores = np.array([[1, 1, 0], [0, 1, 1]]), np.array([[0.7, 0.2, 0.9], [0.1, 0.5, 0.7]])
    limits = np.array(thresholds)
    for dtype in (np.float64, np.float32, np.float16):
        given_ = scores.astype(dtype)
        decided = given_ >= limits.astype(dtype)
        found = xmceval.score(truth, given_, metrics="confusion", thresholds=limits)
        assert (found["tp"], found["fp"]) == ((decided & (truth > 0)).sum(), (decided & (truth == 0)).sum())


@pytest.mark.parametrize("options", [{"threshold": 0.5}, {"thresholds": [0.5, 0.5]}])
def test_a_threshold_without_a_metric_of_decisions_is_doubted(options):
    result = xmceval.score(sparse.eye(2), sparse.eye(2), k=1, metrics="macroF1", **options)
    [line] = (each for each in result.warnings if each.startswith("the threshold has no effect"))
    assert "f1_score(average=macro)" in line
    assert not xmceval.score(sparse.eye(2), sparse.eye(2), metrics="f1_score(average=macro)", **options).doubts


def test_thresholds_that_do_not_fit_are_refused(tmp_path):
    y, path = np.eye(3), tmp_path / "limits.txt"
    with pytest.raises(xmceval.UsageError, match="pass one of threshold and thresholds"):
        xmceval.score(y, y, threshold=0.5, thresholds=[0.5])
    with pytest.raises(xmceval.DataError, match="thresholds has 2 labels, but y_true has 3 labels"):
        xmceval.score(y, y, thresholds=[0.5, 0.5])
    path.write_text("0.5\nnan\n1\n")
    with pytest.raises(xmceval.DataError, match=r"limits.txt: expected a threshold for each label, that of label 1"):
        xmceval.score(y, y, thresholds=path)
    path.write_text("0.5\nx\n1\n")
    with pytest.raises(xmceval.DataError, match=r"limits.txt:2: expected one number per line, found 'x'"):
        xmceval.score(y, y, thresholds=path)
    with pytest.raises(xmceval.DataError, match=r"the threshold 0.7 is not the same number in both"):
        xmceval.score([y, y], [y, y.astype(np.float32)], thresholds=[0.5, 0.7, 0.5], metrics="confusion")
    with pytest.raises(xmceval.UsageError, match="thresholds is not available for Evaluator"):
        xmceval.Evaluator(thresholds=[0.5])
    with pytest.raises(xmceval.UsageError, match="thresholds is not available for states"):
        xmceval.score(y, y, thresholds=[0.5], save_state=tmp_path / "a.state")


def test_no_threshold_is_above_a_score_of_infinity():
    """Label 0 has two false predictions at any threshold: 6 / 9 with its hit is more than 4 / 8 without."""
    truth, scores = np.array([[0, 1], [1, 0], [0, 1]]), np.array([[math.inf, 1], [1, 2], [math.inf, 1]])
    chosen = xmceval.choose_thresholds(truth, scores, target="microF1", per_label=True)
    assert chosen.values.tolist() == [1, 1]
    assert chosen.measured["microF1"] == pytest.approx(6 / 9)
