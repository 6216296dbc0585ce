"""Saving: files are whole or not there."""

from pathlib import Path

import numpy as np
import pytest

import xmceval
from xmceval import DataError


@pytest.mark.parametrize("kept", [{"save_rows": "x.rows.csv"}, {"save_state": "x.state"}], ids=str)
def test_files_are_whole_or_not_there(kept):
    rng = np.random.default_rng(5)
    truth, scores = (rng.random((30, 8)) < 0.3).astype(float), rng.random((30, 8))
    with pytest.raises(DataError, match="NaN"):
        xmceval.score(truth, np.where(scores > 0.9, np.nan, scores), metrics="P,macroF1", k=2, **kept)
    assert list(Path().iterdir()) == []
    xmceval.score(truth, scores, metrics="P,macroF1", k=2, **kept)
    [path] = Path().iterdir()
    if "save_rows" in kept:
        assert len(path.read_text().splitlines()) == 31
    else:
        assert xmceval.merge([path]).counts.n_instances == 30
