"""Propensities: the formula, counts of any ids, and where they may come from."""

import tracemalloc
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from judge import naive
from numba import config
from scipy.sparse import csr_matrix, save_npz
from support.approved import check_lines
from support.judged import check_judged
from support.strategies import to_rows

import xmceval
from xmceval.labels import counts as growing, propensity
from xmceval.labels.counts import DENSE_IDS, LabelCounts
from xmceval.labels.propensity import from_counts, from_table, from_values

PSP = {"metrics": ["PSP", "PSR", "PSDCG", "PSnDCG"], "k": [1, 3]}


@given(
    counts=st.lists(st.integers(0, 10**6), min_size=1, max_size=20),
    more=st.integers(3, 10**6),
    a=st.floats(0, 2),
    b=st.floats(0.01, 10),
)
def test_inverse_propensities_are_the_formulas(counts, more, a, b):
    n = max(counts) + more
    expected = naive.inverse_propensities(counts, n, a, b)
    assert xmceval.inverse_propensity(counts, n, a=a, b=b) == pytest.approx(expected, rel=1e-13)


# Counts by label

IDS = [0, 3, 5_000_000, DENSE_IDS - 1, DENSE_IDS, DENSE_IDS + 7, 1 << 40, (1 << 62) + 5]


def table_of(counts):
    """Counts that are not 0, by label."""
    ids, table = counts.table()
    labels = ids if ids.size else np.arange(table.size)
    return {int(label): int(count) for label, count in zip(labels, table, strict=True) if count}


def counted(*parts):
    counts = LabelCounts()
    for part in parts:
        counts.add(len(part), np.array(part, dtype=np.int64))
    return counts


@pytest.mark.parametrize("largest", range(1, len(IDS) + 1))
def test_labels_of_any_id_are_counted(rng, largest):
    drawn = rng.choice(IDS[:largest], 50 if config.DISABLE_JIT else 500).tolist()
    counts = counted(drawn)
    assert table_of(counts) == {label: drawn.count(label) for label in set(drawn)}
    assert counts.n_labels == max(drawn) + 1


def test_counts_of_parts_are_the_counts_of_the_whole(rng):
    drawn = rng.choice(IDS, 60).tolist()
    assert table_of(counted(drawn[:7], [], drawn[7:20], drawn[20:])) == table_of(counted(drawn))


@pytest.mark.parametrize("n_labels", [3, 4, 6_000_000, DENSE_IDS])
def test_counts_beyond_a_byte_are_merged(n_labels):
    parts = [{0: 255, 3: 1}, {0: 1, 5_000_000: 256}, {0: 3, 3: 700, 5_000_000: 1, 1 << 40: 300}, {}, {1: 511}]
    total, expected = LabelCounts(n_labels), Counter()
    for part in parts:
        counts = LabelCounts(n_labels)
        for label, number in part.items():
            counts.add(number, np.full(number, label))
        total.merge(counts)
        expected.update(part)
    assert table_of(total) == dict(expected)
    assert total.n_rows == expected.total()
    assert total.n_labels == max(expected) + 1


@pytest.mark.parametrize("spread", [1, 100_000, DENSE_IDS + 3, 1 << 50])
def test_labels_far_apart_weigh_what_near_ones_do(rng, spread):
    """Dense tables, tables of ids below 2^27 and above it: the same bits."""
    near_truth, near_scores = rng.random((40, 60)) < 0.1, rng.random((40, 60))
    expected = xmceval.score(csr_matrix(near_truth), csr_matrix(near_scores), **PSP)
    inverse = naive.inverse_propensities(near_truth.sum(axis=0).tolist(), 40, 0.55, 1.5)
    check_judged(expected, to_rows(near_truth), to_rows(near_scores), inverse, least=8)
    far = []
    for matrix in (csr_matrix(near_truth, dtype=float), csr_matrix(near_scores)):
        indices, indptr = matrix.indices.astype(np.int64) * spread, matrix.indptr.astype(np.int64)
        far.append(csr_matrix((matrix.data, indices, indptr), shape=(40, 59 * spread + 1)))
    assert xmceval.score(*far, **PSP).estimates == expected.estimates


@pytest.mark.parametrize("label", [1, 1 << 40])
def test_a_label_that_alone_is_in_training_weighs_what_it_does_there(label):
    """Wherever it is among the labels, in a table of them all or of those in training."""
    indptr, shape = np.array([0, 1, 2], dtype=np.int64), (2, label + 2)
    truth = csr_matrix((np.ones(2), np.array([label, 0]), indptr), shape=shape)
    scores = csr_matrix((np.ones(2), np.array([label, 1]), indptr), shape=shape)
    train = csr_matrix((np.ones(9), np.full(9, label), np.arange(10)), shape=(9, label + 2))
    seen, unseen = naive.inverse_propensities([9, 0], 9, 0.55, 1.5)
    found = xmceval.score(truth, scores, train=train, k=1, metrics="PSP")["PSP@1"]
    assert found == pytest.approx(seen / (seen + unseen))


def test_a_label_unknown_to_training_weighs_as_one_never_seen():
    counts = counted([0, 1 << 40], [0])
    counts.n_rows = 50
    ids, table = counts.table()
    known = from_table(table, 50, "train", 0.55, 1.5, ids=ids)
    assert known.inverse[0] == pytest.approx(naive.inverse_propensities([0], 50, 0.55, 1.5)[0])


# Where they come from


@pytest.fixture
def problem(rng):
    train, truth, scores = rng.random((50, 9)) < 0.2, rng.random((20, 9)) < 0.2, rng.random((20, 9))
    return train, truth, scores


