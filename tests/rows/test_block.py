"""Blocks: however one is cut, moved, repaired or limited, its rows, places and faults are those of its source."""

import gzip
import pickle
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, strategies as st
from support.examples import examples
from support.files import open_scores, write

from xmceval.errors import DataError, Fault
from xmceval.files.sidecars.values import read_names
from xmceval.rows.block import Rows, Scratch, SortedRows
from xmceval.rows.matrices.source import as_scores
from xmceval.rows.matrices.storage import Csr
from xmceval.rows.source import Lockstep, as_batch, cut, repaired, sharded
from xmceval.scoring.evaluate import selecting

N_ROWS, N_LABELS = 7, 5
SCORES = np.where(np.arange(35).reshape(N_ROWS, N_LABELS) % 3, np.arange(35.0).reshape(N_ROWS, N_LABELS), -np.inf)
STORED = sp.csr_matrix(np.where(np.isfinite(SCORES), SCORES, 0.0))
TEXT = "".join(" ".join(f"{i}:{x}" for i, x in enumerate(row) if np.isfinite(x)) + "\n" for row in SCORES)
LISTS = np.argsort(-SCORES, axis=1)[:, :3]


def opened(name, save, *arguments, **options):
    save(name, *arguments, **options)
    return open_scores(name.replace("-labels.npy", "")).source


def text(content=TEXT):
    return opened("s.txt", write, content)


def pair():
    np.save("s-scores.npy", np.take_along_axis(SCORES, LISTS, axis=1))
    return opened("s-labels.npy", np.save, LISTS)


SOURCES = {
    "text": text,
    "text with comments": lambda: text(TEXT.replace("\n", "\n# no row\n")),
    "compressed": lambda: opened("s.txt.gz", write, gzip.compress(TEXT.encode())),
    "npz": lambda: opened("s.npz", sp.save_npz, STORED, compressed=False),
    "npy": lambda: opened("s.npy", np.save, SCORES),
    "pair": pair,
    "csr": lambda: as_scores(STORED),
    "dense": lambda: as_scores(SCORES),
    "lists": lambda: as_scores([row[:n].tolist() for n, row in enumerate(LISTS)]),
    "repaired": lambda: repaired(text(TEXT.replace("1:1.0", "1:1.0 1:0.5"))),
    "shards": lambda: sharded([as_scores(STORED[:2]), text()], "s", are_scores=True),
}
FILES = {"text": ["s.txt"], "compressed": ["s.txt.gz"], "npz": ["s.npz"], "npy": ["s.npy"], "csr": [], "dense": []}
FILES |= {"pair": ["s-labels.npy", "s-scores.npy"], "repaired": ["s.txt"], "shards": ["s.txt"]}


def rows_of(block):
    indptr, indices, values = block.rows(Scratch())
    return [list(zip(indices[i:j].tolist(), values[i:j].tolist(), strict=True)) for i, j in pairwise(indptr.tolist())]


def content(blocks):
    return [
        (block.first_row + row, block.place(row), entries)
        for block in blocks
        for row, entries in enumerate(rows_of(block))
    ]


def taken(block, sizes):
    """Take runs of some sizes from a block, over and over, until nothing is left."""
    while block.n_rows:
        for size in sizes:
            yield block.take(min(size, block.n_rows))
            if not block.n_rows:
                break


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("sizes", [(1,), (2,), (3, 1), (100,)])
def test_a_block_has_the_same_rows_and_places_however_it_is_cut(kind, sizes):
    source = SOURCES[kind]()
    blocks = list(source.blocks())
    whole = content(blocks)
    assert content(blocks) == whole  # which may be read twice, and later
    assert [row for row, _, _ in whole] == list(range(len(whole)))
    assert len(whole) >= N_ROWS
    cuts = [each for block in source.blocks() for each in taken(block, sizes)]
    assert all(each.n_rows <= max(sizes) for each in cuts)
    assert content(cuts) == whole


@pytest.mark.parametrize("kind", SOURCES)
def test_a_shifted_block_has_the_same_rows_under_other_numbers(kind):
    source = SOURCES[kind]()
    whole = content(source.blocks())
    moved = [block.shifted(10, "inner, ").shifted(5, "outer, ") for block in source.blocks()]
    assert content(moved) == [(row + 15, f"outer, inner, {place}", entries) for row, place, entries in whole]


