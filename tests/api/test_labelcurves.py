"""Curves and areas by label against scikit-learn on dense copies."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from xmceval.api.curves import labelcurves
from xmceval.errors import DataError, UsageError

sk = pytest.importorskip("sklearn.metrics")

CLOSE = {"rel": 1e-12, "abs": 1e-12}
AREAS = [
    (labelcurves.label_roc_auc, sk.roc_auc_score),
    (labelcurves.label_average_precision, sk.average_precision_score),
]
CURVES = [
    (labelcurves.label_roc_curve, sk.roc_curve),
    (labelcurves.label_precision_recall_curve, sk.precision_recall_curve),
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
            points = ours(truth, csr_matrix(scores), label=label, drop_intermediate=drop_intermediate)
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
        labelcurves.label_roc_curve(np.eye(2), np.eye(2), label=2)


def test_shapes_that_differ_are_refused():
    with pytest.raises(DataError, match="y_true is 2 x 2, y_score is 2 x 3"):
        labelcurves.label_roc_curve(np.eye(2), np.ones((2, 3)))
