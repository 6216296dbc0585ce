"""Parts of totals: what follows from how their arrays add up holds for each of them."""

import pickle
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from support.pieces import read_in_pieces

import xmceval
from xmceval import DataError, UsageError
from xmceval.comparison.sums import PairSums
from xmceval.labels import counts as growing
from xmceval.labels.counts import no_counts, sum_by_id
from xmceval.rows.block import Rows
from xmceval.scoring.held_rows import digest_rows
from xmceval.scoring.tasks import label_counts
from xmceval.scoring.tasks.label_counts import LabelCounters
from xmceval.scoring.tasks.labelwise import Labelwise

METRICS = "P,nDCG,LRAP,macroF1,coverage,f1_score"


def totals_of(seed, n_rows=40, metrics=METRICS):
    """Return the totals of rows as an Evaluator adds them up."""
    rng = np.random.default_rng(seed)
    evaluator = xmceval.Evaluator(metrics=metrics, k=[1, 3], n_labels=12, threshold=0.5)
    scores = rng.permuted(np.linspace(0.01, 1, n_rows * 12)).reshape(n_rows, 12)
    evaluator.update((rng.random((n_rows, 12)) < 0.3).astype(float), scores)
    return evaluator._state.totals


def pieces_of(totals):
    return [totals.tally, *totals.parts]


def same(left, right):
    arrays = [each.arrays() for each in (left, right)]
    assert arrays[0].keys() == arrays[1].keys()
    return all(np.array_equal(array, arrays[1][name]) for name, array in arrays[0].items())


ONE = pieces_of(totals_of(1))
TWO = pieces_of(totals_of(2, 7))
THREE = pieces_of(totals_of(3, 300))
NONE = pieces_of(totals_of(4, 0))
every_part = pytest.mark.parametrize(
    "place", range(len(ONE)), ids=[f"{i} {type(each).__name__}" for i, each in enumerate(ONE)]
)


@every_part
def test_merging_is_associative_and_commutative_and_changes_neither(place):
    a, b, c, none = (parts[place] for parts in (ONE, TWO, THREE, NONE))
    before = pickle.dumps([part.arrays() for part in (a, b, c, none)])
    expected = a.merge(b).merge(c)
    for other in (a.merge(b.merge(c)), c.merge(b).merge(a), a.merge(none).merge(c.merge(b)), none.merge(expected)):
        assert same(other, expected)
    assert pickle.dumps([part.arrays() for part in (a, b, c, none)]) == before


@every_part
def test_a_part_is_as_it_was_until_it_adopts_its_spare_copy(place):
    part, more = pickle.loads(pickle.dumps((ONE[place], TWO[place])))
    spare = part.spare()
    spare.absorb(more)
    assert same(part, ONE[place])
    assert same(part.adopt(spare), ONE[place].merge(TWO[place]))


@every_part
def test_a_part_comes_back_from_its_arrays_and_from_a_pickle_which_takes_in_others(place):
    a, b, none = ONE[place], TWO[place], pieces_of(totals_of(4, 0))[place]
    assert {array.dtype.kind for array in a.arrays().values()} <= set("if")
    none.fill(a.arrays())
    copied = pickle.loads(pickle.dumps(a))
    assert same(none, a)
    assert same(copied, a)
    assert isinstance(copied._lock, type(threading.Lock()))
    copied.absorb(b)
    assert same(copied, a.merge(b))


def test_threads_that_add_at_the_same_time_lose_nothing():
    tally, one = (pieces_of(totals_of(4, 0))[0] for _ in range(2))
    one["counts"][:] = 1
    threads = [threading.Thread(target=lambda: [tally.absorb(one) for _ in range(2000)]) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert set(tally["counts"]) == {8000}


def test_a_field_that_leaves_its_range_is_refused_where_it_is_combined():
    full = totals_of(1).parts[0]
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
    for found in (table, halves[0].merge(halves[1]), halves[1].merge(halves[0])):
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
            patched.setattr(Labelwise, "add", interrupt)
            with pytest.raises(KeyboardInterrupt):
                evaluator.update(np.eye(3), np.eye(3)[::-1])
        evaluator.update(np.eye(3), np.eye(3))
    assert evaluator.result().counts.n_instances == 6
    assert evaluator.result()["macroF1@1"] == 1.0


def test_an_interrupt_while_counts_of_labels_are_added_is_noticed(monkeypatch):
    evaluator = xmceval.Evaluator(metrics="P,macroF1", k=1)
    evaluator.update(np.eye(3), np.eye(3))
    with monkeypatch.context() as patched:
        patched.setattr(LabelCounters, "adopt", interrupt)
        with pytest.raises(KeyboardInterrupt):
            evaluator.update(np.eye(3), np.eye(3))
    for use in (evaluator.result, lambda: evaluator.save("x"), lambda: evaluator.update(np.eye(3), np.eye(3))):
        with pytest.raises(UsageError, match="an interrupt left a batch counted in part"):
            use()
    evaluator.reset()
    evaluator.update(np.eye(3), np.eye(3))
    assert evaluator.result()["macroF1@1"] == 1.0