@pytest.mark.parametrize("kind", SOURCES)
def test_a_part_of_a_repaired_source_is_repaired_and_can_be_sent_to_a_task(kind):
    source = repaired(SOURCES[kind]())
    whole = content(source.blocks())
    for start, stop in ((2, 6), (2, len(whole)), (0, 3)):
        part = pickle.loads(pickle.dumps(cut(source, start, stop)))
        assert content(part.blocks()) == whole[start:stop]
        assert all(block.repairs for block in part.blocks())


@pytest.mark.parametrize("kind", ["npy", "npz", "pair"])
def test_a_part_of_a_file_is_read_from_its_first_row_on(kind):
    source = SOURCES[kind]()
    whole = content(source.blocks())
    assert source.can_start()
    assert content(cut(source, 2, 6, 2).blocks()) == whole[2:6]
    assert content(replace(source, start=2).blocks()) == whole[2:]


@pytest.mark.parametrize("sizes", [(1,), (3,), (100,)])
def test_repairs_are_made_in_their_order_and_before_the_length_is_checked(sizes):
    seen = []

    def halve(rows, _):
        seen.append("halve")
        rows.values[: rows.indptr[-1]] /= 2

    def drop_all(rows, _):
        seen.append("drop")
        rows.indptr[:] = 0

    for block in as_scores(STORED).blocks():
        for each in taken(replace(block, repairs=(halve, drop_all), longest=0), sizes):
            assert rows_of(each) == [[]] * each.n_rows
            assert type(each.rows(Scratch())) is Rows
    assert seen[:2] == ["halve", "drop"]


def select(block):
    """Select the best labels of rows without truth."""
    truth = Rows(np.zeros(block.n_rows + 1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0))
    return block.select(truth, Scratch())


def test_the_best_labels_are_selected_only_of_rows_that_nothing_changes_or_limits():
    [block] = selecting(as_scores(SCORES), 2).blocks()
    assert select(block) is not None
    assert select(replace(block, repairs=(lambda *_: None,))) is None
    assert select(replace(block, longest=9)) is None


def names_file():
    write("names.txt", "a\nb\n")
    np.save("n.npy", np.array([["a", "b"]] * N_ROWS + [["a", "x"]]))
    return open_scores("n.npy", names=read_names("names.txt")).source


FAULTY = {"text": lambda: text(TEXT + "0:x\n"), "names": names_file}


@pytest.mark.parametrize("kind", FAULTY)
@pytest.mark.parametrize("n_before", [0, 1, 4, N_ROWS])
def test_a_fault_has_the_number_of_its_row_in_the_whole(kind, n_before):
    [block] = FAULTY[kind]().blocks()
    message = fault_of(block).message
    [block] = as_batch(FAULTY[kind](), 100, 3).blocks()
    block.take(n_before)
    fault = fault_of(block)
    assert (fault.row, fault.message) == (100 + N_ROWS, f"batch 3, {message}")


def fault_of(block):
    with pytest.raises(Fault) as raised:
        block.rows(Scratch())
    return raised.value


@pytest.mark.parametrize("n_before", [0, 2, 3])
def test_a_score_that_is_no_number_has_its_place_where_labels_are_selected(n_before):
    scores = SCORES.copy()
    scores[3, 2] = np.nan
    source = as_batch(selecting(as_scores(scores), 2), 100, 3)
    [block] = source.blocks()
    block.take(n_before)
    with pytest.raises(Fault) as raised:
        select(block)
    words = "batch 3, y_score row 3: the score value of label 2 is NaN; expected a number"
    assert (raised.value.row, raised.value.message) == (103, words)


@pytest.mark.parametrize("kind", FILES)
def test_a_source_names_the_files_that_its_rows_are_read_from(kind):
    source = SOURCES[kind]()
    assert [str(path) for path in source.files] == FILES[kind]
    assert as_batch(source, 0, 1).files == cut(source, 0, 1).files == source.files


def test_shards_of_a_batch_are_read_as_one_stream_and_need_not_be_cut_alike():
    truth, scores = (
        sharded([as_scores(STORED[:n]), as_scores(STORED[n:])], name, are_scores=True)
        for name, n in (("truth", 3), ("scores", 4))
    )
    with pytest.raises(DataError, match="y_score has 3 rows, y_score has 4 rows"):
        list(Lockstep(truth, [scores]))
    steps = list(Lockstep(as_batch(truth, 10, 2), [as_batch(scores, 10, 2)]))
    assert [(block.first_row, block.n_rows) for block, _ in steps] == [(10, 3), (13, 1), (14, 3)]
    assert steps[1][0].place(0) == "batch 2, y_score row 0"


