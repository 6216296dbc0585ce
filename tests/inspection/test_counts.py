"""Counts of inspected files against plain Python, and their faults beside those of score, for any rows and threads."""

import math
import statistics
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st
from support.files import write
from support.pieces import read_in_pieces

import xmceval
from xmceval.inspection.file import Spread

VALUES = [0.0, 1.0, 2.0, -1.0, 0.5, math.inf, -math.inf]
N_LABELS = 6

rows_of_entries = st.lists(
    st.dictionaries(st.integers(0, N_LABELS - 1), st.sampled_from(VALUES)), min_size=1, max_size=12
)


def spread(numbers):
    if not numbers:
        return None
    return Spread(min(numbers), statistics.median(numbers), pytest.approx(statistics.mean(numbers)), max(numbers))


def inspected(rows, **options):
    lines = [" ".join(f"{label}:{value}" for label, value in row.items()) for row in rows]
    path = write("p.txt", "\n".join([f"{len(rows)} {N_LABELS}", *lines]) + "\n")
    [file] = xmceval.inspect(path, **options).files
    return file


@given(rows_of_entries, st.integers(1, 3))
def test_counts_are_those_of_plain_python(rows, threads):
    file = inspected(rows, kind="scores", threads=threads)
    values = [value for row in rows for value in row.values()]
    finite = [value for value in values if math.isfinite(value)]
    labels = Counter(label for row in rows for label in row)
    assert (file.n_rows, file.n_entries, file.is_sound) == (len(rows), len(values), True)
    assert (file.zeros, file.empty_rows) == (values.count(0.0), sum(not row for row in rows))
    assert (file.least, file.greatest) == ((min(finite), max(finite)) if finite else (None, None))
    assert file.per_row == spread([len(row) for row in rows])
    assert file.per_label == spread(list(labels.values()))
    assert (file.labels_seen, file.largest_label) == (len(labels), max(labels, default=-1))


@given(rows_of_entries)
def test_a_truth_is_sound_if_its_values_are_grades(rows):
    values = [value for row in rows for value in row.values()]
    are_grades = all(math.isfinite(value) and value >= 0 and value == int(value) for value in values)
    assert inspected(rows, kind="truth").is_sound == are_grades


def test_blocks_and_threads_do_not_matter(rng, monkeypatch):
    rows = [{int(label): 1.5 for label in rng.permutation(N_LABELS)[: rng.integers(0, 5)]} for _ in range(200)]
    whole = inspected(rows, threads=1)
    read_in_pieces(monkeypatch, entries=7)
    for threads in (1, 2, 5):
        assert inspected(rows, threads=threads) == whole


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_faults_are_those_of_score_for_any_number_of_threads(monkeypatch, threads):
    read_in_pieces(monkeypatch, entries=3)
    rows = [{0: math.nan if row % 20 == 0 else 1.0, 1: 0.5} for row in range(60)]
    file = inspected(rows, kind="scores", threads=threads)
    truth = write("t.txt", f"60 {N_LABELS}\n" + "0:1\n" * 60)
    with pytest.raises(xmceval.DataError) as error:
        xmceval.score(truth, "p.txt", k=1, metrics="P")
    assert list(file.faults) == str(error.value).split("\n")
    assert file.n_rows == np.count_nonzero([row % 20 for row in range(60)])


@given(rows_of_entries)
def test_a_truth_has_no_label_beyond_its_header(rows):
    lines = [" ".join(f"{label}:1" for label in row) for row in rows]
    path = write("p.txt", "\n".join([f"{len(rows)} 3", *lines]) + "\n")
    [file] = xmceval.inspect(path, kind="truth").files
    assert file.is_sound == all(label < 3 for row in rows for label in row)
    outside = [fault for fault in file.faults if "outside 0..2 (p.txt has 3 labels" in fault]
    assert len(outside) == len(file.faults)


def test_the_order_of_a_list_is_no_grade():
    [file] = xmceval.inspect(write("p.txt", "0,2\n1\n3,4\n")).files
    assert (file.kind, file.warnings) == ("truth", ())
