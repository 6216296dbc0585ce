"""Label counters against the judge: weights, rows dropped, labels by id; and their widening where 32 bits end."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, strategies as st
from judge import naive_labels
from support.strategies import cases, few, random_case, random_weights, to_csr

import xmceval
from xmceval.rows.block import Rows
from xmceval.scoring.decided import decide
from xmceval.scoring.per_label import labelcounters
from xmceval.scoring.per_label.labelcounters import MOST_ROWS, LabelCounters

RATES = {
    "specificity(average=macro)": "specificity",
    "FPR(average=macro)": "fall-out",
    "balanced_accuracy(average=macro)": "balanced",
    "f1_score(average=macro)": "F",
    "MCC(average=macro)": "matthews",
}
AT_CUTOFF = {"macroBA": "balanced", "macroP": "precision", "macroR(over=truth)": "recall"}


every_limit = pytest.mark.parametrize("limit", [1 << 27, 3], ids=["array", "ids"])


@every_limit
@few
@given(
    case=cases(graded=True),
    weights=st.none() | st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=6, max_size=6).filter(lambda w: w[0]),
    empty_rows=st.sampled_from(["zero", "drop"]),
    rel=st.integers(1, 3),
)
def test_counts_of_weighted_rows_and_of_rows_dropped_are_the_judges(limit, case, weights, empty_rows, rel):
    check_counts(limit, case, weights, empty_rows, rel)


@every_limit
@pytest.mark.parametrize("weights", [None, random_weights(6)], ids=["plain", "weighted"])
@pytest.mark.parametrize("empty_rows", ["zero", "drop"])
def test_counts_of_many_weighted_rows_and_of_rows_dropped_are_the_judges(limit, weights, empty_rows):
    for rel in (1, 3):
        check_counts(limit, random_case(7), weights, empty_rows, rel)


def check_counts(limit, case, weights, empty_rows, rel):
    k = min(2, case.n_labels)
    own = [1.0] * len(case.truth) if weights is None else weights[: len(case.truth)]
    true = [{label: grade for label, grade in row.items() if grade >= rel} for row in case.truth]
    kept = [i for i, row in enumerate(true) if own[i] and (row or empty_rows == "zero")]
    rows = [true[i] for i in kept], [case.scores[i] for i in kept]
    option = f"rel={rel}"
    names = {f"{name[:-1]},{option})": rate for name, rate in RATES.items()}
    names |= {
        (f"{name[:-1]},{option})" if "(" in name else f"{name}({option})") + f"@{k}": rate
        for name, rate in AT_CUTOFF.items()
    }
    cells = {f"{cell}({option})": i for i, cell in enumerate(("tp", "fp", "fn", "tn"))}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(labelcounters, "DENSE_IDS", limit)
        result = xmceval.score(
            to_csr(case.truth, case.n_labels), to_csr(case.scores, case.n_labels, np.float64), metrics=[*names, *cells],
            threshold=0.5, sample_weight=None if weights is None else own, empty_rows=empty_rows,
        )  # fmt: skip
    decided, best = naive_labels.at_threshold(*rows, 0.5), naive_labels.at_cut(*rows, k)
    of_rows = [own[i] for i in kept]
    for name, rate in names.items():
        sets, over = best if "@" in name else decided, "truth" if "over" in name else "all"
        expected = naive_labels.evaluate(rate, "macro", sets, case.n_labels, over=over, weights=of_rows)
        assert result[name] == pytest.approx(expected or 0.0, rel=1e-9, abs=1e-9), name
    columns = [naive_labels.of_label(decided, label, of_rows) for label in range(case.n_labels)]
    for name, i in cells.items():
        assert result[name] == pytest.approx(sum(column[i] for column in columns), rel=1e-9), name


ONE_ROW = Rows(np.array([0, 2]), np.array([0, 2]), np.ones(2))
NO_WEIGHTS = np.empty(0)


def full(n_rows, n_labels=4):
    """Return counters after `n_rows` rows in which labels 0 and 2 were true and decided on."""
    counters = LabelCounters(n_labels, 1)
    counters.add_decisions(ONE_ROW, decide(ONE_ROW, ONE_ROW, 0.5), NO_WEIGHTS)
    counters._dense *= n_rows
    counters._rows *= n_rows
    return counters


def test_counters_widen_at_the_row_that_32_bits_cannot_count():
    counters = full(MOST_ROWS - 1)
    counters.add_decisions(ONE_ROW, decide(ONE_ROW, ONE_ROW, 0.5), NO_WEIGHTS)
    assert (counters.table().counts.dtype, counters.table().rows) == (np.int32, MOST_ROWS)
    for n_rows in (1 << 31, (1 << 31) + 1):
        counters.add_decisions(ONE_ROW, decide(ONE_ROW, ONE_ROW, 0.5), NO_WEIGHTS)
        assert counters.table().counts.tolist() == [[n_rows] * 3, [0] * 3, [n_rows] * 3]
        assert counters.table().rows == n_rows


def test_counters_of_the_k_best_labels_widen_too():
    counters = full(MOST_ROWS)
    counters.add_ranked(ONE_ROW, np.array([[2, 1]]), np.array([2]), np.array([2]), NO_WEIGHTS)
    assert counters.table().counts.tolist() == [[1 << 31, MOST_ROWS, MOST_ROWS], [0, 1, 0], [1 << 31] * 3]


@pytest.mark.parametrize(
    ("left", "right"), [(1 << 30, 1 << 30), (MOST_ROWS, 1), (1, MOST_ROWS), (MOST_ROWS, MOST_ROWS)]
)
@pytest.mark.parametrize("by_id", [False, True])
def test_counters_that_together_exceed_32_bits_merge(monkeypatch, left, right, by_id):
    if by_id:  # totals are kept by id where few of many labels have a count
        monkeypatch.setattr(labelcounters, "COMPACT_ABOVE", 1)
        monkeypatch.setattr(labelcounters, "COMPACT_SHARE", 1)
    assert bool(full(left).table().ids.size) == by_id
    merged = full(left).merge(full(right))
    merged.add_decisions(ONE_ROW, decide(ONE_ROW, ONE_ROW, 0.5), NO_WEIGHTS)
    arrays = merged.arrays()
    assert (arrays["ids"].tolist(), arrays["counts"].tolist()) == ([0, 2], [[left + right + 1] * 3] * 2)
    assert arrays["rows"].tolist() == [left + right + 1]


def test_counters_stay_in_32_bits_as_long_as_their_rows_fit():
    for left, right, dtype in ((MOST_ROWS - 1, 1, np.int32), (MOST_ROWS, 1, np.int64)):
        counts = full(left).merge(full(right)).table().counts
        assert (counts.dtype, counts[[0, 2]].tolist()) == (dtype, [[left + right] * 3] * 2)


def test_a_high_label_of_a_state_needs_no_room_for_those_below_it():
    counters, high = LabelCounters(1 << 27, 1), 10**8
    tracemalloc.start()
    try:
        counters.fill({"ids": np.array([high]), "counts": np.ones((1, 3), dtype=np.int64), "rows": np.array([1])})
        assert tracemalloc.get_traced_memory()[1] < high // 10
    finally:
        tracemalloc.stop()
    assert counters.arrays()["ids"].tolist() == [high]


@pytest.mark.parametrize("limit", [1 << 27, 5])
def test_counters_that_were_merged_share_no_array_with_those_before(monkeypatch, limit):
    monkeypatch.setattr(labelcounters, "DENSE_IDS", limit)
    wide = Rows(np.array([0, 2]), np.array([1, 7]), np.ones(2))
    for other in (LabelCounters(9, 1), full(1, 9)):
        one = full(3, 9)
        before = one.arrays(), other.arrays()
        for merged in (one.merge(other), other.merge(one)):
            merged.add_decisions(wide, decide(wide, wide, 0.5), NO_WEIGHTS)
            assert merged.arrays()["ids"].tolist() == [0, 1, 2, 7]
        for old, new in zip(before, (one.arrays(), other.arrays()), strict=True):
            assert all(np.array_equal(old[name], new[name]) for name in old)
