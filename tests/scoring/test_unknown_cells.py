"""Unknown cells of the truth: a row has the values of its known labels alone."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import xmceval
from xmceval.errors import DataError, UsageError
from xmceval.metrics.table import METRICS

pytestmark = pytest.mark.filterwarnings("ignore")
N_ROWS, N_LABELS = 40, 14
BY_ROW = [
    name
    for name, metric in METRICS.items()
    if metric.family in {"top-k", "row", "confusion"} and not name.startswith("micro")
]


@pytest.fixture
def made(rng):
    """Return a truth of 0, 1 and -1, and scores of which some are missing."""
    truth = rng.choice([0, 1, -1], size=(N_ROWS, N_LABELS), p=[0.6, 0.25, 0.15])
    truth[3] = np.where(truth[3] > 0, 0, truth[3])
    scores = rng.random((N_ROWS, N_LABELS)).round(1)
    return truth, scores, 1 + rng.random(N_LABELS)


def values(truth, scores, metric, inverse, **options):
    """Return the values of rows, or None of a metric that has none."""
    k = None if METRICS[metric].cutoff == "none" else 4
    try:
        options = {"inverse_propensities": inverse, **options} if "PS" in metric else options
        result = xmceval.score(truth, scores, metrics=metric, k=k, rows=True, **options)
    except (UsageError, DataError) as error:
        return str(error)
    return [(result.rows[name], result.rows.ideals.get(name)) for name in result.rows]


@pytest.mark.parametrize("unscored", ["bottom", "zero"])
@pytest.mark.parametrize("metric", BY_ROW)
def test_a_row_has_the_values_of_its_known_labels(made, metric, unscored):
    truth, scores, inverse = made
    sparse = sp.csr_matrix(np.where(scores > 0.4, scores, 0))
    options = {"threshold": 0.6} if METRICS[metric].family == "confusion" else {"unscored": unscored}
    found = values(truth, sparse, metric, inverse, unknown=-1, **options)
    if isinstance(found, str):
        assert "not available with unknown" in found or "per-instance" in found or "no metric" in found, found
        return
    for row in range(N_ROWS):
        known = truth[row] >= 0
        alone = values(truth[row : row + 1, known], sparse[row][:, known], metric, inverse[known], **options)
        for (mine, ideal), (its, its_ideal) in zip(found, alone, strict=True):
            np.testing.assert_allclose(mine[row], its[0], rtol=1e-12)
            if ideal is not None:
                np.testing.assert_allclose(ideal[row], its_ideal[0], rtol=1e-12)


@pytest.mark.parametrize("metric", ["macroP", "macroR", "macroF1", "macroJaccard", "microF1", "weightedF1", "coverage"])
def test_labels_are_counted_without_unknown_cells(made, metric):
    truth, scores, _ = made
    removed = np.where(truth < 0, -np.inf, scores)
    expected = dict(xmceval.score((truth > 0).astype(int), removed, metrics=metric, k=[1, 4]))
    assert dict(xmceval.score(truth, scores, metrics=metric, k=[1, 4], unknown=-1)) == expected


def test_pairs_files_and_marks_say_the_same(made, tmp_path):
    truth, scores, _ = made
    pairs = np.argwhere(truth < 0)
    path = tmp_path / "unknown.txt"
    path.write_text("".join(f"{row} {label}\n" for row, label in pairs))
    options = {"metrics": "P,nDCG,LRAP,AUC,coverage_error", "k": [1, 5]}
    expected = xmceval.score(truth, scores, unknown=-1, **options)
    known = (truth > 0).astype(int)
    stored = sp.csr_matrix(truth)
    for y_true, unknown in (
        (known, pairs),
        (known, path),
        (known, str(path)),
        (stored, -1),
        (sp.csr_matrix(known), pairs),
    ):
        assert xmceval.score(y_true, scores, unknown=unknown, **options).estimates == expected.estimates
    assert str(expected.filtered).startswith(f"unknown: {len(pairs)} pairs in ")
    assert expected.to_dict()["systems"][0]["filter"]["are_unknown"] is True
    assert expected.to_dict()["options"]["unknown"] == "array"


def test_without_unknown_cells_the_bits_are_the_same(made):
    truth, scores, _ = made
    known = np.abs(truth)
    options = {"metrics": "P,nDCG,LRAP,AUC,ranking_loss", "k": [1, 5]}
    found = xmceval.score(known, scores, unknown=np.empty((0, 2), dtype=int), **options)
    assert found.estimates == xmceval.score(known, scores, **options).estimates
    assert xmceval.score(known, scores, unknown=-1, **options).estimates == found.estimates


def test_weights_groups_and_blocks_do_not_matter(made):
    truth, scores, _ = made
    options = {"metrics": "LRAP,accuracy,P@3", "unknown": -1, "threshold": 0.5}
    weights = np.arange(N_ROWS) % 3
    found = xmceval.score(truth, scores, sample_weight=weights, by_group=np.arange(N_ROWS) % 2, **options)
    kept = weights > 0
    expected = xmceval.score(truth[kept], scores[kept], sample_weight=weights[kept], **options)
    assert dict(found) == dict(expected)
    own = xmceval.score(truth[::2], scores[::2], sample_weight=weights[::2], **options)
    assert [figure.estimate.value for figure in found.slices[0].figures] == list(own.values())


def test_what_is_true_cannot_be_unknown(made):
    truth, scores, _ = made
    row, label = np.argwhere(truth > 0)[5]
    with pytest.raises(DataError, match=f"row {row}: label {label} is true, and unknown says that this is unknown"):
        xmceval.score((truth > 0).astype(int), scores, metrics="P", k=1, unknown=[[row, label]])


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"unknown": 1}, UsageError, "unknown=1: 0 is false and 1 is true already"),
        ({"unknown": float("nan")}, UsageError, "unknown=nan: NaN marks no cell"),
        ({"unknown": -1, "filter": [[0, 0]]}, UsageError, "pass one of filter and unknown"),
        ({"unknown": -1, "metrics": "macroAUC,P"}, UsageError, "macroAUC: not available with unknown"),
        ({"unknown": -1, "metrics": "tn", "threshold": 0.5}, UsageError, "tn: not available with unknown"),
        ({"unknown": [[0, 99]]}, DataError, r"unknown\[0\]: label 99 is outside 0..13"),
        ({"unknown": [[99, 0]]}, DataError, r"unknown\[0\]: row 99 is outside 0..39"),
        ({"unknown": [[0.5, 0]]}, DataError, r"unknown\[0\]: expected row and label, whole numbers"),
        ({}, DataError, "negative.*unknown cells are passed by unknown"),
    ],
)
def test_wrong_uses_are_refused(made, change, error, message):
    truth, scores, _ = made
    if change.get("unknown") != -1 and change:
        truth = (truth > 0).astype(int)
    with pytest.raises(error, match=message):
        xmceval.score(truth, scores, **{"metrics": "P", "k": 1, **change})


def test_files_cannot_have_a_mark(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("1 3\n0:1\n")
    with pytest.raises(UsageError, match="unknown=-1 marks cells of one matrix"):
        xmceval.score(path, np.eye(1, 3), metrics="P", k=1, unknown=-1)


def test_loops_and_states_refuse_it(made, tmp_path):
    truth, scores, _ = made
    with pytest.raises(UsageError, match="unknown is not available for Evaluator"):
        xmceval.Evaluator(metrics="P", n_labels=3, unknown=[[0, 0]])
    with pytest.raises(UsageError, match="unknown is not available for states"):
        xmceval.score(truth, scores, metrics="P", unknown=-1, save_state=tmp_path / "a.state")


def test_nothing_that_is_passed_is_changed(made):
    truth, scores, _ = made
    before = truth.copy(), scores.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        xmceval.score(truth, scores, metrics="P", k=1, unknown=-1)
    assert (truth == before[0]).all()
    assert (scores == before[1]).all()


def test_coverage_of_rows_that_store_every_known_label(rng):
    truth = rng.choice([0, 1, -1], size=(N_ROWS, N_LABELS), p=[0.5, 0.3, 0.2])
    scores = rng.random((N_ROWS, N_LABELS)).round(1)
    inverse = np.ones(N_LABELS)
    [(found, _)] = values(truth, sp.csr_matrix(scores + 1), "coverage_error", inverse, unknown=-1)
    for row in range(N_ROWS):
        known = truth[row] >= 0
        [(alone, _)] = values(truth[row : row + 1, known], scores[row : row + 1, known], "coverage_error", inverse)
        assert found[row] == alone[0]
