"""Kernels that number the distinct words of text with a hash table, and look words up in it."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from xmceval.kernels.load import helper, kernel
from xmceval.kernels.rows.order import FIRST, GOLDEN
from xmceval.kernels.text.bytes import word_at
from xmceval.kernels.text.lines import DIGIT, DIGIT_0, KINDS, TOO_LARGE

FREE = -1

LARGEST_LABEL = np.uint64(2**63 - 2)

# With an int literal numba turns uint64 into int64, and signed indices pay for Python's negative ones.
U0, U1, U8, U10, U19, U32 = (np.uint64(i) for i in (0, 1, 8, 10, 19, 32))
LOWER, UPPER = np.uint64(2**32 - 1), np.uint64(2**64 - 2**32)  # halves of a word


@helper
def _rest_at(text, at, end):
    """Return the bytes before `end`, at most seven."""
    return word_at(text, at) & ((U1 << ((end - at) * U8)) - U1)


@helper
def _stir(code, word):
    code = (code ^ word) * FIRST
    return code ^ code >> U32


@helper
def hash_word(text, begin, end):
    """Return a 63-bit hash of a word, computed from eight bytes at a time."""
    code = _stir(GOLDEN, end - begin)
    while begin + U8 <= end:
        code = _stir(code, word_at(text, begin))
        begin += U8
    return _stir(code, _rest_at(text, begin, end)) >> U1


@helper
def is_same(text, begin, end, other_text, other_begin, other_end):
    """Return whether two words are equal."""
    if end - begin != other_end - other_begin:
        return False
    while begin + U8 <= end:
        if word_at(text, begin) != word_at(other_text, other_begin):
            return False
        begin += U8
        other_begin += U8
    return _rest_at(text, begin, end) == _rest_at(other_text, other_begin, other_end)


@helper
def find_slot(text, begin, end, code, slots, ends, blob):
    """Return the slot of a word, or the free slot where it belongs."""
    mask = np.uint64(slots.size) - U1
    slot = code & mask
    while slots[slot] != FREE:
        if np.uint64(slots[slot]) >> U32 == code >> U32:
            word = np.uint64(slots[slot]) & LOWER
            if is_same(text, begin, end, blob, np.uint64(ends[word]), np.uint64(ends[word + U1])):
                break
        slot = (slot + U1) & mask
    return slot


@helper
def find_number(text, begin, end, code, slots, ends, blob):
    """Return the number of a word, or FREE."""
    found = slots[find_slot(text, begin, end, code, slots, ends, blob)]
    return np.int64(np.uint64(found) & LOWER) if found != FREE else np.int64(FREE)


@kernel("u1[:]", "i8[:]", "i8[:]", "i8[:]", "i8[:]", "u1[:]", "i8", "i4[:]", returns="i8")
def number_words(text, begins, stops, slots, ends, blob, n_words, numbers):
    """Write the numbers of words, numbering new words in order of appearance; return the number of words.

    Parameters
    ----------
    text : uint8 [n_bytes]
    begins, stops : int64 [n]
        The bounds of each word in the text.
    slots : int64 [n_slots]
        A hash table: the upper half of the hash of a word, and in the lower half its number; FREE if empty.
        n_slots is a power of 2, and larger than the final number of words.
    ends : int64 [at least n_words + n + 1]
        Word i is ``blob[ends[i]:ends[i + 1]]``.
    blob : uint8 [n_bytes]
    n_words : int
        The number of words before.
    numbers : int32 [n]
    """
    for i in range(begins.size):
        begin, end = np.uint64(begins[i]), np.uint64(stops[i])
        code = hash_word(text, begin, end)
        slot = find_slot(text, begin, end, code, slots, ends, blob)
        if slots[slot] == FREE:
            slots[slot] = np.int64((code & UPPER) | np.uint64(n_words))
            place = np.uint64(ends[n_words])
            for at in range(begin, end):
                blob[place] = text[at]
                place += U1
            n_words += 1
            ends[n_words] = np.int64(place)
        numbers[i] = np.uint64(slots[slot]) & LOWER
    return n_words


@kernel("u1[:]", "i8[:]", "i8[:]", "i8[:]", "i8[:]", "u1[:]", "i8[:]", returns="i8")
def find_words(text, begins, stops, slots, ends, blob, numbers):
    """Write the numbers of words, FREE for unknown words; return the first unknown word, or -1.

    `numbers` are int64 [n]; other arguments are as for `number_words`.
    """
    unknown = -1
    for i in range(begins.size):
        begin, end = np.uint64(begins[i]), np.uint64(stops[i])
        numbers[i] = find_number(text, begin, end, hash_word(text, begin, end), slots, ends, blob)
        if numbers[i] == FREE and unknown < 0:
            unknown = i
    return unknown


@kernel("i8[:]", "i8[:]", "u1[:]")
def fill_slots(slots, ends, blob):
    """Insert all words into an empty hash table, in the layout of `number_words`."""
    mask = np.uint64(slots.size) - U1
    for word in range(U0, np.uint64(ends.size - 1)):
        code = hash_word(blob, np.uint64(ends[word]), np.uint64(ends[word + U1]))
        slot = code & mask
        while slots[slot] != FREE:
            slot = (slot + U1) & mask
        slots[slot] = np.int64((code & UPPER) | word)


@kernel("u1[:]", "i8[:]", "i8[:]")
def parse_plain_numbers(blob, ends, labels):
    """Parse each word as a number without leading zeros, at most 2^63 - 2; write -1 for other words.

    `blob` is uint8 [n_bytes], `ends` int64 [n_words + 1], `labels` int64 [n_words].
    """
    for word in range(labels.size):
        begin, end = np.uint64(ends[word]), np.uint64(ends[word + 1])
        number = U0
        if begin == end or end - begin > U19 or (blob[begin] == DIGIT_0 and end - begin > U1):
            number = TOO_LARGE
        while begin < end and number < TOO_LARGE:
            number = number * U10 + np.uint64(blob[begin] - DIGIT_0) if KINDS[blob[begin]] == DIGIT else TOO_LARGE
            begin += U1
        labels[word] = np.int64(number) if number <= LARGEST_LABEL else -1
