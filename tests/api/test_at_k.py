"""Functions of one metric: they warn as score does."""

import warnings

import numpy as np
import pytest

import xmceval
from xmceval.errors import XmcevalWarning

TRUTH, SCORES = (
    np.array([[1, 0, 1], [0, 0, 0], [0, 1, 0]]),
    np.array([[0.9, 0.8, 0.1], [0.2, 0.7, 0.4], [0.1, 0.3, 0.2]]),
)
NAMES = {
    "precision_at_k": "P",
    "recall_at_k": "R",
    "f1_at_k": "F1",
    "hit_at_k": "Hit",
    "ndcg_at_k": "nDCG",
    "psp_at_k": "PSP",
    "psr_at_k": "PSR",
    "psndcg_at_k": "PSnDCG",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_function_of_one_metric_warns_as_score_does_where_it_is_called(name):
    with warnings.catch_warnings(record=True) as issued:
        warnings.simplefilter("always")
        value = getattr(xmceval, name)(TRUTH, SCORES, k=2)
    with pytest.warns(XmcevalWarning):
        result = xmceval.score(TRUTH, SCORES, k=2, metrics=NAMES[name])
    assert value == result[NAMES[name]]
    assert [str(each.message) for each in issued] == list(result.warnings)
    assert {each.filename for each in issued} == {__file__}
    assert any("no true label" in line for line in result.warnings)
    assert any("not comparable with published" in line for line in result.warnings) == name.startswith("ps")
