"""Parts of totals: what follows from how their arrays add up holds for each of them."""

import pickle
import threading
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from support.pieces import read_in_pieces

import xmceval
from xmceval import DataError, UsageError
from xmceval.comparison.sums import PairSums
from xmceval.labels import counts as growing
from xmceval.labels.counts import no_counts, sum_by_id
from xmceval.rows.block import Rows, Scratch
from xmceval.rows.width import UNKNOWN
from xmceval.scoring.batch import find_decided
from xmceval.scoring.held_rows import digest_rows
from xmceval.scoring.tasks import label_counts
from xmceval.scoring.tasks.curves import WEIGHT_BITS
from xmceval.scoring.tasks.label_counts import MOST_ROWS, LabelCounters, LabelRows
from xmceval.scoring.tasks.labelwise import Labelwise

EYE = np.eye(3)
SOME = "P,nDCG,microR,LRAP,macroF1,coverage,f1_score"


def rows_of(seed, n_rows):
    """Return truth and scores without ties."""
    rng = np.random.default_rng(seed)
    scores = rng.permuted(np.linspace(0.01, 1, n_rows * 12)).reshape(n_rows, 12)
    return (rng.random((n_rows, 12)) < 0.3).astype(float), scores


def totals_of(truth, scores):
    """Return the totals of rows as an Evaluator adds them up."""
    evaluator = xmceval.Evaluator(metrics=SOME, k=[1, 3], n_labels=12, threshold=0.5)
    evaluator.update(truth, scores)
    return evaluator._state.totals


