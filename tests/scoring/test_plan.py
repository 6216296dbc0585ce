"""Plans: parts of about the same size, cut where reading can begin."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from xmceval.rows.spans import NO_MARKS, Extent
from xmceval.scoring.partitions.plan import Place, ShardedRows, make_parts

BYTES_PER_ROW = 10


def sharded_rows(*extents):
    return ShardedRows(SimpleNamespace(name="truth.txt"), extents)


def extent(n_rows, marks=NO_MARKS, can_start=True):
    return Extent(n_rows, n_rows * BYTES_PER_ROW, np.array(marks, dtype=np.int64).reshape(-1, 3), can_start)


def marks_at(rows, first_line=2):
    """Return marks of a text file with a header of 8 bytes."""
    return [(8 + row * BYTES_PER_ROW, row, row + first_line) for row in rows]


def spans(*sharded, n_bytes):
    parts = make_parts(sharded, 1, n_bytes)
    rows = [(part.first_row, part.stop_row) for part in parts]
    assert [part.number for part in parts] == list(range(len(parts)))
    assert all(stop == start for (_, stop), (start, _) in pairwise(rows))
    assert (rows[0][0], rows[-1][1]) == (0, sharded[0].n_rows)
    return rows


@pytest.mark.parametrize(
    ("n_bytes", "expected"),
    [
        (10_000, [(0, 100)]),
        (1_001, [(0, 100)]),
        (999, [(0, 50), (50, 100)]),
        (251, [(0, 25), (25, 50), (50, 75), (75, 100)]),
    ],
)
def test_rows_are_cut_into_as_few_equal_parts_as_are_small_enough(n_bytes, expected):
    assert spans(sharded_rows(extent(100)), n_bytes=n_bytes) == expected
    assert spans(sharded_rows(extent(100)), sharded_rows(extent(100)), n_bytes=2 * n_bytes) == expected


def test_no_part_goes_beyond_a_shard_or_begins_where_reading_cannot():
    truth, scores = sharded_rows(extent(60), extent(40)), sharded_rows(extent(30), extent(70, can_start=False))
    assert spans(truth, scores, n_bytes=251) == [(0, 10), (10, 20), (20, 30), (30, 60), (60, 100)]
    places = [part.places for part in make_parts([truth, scores], 1, 251)]
    assert places[1] == [Place(0, 0, 10), Place(0, 0, 10)]
    assert places[3] == [Place(0, 0, 30), Place(1, 30, None)]
    assert places[4] == [Place(1, 60, None), Place(1, 30, None)]


def test_text_is_cut_at_marks_of_the_same_shard_only():
    shards = [extent(100, marks_at(range(0, 100, 10))), extent(100, marks_at(range(0, 100, 20)))]
    assert spans(sharded_rows(*shards), n_bytes=600) == [(0, 50), (50, 100), (100, 160), (160, 200)]
    assert spans(sharded_rows(*shards), n_bytes=90) == [
        *pairwise(range(0, 100, 10)),
        (90, 100),
        *pairwise(range(100, 181, 20)),
        (180, 200),
    ]


def test_a_mark_where_a_shard_of_another_source_begins_does_not_shift_the_cuts_before_it():
    truth, scores = sharded_rows(extent(100, marks_at(range(0, 100, 10)))), sharded_rows(extent(50), extent(50))
    assert spans(truth, scores, n_bytes=400) == [(0, 20), (20, 30), (30, 50), (50, 70), (70, 80), (80, 100)]


def test_marks_far_apart_make_parts_of_about_the_same_number_of_bytes():
    """Lines of 1 byte, then of 100: most parts are of the latter."""
    rows = np.arange(0, 1_000, 10)
    offsets = np.where(rows < 500, rows, 500 + 100 * (rows - 500))
    marks = np.column_stack([offsets, rows, rows])
    parts = spans(sharded_rows(Extent(1_000, 50_500, marks, True)), n_bytes=5_060)
    sizes = [np.interp([start, stop], [0, 500, 1_000], [0, 500, 50_500]) for start, stop in parts]
    assert len(parts) == 10
    assert max(stop - start for start, stop in sizes) < 7_000


def test_a_place_in_text_is_the_last_mark_before_it():
    [*_, last] = make_parts([sharded_rows(extent(90)), sharded_rows(extent(90, marks_at([0, 40, 80])))], 1, 601)
    assert last.first_row == 60
    assert last.places == [Place(0, 0, 60), Place(0, 0, (8 + 400, 40, 42))]
