"""Kernels that group entries by row, and break ties by the names of labels."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile import helper, kernel

LARGEST_INT = np.int64(2**63 - 1)
SIGN = np.int64(-(2**63))
MOST_MOVES = 4  # per entry, beyond which Shell's gaps pay
INFINITE = np.int64(0x7FF0000000000000)  # the bits of infinity


@kernel
def place_entries(rows, words, values, following, placed_words, placed_values):
    """Write entries behind those of their rows that were placed before.

    `rows` and `words` are int32, `values` float64 [n]; `following` says where the next entry of each row belongs, int64
    [n_rows], and is moved on.
    """
    for entry in range(rows.size):
        place = following[rows[entry]]
        following[rows[entry]] = place + 1
        placed_words[place], placed_values[place] = words[entry], values[entry]


@helper
def _key(bits):
    """Return an integer that is in the same order as the float64 of these bits."""
    return bits if bits >= 0 else -(bits & LARGEST_INT)


@helper
def _bits(key):
    """Return the bits of the float64 of a key."""
    return key if key >= 0 else -key | SIGN


@helper
def _comes_before(word, other, ends, blob):
    """Whether the bytes of a word come before those of another."""
    at, end = np.uint64(ends[word]), np.uint64(ends[word + 1])
    place, last = np.uint64(ends[other]), np.uint64(ends[other + 1])
    one = np.uint64(1)
    while at < end and place < last and blob[at] == blob[place]:
        at += one
        place += one
    return place < last and (at == end or blob[at] < blob[place])


@helper
def _sort(keys, entries, n, farthest, words, ends, blob):
    """Sort the first entries by key, and those of the same key by word: Shell sort, for entries far out of place."""
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


@kernel
def raise_ties(indptr, words, bits, ends, blob, keys, entries):
    """Raise equal scores of a row by the least possible steps, the bytewise greatest word highest.

    Raised scores stay below the scores above them, and nothing exceeds infinity: the others go below it. Scores of
    -infinity are no predictions, and stay. Returns how many other scores were equal to another one.

    Parameters
    ----------
    indptr : int64 [n_rows + 1]
    words : int32 [n]
        Words by number.
    bits : int64 [n]
        The bits of scores that are float64, which as integers have the next one at the next integer.
    ends, blob : int64 [n_words + 1], uint8 [n_bytes]
        Word i is ``blob[ends[i]:ends[i + 1]]``.
    keys, entries : int64 [as long as the longest row]
        Scratch.
    """
    n_tied = 0
    for row in range(indptr.size - 1):
        start, n = indptr[row], indptr[row + 1] - indptr[row]
        falls = True
        for i in range(n):  # from the last on, as runs are mostly in falling order
            entries[i] = start + n - 1 - i
            keys[i] = _key(bits[entries[i]])
            falls &= i == 0 or keys[i] > keys[i - 1]
        if falls:
            continue
        n_rises, n_before, n_moves = 0, 0, 0
        for i in range(1, n):
            n_rises += keys[i] < keys[i - 1]
            n_before = n_before + 1 if keys[i] == keys[i - 1] else 0
            n_moves += n_before  # the most that it takes to put neighbours into order
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
