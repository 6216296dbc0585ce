"""Ties: the mean, the best and the worst over all orders of equally scored labels, against the judge."""

import itertools
import json
import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from judge import naive
from scipy.sparse import csr_matrix
from support import graded, measures
from support.close import close
from support.judged import check_judged
from support.measures import HEADS
from support.pieces import read_in_pieces
from support.realdata import TIED as WITH_TIES, files_of
from support.strategies import Case, cases, random_case, shuffled, to_csr, to_rows

CUTS = (1, 2, 3)


def arguments(head, k, case):
    name, options = HEADS[head]
    return name, k, options, case.truth, case.scores, case.inverse


@given(cases(max_rows=3, max_labels=5, graded=True))
def test_expected_is_the_mean_over_all_orders_of_ties(case):
    cutoffs = [k for k in CUTS if k <= case.n_labels]
    result = measures.score(case, k=cutoffs, ties="expected")
    for head in HEADS:
        for k in cutoffs:
            mean = naive.tie_mean(*arguments(head, k, case))
            assert result[f"{head}@{k}"] == close(mean), f"{head}@{k}"


@given(cases(graded=True, max_rows=4, max_labels=7), st.sampled_from(["zero", "drop"]))
def test_best_is_the_judges_best_and_worst_its_worst(case, empty_rows):
    cutoffs = [k for k in CUTS if k <= case.n_labels]
    results = [measures.score(case, k=cutoffs, ties=ties, empty_rows=empty_rows) for ties in ("worst", "best", "label")]
    for head, k in itertools.product(HEADS, cutoffs):
        name = f"{head}@{k}"
        bounds = naive.tie_bounds(*arguments(head, k, case), empty_rows=empty_rows, most_orders=24)
        assert [result[name] for result in results[:2]] == close(bounds), name
        for result in results:
            assert result.tie_bounds(name) == close(sorted(bounds)), name


# Large groups by hand. Ranks 1 and 2 are labels 30 (true) and 31; labels 0-11 tie, of which 4 are true, up to rank 14.
GROUP, TRUE = 12, (1, 4, 7, 9)
LARGE = Case([dict.fromkeys((30, *TRUE), 1.0)], [{30: 9.0, 31: 8.0} | dict.fromkeys(range(GROUP), 5.0)], 32, [2.0] * 32)
WITHIN_AND_BEYOND = (3, 5, 9, 13, 14, 16)


def orders_of_hits(k):
    """Yield every ranking of the large group that differs in the ranks of its hits."""
    misses = [label for label in range(GROUP) if label not in TRUE]
    for places in itertools.combinations(range(GROUP), len(TRUE)):
        hits, others = iter(TRUE), iter(misses)
        yield [30, 31, *(next(hits) if place in places else next(others) for place in range(GROUP))][:k]


@pytest.mark.parametrize("k", WITHIN_AND_BEYOND)
def test_a_large_group_has_the_mean_of_the_best_and_the_worst_of_all_its_orders(k):
    found = {ties: measures.score(LARGE, k=k, ties=ties) for ties in ("label", "expected", "best", "worst")}
    rankings = list(orders_of_hits(k))
    for head, (name, options) in HEADS.items():
        rows = (naive.seen(LARGE.truth[0], top, k, options, LARGE.inverse, 32) for top in rankings)
        values = [num / den for num, den in (naive.METRICS[name](row) for row in rows)]
        ends = sorted([min(values), max(values)], reverse=name in naive.LOWER_IS_BETTER)
        named = f"{head}@{k}"
        assert found["expected"][named] == close(math.fsum(values) / len(values)), named
        assert [found["worst"][named], found["best"][named]] == close(ends), named
        assert found["label"].tie_bounds(named) == close(sorted(ends)), named


def test_groups_of_40_have_the_values_of_the_hypergeometric_distribution():
    # 40 tied labels, 7 of them true, from rank 1 on; k = 10.
    case = Case([dict.fromkeys(range(0, 35, 5), 1.0)], [dict.fromkeys(range(40), -1.0)], 40, [3.0] * 40)
    result = measures.score(case, ["P", "R", "Hit", "Abandonment", "RR"], [10], ties="expected")
    none = [math.comb(33, t) / math.comb(40, t) for t in range(11)]
    expected = {
        "P@10": 7 / 40,
        "R@10": 10 * 7 / 40 / 7,
        "Hit@10": 1 - none[10],
        "Abandonment@10": none[10],
        "RR@10": math.fsum((none[t - 1] - none[t]) / t for t in range(1, 11)),
    }
    assert dict(result) == close(expected)
    assert result.tie_bounds("P@10") == pytest.approx((0.0, 0.7))
    assert result.tie_bounds("Abandonment@10") == pytest.approx((0.0, 1.0))


def test_grades_of_a_large_group_are_gathered_from_beyond_the_cutoff():
    # The group has 30 labels; its grades 4, 2, 1 belong to labels that the order by label puts beyond rank 5.
    case = Case(
        [{20: 4.0, 25: 2.0, 29: 1.0}], [dict.fromkeys(range(30), 0.5)], 30, [1.0 + label for label in range(30)]
    )
    of = {
        ties: measures.score(case, ["DCG", "PSP(norm=none)", "P"], [5], ties=ties)
        for ties in ("expected", "best", "worst")
    }
    d = [1 / math.log2(rank + 1) for rank in range(1, 6)]
    best = {"DCG@5": 4 * d[0] + 2 * d[1] + d[2], "PSP(norm=none)@5": (21 + 26 + 30) / 5, "P@5": 3 / 5}
    mean = {"DCG@5": 7 / 30 * math.fsum(d), "PSP(norm=none)@5": 77 / 30, "P@5": 3 / 30}
    assert dict(of["best"]) == pytest.approx(best)
    assert dict(of["expected"]) == pytest.approx(mean)
    assert set(of["worst"].values()) == {0.0}


