"""Filtered pairs beside the judge: a false one is in no metric, a true one is a label that was not predicted."""

import numpy as np
import pytest
from judge import naive, naive_rows

import xmceval

N_ROWS, N_LABELS = 30, 8
ROW_METRICS = ["LRAP", "coverage_error", "ranking_loss", "AUC", "GAUC", "AP@all", "R@all"]
CELL_METRICS = ["accuracy", "hamming_loss", "specificity", "FPR", "balanced_accuracy", "MCC", "tn", "fp", "tp", "fn"]
CELL_METRICS += ["precision_score", "recall_score", "f1_score"]


@pytest.fixture(params=range(4))
def drawn(request):
    """Random truth, scores without equals, and filtered pairs, true ones among them."""
    rng = np.random.default_rng(request.param)
    truth = rng.random((N_ROWS, N_LABELS)) < 0.4
    truth[0] = False
    return truth, rng.normal(size=truth.shape), rng.random(truth.shape) < 0.3


def filtered(drawn, metrics, **options):
    truth, scores, pairs = drawn
    return xmceval.score(truth, scores, metrics=metrics, filter=np.argwhere(pairs), **options)


def sides(drawn, *, filter_truth):
    """Return truth, which cells still have a score, and which cells are left out."""
    truth, _, pairs = drawn
    true = truth & ~pairs if filter_truth else truth
    return true, ~pairs, pairs & ~true


@pytest.mark.parametrize("filter_truth", [False, True])
@pytest.mark.parametrize("unscored", ["bottom", "zero"])
def test_metrics_of_whole_rows_leave_filtered_pairs_out(drawn, unscored, filter_truth):
    true, is_scored, left_out = sides(drawn, filter_truth=filter_truth)
    found = filtered(drawn, ROW_METRICS, unscored=unscored, filter_truth=filter_truth)
    rows = []
    for row in range(N_ROWS):  # the labels that are left, numbered anew
        labels = np.flatnonzero(~left_out[row])
        ones = {new: 1.0 for new, label in enumerate(labels) if true[row, label]}
        scores = {new: drawn[1][row, label] for new, label in enumerate(labels) if is_scored[row, label]}
        rows.append((ones, scores, labels.size))
    for name in ROW_METRICS:
        pairs = [pair for y, s, n in rows for pair in naive_rows.row_pairs(name, [y], [s], n, unscored=unscored)]
        assert found[name] == pytest.approx(naive.ratio(pairs), rel=1e-12), name


@pytest.mark.parametrize("filter_truth", [False, True])
def test_confusion_counts_leave_filtered_pairs_out(drawn, filter_truth):
    true, is_scored, left_out = sides(drawn, filter_truth=filter_truth)
    decided = (drawn[1] >= 0.2) & is_scored
    names = [*CELL_METRICS, *(f"{name}(average=macro)" for name in ("specificity", "f1_score"))]
    found = filtered(drawn, names, threshold=0.2, filter_truth=filter_truth)
    counts = [
        (is_true & is_decided & ~left_out).sum(axis=0).astype(float)
        for is_true, is_decided in ((true, decided), (~true, decided), (true, ~decided), (~true, ~decided))
    ]
    micro = rates(*(count.sum() for count in counts))
    for name in CELL_METRICS:
        assert found[name] == pytest.approx(micro[name], rel=1e-12), name
    by_label = [rates(*cells) for cells in zip(*counts, strict=True)]
    for name in ("specificity", "f1_score"):
        expected = np.mean([values[name] for values in by_label])
        assert found[f"{name}(average=macro)"] == pytest.approx(expected, rel=1e-12), name


def rates(tp, fp, fn, tn):
    """Return the rates of a confusion matrix; none of its sums is 0 here."""
    total, recall, specificity = tp + fp + fn + tn, tp / (tp + fn), tn / (tn + fp)
    root = ((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)) ** 0.5
    return {
        "tp": tp,
        "fp": fp,
        "fn": fn,
        "tn": tn,
        "recall_score": recall,
        "specificity": specificity,
        "precision_score": tp / (tp + fp),
        "f1_score": 2 * tp / (2 * tp + fp + fn),
        "FPR": fp / (fp + tn),
        "accuracy": (tp + tn) / total,
        "hamming_loss": (fp + fn) / total,
        "MCC": (tp * tn - fp * fn) / root,
        "balanced_accuracy": (recall + specificity) / 2,
    }


