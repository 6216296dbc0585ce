"""Values of labels of a real model against scikit-learn."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from numba import config

import xmceval
from xmceval.files.opening import open_truth

FOLDER = Path(os.environ.get("XMCEVAL_REALDATA", "."))
pytestmark = [
    pytest.mark.skipif("XMCEVAL_REALDATA" not in os.environ, reason="XMCEVAL_REALDATA is unset"),
    pytest.mark.skipif(bool(config.DISABLE_JIT), reason="too much data for plain Python"),
]


def dense(path, n_rows, n_labels, k=None):
    """Read rows as an indicator, of the k best labels only if asked for."""
    cells = np.zeros((n_rows, n_labels), dtype=bool)
    with gzip.open(path, "rt") as file:
        lines = [line.split() for line in file]
    for row, line in enumerate(lines[-n_rows:]):
        pairs = [(int(label), float(score)) for label, score in (pair.split(":") for pair in line)]
        best = sorted(pairs, key=lambda pair: (-np.float32(pair[1]), pair[0]))[:k]
        cells[row, [label for label, _ in best]] = True
    return cells


def test_values_of_labels_are_those_of_scikit_learn(tmp_path):
    folder = FOLDER / "bibtex"
    truth, scores = folder / "tst_X_Y.txt.gz", folder / "napkinxc_plt.txt.gz"
    result = xmceval.score(truth, scores, metrics="macroF1@5", save_labels=tmp_path / "a.npz")
    found = np.load(tmp_path / "a.npz")
    size = open_truth(truth).source.n_rows, found["label"].size
    own, predicted = dense(truth, *size), dense(scores, *size, k=5)
    sk = pytest.importorskip("sklearn.metrics")
    *rates, support = sk.precision_recall_fscore_support(own, predicted, average=None, zero_division=np.nan)
    assert found["n_true"][:, 0].tolist() == support.tolist()
    assert found["predicted@5"][:, 0].tolist() == predicted.sum(axis=0).tolist()
    for name, rate in zip(("precision", "recall", "F1"), rates, strict=True):
        assert found[f"{name}@5"][:, 0] == pytest.approx(rate, nan_ok=True, abs=1e-12)
    assert result["macroF1@5"] == pytest.approx(np.nan_to_num(rates[2]).mean(), abs=1e-12)