@pytest.mark.parametrize("ties", ["label", "expected", "best", "worst"])
def test_rows_stored_in_any_order_tie_as_sorted_ones(rng, ties):
    case = random_case(13)
    truth, scores = to_csr(case.truth, case.n_labels), to_csr(case.scores, case.n_labels)
    options = {"k": [1, 3, 5], "metrics": tuple(HEADS), "inverse_propensities": case.inverse, "ties": ties}
    stored = graded.score(shuffled(rng, truth), shuffled(rng, scores), **options)
    assert stored.estimates == graded.score(truth, scores, **options).estimates


@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
def test_without_ties_every_choice_gives_the_same_bits(rng, ties):
    y_true = rng.random((50, 20)) < 0.2
    y_score = rng.permuted(np.arange(1.0, 21) * np.ones((50, 1)), axis=1)
    result = graded.score(y_true, y_score, ties=ties)
    assert dict(result) == dict(graded.score(y_true, y_score))
    inverse = naive.inverse_propensities(naive.label_counts(to_rows(y_true), 20), 50, 0.55, 1.5)
    check_judged(result, to_rows(y_true), [dict(enumerate(row)) for row in y_score.tolist()], inverse, least=12)


@pytest.mark.parametrize(("folder", "system"), WITH_TIES)
def test_real_predictions_have_the_recorded_bounds_and_means(realdata, folder, system):
    recorded = json.loads((realdata / folder / "expected_tie_bounds.json").read_text())[system]
    paths = [realdata / folder / name for name in files_of(folder, system)]
    of = {
        ties: graded.score(*paths, k=(1, 3, 5, 10), metrics=["P", "R"], ties=ties)
        for ties in ("worst", "expected", "best")
    }
    for cut, values in recorded.items():
        for metric in ("P", "R"):
            for ties, end in (("worst", "min"), ("expected", "expected"), ("best", "max")):
                assert of[ties][f"{metric}{cut}"] == pytest.approx(values[f"{metric}_{end}"], abs=1e-12)
        assert of["best"].counts.tied_rows[int(cut[1:])] == values["rows_with_tie_at_cut"]


TIED = np.array([[0, 1, 0, 1]] * 3), np.ones((3, 4))


def test_best_and_worst_of_metrics_along_the_list_are_their_bounds():
    names = ["AP@all", "RR@all", "R@n", "microR@n", "ERR@2"]
    plain, best, worst = (graded.score(*TIED, metrics=names, ties=ties) for ties in ("label", "best", "worst"))
    by_hand = {"AP@all": (5 / 12, 1), "RR@all": (1 / 3, 1), "R@n": (0, 1), "microR@n": (0, 1), "ERR@2": (0, 5 / 8)}
    for name in names:  # two of four tied labels are true
        assert (worst[name], best[name]) == pytest.approx(by_hand[name])
        assert plain.tie_bounds(name) == pytest.approx(by_hand[name])


def test_a_row_without_ties_has_no_bounds_of_the_rows_before_it(monkeypatch):
    read_in_pieces(monkeypatch, entries=1)
    found = graded.score(csr_matrix([[1, 0], [1, 0]]), csr_matrix([[0.5, 0.5], [0.9, 0.1]]), metrics="AP", threads=1)
    assert found.tie_bounds("AP") == (0.75, 1.0)


def test_what_settles_ties_itself_stands_and_what_has_no_bounds_says_so():
    best = graded.score(*TIED, metrics="LRAP", ties="best")
    assert (best["LRAP"], best.tie_bounds("LRAP")) == (0.5, (0.5, 0.5))
    assert np.isnan(graded.score(*TIED, metrics="AUC@2").tie_bounds("AUC@2")).all()


@pytest.mark.parametrize("n_values", [1, 7, 400])
def test_deep_cutoffs_on_long_rows_are_judged_as_shallow_ones_are(rng, n_values):
    n_labels, cutoffs = 420, [1, 5, 16, 17, 60, 300, 420]
    truth = [dict.fromkeys(rng.choice(n_labels, 90, replace=False).tolist(), 1.0), {}, {3: 2.0, 5: 1.0}]
    scores = [dict(enumerate(rng.integers(0, n_values, n_labels) / 8.0)) for _ in truth]
    truth[0] |= {label: 1.0 + label % 4 for label in list(truth[0])[:40]}
    case = Case(truth, scores, n_labels, [1.0 + rng.integers(0, 30) / 4 for _ in range(n_labels)])
    result = measures.score(case, k=cutoffs)
    for head, k in itertools.product(HEADS, cutoffs):
        name, given = f"{head}@{k}", arguments(head, k, case)
        pairs = [
            naive.METRICS[given[0]](naive.seen(y, naive.ranked(s)[:k], k, given[2], case.inverse, n_labels))
            for y, s in zip(truth, scores, strict=True)
        ]
        assert result[name] == close(naive.ratio(pairs)), name
        bounds = naive.tie_bounds(*given, most_orders=1)
        assert result.tie_bounds(name) == close(sorted(bounds)), name
