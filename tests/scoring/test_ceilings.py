"""Ceilings against the judge: the value of the perfect ranking, with rows dropped, weights and grades from rel on."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from judge import naive
from support.measures import HEADS, parse
from support.strategies import cases, random_case, random_weights, to_csr

import xmceval
from xmceval import METRICS

NO_CEILING = {"microP", "microF1"}


def perfect(name, row, inverse):
    """Return scores that put the labels of a row in the best order for a metric."""
    return {label: inverse[label] if name in naive.PROPENSITY_SCORED else grade for label, grade in row.items()}


def judged(name, k, options, case, truth, weights, empty_rows):
    """Return the weighted mean, or ratio of sums, of the perfect rankings' values."""
    pairs = []
    for row, weight in zip(truth, weights or [1.0] * len(truth), strict=True):
        best = perfect(name, row, case.inverse)
        values = naive.row_values(name, k, options, [row], [best], case.inverse, empty_rows=empty_rows)
        pairs += [(weight * num, weight * den) for num, den in values]
    return naive.ratio(pairs)


@given(
    case=cases(graded=True),
    k=st.integers(1, 4),
    weights=st.none() | st.lists(st.sampled_from([0.0, 0.5, 2.0]), min_size=6, max_size=6).filter(lambda w: w[0]),
    empty_rows=st.sampled_from(["zero", "drop"]),
    rel=st.integers(1, 3),
)
def test_the_ceiling_of_every_metric_is_the_value_of_the_perfect_ranking(case, k, weights, empty_rows, rel):
    check_ceilings(case, k, weights, empty_rows, rel)


@pytest.mark.parametrize("weights", [None, random_weights(7)], ids=["plain", "weighted"])
@pytest.mark.parametrize("empty_rows", ["zero", "drop"])
def test_the_ceilings_of_many_rows_are_the_values_of_perfect_rankings(weights, empty_rows):
    for k in (1, 3, 7):
        check_ceilings(random_case(6), k, weights, empty_rows, 3)


def check_ceilings(case, k, weights, empty_rows, rel):
    k = min(k, case.n_labels)
    own = None if weights is None else weights[: len(case.truth)]
    asked = {f"{head}@{k}": (*HEADS[head], 1) for head in HEADS}
    if rel > 1:
        asked |= {f"{name}(rel={rel})@{k}": (name, {}, rel) for name in naive.METRICS if "rel" in METRICS[name].numbers}
    result = xmceval.score(
        to_csr(case.truth, case.n_labels), to_csr(case.scores, case.n_labels), metrics=list(asked), ceiling=True,
        inverse_propensities=case.inverse, sample_weight=own, empty_rows=empty_rows,
    )  # fmt: skip
    for name, (metric, options, grade) in asked.items():
        found = result.estimates[str(parse(name)[0])].ceiling
        truth = [{label: g if grade == 1 else 1.0 for label, g in row.items() if g >= grade} for row in case.truth]
        if metric in NO_CEILING or options.get("norm") == "returned":
            assert found is None
        elif not result.estimates[str(parse(name)[0])].undefined:
            expected = judged(metric, k, options, case, truth, own, empty_rows)
            assert found == pytest.approx(expected, rel=1e-12, abs=1e-12), name


def test_ceilings_by_hand():
    # Row 0 has 1 true label, row 1 none, row 2 three: within k = 2, at most 1, 0 and 2 hits.
    y_true, y_score = np.array([[1, 0, 0, 0], [0, 0, 0, 0], [0, 1, 1, 1]]), np.ones((3, 4))
    names = ["P", "R", "Hit", "Abandonment", "microR"]
    expected = {"zero": [3 / 6, (1 + 2 / 3) / 3, 2 / 3, 1 / 3, 3 / 4], "drop": [3 / 4, (1 + 2 / 3) / 2, 1, 0, 3 / 4]}
    for empty_rows, ceilings in expected.items():
        result = xmceval.score(y_true, y_score, k=2, metrics=names, ceiling=True, empty_rows=empty_rows)
        assert [each.ceiling for each in result.estimates.values()] == pytest.approx(ceilings)
