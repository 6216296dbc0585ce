"""Options of metrics that other tools have as their only form: the same values."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import xmceval


@pytest.fixture
def problem(rng):
    truth = rng.random((60, 12)) < 0.2
    return truth.astype(int), rng.random(truth.shape) * (rng.random(truth.shape) < 0.3)


def test_precision_of_what_is_returned_is_that_of_torchmetrics_with_adaptive_k(problem):
    torch, retrieval = pytest.importorskip("torch"), pytest.importorskip("torchmetrics.retrieval")
    truth, scores = problem
    rows, labels = scores.nonzero()
    parts = torch.tensor(scores[rows, labels]), torch.tensor(truth[rows, labels]), torch.tensor(rows)
    for k in (1, 3, 5):
        metric = retrieval.RetrievalPrecision(top_k=k, adaptive_k=True, empty_target_action="neg")
        found = xmceval.score(truth, csr_matrix(scores), metrics="P(norm=returned)", k=k, rows=True)
        answered = np.unique(rows)
        values = found.rows[f"P(norm=returned)@{k}"]
        assert values[answered].mean() == pytest.approx(float(metric(*parts[:2], indexes=parts[2])))
        assert not np.delete(values, answered).any()


def test_f_of_the_mean_precision_and_recall_is_that_of_caml(problem):
    truth, scores = problem
    decided = (scores > 0).astype(int)
    precision, recall = ((truth * decided).sum(axis=0) / (each.sum(axis=0) + 1e-10) for each in (decided, truth))
    expected = 2 * precision.mean() * recall.mean() / (precision.mean() + recall.mean())  # its all_macro
    found = xmceval.score(truth, csr_matrix(scores), metrics="macroF1(of=means)@12,macroP@12,macroR@12")
    assert found["macroF1(of=means)@12"] == pytest.approx(expected, rel=1e-9)
    p, r = found["macroP@12"], found["macroR@12"]
    assert found["macroF1(of=means)@12"] == pytest.approx(2 * p * r / (p + r))