@pytest.mark.parametrize("filter_truth", [False, True])
def test_areas_of_labels_leave_filtered_pairs_out(drawn, filter_truth):
    true, is_scored, left_out = sides(drawn, filter_truth=filter_truth)
    places = np.where(is_scored, drawn[1], -np.inf)
    found = filtered(drawn, ["macroAUC", "microAUC"], filter_truth=filter_truth)
    by_label = [area(places[~left_out[:, label], label], true[~left_out[:, label], label]) for label in range(N_LABELS)]
    assert found["macroAUC"] == pytest.approx(np.mean(by_label), rel=1e-12)
    assert found["microAUC"] == pytest.approx(area(places[~left_out], true[~left_out]), rel=1e-12)


def area(places, true):
    """Return the share of pairs of a true and a false cell that are in order, a tie as one half."""
    above, below = places[true][:, None], places[~true]
    return ((above > below) + (above == below) / 2).mean()


@pytest.mark.parametrize("filter_truth", [False, True])
@pytest.mark.parametrize("k", [1, 3])
def test_labelwise_metrics_at_k_leave_filtered_pairs_out(drawn, k, filter_truth):
    true, is_scored, left_out = sides(drawn, filter_truth=filter_truth)
    order = np.argsort(-np.where(is_scored, drawn[1], -np.inf), axis=1)
    chosen = np.zeros_like(true)
    np.put_along_axis(chosen, order[:, :k], True, axis=1)
    chosen &= is_scored
    found = filtered(drawn, [f"macroBA@{k}", f"macroR@{k}"], filter_truth=filter_truth)
    tp, fn, fp, tn = (
        (is_true & is_chosen & ~left_out).sum(axis=0)
        for is_true, is_chosen in ((true, chosen), (true, ~chosen), (~true, chosen), (~true, ~chosen))
    )
    assert found[f"macroR@{k}"] == pytest.approx(np.mean(tp / (tp + fn)), rel=1e-12)
    assert found[f"macroBA@{k}"] == pytest.approx(np.mean((tp / (tp + fn) + tn / (tn + fp)) / 2), rel=1e-12)


def test_ceilings_do_not_predict_filtered_pairs(drawn):
    truth, _, pairs = drawn
    found = filtered(drawn, ["P@1", "P@3", "R@3"], ceiling=True)
    possible = (truth & ~pairs).sum(axis=1)
    n_true = truth.sum(axis=1)
    assert found.estimates["P@1"].ceiling == pytest.approx(np.minimum(possible, 1).mean(), rel=1e-12)
    assert found.estimates["P@3"].ceiling == pytest.approx((np.minimum(possible, 3) / 3).mean(), rel=1e-12)
    recall = np.divide(np.minimum(possible, 3), n_true, out=np.zeros(N_ROWS), where=n_true > 0)
    assert found.estimates["R@3"].ceiling == pytest.approx(recall.mean(), rel=1e-12)


def test_parts_batches_and_one_pass_agree_on_filtered_pairs(drawn):
    truth, scores, pairs = drawn
    names = ["AUC", "macroF1@3", "macroBA@3", "accuracy", "LRAP"]
    options = {"metrics": names, "threshold": 0.2, "filter": np.argwhere(pairs)}
    whole = xmceval.score(truth, scores, **options)
    evaluator = xmceval.Evaluator(**options)
    for start in range(0, N_ROWS, 7):
        evaluator.update(truth[start : start + 7], scores[start : start + 7])
    assert evaluator.result().estimates == whole.estimates
    assert xmceval.score([truth[:9], truth[9:]], [scores[:9], scores[9:]], **options).estimates == whole.estimates
