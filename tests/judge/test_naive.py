"""The judge is judged: worked examples from papers and manuals, published values on real data, and its own two ways."""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from judge import naive
from support.strategies import Case, K, cases, metrics, to_csr

REALDATA = os.environ.get("XMCEVAL_REALDATA")
GRADES_GOT = [3, 2, 3, 0, 1, 2]
GRADES_LEFT = {6: 3.0}  # true, not ranked: the ideal is 3 3 3 2 2 1


def graded(
    grades: list[int], left: dict[int, float] | None = None
) -> tuple[list[dict[int, float]], list[dict[int, float]]]:
    """Return one row whose ranking has these grades from the first rank on."""
    truth = {label: float(grade) for label, grade in enumerate(grades) if grade} | (left or {})
    return [truth], [{label: float(-label) for label in range(len(grades))}]


def test_average_precision_of_hits_at_1_3_5_and_a_label_never_found() -> None:
    assert naive.evaluate("AP", 5, {}, *graded([1, 0, 1, 0, 1], {9: 1.0})) == pytest.approx((1 + 2 / 3 + 3 / 5) / 4)


@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, 0.8184), ({"gain": "exp"}, 0.7813), ({"discount": "letor"}, 0.7985)],
    ids=["linear", "exponential", "letor"],
)
def test_ndcg_of_grades_with_better_ones_left_out(options: dict[str, Any], expected: float) -> None:
    assert naive.evaluate("nDCG", 6, options, *graded(GRADES_GOT, GRADES_LEFT)) == pytest.approx(expected, abs=5e-5)


@pytest.mark.parametrize(("k", "expected"), [(5, 0.9724), (3, 0.9778)])
def test_ndcg_of_grades_in_a_wrong_order(k: int, expected: float) -> None:
    assert naive.evaluate("nDCG", k, {}, *graded([3, 2, 3, 0, 1])) == pytest.approx(expected, abs=5e-5)


def test_grades_count_once_in_precision() -> None:
    assert naive.evaluate("P", 4, {}, *graded([3, 2, 3, 0])) == 0.75


def test_inverse_propensity_by_hand() -> None:
    c = (math.log(100) - 1) * 2.5**0.55
    assert naive.inverse_propensities([0, 7], 100, 0.55, 1.5) == pytest.approx([1 + c / 1.5**0.55, 1 + c / 8.5**0.55])


def test_equal_scores_go_to_the_lower_label() -> None:
    assert naive.ranked({5: 0.5, 2: 0.5, 9: 0.7, 1: 0.1}, 3) == [9, 2, 5]


def test_interval_of_a_mean_by_hand() -> None:
    # values 1, 0, 1, 1: mean 0.75, s = 0.5, t(3) = 3.182446
    truth, scores = [{0: 1.0}, {}, {0: 1.0}, {0: 1.0}], [{0: 1.0}] * 4
    low_high = naive.interval("P", 1, {}, truth, scores)
    assert low_high == pytest.approx((0.75 - 3.182446305 * 0.25, 0.75 + 3.182446305 * 0.25))


def test_interval_of_few_misses_by_hand() -> None:
    # 3 of 4 are hits: low has 4 p^3 (1 - p) + p^4 = 0.025, high has 1 - p^4 = 0.025
    truth, scores = [{0: 1.0}, {}, {0: 1.0}, {0: 1.0}], [{0: 1.0}] * 4
    found = naive.interval("P", 1, {}, truth, scores, of_shares=True)
    assert found is not None
    low, high = found
    assert 4 * low**3 * (1 - low) + low**4 == pytest.approx(0.025)
    assert high == pytest.approx(0.975**0.25)


def test_rows_that_are_alike_have_no_interval() -> None:
    assert naive.interval_of([(0.25, 1.0)] * 50) is None
    assert naive.interval_of([(0.0, 1.0)] * 50) is None
    assert naive.interval_of([(0.0, 1.0)] * 50, of_shares=True) == pytest.approx((0.0, 1 - 0.025 ** (1 / 50)))


def test_interval_of_a_ratio_by_hand() -> None:
    # (num, den) = (2, 2), (0, 2): R = 0.5, e = 1, -1, SE = sqrt(2 / 2) / 2 = 0.5, t(1) = 12.706205
    low_high = naive.interval("PSP", 1, {}, [{0: 1.0}] * 2, [{0: 1.0}, {1: 1.0}], [2.0, 2.0])
    assert low_high == pytest.approx((0.5 - 12.706204736 / 2, 0.5 + 12.706204736 / 2))


def test_one_row_has_no_interval() -> None:
    assert naive.interval("P", 1, {}, [{0: 1.0}], [{0: 1.0}]) is None