def test_coo_in_the_order_of_its_rows_shares_its_ids_and_has_its_own_number_of_rows():
    coo = sp.coo_matrix((np.ones(4), ([0, 0, 2, 2], [3, 1, 0, 0])), shape=(3, 4))
    piece = as_scores(coo).stored
    assert np.shares_memory(piece.indices, coo.col)
    assert piece.indptr.tolist() == [0, 2, 2, 4]
    for shape in ((4, 9), (9, 4)):
        piece = as_scores(sp.coo_matrix((np.arange(4.0), ([2, 0, 2, 0], [3, 1, 3, 0])), shape=shape)).stored
        assert piece.indptr.tolist() == [0, 2, 2, *[4] * (shape[0] - 2)]
        assert (piece.indices.tolist(), piece.values.tolist()) == ([1, 0, 3, 3], [1, 3, 0, 2])


# Copies of rows of CSR: the numbers themselves, and what is noticed of them


LENGTHS = (0, 1, 2, 15, 16, 17, 18, 32, 33, 34, 100)
TYPES = [(ends, ids, values) for ends in "il" for ids in "il" for values in "fd"]


def noticed(rows):
    """Return what is to be noticed of rows, each a list of labels and one of values."""
    labels = [label for ids, _ in rows for label in ids]
    values = [value for _, numbers in rows for value in numbers]
    ascends = all(a < b for ids, _ in rows for a, b in pairwise(ids))
    if not ascends or min(labels, default=0) < 0 or any(value != value for value in values):
        return None, None
    return max(labels, default=-1), all(value == 1 for value in values)


def check(rows, before, after, types):
    """Copy rows that lie between others, and compare."""
    every = [*before, *rows, *after]
    indptr = np.concatenate([[0], np.cumsum([len(ids) for ids, _ in every])]).astype(types[0])
    indices = np.array([label for ids, _ in every for label in ids], types[1])
    values = np.array([value for _, numbers in every for value in numbers], types[2])
    start, stop = len(before), len(before) + len(rows)
    some = slice(indptr[start], indptr[stop])
    copy = Csr(indptr, indices, values, are_scores=True).copy_rows(start, stop, Scratch())
    assert np.array_equal(copy.indptr, indptr[start : stop + 1] - indptr[start])
    assert np.array_equal(copy.indices, indices[some])
    assert np.array_equal(copy.values, values[some].astype(np.float64), equal_nan=True)
    largest, only_ones = noticed([(ids, np.array(numbers, types[2])) for ids, numbers in rows])
    assert isinstance(copy, SortedRows) == (largest is not None)
    if isinstance(copy, SortedRows):
        assert (copy.largest_label, copy.has_only_ones) == (largest, only_ones)


def row(rng, n, usual):
    ids = np.sort(rng.choice(4 * n + 1, n, replace=False))
    return (ids if usual else rng.permutation(ids)).tolist(), (np.ones(n) if usual else rng.random(n)).tolist()


@pytest.mark.parametrize("types", TYPES, ids="".join)
@pytest.mark.parametrize("length", LENGTHS)
def test_any_entry_may_be_unusual(types, length, rng):
    others = [row(rng, 5, True), row(rng, 0, True)]
    usual = [row(rng, 3, True), row(rng, length, True), row(rng, 0, True), row(rng, 20, True)]
    check(usual, others, others, types)
    check(usual, [], [], types)
    for entry in range(length):
        for label, value in ((-1, 1.0), (10**6, 1.0), (None, np.nan), (None, 0.5), (None, np.inf), (0, 1.0)):
            ids, values = (list(each) for each in usual[1])
            ids[entry], values[entry] = ids[entry] if label is None else label, value
            check([usual[0], (ids, values), *usual[2:]], others, others, types)


@pytest.mark.parametrize("types", TYPES, ids="".join)
def test_no_entries_and_label_0_alone_have_their_largest_label(types):
    for rows in ([], [([], [])], [([0], [1.0]), ([], [])]):
        check(rows, [], [([5], [2.0])], types)


@examples(5)
@given(st.data(), st.sampled_from(TYPES), st.integers(0, 2**32 - 1))
def test_rows_of_all_kinds_are_copied(data, types, seed):
    rng = np.random.default_rng(seed)
    drawn = data.draw(st.lists(st.tuples(st.sampled_from(LENGTHS), st.integers(0, 9).map(bool)), max_size=12))
    start, stop = sorted(data.draw(st.tuples(*[st.integers(0, len(drawn))] * 2)))
    rows = [row(rng, n, usual) for n, usual in drawn]
    check(rows[start:stop], rows[:start], rows[stop:], types)
