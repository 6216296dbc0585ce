"""Metrics of columns and of the ranking field: against scikit-learn, torchmetrics and trec_eval."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from support.files import write
from support.strategies import random_problem, random_weights

import xmceval
from xmceval import METRICS

COLUMNS = ("macroAUC", "microAUC", "macroAP")


# Ranking field


# trec_eval's values, by pytrec_eval-terrier 0.5.11 and ir_measures 0.4.3, of the judgments and the run below.
TREC_EVAL = {
    "SetP": 1 / 6,
    "SetR": 5 / 12,
    "SetF": 0.2361111111111111,
    "SetF(beta=2)": 0.275,
    "SetP(rel=2)": 1 / 24,
    "NumRet": 11,
    "NumRel": 5,
    "num_rel_ret": 3,
    "IPrec@0.0": 0.20833333333333331,
    "IPrec@0.1": 0.20833333333333331,
    "iprec_at_recall_0.50": 0.18333333333333335,
    "IPrec@1.0": 1 / 12,
    "IPrec(rel=2)@0.5": 0.125,
}
JUDGMENTS = "q1 a 2,q1 b 0,q1 c 1,q1 d 0,q1 e 0,q1 f 1,q2 a 1,q2 z 0,q3 a 0,q4 x 1"
RETRIEVED = "q1 b 9,q1 a 8,q1 x 7,q1 d 6,q1 c 5,q1 y 4,q2 z 3,q2 b 2,q2 a 1,q3 a 1,q4 a 1"


def test_measures_of_the_ranking_field_are_those_of_trec_eval_without_a_warning_about_grades_of_0():
    write("qrels", "".join("{} 0 {} {}\n".format(*line.split()) for line in JUDGMENTS.split(",")))
    write("run", "".join("{} Q0 {} 1 {} x\n".format(*line.split()) for line in RETRIEVED.split(",")))
    result = xmceval.score("qrels", "run", metrics=[*TREC_EVAL, "P@1"])
    assert {name: result[name] for name in TREC_EVAL} == pytest.approx(TREC_EVAL, rel=1e-12)
    assert not any("stored zero" in line for line in result.warnings)


# Columns


@pytest.mark.parametrize("unscored", ["zero", "bottom"])
@pytest.mark.parametrize("weighted", [False, True])
def test_areas_are_scikit_learns_and_those_of_the_functions_of_matrices(rng, unscored, weighted):
    sk = pytest.importorskip("sklearn.metrics")
    truth, scores = random_problem(rng, 300)
    truth[:, 1] = 1
    dense = scores if unscored == "zero" else np.where(scores != 0, scores, -99)
    weight = {"sample_weight": rng.random(len(truth)) if weighted else None}
    result = xmceval.score(truth, csr_matrix(scores), metrics=COLUMNS, unscored=unscored, **weight)
    both = truth.any(axis=0) & ~truth.all(axis=0)
    assert result["macroAUC"] == pytest.approx(sk.roc_auc_score(truth[:, both], dense[:, both], **weight))
    assert result["microAUC"] == pytest.approx(sk.roc_auc_score(truth, dense, average="micro", **weight))
    assert result["macroAP"] == pytest.approx(sk.average_precision_score(truth[:, both], dense[:, both], **weight))
    if unscored == "zero":
        assert result["macroAUC"] == pytest.approx(xmceval.roc_auc_score(truth[:, both], scores[:, both], **weight))
        assert result["microAUC"] == pytest.approx(xmceval.roc_auc_score(truth, scores, average="micro", **weight))
        precisions = xmceval.average_precision_score(truth[:, both], scores[:, both], **weight)
        assert result["macroAP"] == pytest.approx(precisions)
    assert f"macroAUC, macroAP: mean over {both.sum()} of 40 labels" in result.notes
    assert any("cells held in 0.1 MB of memory" in line for line in result.notes)


def test_average_precision_of_stored_cells_is_scikit_learns_of_them_times_the_share_of_truth_that_is_stored(rng):
    sk = pytest.importorskip("sklearn.metrics")
    truth, scores = random_problem(rng, 300)
    for unscored in ("zero", "bottom"):
        found = xmceval.score(truth, csr_matrix(scores), metrics="microAP", unscored=unscored)["microAP"]
        is_stored = scores != 0
        expected = sk.average_precision_score(truth[is_stored], scores[is_stored])
        assert found == pytest.approx(expected * truth[is_stored].sum() / truth.sum())


def test_bins_average_their_own_labels(rng):
    truth, scores = random_problem(rng, 300)
    counts = np.arange(truth.shape[1])
    result = xmceval.score(truth, csr_matrix(scores), metrics=COLUMNS, counts=counts, n_train=99, by_frequency=[10, 20])
    for part in result.slices:
        inside = np.flatnonzero((counts >= part.bin.low) & (counts <= part.bin.high))
        own = xmceval.score(truth[:, inside], csr_matrix(scores[:, inside]), metrics=COLUMNS)
        assert {name: each.value for name, each in part.estimates.items()} == {
            name: own[name] for name in ("macroAUC", "macroAP")
        }


def test_labels_from_2_to_the_31_on_are_kept_apart():
    wide, low = 2**31 + 7, 7  # equal in 32 bits
    truth = csr_matrix(([1.0, 1.0], [wide, low], [0, 1, 2, 2]), shape=(3, 2**31 + 8))
    values, labels = [0.1, 0.9, 0.8, 0.2, 0.9, 0.5], [low, wide] * 3
    result = xmceval.score(truth, csr_matrix((values, labels, [0, 2, 4, 6]), shape=truth.shape), metrics=COLUMNS)
    assert result["macroAUC"] == pytest.approx((1 + 0.5) / 2)
    assert result["microAUC"] == pytest.approx(1.0, abs=1e-8)


# Shards


def test_metrics_that_cannot_be_merged_are_refused_by_name():
    growing = [name for name, metric in METRICS.items() if not metric.mergeable]
    assert growing == [*COLUMNS, "microAP", "macroRecallAtPrecision", "microRecallAtPrecision"]
    xmceval.Evaluator(metrics=["P", "macroF1"])


@pytest.mark.parametrize("precision", [0.25, 0.5, 0.9, 1.0])
def test_recall_at_a_precision_is_that_of_torchmetrics(rng, precision):
    torch = pytest.importorskip("torch")
    of_labels = pytest.importorskip("torchmetrics.functional.classification")
    names = [f"{average}RecallAtPrecision(precision={precision})" for average in ("macro", "micro")]
    for decimals in (1, 2):
        scores, truth = rng.random((30, 6)).round(decimals), (rng.random((30, 6)) < 0.3).astype(int)
        truth[0], truth[1] = 1, 0
        macro, micro = xmceval.score(truth, scores, metrics=names).values()
        theirs = of_labels.multilabel_recall_at_fixed_precision(torch.tensor(scores), torch.tensor(truth), 6, precision)
        assert macro == pytest.approx(theirs[0].mean().item(), abs=1e-6)
        cells = torch.tensor(scores.ravel()), torch.tensor(truth.ravel())
        assert micro == pytest.approx(of_labels.binary_recall_at_fixed_precision(*cells, precision)[0].item(), abs=1e-6)


@pytest.mark.parametrize(
    ("precision", "recall"), [("0.9", 1.0), ("0.90000001", 0.0), ("0.9000000000000001", 0.0), ("0.5", 1.0)]
)
def test_a_precision_that_is_just_reached_counts(precision, recall):
    truth, scores = np.array([[1]] * 9 + [[0]] * 2), np.array([[0.5]] * 10 + [[0.1]])
    name = f"macroRecallAtPrecision(precision={precision})"
    assert [*xmceval.score(truth, scores, metrics=name).values()] == [recall]


def test_weights_of_other_labels_do_not_round_a_precision():
    n = 20_000
    truth, scores = np.zeros((n, 2), dtype=int), np.zeros((n, 2))
    truth[:-1, 0], scores[:, 0] = 1, np.linspace(1, 0.5, n)
    truth[:9, 1], scores[:11, 1] = 1, 0.5
    weights = np.full(n, 0.7)
    weights[20] = 1.0
    name = "macroRecallAtPrecision"
    both = xmceval.score(truth, scores, metrics=name, sample_weight=weights)[name]
    first = xmceval.score(truth[:, :1], scores[:, :1], metrics=name, sample_weight=weights)[name]
    second = xmceval.score(truth[:, 1:], scores[:, 1:], metrics=name, sample_weight=weights)[name]
    assert second == 0.0
    assert both == (first + second) / 2


# Options of metrics that other tools have as their only form


@pytest.fixture
def problem(rng):
    truth = rng.random((60, 12)) < 0.2
    return truth.astype(int), rng.random(truth.shape) * (rng.random(truth.shape) < 0.3)


def test_precision_of_what_is_returned_is_that_of_torchmetrics_with_adaptive_k(problem):
    torch, retrieval = pytest.importorskip("torch"), pytest.importorskip("torchmetrics.retrieval")
    truth, scores = problem
    rows, labels = scores.nonzero()
    parts = torch.tensor(scores[rows, labels]), torch.tensor(truth[rows, labels]), torch.tensor(rows)
    for k in (1, 3, 5):
        metric = retrieval.RetrievalPrecision(top_k=k, adaptive_k=True, empty_target_action="neg")
        found = xmceval.score(truth, csr_matrix(scores), metrics="P(norm=returned)", k=k, rows=True)
        answered = np.unique(rows)
        values = found.rows[f"P(norm=returned)@{k}"]
        assert values[answered].mean() == pytest.approx(float(metric(*parts[:2], indexes=parts[2])))
        assert not np.delete(values, answered).any()


@pytest.mark.parametrize("ties", ["label", "expected"])
@pytest.mark.parametrize(
    ("options", "gains_of"),
    [
        ("", lambda grades: grades),
        ("(gain=exp)", lambda grades: 2**grades - 1),
        ("(gain=binary)", lambda grades: grades > 0),
        ("(rel=0.5)", lambda grades: np.where(grades >= 0.5, grades, 0)),
        ("(rel=1)", lambda grades: np.where(grades >= 1, grades, 0)),
        ("(gain=binary,rel=0.5)", lambda grades: grades >= 0.5),
    ],
)
def test_fractions_are_gains_as_in_scikit_learn(rng, ties, options, gains_of):
    sk = pytest.importorskip("sklearn.metrics")
    grades = rng.choice([0, 0, 0.1, 0.25, 0.5, 0.75, 1, 2.5], (60, 12))
    scores = rng.random(grades.shape)
    if ties == "expected":
        scores = scores.round(1)
    gains = gains_of(grades)
    names = [f"{metric}{options}@{k}" for metric in ("DCG", "nDCG") for k in (1, 3, 12)]
    result = xmceval.score(grades, scores, metrics=names, grades=True, ties=ties)
    expected = [score(gains, scores, k=k) for score in (sk.dcg_score, sk.ndcg_score) for k in (1, 3, 12)]
    assert [*result.values()] == pytest.approx(expected, rel=1e-12)
    if ties == "label":
        [of_lists] = xmceval.score(grades, scores, metrics=f"nDCG{options}@all", grades=True).values()
        assert of_lists == pytest.approx(expected[-1], rel=1e-12)


@pytest.mark.parametrize("weights", [None, random_weights(3, 60)], ids=["plain", "weighted"])
@pytest.mark.parametrize("empty_rows", ["zero", "drop"])
def test_f_at_n_is_that_of_scikit_learn_for_the_n_best_labels_of_each_row(rng, problem, weights, empty_rows):
    sk = pytest.importorskip("sklearn.metrics")
    truth, scores = problem[0], problem[1].round(1)  # with ties
    stored = csr_matrix(scores)
    decided = np.zeros_like(truth)
    for row, n in enumerate(truth.sum(axis=1)):
        ranked = sorted(scores[row].nonzero()[0], key=lambda label: (-scores[row, label], label))
        decided[row, ranked[:n]] = 1
    counts = rng.integers(0, 30, 12)
    options = {"sample_weight": weights, "empty_rows": empty_rows, "counts": counts, "n_train": 99, "by_frequency": 3}
    names = "macroF1@n,microF1@n,microF1(beta=2)@n,macroF1(of=means)@n"
    result = xmceval.score(truth, stored, metrics=names, **options)
    rules = {"sample_weight": weights, "zero_division": 0}
    p, r, *_ = sk.precision_recall_fscore_support(truth, decided, average="macro", **rules)
    expected = {
        "macroF1@n": sk.f1_score(truth, decided, average="macro", **rules),
        "microF1@n": sk.f1_score(truth, decided, average="micro", **rules),
        "microF1(beta=2)@n": sk.fbeta_score(truth, decided, beta=2, average="micro", **rules),
        "macroF1(of=means)@n": 2 * p * r / (p + r),
    }
    assert dict(result) == pytest.approx(expected, rel=1e-12)
    hits = (truth * decided).sum(axis=0) if weights is None else weights @ (truth * decided)
    for part in result.slices:
        labels = [label for label in range(12) if part.bin.low <= counts[label] <= part.bin.high]
        macro = sk.f1_score(truth, decided, average="macro", labels=labels, **rules)
        assert part.estimates["macroF1@n"].value == pytest.approx(macro, rel=1e-12)
        share = result["microF1@n"] * hits[labels].sum() / hits.sum()
        assert part.estimates["microF1@n"].value == pytest.approx(share, rel=1e-12)


def test_decisions_have_the_f_of_the_mean_precision_and_recall(problem):
    truth, scores = problem
    name = "f1_score(average=macro,beta=2,of=means)"
    found = xmceval.score(
        truth, scores > 0.4, metrics=[name, "precision_score(average=macro)", "recall_score(average=macro)"]
    )
    value, p, r = found.values()
    assert value == pytest.approx(5 * p * r / (4 * p + r), rel=1e-12)
    with pytest.raises(xmceval.UsageError, match="over= and of= are for macro averages"):
        xmceval.score(truth, scores > 0.4, metrics="f1_score(of=means)")


def test_f_of_the_mean_precision_and_recall_is_that_of_caml(problem):
    truth, scores = problem
    decided = (scores > 0).astype(int)
    precision, recall = ((truth * decided).sum(axis=0) / (each.sum(axis=0) + 1e-10) for each in (decided, truth))
    expected = 2 * precision.mean() * recall.mean() / (precision.mean() + recall.mean())  # its all_macro
    found = xmceval.score(truth, csr_matrix(scores), metrics="macroF1(of=means)@12,macroP@12,macroR@12")
    assert found["macroF1(of=means)@12"] == pytest.approx(expected, rel=1e-9)
    p, r = found["macroP@12"], found["macroR@12"]
    assert found["macroF1(of=means)@12"] == pytest.approx(2 * p * r / (p + r))
