"""Kernels that check rows of truth and scores, and sort rows of truth."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.load import helper, kernel
from xmceval.kernels.rows.order import sort_entries

FINE, OUT_OF_RANGE, DUPLICATE, NOT_A_NUMBER, NEGATIVE, FRACTION, TOO_LARGE = 0, 1, 2, 3, 4, 5, 6

# Slots of `status`: the code of the first fault, its row, label and entry; then the number of dropped explicit
# zeros.
CODE, ROW, LABEL, ENTRY, ZEROS = 0, 1, 2, 3, 4

NOT_NOTICED = -2  # instead of the largest label


@helper
def _ascending(indices, start, stop):
    """Return whether labels are strictly ascending."""
    wrong = 0
    for entry in range(start + 1, stop):
        wrong += indices[entry] <= indices[entry - 1]
    return wrong == 0


@helper
def _duplicate(indices, start, stop, table):
    """Return the entry whose label appears earlier in the row, or -1; `table` is all -1 before and after."""
    size = 16
    while size < 2 * (stop - start):
        size *= 2
    repeated = -1
    for entry in range(start, stop):
        label = indices[entry]
        slot = ((((label ^ (label >> 31)) & 0x7FFFFFFF) * 0x9E3779B1) >> 20) & (size - 1)
        while table[slot] >= 0 and indices[table[slot]] != indices[entry]:
            slot = (slot + 1) & (size - 1)
        if table[slot] >= 0:
            repeated = entry
            break
        table[slot] = entry
    for slot in range(size):
        table[slot] = -1
    return repeated


@kernel("i8[:]", "i8[:]", "f8[:]", "i8[:]")
def notice(indptr, indices, values, noticed):
    """Write the largest label (-1 without any) if labels from 0 on ascend in each row and no value is NaN.

    Otherwise write NOT_NOTICED. Then write whether all values are 1. `noticed` is int64 [2].
    """
    falls, nans, others = np.int64(0), np.int64(0), np.int64(0)
    for entry in range(np.uint64(1), np.uint64(indices.size)):
        falls += indices[entry] <= indices[entry - np.uint64(1)]
    for entry in range(np.uint64(values.size)):
        nans += values[entry] != values[entry]
        others += values[entry] != 1.0
    least, largest = np.int64(0), np.int64(-1)
    for row in range(indptr.size - 1):
        start, stop = indptr[row], indptr[row + 1]
        if start < stop:
            least, largest = min(least, indices[start]), max(largest, indices[stop - 1])
            if start > 0:  # labels may fall from one row to the next
                falls -= indices[start] <= indices[start - 1]
    noticed[0] = NOT_NOTICED if falls != 0 or least < 0 or nans > 0 else largest
    noticed[1] = others == 0


@kernel("i8[:]", "i8[:]", "f8[:]", "i8", "i8[:]", "i8[:]")
def check_scores(indptr, indices, scores, n_labels, table, status):
    """Check a block of scores: labels within 0..n_labels-1, each once in its row, no NaN.

    `table` is scratch space: at least 16 elements and four times the longest row, all -1 before and after.
    `status` is int64 [5], initially all 0.
    """
    for row in range(indptr.size - 1):
        start, stop = indptr[row], indptr[row + 1]
        if start == stop:
            continue
        # Almost all rows are ascending: then the first and last labels show whether all are in range.
        wrong = np.int64(scores[start] != scores[start])
        for entry in range(start + 1, stop):
            wrong += (indices[entry] <= indices[entry - 1]) | (scores[entry] != scores[entry])
        if wrong == 0 and indices[start] >= 0 and indices[stop - 1] < n_labels:
            continue
        wrong = np.int64(0)
        for entry in range(start, stop):
            wrong += (indices[entry] < 0) | (indices[entry] >= n_labels) | (scores[entry] != scores[entry])
        code, entry = FINE, start
        if wrong > 0:
            while 0 <= indices[entry] < n_labels and scores[entry] == scores[entry]:
                entry += 1
            code = NOT_A_NUMBER if 0 <= indices[entry] < n_labels else OUT_OF_RANGE
        elif not _ascending(indices, start, stop):
            entry = _duplicate(indices, start, stop, table)
            code = DUPLICATE if entry >= 0 else FINE
        if code != FINE:
            status[CODE], status[ROW], status[LABEL], status[ENTRY] = code, row, indices[entry], entry
            return


@kernel("i8[:]", "i8[:]", "f8[:]", "i8", "f8", "b1", "i8[:]")
def validate_truth(indptr, indices, grades, n_labels, largest, may_be_fractions, status):
    """Check a block of truth, sort labels within rows in place, and drop explicit zeros.

    A label with two values is a duplicate even if one of them is 0.

    `status` is int64 [5], initially all 0.
    """
    kept = np.int64(0)
    start = indptr[0]
    for row in range(indptr.size - 1):
        stop = indptr[row + 1]
        # Almost all rows are ascending without grades: then nothing moves unless earlier zeros were dropped.
        if start == kept and start < stop:
            others = np.int64(grades[start] != 1.0)
            for entry in range(start + 1, stop):
                others += (indices[entry] <= indices[entry - 1]) | (grades[entry] != 1.0)
            if others == 0 and indices[start] >= 0 and indices[stop - 1] < n_labels:
                start = kept = stop
                indptr[row + 1] = kept
                continue
        code, wrong = FINE, start
        for entry in range(start, stop):
            grade = grades[entry]
            if indices[entry] < 0 or indices[entry] >= n_labels:
                code = OUT_OF_RANGE
            elif grade != 1.0:
                if grade != grade:
                    code = NOT_A_NUMBER
                elif grade < 0:
                    code = NEGATIVE
                elif grade != np.floor(grade) and not may_be_fractions:
                    code = FRACTION
                elif grade > largest:
                    code = TOO_LARGE
            if code != FINE:
                wrong = entry
                break
        if code == FINE and not _ascending(indices, start, stop):
            sort_entries(indices, grades, start, stop, stop < start)  # such rows are rare and short
            for entry in range(start + 1, stop):
                if indices[entry] == indices[entry - 1]:
                    code, wrong = DUPLICATE, entry
        if code != FINE:
            status[CODE], status[ROW], status[LABEL], status[ENTRY] = code, row, indices[wrong], wrong
            return
        for entry in range(start, stop):
            indices[kept], grades[kept] = indices[entry], grades[entry]
            kept += grades[entry] != 0.0
            status[ZEROS] += grades[entry] == 0.0
        start = stop
        indptr[row + 1] = kept
    indptr[0] = 0
