"""Check kernels: what makes a row of truth or scores valid, and what of it counts."""

from __future__ import annotations

import numba
import numpy as np

kernel = numba.njit(nogil=True, cache=True, error_model="numpy")

FINE, OUT_OF_RANGE, DUPLICATE, NOT_A_NUMBER, NEGATIVE, FRACTION, TOO_LARGE = 0, 1, 2, 3, 4, 5, 6
LARGEST = 2.0**40

# Slots of `found`: the code of the first fault, its row, label and entry; then the explicit zeros left out.
CODE, ROW, LABEL, ENTRY, ZEROS = 0, 1, 2, 3, 4


@kernel
def _ascending(indices, start, stop):
    """Whether labels ascend strictly."""
    wrong = 0
    for entry in range(start + 1, stop):
        wrong += indices[entry] <= indices[entry - 1]
    return wrong == 0


@kernel
def _duplicate(indices, start, stop, table):
    """Entry whose label stands earlier in the row, or -1. `table` is a hash table for the row, all -1 and left so."""
    size = 16
    while size < 2 * (stop - start):
        size *= 2
    found = -1
    for entry in range(start, stop):
        label = indices[entry]
        slot = ((((label ^ (label >> 31)) & 0x7FFFFFFF) * 0x9E3779B1) >> 20) & (size - 1)
        while table[slot] >= 0 and indices[table[slot]] != indices[entry]:
            slot = (slot + 1) & (size - 1)
        if table[slot] >= 0:
            found = entry
            break
        table[slot] = entry
    table[:size] = -1
    return found


@kernel
def _sort(indices, grades, start, stop):
    """Sort a row by its labels (Shell's sort: such rows are rare and short)."""
    gap = 1
    while gap < (stop - start) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for entry in range(start + gap, stop):
            label, grade = indices[entry], grades[entry]
            place = entry
            while place >= start + gap and indices[place - gap] > label:
                indices[place], grades[place] = indices[place - gap], grades[place - gap]
                place -= gap
            indices[place], grades[place] = label, grade
        gap //= 3


@kernel
def _fault(found, code, row, label, entry):
    """Note the first fault."""
    found[CODE], found[ROW], found[LABEL], found[ENTRY] = code, row, label, entry


@kernel
def check_scores(indptr, indices, scores, n_labels, found):
    """Check a block of scores: labels within 0..n_labels-1, each once in its row, no NaN."""
    table = np.full(16, -1, dtype=np.int64)
    for row in range(indptr.size - 1):
        start, stop = indptr[row], indptr[row + 1]
        outside = 0
        unordered = 0
        for entry in range(start, stop):
            outside += np.uint64(indices[entry]) >= np.uint64(n_labels)
            unordered += scores[entry] != scores[entry]
        if outside or unordered:
            for entry in range(start, stop):
                if indices[entry] < 0 or indices[entry] >= n_labels:
                    _fault(found, OUT_OF_RANGE, row, indices[entry], entry)
                    return
                if scores[entry] != scores[entry]:
                    _fault(found, NOT_A_NUMBER, row, indices[entry], entry)
                    return
        if not _ascending(indices, start, stop):
            if table.size < 4 * (stop - start):
                table = np.full(8 * (stop - start), -1, dtype=np.int64)
            entry = _duplicate(indices, start, stop, table)
            if entry >= 0:
                _fault(found, DUPLICATE, row, indices[entry], entry)
                return


@kernel
def settle_truth(indptr, indices, grades, n_labels, found):
    """Check a block of truth and bring it into order, in place: explicit zeros out, labels ascending.

    A fault's entry counts as the entries were given.
    """
    kept = 0
    start = indptr[0]
    for row in range(indptr.size - 1):
        stop = indptr[row + 1]
        first = kept
        for entry in range(start, stop):
            label, grade = indices[entry], grades[entry]
            if label < 0 or label >= n_labels:
                _fault(found, OUT_OF_RANGE, row, label, entry)
                return
            if grade != 1.0:
                code = FINE
                if grade != grade:
                    code = NOT_A_NUMBER
                elif grade < 0:
                    code = NEGATIVE
                elif grade != np.floor(grade):
                    code = FRACTION
                elif grade > LARGEST:
                    code = TOO_LARGE
                if code != FINE:
                    _fault(found, code, row, label, entry)
                    return
            if kept > first and label == indices[kept - 1]:
                _fault(found, DUPLICATE, row, label, entry)
                return
            if grade == 0.0:
                found[ZEROS] += 1
                continue
            indices[kept] = label
            grades[kept] = grade
            kept += 1
        if not _ascending(indices, first, kept):
            _sort(indices, grades, first, kept)
            for entry in range(first + 1, kept):
                if indices[entry] == indices[entry - 1]:
                    _fault(found, DUPLICATE, row, indices[entry], -1)
                    return
        start = stop
        indptr[row + 1] = kept
    indptr[0] = 0