def test_dropping_empty_rows_changes_the_mean() -> None:
    truth: list[dict[int, float]] = [{0: 1.0}, {}]
    scores = [{0: 1.0}, {0: 1.0}]
    assert naive.evaluate("P", 1, {}, truth, scores) == 0.5
    assert naive.evaluate("P", 1, {}, truth, scores, empty_rows="drop") == 1.0


def test_ties_across_a_cut_are_counted() -> None:
    scores = [{0: 1.0, 1: 1.0}, {0: 1.0, 1: 0.5}, {0: 1.0}, {}, {0: 0.0, 1: -0.0, 2: 0.0}]
    assert [naive.rows_with_tie_across(k, scores) for k in (1, 2, 3)] == [2, 1, 0]


def test_tie_bounds_of_one_hit_among_two_tied() -> None:
    arguments: tuple[Any, ...] = ({}, [{3: 1.0}], [{1: 0.5, 3: 0.5}])
    assert naive.tie_bounds("P", 1, *arguments) == (0.0, 1.0)
    assert naive.tie_bounds("Abandonment", 1, *arguments) == (1.0, 0.0)
    assert naive.tie_mean("P", 1, *arguments) == 0.5


@given(case=cases(max_rows=2, max_labels=5, graded=True), k=K, metric=metrics())
def test_sorting_the_tied_by_gain_reaches_the_bounds_of_all_orders(
    case: Case, k: int, metric: tuple[str, dict[str, Any]]
) -> None:
    arguments = (metric[0], k, metric[1], case.truth, case.scores, case.inverse)
    listed = naive.tie_bounds(*arguments)
    assert naive.tie_bounds(*arguments, most_orders=0) == pytest.approx(listed)
    low, high = sorted(listed)
    for value in (naive.evaluate(*arguments), naive.tie_mean(*arguments)):
        assert low - 1e-12 <= value <= high + 1e-12


@given(case=cases(graded=True), k=K, metric=metrics())
def test_the_edges_have_a_value_and_it_lies_in_its_interval(
    case: Case, k: int, metric: tuple[str, dict[str, Any]]
) -> None:
    arguments = (metric[0], k, metric[1], case.truth, case.scores, case.inverse)
    value, low_high = naive.evaluate(*arguments), naive.interval(*arguments)
    assert math.isfinite(value)
    assert low_high is None or low_high[0] <= value <= low_high[1]


GOLDEN = {
    "P": ("P", {}),
    "nDCG": ("nDCG", {}),
    "R": ("R", {}),
    "hit": ("Hit", {}),
    "MRR": ("RR", {}),
    "RP": ("RP", {}),
    "PSP": ("PSP", {}),
    "PSnDCG_jain_ratio_of_sums": ("PSnDCG", {"norm": "sum"}),
    "PSnDCG_pyxclib_min_k_y": ("PSnDCG", {"norm": "row"}),
    "PSP_unnormalised": ("PSP", {"norm": "none"}),
    "PSnDCG_literal_formula": ("PSnDCG", {"norm": "none"}),
    "PSR_normalised": ("PSR", {}),
}


@pytest.fixture(scope="module")
def official() -> tuple[Case, dict[str, list[float]]]:
    """Return XMLRepository's own sample, its propensities from the test labels, and its expected values."""
    if not REALDATA:
        pytest.skip("XMCEVAL_REALDATA is unset")
    from scipy.sparse import load_npz

    folder = Path(REALDATA) / "bibtex_official_sample"
    truth, scores = (as_rows(load_npz(folder / f"{name}.npz")) for name in ("labels", "scores"))
    counts = naive.label_counts(truth, 159)
    case = Case(truth, scores, 159, naive.inverse_propensities(counts, len(truth), 0.55, 1.5))
    return case, json.loads((folder / "expected_golden.json").read_text())["values_at_1_to_5"]


def as_rows(matrix: Any) -> list[dict[int, float]]:
    """Return a sparse matrix as rows {label: value}."""
    csr = matrix.tocsr()
    cutoffs = zip(csr.indptr[:-1], csr.indptr[1:], strict=True)
    return [dict(zip(csr.indices[i:j].tolist(), csr.data[i:j].tolist(), strict=True)) for i, j in cutoffs]


@pytest.mark.parametrize("key", GOLDEN)
def test_official_sample_to_all_digits(official: tuple[Case, dict[str, list[float]]], key: str) -> None:
    case, expected = official
    name, options = GOLDEN[key]
    got = [naive.evaluate(name, k, options, case.truth, case.scores, case.inverse) for k in range(1, 6)]
    assert got == pytest.approx(expected[key], abs=1e-12)


def test_strategies_keep_stored_zeros_in_csr() -> None:
    matrix = to_csr([{2: 0.0, 0: 1.0}, {}], 3)
    assert (matrix.indices.tolist(), matrix.data.tolist(), matrix.indptr.tolist()) == ([0, 2], [1.0, 0.0], [0, 2, 2])
