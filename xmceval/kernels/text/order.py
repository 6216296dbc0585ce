"""Kernels that group entries by row, and break ties by the names of labels."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from xmceval.kernels.load import helper, kernel

LARGEST_INT = np.int64(2**63 - 1)
SIGN = np.int64(-(2**63))
MOST_MOVES = 4  # moves per entry above which Shell's gaps pay off
INFINITE = np.int64(0x7FF0000000000000)  # the bits of infinity


@kernel("i4[:]", "i4[:]", "f8[:]", "i8[:]", "i4[:]", "f8[:]")
def place_entries(rows, words, values, following, placed_words, placed_values):
    """Append entries to those already placed in their rows.

    `rows` and `words` are int32, `values` float64 [n]; `following`, int64 [n_rows], is the position of the next
    entry of each row, and is advanced.
    """
    for entry in range(rows.size):
        place = following[rows[entry]]
        following[rows[entry]] = place + 1
        placed_words[place], placed_values[place] = words[entry], values[entry]


@helper
def _key(bits):
    """Return an integer that sorts like the float64 with these bits."""
    return bits if bits >= 0 else -(bits & LARGEST_INT)


@helper
def _bits(key):
    """Return the bits of the float64 with this key."""
    return key if key >= 0 else -key | SIGN


@helper
def _comes_before(word, other, ends, blob):
    """Return whether a word precedes another, bytewise."""
    at, end = np.uint64(ends[word]), np.uint64(ends[word + 1])
    place, last = np.uint64(ends[other]), np.uint64(ends[other + 1])
    one = np.uint64(1)
    while at < end and place < last and blob[at] == blob[place]:
        at += one
        place += one
    return place < last and (at == end or blob[at] < blob[place])


@helper
def _sort(keys, entries, n, farthest, words, ends, blob):
    """Sort the first entries by key, then by word (Shell sort, for entries far from their place)."""
    gap = 1
    while gap < farthest // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            key, entry, place = keys[i], entries[i], i
            while place >= gap and (
                key < keys[place - gap]
                or (key == keys[place - gap] and _comes_before(words[entry], words[entries[place - gap]], ends, blob))
            ):
                keys[place], entries[place] = keys[place - gap], entries[place - gap]
                place -= gap
            keys[place], entries[place] = key, entry
        gap //= 3


@kernel("i8[:]", "i4[:]", "i8[:]", "i8[:]", "u1[:]", "i8[:]", "i8[:]", returns="i8")
def raise_ties(indptr, words, bits, ends, blob, keys, entries):
    """Raise equal scores of a row by the smallest possible steps, the bytewise greatest word highest.

    Raised scores stay below higher scores, and below infinity: tied infinities are lowered instead. Scores of
    -infinity are not predictions, and stay. Return the number of other scores that were equal to another one.

    Parameters
    ----------
    indptr : int64 [n_rows + 1]
    words : int32 [n]
        Words by number.
    bits : int64 [n]
        The bits of float64 scores; as integers, adjacent floats are adjacent integers.
    ends, blob : int64 [n_words + 1], uint8 [n_bytes]
        Word i is ``blob[ends[i]:ends[i + 1]]``.
    keys, entries : int64 [as long as the longest row]
        Scratch.
    """
    n_tied = 0
    for row in range(indptr.size - 1):
        start, n = indptr[row], indptr[row + 1] - indptr[row]
        falls = True
        for i in range(n):  # from the end, since runs are mostly in descending order
            entries[i] = start + n - 1 - i
            keys[i] = _key(bits[entries[i]])
            falls &= i == 0 or keys[i] > keys[i - 1]
        if falls:
            continue
        n_rises, n_before, n_moves = 0, 0, 0
        for i in range(1, n):
            n_rises += keys[i] < keys[i - 1]
            n_before = n_before + 1 if keys[i] == keys[i - 1] else 0
            n_moves += n_before  # upper bound on moves of an insertion sort
        _sort(keys, entries, n, n if n_rises > 0 or n_moves > MOST_MOVES * n else 0, words, ends, blob)
        tied = 0
        first = 0
        while first < n and keys[first] == -INFINITE:
            first += 1
        for i in range(first, n):
            tied += (i > first and keys[i] == keys[i - 1]) or (i + 1 < n and keys[i] == keys[i + 1])
        n_tied += tied
        if tied == 0:
            continue
        for i in range(first + 1, n):
            if keys[i] <= keys[i - 1]:
                keys[i] = min(keys[i - 1] + 1, INFINITE)
                bits[entries[i]] = _bits(keys[i])
        for i in range(n - 1, first, -1):
            if keys[i - 1] >= keys[i]:
                keys[i - 1] = keys[i] - 1
                bits[entries[i - 1]] = _bits(keys[i - 1])
    return n_tied
