"""What is said of inputs: each line of the approved file makes a result, and has its doubts and facts below it."""
# ruff: noqa: F401 - lines use what is imported here

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from support.approved import check_answers
from support.files import write
from support.graded import score

import xmceval

pytestmark = pytest.mark.filterwarnings("ignore::xmceval.XmcevalWarning")
EYE, THREE, SCORES = np.eye(3), np.eye(3)[:2], np.array([[0.9, 0.25, 0.0], [0.125, 0.5, 0.75]])
LOGITS, PERCENTS = np.array([[2.5, -3, 0.75], [-8, 4, 0]]), np.array([[90, 25, 0], [12.5, 50, 75]])
GRADES, OF_GRADES = np.array([[2, 0, 25], [0, 3, 0]]), np.array([[0.5, 0.3, 0.1], [0.2, 0.9, 0.4]])


def headers(n_labels, n_columns, n_predictions):
    """Score files whose headers declare numbers of labels and columns; the longest row has so many predictions."""
    row = " ".join(f"{label}:{1 / (label + 2)}" for label in range(n_predictions))
    truth = write("t", f"3 {n_labels}\n0:1\n2:1\n1:1\n")
    return xmceval.score(truth, write("p", f"3 {n_columns}\n{row}\n1:.5\n0:1\n"), metrics="P", k=1)


def run(line, *cells, query="{}"):
    """Score a run of 20 queries: each has a line for each cell, whose places are those of line."""
    write("qrels", "".join(f"{i} 0 d{i % 7} 1\n" for i in range(20)))
    lines = (line.format(query.format(i), i + n, *cell) for i in range(20) for n, cell in enumerate(cells or [()]))
    return xmceval.score("qrels", write("run", "".join(f"{line}\n" for line in lines)), metrics="RR")


def at(threshold, scores):
    """Score decisions of dense scores; the question is that of sparse ones and of 32-bit floats."""
    forms = (np.asarray, csr_matrix, np.float32)
    results = [
        xmceval.score(THREE, form(scores), metrics="f1_score", threshold=threshold, n_labels=3) for form in forms
    ]
    questions = [[line.partition(": ")[2] for line in each.doubts if "threshold" in line] for each in results]
    assert questions == [questions[0]] * 3
    return results[0]


def ordered(scores):
    """Score 40 rows of stored labels, which have these scores in this order; the first is the true one in most rows."""
    labels = np.argsort(np.random.default_rng(3).random((40, 30)), axis=1)[:, : len(scores)]
    true = np.where(np.arange(40) % 3 > 0, labels[:, 0], labels[:, 3])
    ends = np.arange(0, labels.size + 1, len(scores))
    y_score = csr_array((np.tile(np.array(scores, float), 40), labels.ravel(), ends), shape=(40, 30))
    return xmceval.score(csr_array(np.eye(30)[true]), y_score, metrics="P", k=[1, 3])


def test_what_is_said_is_as_it_was_approved():
    check_answers(__file__, "said.txt", lambda line: eval(line, globals()).warnings)
