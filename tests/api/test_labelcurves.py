"""Curves and areas by label against scikit-learn on dense copies."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import xmceval
from xmceval.errors import DataError, UsageError

sk = pytest.importorskip("sklearn.metrics")

CLOSE = {"rel": 1e-12, "abs": 1e-12}


def deprecated(function):
    """The same function, which must warn that it is deprecated."""

    def warned(*args, **options):
        with pytest.warns(FutureWarning, match="is deprecated and will be removed in the next version") as caught:
            value = function(*args, **options)
        assert [each.filename for each in caught] == [__file__]
        return value

    return warned


AREAS = [
    (deprecated(xmceval.label_roc_auc), sk.roc_auc_score),
    (deprecated(xmceval.label_average_precision), sk.average_precision_score),
]
CURVES = [
    (xmceval.label_roc_curve, sk.roc_curve),
    (xmceval.label_precision_recall_curve, sk.precision_recall_curve),
]


def problems(rng, times=20):
    """Yield truth and scores, many of them tied, zero and negative."""
    for _ in range(times):
        shape = rng.integers(2, 40), rng.integers(1, 9)
        truth = (rng.random(shape) < 0.3).astype(int)
        yield truth, np.round(rng.normal(size=shape), 1) * (rng.random(shape) < 0.5)


@pytest.mark.parametrize(("ours", "theirs"), CURVES)
@pytest.mark.parametrize("drop_intermediate", [False, True])
def test_points_are_scikit_learns(rng, ours, theirs, drop_intermediate):
    for truth, scores in problems(rng):
        for label in (None, *range(truth.shape[1])):
            cells = (truth.ravel(), scores.ravel()) if label is None else (truth[:, label], scores[:, label])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = theirs(*cells, pos_label=1, drop_intermediate=drop_intermediate)
            function = ours if label is None else deprecated(ours)
            points = function(truth, csr_matrix(scores), label=label, drop_intermediate=drop_intermediate)
            for got, wanted in zip(points, expected, strict=True):
                np.testing.assert_allclose(got, wanted, atol=1e-13)


@pytest.mark.parametrize(("ours", "theirs"), AREAS)
@pytest.mark.parametrize("average", ["macro", "weighted", None])
def test_areas_of_labels_with_both_classes_are_scikit_learns(rng, ours, theirs, average):
    for truth, scores in problems(rng):
        both = truth.any(axis=0) & ~truth.all(axis=0)
        if not both.any():
            continue
        got = ours(csr_matrix(truth), csr_matrix(scores), average=average)
        expected = theirs(truth[:, both], scores[:, both], average=average)
        assert (got[both] if average is None else got) == pytest.approx(expected, **CLOSE)
        assert average is not None or np.isnan(got[~both]).all()


@pytest.mark.parametrize(("ours", "theirs"), AREAS)
def test_areas_of_all_cells_are_scikit_learns(rng, ours, theirs):
    for truth, scores in problems(rng):
        got = ours(truth, csr_matrix(scores), average="micro")
        assert got == pytest.approx(theirs(truth.ravel(), scores.ravel()), **CLOSE)


@pytest.mark.parametrize(("ours", "theirs"), AREAS)
def test_labels_of_one_class_only_are_refused(ours, theirs):
    with pytest.raises(DataError, match="no label has both classes"):
        ours(np.ones((3, 2)), csr_matrix((3, 2)))
    with pytest.raises(UsageError, match="average must be one of"):
        ours(np.ones((3, 2)), csr_matrix((3, 2)), average="samples")


def test_a_label_outside_is_refused():
    with pytest.raises(UsageError, match=r"label 2 is outside 0\.\.1"):
        xmceval.label_roc_curve(np.eye(2), np.eye(2), label=2)


def test_shapes_that_differ_are_refused():
    with pytest.raises(DataError, match="y_true is 2 x 2, y_score is 2 x 3"):
        xmceval.label_roc_curve(np.eye(2), np.ones((2, 3)))


@pytest.mark.parametrize(
    ("name", "drop_in", "metrics"),
    [
        ("label_roc_auc", "roc_auc_score", ["macroAUC", "microAUC"]),
        ("label_average_precision", "average_precision_score", ["macroAP"]),
    ],
)
def test_what_replaces_the_areas_of_labels_gives_the_same(rng, name, drop_in, metrics):
    for truth, scores in problems(rng):
        both = truth.any(axis=0) & ~truth.all(axis=0)
        if both.sum() < 2:
            continue
        function, replacement = deprecated(getattr(xmceval, name)), getattr(xmceval, drop_in)
        for average in ("macro", "micro", "weighted", None):
            expected = function(truth[:, both], scores[:, both], average=average)
            np.testing.assert_array_equal(replacement(truth[:, both], scores[:, both], average=average), expected)
        for full in metrics:
            found = xmceval.score(truth, csr_matrix(scores), metrics=full, unscored="zero")[full]
            assert found == pytest.approx(function(truth, scores, average=full[:5]), **CLOSE)


@pytest.mark.parametrize("name", ["roc_curve", "precision_recall_curve"])
def test_what_replaces_the_curve_of_a_label_gives_the_same(rng, name):
    for truth, scores in problems(rng):
        for label in np.flatnonzero(truth.any(axis=0) & ~truth.all(axis=0)).tolist():
            expected = deprecated(getattr(xmceval, f"label_{name}"))(truth, scores, label=label)
            found = getattr(xmceval, name)(csr_matrix(truth)[:, [label]], csr_matrix(scores)[:, [label]], pos_label=1)
            for got, wanted in zip(found, expected, strict=True):
                np.testing.assert_array_equal(got, wanted)


def test_empty_matrices_have_curves_without_rates_and_no_areas():
    nothing = csr_matrix((0, 3)), csr_matrix((0, 3))
    fpr, tpr, thresholds = xmceval.label_roc_curve(*nothing)
    assert np.isnan([fpr, tpr]).all()
    assert thresholds.tolist() == [np.inf]
    for function, _ in AREAS:
        for average in ("macro", "micro", "weighted"):
            with pytest.raises(DataError, match="no label has both classes"):
                function(*nothing, average=average)


def test_infinite_scores_are_in_their_place():
    truth, scores = np.array([[1, 0], [1, 0], [0, 1]]), np.array([[np.inf, 1.0], [2.0, -0.0], [2.0, np.inf]])
    fpr, tpr, thresholds = xmceval.label_roc_curve(truth, csr_matrix(scores), drop_intermediate=False)
    assert thresholds.tolist() == [np.inf, np.inf, 2.0, 1.0, 0.0]
    assert (tpr.tolist(), fpr.tolist()) == ([0, 2 / 3, 1, 1, 1], [0, 0, 1 / 3, 2 / 3, 1])
