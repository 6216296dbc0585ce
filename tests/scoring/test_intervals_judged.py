"""Intervals of whole rows, of decisions and of grades against the judge: rows dropped, left out, weighted."""

import pytest
from hypothesis import given, strategies as st
from judge import naive, naive_labels, naive_rows
from support import measures
from support.intervals import check_interval, judged_interval
from support.measures import parse
from support.strategies import few, random_case, random_weights, weighted_cases
from support.wholerows import OPTIONS, name_of, with_rel

from xmceval import METRICS

many_rows = pytest.mark.parametrize("empty_rows", ["zero", "drop"])
any_weights = pytest.mark.parametrize("weights", [None, random_weights(8)], ids=["plain", "weighted"])


def check(result, name, pairs):
    assert result[name] == pytest.approx(naive.ratio(pairs), rel=1e-12, abs=1e-12), name
    check_interval(result.interval(name), judged_interval(pairs, name), len(pairs), name)


@given(problem=weighted_cases(), unscored=st.sampled_from(["bottom", "zero"]), rel=st.integers(1, 5))
def test_whole_rows_have_the_judges_intervals(problem, unscored, rel):
    check_whole_rows(*problem, unscored, rel)


@many_rows
@any_weights
@pytest.mark.parametrize("unscored", ["bottom", "zero"])
def test_many_whole_rows_have_the_judges_intervals(weights, empty_rows, unscored):
    check_whole_rows(random_case(1), weights, empty_rows, unscored, 3)


def check_whole_rows(case, weights, empty_rows, unscored, rel):
    k = min(3, case.n_labels)
    asked = {}
    for judges in naive_rows.METRICS:
        name = name_of(judges, k)
        asked[name] = judges, 0
        if "rel" in parse(name)[0].metric.numbers:
            asked[str(parse(with_rel(name, rel))[0])] = judges, rel
    result = measures.score(case, sample_weight=weights, metrics=list(asked), unscored=unscored, empty_rows=empty_rows)
    for name, (judges, grade) in asked.items():
        rules = {"unscored": unscored, "empty_rows": empty_rows, "weights": weights, "k": k, "rel": grade}
        rules["options"] = OPTIONS.get(judges)
        check(result, name, naive_rows.row_pairs(judges, case.truth, case.scores, case.n_labels, **rules))


DECIDED = {
    "precision": "precision_score",
    "recall": "recall_score",
    "F": "f1_score",
    "Jaccard": "Jaccard",
    "specificity": "specificity",
    "fall-out": "FPR",
    "accuracy": "accuracy",
    "hamming": "hamming_loss",
}


@few
@given(
    problem=weighted_cases(),
    rel=st.sampled_from([0, 0, 3]),
    zero=st.sampled_from(["0", "1", "skip"]),
    beta=st.sampled_from([1, 2]),
)
def test_decisions_have_the_judges_intervals(problem, rel, zero, beta):
    check_decisions(*problem, rel, zero, beta)


@many_rows
@any_weights
@pytest.mark.parametrize("rel", [0, 3])
def test_many_decisions_have_the_judges_intervals(weights, empty_rows, rel):
    for zero in ("0", "1", "skip"):
        check_decisions(random_case(2), weights, empty_rows, rel, zero, 2)


def check_decisions(case, weights, empty_rows, rel, zero, beta):
    weights_of = weights or [1.0] * len(case.truth)
    true = [naive.at_least(row, rel) for row in case.truth]
    kept = [i for i, row in enumerate(true) if weights_of[i] and (row or empty_rows == "zero")]
    sets = naive_labels.at_threshold([true[i] for i in kept], [case.scores[i] for i in kept], 0.5)
    asked = {}
    for rate, name in DECIDED.items():
        for average in {"micro", "samples"}.intersection(METRICS[name].choices["average"]):
            options = {"average": average} if len(METRICS[name].choices["average"]) > 1 else {}
            options |= {"zero": zero} if average == "samples" else {}
            options |= ({"beta": beta} if rate == "F" else {}) | ({"rel": rel} if rel else {})
            inside = ",".join(f"{key}={value}" for key, value in options.items())
            asked[f"{name}({inside})" if inside else name] = (
                rate,
                average,
                beta if rate == "F" else 1,
                zero if average == "samples" else "0",
            )
    result = measures.score(case, sample_weight=weights, metrics=list(asked), threshold=0.5, empty_rows=empty_rows)
    for name, (rate, average, own_beta, own_zero) in asked.items():
        pairs = naive_labels.decision_pairs(rate, average, sets, case.n_labels, beta=own_beta, zero=own_zero)
        weighted = [(weights_of[i] * num, weights_of[i] * den) for i, (num, den) in zip(kept, pairs, strict=True)]
        check(result, name, weighted)


@given(problem=weighted_cases(), rel=st.sampled_from([0.5, 1, 2, 4, 5]), k=st.integers(1, 9))
def test_metrics_of_grades_from_rel_on_have_the_judges_intervals(problem, rel, k):
    check_rel(*problem, rel, k)


@many_rows
@any_weights
def test_many_rows_of_grades_from_rel_on_have_the_judges_intervals(weights, empty_rows):
    for rel in (0.75, 2, 4):
        check_rel(random_case(3), weights, empty_rows, rel, 2)


def check_rel(case, weights, empty_rows, rel, k):
    k = min(k, case.n_labels)
    names = [name for name in naive.METRICS if "rel" in METRICS[name].numbers]
    asked = [f"{name}(rel={rel})" for name in names]
    result = measures.score(case, asked, k, sample_weight=weights, empty_rows=empty_rows)
    for name in names:
        pairs = []
        for y, s, weight in zip(case.truth, case.scores, weights or [1.0] * len(case.truth), strict=True):
            true = naive.at_least(y, rel)
            for num, den in naive.row_values(name, k, {}, [true], [s], case.inverse, empty_rows=empty_rows):
                pairs += [(weight * num, weight * den)] if weight else []
        check(result, f"{name}(rel={rel})@{k}", pairs)
