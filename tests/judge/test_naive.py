"""The judge is judged: worked examples from papers and manuals, published values on real data, and its own two ways."""

import json
import math

import pytest
from hypothesis import given, strategies as st
from judge import naive, table
from scipy.sparse import load_npz
from support.measures import HEADS
from support.realdata import GOLDEN
from support.strategies import cases, to_csr, to_rows

GOT, LEFT = [3, 2, 3, 0, 1, 2], {6: 3.0}  # a label that is true, but not ranked: the ideal is 3 3 3 2 2 1
K = st.integers(1, 7)  # often above the number of labels predicted, and of labels
METRICS = st.sampled_from(list(HEADS.values()))


def evaluate_grades(name, k, options, grades, left=()):
    """Evaluate one row whose ranking has these grades from the first rank on."""
    truth = {label: float(grade) for label, grade in enumerate(grades) if grade} | dict(left)
    return naive.evaluate(name, k, options, [truth], [{label: float(-label) for label in range(len(grades))}])


@pytest.mark.parametrize(
    ("name", "k", "options", "grades", "left", "expected"),
    [
        ("AP", 5, {}, [1, 0, 1, 0, 1], {9: 1.0}, (1 + 2 / 3 + 3 / 5) / 4),  # hits at 1, 3, 5, and a label never found
        ("nDCG", 6, {}, GOT, LEFT, 0.8184),
        ("nDCG", 6, {"gain": "exp"}, GOT, LEFT, 0.7813),
        ("nDCG", 6, {"discount": "letor"}, GOT, LEFT, 0.7985),
        ("nDCG", 5, {}, [3, 2, 3, 0, 1], {}, 0.9724),  # in a wrong order
        ("nDCG", 3, {}, [3, 2, 3, 0, 1], {}, 0.9778),
        ("P", 4, {}, [3, 2, 3, 0], {}, 0.75),  # grades count once
    ],
)
def test_examples_of_grades(name, k, options, grades, left, expected):
    value = evaluate_grades(name, k, options, grades, left)
    assert value == pytest.approx(expected, **({"abs": 5e-5} if name == "nDCG" else {}))


def test_inverse_propensity_by_hand():
    c = (math.log(100) - 1) * 2.5**0.55
    assert naive.inverse_propensities([0, 7], 100, 0.55, 1.5) == pytest.approx([1 + c / 1.5**0.55, 1 + c / 8.5**0.55])


def test_equal_scores_go_to_the_lower_label():
    assert naive.ranked({5: 0.5, 2: 0.5, 9: 0.7, 1: 0.1}, 3) == [9, 2, 5]


HITS = [(1, 1), (0, 1), (1, 1), (1, 1)]


@pytest.mark.parametrize(
    ("pairs", "middle", "half"),
    [
        (HITS, 0.75, 3.182446305 * 0.25),  # s = 0.5, t(3) = 3.182446
        ([(2, 2), (0, 2)], 0.5, 12.706204736 / 2),  # R = 0.5, e = 1, -1, SE = sqrt(2 / 2) / 2 = 0.5, t(1) = 12.706205
    ],
)
def test_intervals_by_hand(pairs, middle, half):
    assert naive.interval_of(pairs) == pytest.approx((middle - half, middle + half))


def test_interval_of_few_misses_by_hand():
    # 3 of 4 are hits: low has 4 p^3 (1 - p) + p^4 = 0.025, high has 1 - p^4 = 0.025
    low, high = naive.interval_of(HITS, of_shares=True)
    assert 4 * low**3 * (1 - low) + low**4 == pytest.approx(0.025)
    assert high == pytest.approx(0.975**0.25)


def test_one_row_and_rows_that_are_alike_have_no_interval():
    assert naive.interval_of([(1, 1)]) is None
    assert naive.interval_of([(0.25, 1.0)] * 50) is None
    assert naive.interval_of([(0.0, 1.0)] * 50) is None
    assert naive.interval_of([(0.0, 1.0)] * 50, of_shares=True) == pytest.approx((0.0, 1 - 0.025 ** (1 / 50)))


def test_dropping_empty_rows_changes_the_mean():
    rows = [{0: 1.0}, {}], [{0: 1.0}, {0: 1.0}]
    assert [naive.evaluate("P", 1, {}, *rows, empty_rows=empty) for empty in ("zero", "drop")] == [0.5, 1.0]


def test_ties_across_a_cut_are_counted():
    scores = [{0: 1.0, 1: 1.0}, {0: 1.0, 1: 0.5}, {0: 1.0}, {}, {0: 0.0, 1: -0.0, 2: 0.0}]
    assert [naive.rows_with_tie_across(k, scores) for k in (1, 2, 3)] == [2, 1, 0]


def test_tie_bounds_of_one_hit_among_two_tied():
    arguments = {}, [{3: 1.0}], [{1: 0.5, 3: 0.5}]
    assert naive.tie_bounds("P", 1, *arguments) == (0.0, 1.0)
    assert naive.tie_bounds("Abandonment", 1, *arguments) == (1.0, 0.0)
    assert naive.tie_mean("P", 1, *arguments) == 0.5


@given(case=cases(max_rows=2, max_labels=5, graded=True), k=K, metric=METRICS)
def test_sorting_the_tied_by_gain_reaches_the_bounds_of_all_orders(case, k, metric):
    arguments = (metric[0], k, metric[1], case.truth, case.scores, case.inverse)
    listed = naive.tie_bounds(*arguments)
    assert naive.tie_bounds(*arguments, most_orders=0) == pytest.approx(listed)
    low, high = sorted(listed)
    for value in (naive.evaluate(*arguments), naive.tie_mean(*arguments)):
        assert low - 1e-12 <= value <= high + 1e-12


@given(case=cases(graded=True), k=K, metric=METRICS)
def test_the_edges_have_a_value_and_it_lies_in_its_interval(case, k, metric):
    pairs = naive.row_values(metric[0], k, metric[1], case.truth, case.scores, case.inverse)
    value, low_high = naive.ratio(pairs), naive.interval_of(pairs)
    assert math.isfinite(value)
    assert low_high is None or low_high[0] <= value <= low_high[1]


@pytest.fixture(scope="module")
def official(realdata):
    """Return XMLRepository's own sample, with propensities from its test labels, and its expected values."""
    folder = realdata / "bibtex_official_sample"
    truth, scores = (to_rows(load_npz(folder / f"{name}.npz")) for name in ("labels", "scores"))
    inverse = naive.inverse_propensities(naive.label_counts(truth, 159), len(truth), 0.55, 1.5)
    expected = json.loads((folder / "expected_golden.json").read_text())["values_at_1_to_5"]
    return truth, scores, table.Rules(159, inverse), expected


@pytest.mark.parametrize("key", GOLDEN)
def test_official_sample_to_all_digits(official, key):
    truth, scores, rules, expected = official
    values = [table.evaluate(f"{GOLDEN[key]}@{k}", truth, scores, rules) for k in range(1, 6)]
    assert values == pytest.approx(expected[key], abs=1e-12)


def test_strategies_keep_stored_zeros_in_csr():
    matrix = to_csr([{2: 0.0, 0: 1.0}, {}], 3)
    assert (matrix.indices.tolist(), matrix.data.tolist(), matrix.indptr.tolist()) == ([0, 2], [1.0, 0.0], [0, 2, 2])
