"""Rankings without scores: metrics that compare scores of several rows refuse them, in each form and at each door."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from support.asked import refused
from support.files import write

import xmceval
from xmceval.metrics.table import METRICS

TRUTH = sparse.csr_array(([1, 1, 1], [0, 1, 2], [0, 1, 3]), shape=(2, 4))
IDS = [[0, 3], [2, 1]]
ACROSS = [name for name, metric in METRICS.items() if metric.family == "column"]
LONG = pd.DataFrame({"row": [0, 0, 1, 1], "label": [0, 3, 2, 1], "rank": [1, 2, 1, 2]})


def saved(name, array):
    np.save(name, array)
    return name


FORMS = {
    "lists": lambda: IDS,
    "padded": lambda: np.array([[0, 3, -1], [2, 1, -1]]),
    "ranks in a table": lambda: LONG,
    "lists in a table": lambda: pd.DataFrame({"labels": IDS}),
    "text": lambda: write("p.txt", "0 3\n2 1\n"),
    "npy": lambda: saved("p-labels.npy", np.array(IDS)),
    "shards": lambda: [sparse.csr_array([[0.5, 0, 0, 0.1]]), np.array([[2, 1]])],
}


@pytest.mark.parametrize("form", FORMS)
def test_metrics_across_rows_and_a_threshold_refuse_rankings_without_scores(form):
    truth = [TRUTH[:1], TRUTH[1:]] if form == "shards" else TRUTH
    for name in ACROSS:
        refused(rf"^{name} compares scores of several instances, .* without", truth, FORMS[form](), metrics=name)
    for name in ("f1_score", "f1_score(average=macro)", "NumRet", "subset_accuracy"):
        message = rf"^{name}: .* rankings without scores.* threshold".replace("(", r"\(").replace(")", r"\)")
        refused(message, truth, FORMS[form](), metrics=name, threshold=0.5)
    assert xmceval.score(truth, FORMS[form](), metrics="f1_score,NumRel,P@1")["NumRel"] == 3


@pytest.mark.parametrize("form", ["dict", "run"])
def test_rankings_by_query_need_no_scores_for_metrics_of_each(form):
    truth, run = {"q": {"a": 1, "b": 0}, "r": {"b": 1}}, {"q": ["b", "a"], "r": ["b"]}
    if form == "run":
        truth = write("q.txt", "q 0 a 1\nq 0 b 0\nr 0 b 1\n")
        run = write("run.tsv", "q\tb\t1\nq\ta\t2\nr\tb\t1\n")
    assert xmceval.score(truth, run, metrics="RR")["RR@all"] == 0.75
