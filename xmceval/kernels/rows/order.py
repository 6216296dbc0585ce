"""Helpers shared by kernels: sorting, searching ascending labels, powers of 2, and hashes."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.load import helper

N_DIGITS, BASE = 8, 256  # digits of keys in the radix sort
SIGN = np.uint64(1 << 63)
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
FIRST, SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@helper
def ascend(labels, start, stop):
    """Return whether labels are ascending."""
    descents = 0
    for entry in range(np.uint64(start), np.uint64(stop - 1 if stop > start else start)):
        descents += labels[entry] > labels[np.uint64(entry) + np.uint64(1)]
    return descents == 0


@helper
def power_of_2(grade):
    """Return 2 to the power of a grade, at most 2^62; whole grades have exact powers on every machine."""
    whole = np.floor(min(grade, 62.0))
    power = float(np.uint64(1) << np.uint64(whole))
    return power * 2.0 ** (grade - whole) if whole < grade < 62.0 else power


@helper
def bits_of(grade):
    """Return the bits of a grade as a whole number, which are in the order of grades from 0 on."""
    return np.float64(grade).view(np.int64)


@helper
def position(indices, start, stop, label):
    """Return the index of a label in ascending labels, or -1."""
    length = stop - start
    if length <= 0:
        return -1
    while length > 1:
        half = length >> 1
        start += half if indices[start + half] <= label else 0
        length -= half
    return start if indices[start] == label else -1


@helper
def sort(numbers, n):
    """Sort the first `n` numbers with heap sort, n log n for any input."""
    for begin in range(n // 2 - 1, -n, -1):
        end = n if begin >= 0 else n + begin
        if begin < 0:
            numbers[0], numbers[end] = numbers[end], numbers[0]
        root = begin if begin > 0 else 0
        number = numbers[root]
        child = 2 * root + 1
        while child < end:
            child += child + 1 < end and numbers[child + 1] > numbers[child]
            if numbers[child] <= number:
                break
            numbers[root] = numbers[child]
            root = child
            child = 2 * root + 1
        numbers[root] = number


@helper
def make_descending(keys, n):
    """Turn the first `n` numbers, float64 viewed as uint64, into keys that ascend as the numbers descend."""
    for i in range(np.uint64(n)):
        bits = keys[i]
        keys[i] = bits if bits >= SIGN else ~bits ^ SIGN


@helper
def _move_by_digit(keys, places, to_keys, to_places, counters, digit, n):
    """Sort keys and places by one digit; return False, without moving them, if all digits are equal."""
    shift, first, before = np.uint64(8 * digit), digit * BASE, 0
    if counters[first + np.int64((keys[0] >> shift) & np.uint64(BASE - 1))] == n:
        return False
    for slot in range(first, first + BASE):
        before, counters[slot] = before + counters[slot], before
    for i in range(n):
        slot = first + np.int64((keys[i] >> shift) & np.uint64(BASE - 1))
        to_keys[counters[slot]], to_places[counters[slot]] = keys[i], places[i]
        counters[slot] += 1
    return True


@helper
def sort_by_digits(keys, places, spare_keys, spare_places, counters, n):
    """Sort the first `n` keys, uint64, and their places, int64; equal keys keep their order (radix sort).

    The spare arrays have the same types and sizes; `counters` is int64 [N_DIGITS * BASE].
    """
    for slot in range(counters.size):
        counters[slot] = 0
    for i in range(n):
        key = keys[i]
        for digit in range(N_DIGITS):
            counters[digit * BASE + np.int64(key & np.uint64(BASE - 1))] += 1
            key >>= np.uint64(8)
    is_moved = False
    for digit in range(N_DIGITS if n > 0 else 0):
        if is_moved:
            is_moved ^= _move_by_digit(spare_keys, spare_places, keys, places, counters, digit, n)
        else:
            is_moved ^= _move_by_digit(keys, places, spare_keys, spare_places, counters, digit, n)
    for i in range(n if is_moved else 0):
        keys[i], places[i] = spare_keys[i], spare_places[i]


@helper
def is_before(label, value, other_label, other_value, by_score):
    """Return whether an entry precedes another: by higher value with `by_score`, then by smaller label."""
    if by_score and value != other_value:
        return value > other_value
    return label < other_label


@helper
def sort_entries(indices, values, start, stop, by_score):
    """Sort a row in place by descending score and then by label, or by label alone (Shell sort)."""
    gap = 1
    while gap < (stop - start) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for entry in range(start + gap, stop):
            label, value = indices[entry], values[entry]
            place = entry
            while place >= start + gap and is_before(label, value, indices[place - gap], values[place - gap], by_score):
                indices[place], values[place] = indices[place - gap], values[place - gap]
                place -= gap
            indices[place], values[place] = label, value
        gap //= 3


@helper
def mix(word):
    """Return a hash of a word, or a random word from a counter: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014)."""
    word = (word ^ (word >> np.uint64(30))) * FIRST
    word = (word ^ (word >> np.uint64(27))) * SECOND
    return word ^ (word >> np.uint64(31))
