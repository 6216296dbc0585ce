"""Blocks: their rows are bounded by what is made of them, and nothing shows where they end."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from support import graded
from support.pieces import read_in_pieces

from xmceval import DataError


def test_a_fault_names_its_row_in_any_run(rng, monkeypatch):
    read_in_pieces(monkeypatch, numbers=1)
    truth, scores, weights = np.ones((90, 30)), rng.random((90, 30)), np.arange(90) % 3
    truth[:50, 4] = np.where(weights[:50] > 0, 0, 9)  # above the scale, in rows of no weight
    truth[86, 4] = 9
    with pytest.raises(DataError, match="y_true row 86: a grade is above the greatest of ERR"):
        graded.score(truth, scores, sample_weight=weights, filter=[[3, 4], [50, 7]], metrics="ERR(max=4)@5")


@pytest.mark.parametrize(
    ("n_rows", "options"),
    [(100_000, {}), (3000, {"metrics": "P", "k": 1000}), (2000, {"by_frequency": 100, "metrics": ["P", "nDCG"]})],
)
def test_memory_does_not_grow_with_rows_that_have_few_entries(n_rows, options):
    rows = sp.csr_array((np.ones(n_rows), np.arange(n_rows) % 1000, np.arange(n_rows + 1)), shape=(n_rows, 1000))
    if not options:
        rows = sp.csr_array((n_rows, 1000))  # all empty
    options = {**options, "counts": np.arange(1000), "n_train": 1000, "threads": 1}
    graded.score(rows[:10], rows[:10], **options)
    tracemalloc.start()
    graded.score(rows, rows, **options)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 25e6
