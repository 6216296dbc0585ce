"""Blocks: their rows are bounded by what is made of them, and nothing shows where they end."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from support import graded
from support.pieces import read_in_pieces

from xmceval import DataError

METRICS = ["P", "nDCG", "PSP", "PSnDCG", "AUC", "AP", "macroF1", "microR", "f1_score", "f1_score(average=macro)"]


@pytest.fixture
def case(rng):
    truth, scores = (rng.random((90, 30)) < 0.1).astype(float), rng.integers(1, 9, (90, 30))
    return {
        "y_true": sp.csr_array(truth * rng.integers(1, 3, truth.shape)),
        "y_score": sp.csr_array(scores * (rng.random(truth.shape) < 0.5)),
        "sample_weight": rng.integers(0, 3, 90),
        "filter": np.array([[3, 4], [50, 7], [89, 1]]),
        "train": sp.csr_array((truth > 0).astype(float)),
    }


@pytest.mark.parametrize("options", [{}, {"by_frequency": 3}, {"ties": "best", "metrics": ["P", "PSP"]}])
@pytest.mark.parametrize("empty_rows", ["zero", "drop"])
def test_runs_of_rows_of_any_length_give_the_same_bits(monkeypatch, case, empty_rows, options):
    options = {"metrics": METRICS, "empty_rows": empty_rows, **options}
    whole = graded.score(**case, **options)
    for numbers in (1, 3000):
        read_in_pieces(monkeypatch, numbers=numbers)
        assert graded.score(**case, **options) == whole
    read_in_pieces(monkeypatch, block=7)
    assert graded.score(**case, **options) == whole


def test_a_fault_names_its_row_in_any_run(monkeypatch, case):
    read_in_pieces(monkeypatch, numbers=1)
    row = int(np.flatnonzero((np.diff(case["y_true"].indptr) > 0) & (case["sample_weight"] > 0))[-1])
    case["y_true"].data[case["y_true"].indptr[row]] = 9
    with pytest.raises(DataError, match=rf"y_true row {row}: a grade is above the greatest of ERR"):
        graded.score(**case, metrics="ERR(max=4)@5")


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