def test_training_labels_their_counts_and_the_inverse_itself_give_the_same_bits(problem):
    train, truth, scores = problem
    counts = train.sum(axis=0)
    ways = [
        {"train": train},
        {"train": csr_matrix(train)},
        {"counts": counts, "n_train": 50},
        {"inverse_propensities": xmceval.inverse_propensity(counts, 50)},
    ]
    first, *others = (xmceval.score(truth, scores, **PSP, **way) for way in ways)
    inverse = naive.inverse_propensities(counts.tolist(), 50, 0.55, 1.5)
    check_judged(first, to_rows(truth), to_rows(scores), inverse, least=8)
    assert [other.estimates for other in others] == [first.estimates] * 3


# Counts of any size


def test_large_counts_weigh_and_bin_as_the_formula_says(rng):
    counts = rng.choice([0, 3, 2**20, 2**31 - 1, 2**31, 10**12], 30)
    counts[:6] = [0, 3, 2**20, 2**31 - 1, 2**31, 10**12]
    n_train = 10**13
    truth, scores = csr_matrix(rng.random((40, 30)) < 0.2), rng.random((40, 30))
    inverse = xmceval.inverse_propensity(counts, n_train)
    found = xmceval.score(truth, scores, counts=counts, n_train=n_train, by_frequency=[2**31, 2**39], **PSP)
    assert dict(found) == dict(xmceval.score(truth, scores, inverse_propensities=inverse, **PSP))
    ends = [(each.bin.low, each.bin.high, each.bin.n_labels) for each in found.slices]
    n_top, n_middle = np.count_nonzero(counts == 10**12), np.count_nonzero(counts == 2**31)
    assert ends == [(10**12, 10**12, n_top), (2**31, 2**31, n_middle), (0, 2**31 - 1, 30 - n_top - n_middle)]
    assert sum(each.bin.mass for each in found.slices) == pytest.approx(1)


def test_a_table_by_distinct_counts_is_the_table_by_counts(rng, monkeypatch):
    counts, truth, scores = rng.integers(0, 50, 30), csr_matrix(rng.random((40, 30)) < 0.2), rng.random((40, 30))
    how = {"counts": counts, "n_train": 60, "by_frequency": 3, "k": [1, 3]}
    names = [*PSP["metrics"], "P", "macroR(over=train)", "coverage(over=ideal)"]
    by_count = xmceval.score(truth, scores, metrics=names, **how)
    monkeypatch.setattr(propensity, "LONG_TABLE", 10)
    assert xmceval.score(truth, scores, metrics=names, **how) == by_count


def test_memory_does_not_grow_with_the_largest_count():
    truth, scores = csr_matrix(np.eye(4)), np.eye(4)
    tracemalloc.start()
    xmceval.score(truth, scores, counts=[0, 5, 10**8, 7], n_train=10**9, metrics="PSP", k=1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100e6


def test_ids_from_2_to_the_27_are_merged_a_few_times_only(rng, monkeypatch):
    """The sorting of all that is known, again and again, took ten times as long as the rest."""
    sizes = []

    def sum_by_id(ids, counts):
        sizes.append(ids.size)
        return summed(ids, counts)

    summed = growing.sum_by_id
    monkeypatch.setattr(growing, "sum_by_id", sum_by_id)
    monkeypatch.setattr(growing, "MERGE_ABOVE", 100)
    parts = [(DENSE_IDS + rng.choice(10**6, 50, replace=False)).tolist() for _ in range(200)]
    labels, numbers = np.unique(np.concatenate(parts), return_counts=True)
    assert table_of(counted(*parts)) == dict(zip(labels.tolist(), numbers.tolist(), strict=True))
    assert sum(sizes) < 5 * 200 * 50


def test_equal_propensities_have_one_digest_whatever_they_come_from():
    """They are equal where N, A, B and the training rows of each label are; the last bits of 1/p do not count."""
    counts = np.array([3.0, 7.0, 0.0, 3.0, 0.0])
    own = from_counts(counts, 20, "counts", 0.55, 1.5)
    labels = LabelCounts()
    labels.add(20, np.repeat([0, 1, 3], [3, 7, 3]))
    nearly = replace(own, inverse=np.nextafter(own.inverse, np.inf))
    ids, table = labels.table()
    assert own.digest == from_table(table, 20, "labels", 0.55, 1.5, ids=ids).digest == nearly.digest
    others = (counts[::-1], 20, 0.55, 1.5), (counts, 21, 0.55, 1.5), (counts, 20, 0.5, 1.5), (counts, 20, 0.55, 1.4)
    assert len({own.digest, *(from_counts(each, n, "counts", a, b).digest for each, n, a, b in others)}) == 5
    values = xmceval.inverse_propensity(counts, n=20)
    assert from_values(values, "values").digest == from_values(values.copy(), "others").digest
    assert from_values(values[::-1], "values").digest != from_values(values, "values").digest


def test_where_propensities_come_from_is_said_in_these_words(problem, rng):
    train, truth, scores = problem
    labels = (rng.random((60, 12)) < 0.3).astype(float)
    values = rng.random(labels.shape)
    save_npz("t.npz", csr_matrix(labels))

    def known(*inputs, **options):
        """Return what is known of propensities."""
        found = xmceval.score(*inputs, **options).propensities
        return found and (found.a, found.b, found.n, found.source, found.from_truth)

    def said(*inputs, **options):
        result = xmceval.score(*inputs, **options)
        lines = [line for line in result.warnings if "propensit" in line or "train" in line or "filter" in line]
        return "\n".join([str([*result]), *lines])

    def copied(train, y_true=labels, y_score=values):
        """Return the doubts of training labels."""
        return xmceval.score(y_true, y_score, metrics="PSP", k=1, train=train).doubts

    check_lines(__file__, "propensities.txt", globals() | locals())