def test_threads_that_add_at_the_same_time_lose_nothing():
    tally, one = (totals_of(*rows_of(4, 0)).tally for _ in range(2))
    one["counts"][:] = 1
    threads = [threading.Thread(target=lambda: [tally.absorb(one) for _ in range(2000)]) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert set(tally["counts"]) == {8000}


def test_a_field_that_leaves_its_range_is_refused_where_it_is_combined():
    full = totals_of(*rows_of(1, 40)).parts[0]
    full["sums"][0, 2, -1] = 1 << 60
    with pytest.raises(DataError, match="weights or grades too large"):
        full.absorb(full)


@pytest.mark.parametrize(("n_left", "n_right"), [(0, 2), (2, 0), (1, 1), (3, 4), (5, 1), (9, 9)])
def test_of_rows_that_differ_the_first_ones_are_kept(rng, n_left, n_right):
    values = rng.random((n_left + n_right, 1, 4))
    parts = []
    for rows in (values[:n_left], values[n_left:]):
        parts.append(PairSums(1))
        parts[-1].add(rows[:, :, :2].copy(), rows[:, :, 2:].copy(), np.empty(0), np.ones(1))
    merged = parts[0].merge(parts[1])
    kept = values[:n_left][:5, 0].tolist() + values[n_left:][:5, 0].tolist()
    np.testing.assert_array_equal(merged["kept"][0][: len(kept[:5])], kept[:5])
    assert np.isnan(merged["kept"][0][len(kept) :]).all()


@pytest.mark.parametrize("most_waiting", [0, 3, 1000])
def test_growing_counts_have_what_all_that_was_added_sums_to(rng, monkeypatch, most_waiting):
    monkeypatch.setattr(growing, "MERGE_ABOVE", most_waiting)
    table, *halves = (no_counts(2) for _ in range(3))
    parts = [(rng.integers(0, 30, n), rng.integers(0, 9, (n, 2))) for n in (5, 0, 1, 40, 2, 2, 90)]
    for place, (ids, counts) in enumerate(parts):
        table.add(ids, counts)
        halves[place % 2].add(ids, counts)
    expected = sum_by_id(*(np.concatenate(each) for each in zip(*parts, strict=True)))
    halves[0].add(*halves[1].columns())
    for found in (table, halves[0]):
        assert all(map(np.array_equal, found.columns(), expected))


def test_each_bit_of_a_digest_is_set_for_about_half_of_all_entries():
    one = np.array([0, 1])
    digests = [digest_rows(np.array([i // 20]), Rows(one, np.array([i % 20]), np.ones(1))) for i in range(400)]
    shares = np.array([[digest >> bit & 1 for bit in range(64)] for digest in digests]).mean(axis=0)
    assert shares.min() > 0.35
    assert shares.max() < 0.65


@pytest.mark.parametrize("block_entries", [1 << 17, 1])
def test_weights_that_leave_the_range_of_counters_change_nothing(monkeypatch, block_entries):
    monkeypatch.setattr(label_counts, "MOST_WEIGHT", 8)
    read_in_pieces(monkeypatch, entries=block_entries)
    evaluator = xmceval.Evaluator(metrics="P,macroF1", k=1, max_weight=1.5, threads=1)
    four = sp.eye(4, format="csr")  # blocks of dense matrices have more entries
    evaluator.update(four, four, np.full(4, 1.5))
    before = pickle.dumps(evaluator)
    with pytest.raises(DataError, match="the sample weights sum to more than 4 times the largest"):
        evaluator.update(four[:2], four[:2], np.full(2, 1.5))
    assert pickle.dumps(evaluator) == before


def interrupt(*_):
    raise KeyboardInterrupt


def test_an_interrupt_while_a_batch_is_scored_adds_nothing_of_it(monkeypatch):
    evaluator = xmceval.Evaluator(metrics="P,macroF1", k=1)
    for _ in range(2):
        with monkeypatch.context() as patched:
            patched.setattr(Labelwise, "compute", interrupt)
            with pytest.raises(KeyboardInterrupt):
                evaluator.update(EYE, EYE[::-1])
        evaluator.update(EYE, EYE)
    assert evaluator.result().counts.n_instances == 6
    assert evaluator.result()["macroF1@1"] == 1.0


def test_an_interrupt_while_counts_of_labels_are_added_is_noticed(monkeypatch):
    evaluator = xmceval.Evaluator(metrics="P,macroF1", k=1)
    evaluator.update(EYE, EYE)
    with monkeypatch.context() as patched:
        patched.setattr(LabelCounters, "add", interrupt)
        with pytest.raises(KeyboardInterrupt):
            evaluator.update(EYE, EYE)
    for use in (evaluator.result, lambda: evaluator.save("x"), lambda: evaluator.update(EYE, EYE)):
        with pytest.raises(UsageError, match="an interrupt left a batch counted in part"):
            use()
    evaluator.reset()
    evaluator.update(EYE, EYE)
    assert evaluator.result()["macroF1@1"] == 1.0


# Counters of labels

NO_WEIGHTS = np.empty(0)


def of_labels(*labels):
    """Return one row with these labels."""
    return Rows(np.array([0, len(labels)]), np.array(labels, dtype=np.int64), np.ones(len(labels)))


def add(counters, *labels):
    """Count a row in which some labels are true and decided on."""
    rows = of_labels(*labels)
    counters.add(LabelRows(rows, NO_WEIGHTS, decided=find_decided(rows, rows, 0.5, Scratch())))
    return counters


def full(n_rows, n_labels=4):
    """Return counters after `n_rows` rows of the labels 0 and 2."""
    counters = add(LabelCounters(n_labels, 1), 0, 2)
    counters._dense *= n_rows
    counters.rows *= n_rows
    return counters


def test_counters_widen_at_the_row_that_32_bits_cannot_count():
    counters = add(full(MOST_ROWS - 1), 0, 2)
    assert (counters.table().counts.dtype, counters.table().rows) == (np.int32, MOST_ROWS)
    for n_rows in (1 << 31, (1 << 31) + 1):
        table = add(counters, 0, 2).table()
        assert (table.counts.tolist(), table.rows) == ([[n_rows] * 3, [0] * 3, [n_rows] * 3], n_rows)
    counters = full(MOST_ROWS)
    ranking = {"ranked": np.array([[2, 1]]), "n_ranked": np.array([2]), "cutoffs": np.array([2])}
    counters.add(LabelRows(of_labels(0, 2), NO_WEIGHTS, **ranking))
    assert counters.table().counts.tolist() == [[1 << 31, MOST_ROWS, MOST_ROWS], [0, 1, 0], [1 << 31] * 3]


@pytest.mark.parametrize(
    ("left", "right"),
    [(MOST_ROWS - 1, 1), (1 << 30, 1 << 30), (MOST_ROWS, 1), (1, MOST_ROWS), (MOST_ROWS, MOST_ROWS)],
)
@pytest.mark.parametrize("by_id", [False, True])
def test_counters_that_together_exceed_32_bits_merge(monkeypatch, left, right, by_id):
    if by_id:  # totals are kept by id where few of many labels have a count
        monkeypatch.setattr(label_counts, "COMPACT_ABOVE", 1)
        monkeypatch.setattr(label_counts, "COMPACT_SHARE", 1)
    assert bool(full(left).table().ids.size) == by_id
    merged = full(left).merge(full(right))
    assert by_id or merged.table().counts.dtype == (np.int32 if left + right <= MOST_ROWS else np.int64)
    arrays = add(merged, 0, 2).arrays()
    assert (arrays["ids"].tolist(), arrays["counts"].tolist()) == ([0, 2], [[left + right + 1] * 3] * 2)
    assert arrays["rows"].tolist() == [left + right + 1]


def test_a_high_label_of_a_state_needs_no_room_for_those_below_it():
    counters, high = LabelCounters(1 << 27, 1), 10**8
    tracemalloc.start()
    try:
        counters.fill(
            {"0.ids": np.array([high]), "0.counts": np.ones((1, 3), dtype=np.int64), "0.rows": np.array([1])}, "0"
        )
        assert tracemalloc.get_traced_memory()[1] < high // 10
    finally:
        tracemalloc.stop()
    assert counters.arrays()["ids"].tolist() == [high]


@pytest.mark.parametrize("limit", [1 << 27, 5])
def test_counters_that_were_merged_share_no_array_with_those_before(monkeypatch, limit):
    monkeypatch.setattr(label_counts, "DENSE_IDS", limit)
    for other in (LabelCounters(9, 1), full(1, 9)):
        one = full(3, 9)
        before = one.arrays(), other.arrays()
        for merged in (one.merge(other), other.merge(one)):
            assert add(merged, 1, 7).arrays()["ids"].tolist() == [0, 1, 2, 7]
        for old, new in zip(before, (one.arrays(), other.arrays()), strict=True):
            assert all(np.array_equal(old[name], new[name]) for name in old)


@pytest.mark.parametrize(("labels", "ids"), [([3_000_000], []), ([7, 9_000_000], [7, 9_000_000])])
def test_counters_grow_past_the_largest_label_and_hold_few_of_many_by_id(labels, ids):
    table = add(LabelCounters(UNKNOWN, 1), *labels).table()
    assert table.ids.tolist() == ids
    assert len(table.counts) == (len(ids) or labels[-1] + 1)
    assert table.counts[-len(labels) :].tolist() == [[1, 1, 1]] * len(labels)


def test_weights_beyond_the_room_of_counters_are_refused():
    counters = LabelCounters(5, 1, bits=WEIGHT_BITS)
    counters.rows = 3 << 60
    with pytest.raises(DataError, match="sample weights sum to more than"):
        counters.merge(counters)


def test_counters_with_and_without_weights_are_not_added():
    with pytest.raises(DataError, match="with and without sample weights"):
        LabelCounters(9, 1).merge(LabelCounters(9, 1, bits=WEIGHT_BITS))
