"""Points of curves and undefined metrics: scikit-learn's signatures, values, refusals and warnings."""

import itertools
import subprocess
import sys
import warnings

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.sparse import csr_matrix

import xmceval

sk = pytest.importorskip("sklearn.metrics")

NAMES = ("roc_curve", "precision_recall_curve")
every_curve = pytest.mark.parametrize("name", NAMES)


def outcome(function, *arguments, **options):
    """Return the value, or "error"; and the categories of its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = function(*arguments, **options)
        except (ValueError, TypeError):
            return "error", []
    return value, [each.category.__name__ for each in caught]


def check(name, y_true, y_score, **options):
    expected, their_warnings = outcome(getattr(sk, name), y_true, y_score, **options)
    got, our_warnings = outcome(getattr(xmceval, name), y_true, y_score, **options)
    case = (name, options, expected, got)
    assert isinstance(got, str) == isinstance(expected, str), case
    if isinstance(got, str):
        return
    assert our_warnings == their_warnings, case
    for ours, theirs in zip(got, expected, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12, equal_nan=True, err_msg=str(case))
        assert ours.dtype == theirs.dtype, case


@every_curve
@given(data=st.data())
def test_points_are_scikit_learns(name, data):
    n = data.draw(st.integers(1, 12))

    def drawn(values):
        return data.draw(st.lists(values, min_size=n, max_size=n))

    classes = data.draw(st.sampled_from([(0, 1), (-1, 1), (0,), (1,), (2, 5), (0, 1, 2), (False, True), ("a", "b")]))
    y_true, y_score = drawn(st.sampled_from(classes)), drawn(st.sampled_from([-1.0, 0.0, 0.25, 0.5, 2.0, 1e300]))
    weight = data.draw(st.none() | st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n))
    if weight is not None and not any(weight):
        return  # refused here; scikit-learn fails on no rows
    for pos_label, drop in itertools.product((None, 1, 0, 5, "b"), (True, False)):
        if pos_label is None or isinstance(pos_label, str) == isinstance(classes[0], str):
            options = {"pos_label": pos_label, "sample_weight": weight, "drop_intermediate": drop}
            check(name, np.array(y_true), np.array(y_score), **options)


@every_curve
def test_long_lists_are_scikit_learns(name, rng):
    truth, scores = rng.integers(0, 2, 1000), np.round(rng.normal(size=1000), 2)
    for score in (scores, scores.astype(np.float32), (100 * scores).astype(np.int64), scores > 0):
        for weight, drop in itertools.product((None, rng.random(1000)), (True, False)):
            check(name, truth, score, sample_weight=weight, drop_intermediate=drop)
            check(name, truth.reshape(-1, 1), score.reshape(-1, 1), sample_weight=weight, drop_intermediate=drop)


@every_curve
def test_thresholds_are_the_scores_themselves_where_float64_would_round_them(name):
    wide = np.array([2**62, 2**62 + 1, 5])
    points = getattr(xmceval, name)([0, 1, 1], wide, drop_intermediate=False)
    assert points[2].size == (4 if name == "roc_curve" else 3)
    if name == "precision_recall_curve":
        assert points[2].tolist() == [5, 2**62, 2**62 + 1]


@every_curve
@pytest.mark.parametrize(
    ("y_true", "y_score", "message"),
    [
        ([0, 1, 2], [0.1, 0.2, 0.3], r"the classes 0, 1, 2, of which none is known .*pass pos_label"),
        (["a", "b"], [0.1, 0.2], "pass pos_label"),
        ([0, 1], [0.1, np.inf], "y_score: has an infinity"),
        ([0, 1], [0.1], "y_true has 2 rows, but y_score has 1 row"),
        ([[0, 1], [1, 0]], [0.1, 0.2], "y_true: expected one class per row"),
        ([0, 1], [[0.1, 0.2], [0.2, 0.1]], "expected one score per row"),
        (csr_matrix(np.eye(2)), [0.1, 0.2], "expected one column"),
    ],
)
def test_what_is_no_list_is_refused(name, y_true, y_score, message):
    with pytest.raises(xmceval.DataError, match=message):
        getattr(xmceval, name)(y_true, y_score)


@pytest.mark.parametrize("name", [*NAMES, "roc_auc_score", "average_precision_score"])
def test_infinite_classes_are_refused_as_scikit_learn_does(name):
    y_true, y_score = np.array([np.inf, 1.0]), np.array([0.0, 1.0])
    assert outcome(getattr(sk, name), y_true, y_score)[0] == "error"
    with pytest.raises(xmceval.DataError, match="has an infinity at row 0; expected classes"):
        getattr(xmceval, name)(y_true, y_score)


PROBE = """
import warnings
{first}
import xmceval
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    xmceval.roc_auc_score([1, 1], [0.2, 0.3])
print(caught[0].category.__module__, caught[0].category is xmceval.UndefinedMetricWarning)
"""


@pytest.mark.parametrize(
    ("first", "module"), [("import sklearn.exceptions", "sklearn.exceptions"), ("", "xmceval.api.dropins.indicators")]
)
def test_undefined_metrics_warn_with_scikit_learns_class_where_it_is_loaded(first, module):
    run = subprocess.run([sys.executable, "-c", PROBE.format(first=first)], capture_output=True, text=True, check=True)
    assert run.stdout.split() == [module, "True"]
