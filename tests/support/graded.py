"""The public functions for a truth with grades, which are declared."""

from functools import partial

import xmceval

score, score_all, compare = (
    partial(function, grades=True) for function in (xmceval.score, xmceval.score_all, xmceval.compare)
)
Evaluator = partial(xmceval.Evaluator, grades=True)
ndcg_at_k = partial(xmceval.ndcg_at_k, grades=True)
