"""The public functions for a truth with grades, which are declared; rows with grades, and options that go with them."""

from functools import partial

import numpy as np
from support.strategies import random_case, to_csr

import xmceval

score, score_all, compare = (
    partial(function, grades=True) for function in (xmceval.score, xmceval.score_all, xmceval.compare)
)
Evaluator = partial(xmceval.Evaluator, grades=True)
ndcg_at_k = partial(xmceval.ndcg_at_k, grades=True)

N_LABELS = 12
TRAINING = {"counts": np.arange(N_LABELS) ** 2, "n_train": 200}
SOME = ["P", "PSP", "nDCG", "LRAP", "macroF1", "macroF1(over=train)", "coverage", "f1_score(average=macro)"]


def graded_rows(seed, n_rows):
    """Return truth with grades and scores from 0 to 1, with ties, empty rows and stored zeros."""
    case = random_case(seed, n_rows, N_LABELS)
    rng = np.random.default_rng(seed)
    truth = to_csr([row | dict.fromkeys(rng.choice(N_LABELS, 1).tolist(), 0.0) for row in case.truth], N_LABELS)
    return truth, to_csr([{label: (x + 1.5) / 3 for label, x in row.items()} for row in case.scores], N_LABELS)
