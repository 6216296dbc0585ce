"""Laws: what holds for every metric, whatever its formula."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st
from judge import naive
from numba import config
from scipy.sparse import csr_matrix
from support import graded, measures
from support.judged import check_judged
from support.measures import names_of
from support.pieces import read_in_pieces
from support.strategies import Case, cases, few, shuffled

from xmceval import METRICS

SLACK = 1e-12
K = 3
BY_ROW = {name: metric for name, metric in METRICS.items() if metric.family in {"top-k", "row"}}
# What a hit is worth: metrics of hits are scored on a truth of 1, others on grades.
WORTHS = {"1": {"hit", "stop"}, "its grade": {"grade", "truth", "prediction"}, "1/p": {"propensity"}}


def law(check):
    """Check a law of all metrics of each worth, on drawn cases."""
    return pytest.mark.parametrize("worth", WORTHS)(few(given(data=st.data())(check)))


# A row whose k best are all hits has no pair of a hit and a miss, and counts 0.
REWARDS_NO_PERFECTION = "AUC@k"
# A further hit at a low rank lowers a mean over hits.
IS_A_MEAN_OVER_HITS = "AP(norm=hits)"
# A list that is shorter than the cut has fewer wrong predictions.
SHORT_IS_BETTER = "microP", "microF1", "P(norm=returned)"
# Best value 1 on any truth: what is divided by the ideal, and what one hit settles.
IDEALS = {"hits", "ideal", "min(k,n)", "n(L-n)", "h(k-h)"}


@st.composite
def wide_cases(draw, worth, **options):
    """Cases of at least K labels."""
    case = draw(cases(graded=worth != "1", **options))
    missing = K - case.n_labels
    return case if missing <= 0 else Case(case.truth, case.scores, K, [*case.inverse, *([1.5] * missing)])


def score(case, worth, weights=None, but=(), by_row=True, **options):
    """Score all metrics of a worth in every option, and compare them with the judge."""
    table = {name: metric for name, metric in (BY_ROW if by_row else METRICS).items() if name not in but}
    names = [name for metric in table.values() if metric.gain in WORTHS[worth] for name in names_of(metric, K)]
    result = measures.score(case, names, sample_weight=weights, **options)
    check_judged(result, case.truth, case.scores, case.inverse, weights, least=0, **options)
    return result


def measures_of(result):
    return {figure.name: figure.measure for figure in result.figures}


def perfected(worth, case):
    """The same truth, all labels scored, the true ones first and the worthiest of them foremost."""

    def score_of(label, row):
        return {"1": 1.0, "its grade": row[label], "1/p": case.inverse[label]}[worth] if label in row else 0.0

    best = [{label: score_of(label, row) for label in range(case.n_labels)} for row in case.truth]
    return Case(case.truth, best, case.n_labels, case.inverse)


@law
def test_values_lie_within_the_metrics_bounds_and_their_own(worth, data):
    result = score(data.draw(wide_cases(worth)), worth, by_row=False)
    for name, measure in measures_of(result).items():
        estimate, (low, high) = result.estimates[name], measure.metric.bounds
        if measure.metric.needs_propensities and measure.norm.over == "mean":
            high = math.inf  # sums of 1/p that nothing divides
        if measure.option("over") == "ideal":
            high = math.inf  # hits are divided by the labels of one ideal ranking, and may be labels of another
        assert low - SLACK <= estimate.value <= high + SLACK, name
        if estimate.tie_low is not None:
            assert estimate.tie_low - SLACK <= estimate.value <= estimate.tie_high + SLACK, name
        if estimate.low is not None:
            assert estimate.low <= estimate.value <= estimate.high, name


@law
def test_no_ranking_is_better_than_the_perfect_one(worth, data):
    case, but = data.draw(wide_cases(worth)), (REWARDS_NO_PERFECTION,)
    perfect, other = score(perfected(worth, case), worth, but=but), score(case, worth, but=but)
    for name, measure in measures_of(other).items():
        metric, pair = measure.metric, (other.estimates[name], perfect.estimates[name])
        if name.startswith(SHORT_IS_BETTER) or (metric.left_out and any(estimate.undefined for estimate in pair)):
            continue  # rows may be left out of one and not of the other
        worse, better = pair if metric.higher_is_better else pair[::-1]
        assert worse.value <= better.value + SLACK, name


@law
def test_the_perfect_ranking_of_a_normalised_metric_is_1(worth, data):
    case = data.draw(wide_cases(worth))
    assume(any(case.truth))
    result = score(perfected(worth, case), worth, but=(REWARDS_NO_PERFECTION,), empty_rows="drop")
    for name, measure in measures_of(result).items():
        metric, norm, estimate = measure.metric, measure.norm, result.estimates[name]
        is_share_of_ideal = norm.over == "ratio" and metric.needs_propensities
        is_normalised = (
            norm.divisor in IDEALS or is_share_of_ideal or metric.fold in {"any", "first", "LRAP", "R@n", "IPrec"}
        )
        if is_normalised and not estimate.undefined:
            worst_is_best = metric.complement or not metric.higher_is_better
            assert estimate.value == pytest.approx(0.0 if worst_is_best else 1.0, abs=SLACK), name


@law
def test_the_order_of_rows_is_irrelevant_to_the_last_bit(worth, data):
    case = data.draw(wide_cases(worth))
    n_rows = len(case.truth)
    order, weights = data.draw(st.permutations(range(n_rows))), [3.0, 0.5, 0.0, 1.0, 1 / 3, 0.7][:n_rows]
    reordered = Case([case.truth[i] for i in order], [case.scores[i] for i in order], case.n_labels, case.inverse)
    for moved, own in ((None, None), ([weights[i] for i in order], weights)):
        again, before = score(reordered, worth, moved, by_row=False), score(case, worth, own, by_row=False)
        assert again.estimates == before.estimates


@law
def test_names_of_labels_are_irrelevant_where_nothing_ties(worth, data):
    case = data.draw(wide_cases(worth, ties=False))
    new = data.draw(st.permutations(range(case.n_labels)))
    truth, scores = (
        [{new[label]: value for label, value in row.items()} for row in rows] for rows in (case.truth, case.scores)
    )
    inverse = [case.inverse[new.index(label)] for label in range(case.n_labels)]
    assert score(Case(truth, scores, case.n_labels, inverse), worth).estimates == score(case, worth).estimates


@law
def test_swapping_a_miss_with_the_hit_below_it_never_worsens(worth, data):
    case = data.draw(wide_cases(worth, ties=False))
    better = []
    for y, s in zip(case.truth, case.scores, strict=True):
        ranked, swapped = naive.ranked(s), dict(s)
        places = [i for i in range(len(ranked) - 1) if ranked[i] not in y and ranked[i + 1] in y]
        if places:
            miss, hit = (ranked[i] for i in (places[0], places[0] + 1))
            swapped[miss], swapped[hit] = s[hit], s[miss]
        better.append(swapped)
    assume(better != case.scores)
    before = score(case, worth, but=(REWARDS_NO_PERFECTION,))
    after = score(Case(case.truth, better, case.n_labels, case.inverse), worth, but=(REWARDS_NO_PERFECTION,))
    for name, measure in measures_of(before).items():
        gain = after[name] - before[name]
        is_no_loss = (gain if measure.metric.higher_is_better else -gain) >= -SLACK
        assert is_no_loss or name.startswith(IS_A_MEAN_OVER_HITS), name


@law
def test_only_the_order_of_the_scores_matters(worth, data):
    case = data.draw(wide_cases(worth))
    before, levels = score(case, worth), sorted({value for row in case.scores for value in row.values()})
    for transformed in (levels.index, lambda x: 2 * x, lambda x: math.inf if x == levels[-1] else x):
        scores = [{label: transformed(value) for label, value in row.items()} for row in case.scores]
        assert score(Case(case.truth, scores, case.n_labels, case.inverse), worth).estimates == before.estimates


# The same bits however the work is cut


@pytest.fixture(scope="module")
def made():
    """Rows with ties, empty rows, grades and short lists, all from one seed."""
    rng = np.random.default_rng(771)
    n_rows, n_labels = (40, 30) if config.DISABLE_JIT else (400, 90)
    truth = np.where(rng.random((n_rows, n_labels)) < 0.05, rng.integers(1, 4, (n_rows, n_labels)), 0)
    scores = np.round(rng.random((n_rows, n_labels)) + 0.3 * (truth > 0), 2)
    scores[rng.random((n_rows, n_labels)) < rng.random((n_rows, 1))] = 0
    return csr_matrix(truth), csr_matrix(scores), 1 + 9 * rng.random(n_labels)


# ERR refuses grades above its max, which is 1 unless said.
NAMES = [name for m in BY_ROW.values() for name in names_of(m, 5) if m.gain != "stop"]
NAMES += ["P@1", "nDCG@10", "ERR(max=3)@5"]


OTHERS = [name for m in METRICS.values() if m.name not in BY_ROW for name in names_of(m, 5)]
OTHERS += ["macroF1(beta=2,over=seen,zero=skip)", "coverage(of=recommended)@5", "P(rel=2)", "LRAP(rel=2)", "AUC@5"]


@pytest.mark.parametrize(("empty_rows", "weighted"), [("zero", False), ("drop", True), ("drop", False)])
def test_blocks_threads_and_shards_give_the_same_bits_for_every_metric(made, rng, monkeypatch, empty_rows, weighted):
    truth, scores, inverse = made
    weights = rng.random(truth.shape[0]) * (rng.random(truth.shape[0]) < 0.9) if weighted else None
    options = {"metrics": [*NAMES, *OTHERS], "inverse_propensities": inverse, "sample_weight": weights}
    options |= {"threshold": 0.3, "empty_rows": empty_rows}
    stored = csr_matrix((truth.data * (rng.random(truth.nnz) < 0.7), truth.indices, truth.indptr), truth.shape)
    whole = graded.score(stored, scores, threads=1, **options)
    nonzero = stored.copy()
    nonzero.eliminate_zeros()
    check_judged(whole, nonzero, scores, inverse, weights, empty_rows, least=30)
    for entries, threads in ((1, 3), (300, 1), (1000, 3), (1733, 2), (1 << 30, 3)):
        read_in_pieces(monkeypatch, entries=entries)
        result = graded.score(stored, scores, threads=threads, **options)
        assert (result.estimates, result.counts, result.notes) == (whole.estimates, whole.counts, whole.notes)
        shards = [[matrix[:17], matrix[17:17], matrix[17:]] for matrix in (stored, scores)]
        assert graded.score(*shards, threads=threads, **options).estimates == whole.estimates


@pytest.mark.parametrize("empty_rows", ["zero", "drop"])
def test_the_order_of_labels_in_a_row_has_no_effect(made, rng, empty_rows):
    truth, scores, inverse = made
    options = {"inverse_propensities": inverse, "threshold": 0.3, "empty_rows": empty_rows, "threads": 1}
    whole = graded.score(truth, scores, metrics=[*NAMES, *OTHERS], **options)
    again = graded.score(shuffled(rng, truth), shuffled(rng, scores), metrics=[*NAMES, *OTHERS], **options)
    assert again.estimates == whole.estimates


@pytest.mark.parametrize("rows", [([{}] * 3, [{0: 0.5, 2: 0.2}] * 3), ([{0: 1.0}] * 3, [{}] * 3), ([{}], [{}])])
@pytest.mark.parametrize("empty_rows", ["zero", "drop"])
def test_no_truth_and_no_predictions_are_no_trouble(rows, empty_rows):
    names = [name for metric in METRICS.values() for name in names_of(metric, K)]
    result = measures.score(Case(*rows, 4, [2.0] * 4), names, empty_rows=empty_rows)
    assert all(math.isfinite(value) for value in result.values())
