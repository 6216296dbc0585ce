"""Sketches: the least hashes of all rows, in whatever order they come, and which states seem to overlap."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest

from xmceval.scoring.states.sketch import CAPACITY, Sketch, find_overlaps


def sketch_of(*parts):
    sketch = Sketch()
    for part in parts:
        hashes = np.array(part, dtype=np.uint64)
        sketch.count(hashes, hashes.size)
    return sketch


def table_of(sketch):
    hashes, counts = sketch.table()
    return dict(zip(hashes.tolist(), counts.tolist(), strict=True))


def least(hashes):
    """Return the least distinct hashes and how many rows have each."""
    counts = Counter(hashes.tolist())
    return {each: counts[each] for each in sorted(counts)[:CAPACITY]}


@pytest.mark.parametrize("seed", range(4))
def test_it_has_the_least_hashes_of_all_rows_for_any_parts_and_any_order_of_merges(seed):
    rng = np.random.default_rng(seed)
    hashes = rng.integers(0, rng.choice([30, 6_000, 2**63]), 20_000).astype(np.uint64)
    ends = [0, *sorted(rng.integers(0, hashes.size, 9).tolist()), hashes.size]
    parts = [sketch_of(*np.array_split(hashes[i:j], 3)) for i, j in pairwise(ends)]
    merged = Sketch()
    for place in rng.permutation(len(parts)):
        merged = parts[place].merge(merged) if rng.random() < 0.5 else merged.merge(parts[place])
    filled = Sketch()
    filled.fill(merged.arrays())
    whole = sketch_of(hashes)
    for each in (whole, merged, filled):
        assert (table_of(each), each.n_rows) == (least(hashes), hashes.size)
    more = rng.integers(0, 2**63, 500).astype(np.uint64)
    for each in (whole, merged, filled):
        each.count(more, more.size)
        assert table_of(each) == least(np.concatenate([hashes, more]))


def overlaps_by_definition(rows):
    """Yield the pairs of places with s > 3 w + 0.01 and 8 rows or more, and s: from all hashes below both ends."""
    tables = [least(each) for each in rows]
    within = [sum(n for n in table.values() if n > 1) / max(sum(table.values()), 1) for table in tables]
    for i in range(len(rows)):
        for j in range(len(rows)):
            if i == j or rows[i].size > rows[j].size or (rows[i].size == rows[j].size and i > j):
                continue
            ends = [max(table) for table in (tables[i], tables[j]) if len(table) == CAPACITY]
            known = {each: n for each, n in tables[i].items() if not ends or each <= min(ends)}
            twins = sum(n for each, n in known.items() if each in tables[j])
            share = twins / max(sum(known.values()), 1)
            if twins >= 8 and share > 3 * max(within[i], within[j]) + 0.01:
                yield (i, j), share


@pytest.mark.parametrize("seed", range(6))
def test_overlaps_are_found_as_they_are_defined(seed):
    rng = np.random.default_rng(seed)
    pool = rng.integers(0, 2**63, 60_000).astype(np.uint64)
    pool[: 300 * seed] = pool[0]  # rows that many states have
    rows = [rng.choice(pool, size, replace=False) for size in rng.permutation([9, 60, 3_000, 9_000, 20_000, 30_001])]
    found = {(each.smaller, each.larger): each.share for each in find_overlaps(list(map(sketch_of, rows)))}
    assert found == pytest.approx(dict(overlaps_by_definition(rows)))
    assert len(found) > 3 or seed > 1


def test_two_states_of_as_many_rows_overlap_in_either_order():
    one, two = np.arange(100), np.append(np.arange(60, 120), np.full(40, 1_000))
    both = [find_overlaps([sketch_of(a), sketch_of(b)]) for a, b in ((one, two), (two, one))]
    assert both == [[], []]  # 40 of 100 rows have a twin within
    two = np.append(np.arange(90, 100), np.arange(500, 590))
    [first], [second] = (find_overlaps([sketch_of(a), sketch_of(b)]) for a, b in ((one, two), (two, one)))
    assert first.share == second.share == 0.1


@pytest.mark.parametrize(("n_common", "is_found"), [(7, False), (8, True)])
def test_eight_rows_are_the_least(n_common, is_found):
    one, two = np.arange(50), np.arange(50 - n_common, 200)
    assert bool(find_overlaps([sketch_of(one), sketch_of(two)])) == is_found


def test_states_of_no_rows_overlap_with_nothing():
    assert find_overlaps([]) == find_overlaps([Sketch()]) == find_overlaps([Sketch(), sketch_of(np.arange(99))]) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"hashes": [5, 5, 9]}, "ascending"),
        ({"counts": [1, 0, 1]}, "counts has numbers outside 1"),
        ({"counts": [1, 1]}, r"counts has shape \(2,\)"),
        ({"rows": [2]}, "2 rows, of which 3 are counted"),
        ({"rows": [4]}, "4 rows, of which 3 are counted"),
        ({"rows": [-1]}, "rows has numbers outside 0"),
        ({"hashes": np.arange(CAPACITY + 1), "counts": np.ones(CAPACITY + 1), "rows": [5_000]}, "up to 4,096"),
    ],
)
def test_numbers_that_cannot_be_a_sketch_are_refused(change, message):
    arrays = {"hashes": [5, 7, 9], "counts": [1, 1, 1], "rows": [3]} | change
    with pytest.raises(ValueError, match=message):
        Sketch().fill({name: np.array(each, dtype=np.int64) for name, each in arrays.items()})
