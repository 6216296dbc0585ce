"""One bin equals the whole, interval included; and slices of grades from rel on are the judge's."""

import numpy as np
import pytest
from judge import naive, naive_slices
from support.intervals import check_interval, judged_interval
from support.measures import HEADS
from support.strategies import random_case, random_weights, to_csr

import xmceval
from xmceval.metrics.names import parse
from xmceval.metrics.table import METRICS

COUNTS = [5, 0, 3, 1, 1, 8, 2, 0, 1, 5, 4, 2]
SHARED = [head for head, (name, _) in HEADS.items() if not METRICS[name].complement]
WITH_REL = [name for name in naive.METRICS if "rel" in METRICS[name].numbers and not METRICS[name].complement]
LABELWISE = [
    *("macroP", "macroR(over=truth)", "macroF1(over=seen,rel=2)", "macroBA(over=train)", "macroJaccard(zero=skip)"),
    *(
        "macroF1",
        "macroP(over=truth,rel=2)",
        "weightedF1",
        "coverage",
        "coverage(over=all)",
        "coverage(over=ideal,rel=3)",
    ),
]
any_rows = pytest.mark.parametrize("empty_rows", ["zero", "drop"])
any_weights = pytest.mark.parametrize("weights", [None, random_weights(5)], ids=["plain", "weighted"])


def score(case, metrics, by_frequency, **options):
    truth, scores = (to_csr(rows, case.n_labels, np.float64) for rows in (case.truth, case.scores))
    given = {"counts": np.array(COUNTS), "n_train": 9, "by_frequency": by_frequency}
    return xmceval.score(truth, scores, metrics=metrics, **given, **options)


@any_rows
@pytest.mark.parametrize("seed", [None, 5], ids=["plain", "weighted"])
@pytest.mark.parametrize("n_rows", [40, 120])
def test_one_bin_equals_the_whole(empty_rows, seed, n_rows):
    names = [*SHARED, "RBP", *(f"{name}(rel={rel})" for name in WITH_REL for rel in (2, 3, 4)), *LABELWISE]
    weights = seed and random_weights(seed, n_rows)
    case = random_case(11, n_rows)
    result = score(case, names, 1, k=(1, 3, 5), empty_rows=empty_rows, sample_weight=weights)
    [only] = result.slices
    assert list(only.estimates) == list(result)
    for name, whole in result.estimates.items():
        part = only.estimates[name]
        assert part.value == pytest.approx(whole.value, rel=1e-12, abs=1e-12), name
        assert part.undefined == whole.undefined, name
        for own, other in ((part.low, whole.low), (part.high, whole.high)):
            assert own == (None if other is None else pytest.approx(other, rel=1e-12)), name


@any_rows
@any_weights
def test_shares_of_grades_from_rel_on_are_the_judges(empty_rows, weights):
    case, bins = random_case(12), naive_slices.bins_from_edges(COUNTS, [2, 5])
    inverse = naive.inverse_propensities(COUNTS, 9, 0.55, 1.5)
    names = {f"{name}(rel={rel})": (name, rel) for name in WITH_REL for rel in (2, 4)}
    result = score(case, list(names), [2, 5], k=3, empty_rows=empty_rows, sample_weight=weights)
    for head, (name, rel) in names.items():
        truth = [{label: 1.0 for label, grade in row.items() if grade >= rel} for row in case.truth]
        rules = {"inverse": inverse, "weights": weights, "empty_rows": empty_rows}
        judged = naive_slices.shares(name, 3, {}, truth, case.scores, bins, 3, **rules)
        for each, pairs in zip(result.slices, judged, strict=True):
            found = each.estimates[str(parse(head, [3])[0])]
            assert found.value == pytest.approx(naive.ratio(pairs), rel=1e-12, abs=1e-12), head
            check_interval(found.interval, judged_interval(pairs, head), len(pairs), head)
