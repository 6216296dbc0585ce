"""Label-wise metrics and decisions against the judge, scikit-learn and the values of other tools."""

import warnings

import numpy as np
import pytest
from numba import config
from scipy.sparse import csr_matrix
from support.strategies import random_problem

import xmceval
from xmceval import METRICS

sk = pytest.importorskip("sklearn.metrics")

N_ROWS = 100 if config.DISABLE_JIT else 3000
CLOSE = {"rel": 1e-12, "abs": 1e-12}
AVERAGES, ZEROS = (METRICS["f1_score"].options[name] for name in ("average", "zero"))


@pytest.mark.parametrize("zero", ZEROS)
@pytest.mark.parametrize("average", AVERAGES)
@pytest.mark.parametrize("weighted", [False, True])
def test_decisions_are_scikit_learns(rng, average, zero, weighted):
    truth, scores = random_problem(rng, N_ROWS)
    decided, weights = (scores >= 0.5).astype(int), rng.random(N_ROWS) + 0.01 if weighted else None
    division = {"average": average, "zero_division": np.nan if zero == "skip" else float(zero)}
    division["sample_weight"] = weights
    expected = {
        f"precision_score(average={average},zero={zero})": sk.precision_score(truth, decided, **division),
        f"recall_score(average={average},zero={zero})": sk.recall_score(truth, decided, **division),
        f"f1_score(average={average},zero={zero})": sk.f1_score(truth, decided, **division),
        f"f1_score(average={average},beta=2,zero={zero})": sk.fbeta_score(truth, decided, beta=2, **division),
    }
    if zero != "skip":
        expected[f"Jaccard(average={average},zero={zero})"] = sk.jaccard_score(truth, decided, **division)
    result = xmceval.score(truth, csr_matrix(scores), metrics=list(expected), threshold=0.5, sample_weight=weights)
    for name, value in expected.items():
        assert result[name] == pytest.approx(value, rel=1e-9 if weighted else 1e-12, abs=1e-12), name


def test_counts_and_rates_of_decisions_are_scikit_learns(rng):
    truth, scores = random_problem(rng, N_ROWS)
    decided = (scores >= 0.5).astype(int)
    flat = truth.ravel(), decided.ravel()
    (tn, fp), (fn, tp) = sk.multilabel_confusion_matrix(truth, decided).sum(axis=0)
    columns = list(zip(truth.T, decided.T, strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        balanced = [sk.balanced_accuracy_score(*column) for column in columns]
    expected = {
        "hamming_loss": sk.hamming_loss(truth, decided),
        "subset_accuracy": sk.accuracy_score(truth, decided),
        "accuracy": sk.accuracy_score(*flat),
        "MCC": sk.matthews_corrcoef(*flat),
        "MCC(average=macro)": np.mean([sk.matthews_corrcoef(*column) for column in columns]),
        "balanced_accuracy": sk.balanced_accuracy_score(*flat),
        "balanced_accuracy(average=macro,zero=skip)": np.mean(balanced),
        "specificity": tn / (tn + fp),
        "FPR": fp / (tn + fp),
        "tp": tp,
        "fp": fp,
        "fn": fn,
        "tn": tn,
    }
    result = xmceval.score(truth, csr_matrix(scores), metrics=list(expected), threshold=0.5)
    assert dict(result) == pytest.approx(expected, **CLOSE)


def test_means_over_labels_have_no_interval_and_micro_ones_have():
    result = xmceval.score(np.eye(5), csr_matrix(np.eye(5)[::-1]), k=1, metrics=["macroP", "microP", "Jaccard", "MCC"])
    assert np.isnan([result.interval("macroP@1"), result.interval("MCC"), result.tie_bounds("macroP@1")]).all()
    assert np.isfinite([result.interval("microP@1"), result.interval("Jaccard")]).all()
