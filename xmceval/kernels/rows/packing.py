"""Packing kernels: columns of numbers in fewer bytes, where they take few values or are those of another column.

The kind of a column is how many values it takes: these are kept in the order in which they come, and a code per row, of
a single value no codes. It is RAW where they are too many, and -1 - j where the column is that of the raw column j.
"""

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile.decorators import helper, kernel
from xmceval.kernels.rows.order import GOLDEN

RAW = 0

MOST_VALUES = 256

PLACES = 1024  # of a table that finds values

SHIFT = np.uint64(54)  # to the ten upper bits


@helper
def _find_code(word, values, first, n_values, places):
    """Return the code of a value, the next one where it is new."""
    place = np.int64((np.uint64(word) * GOLDEN) >> SHIFT)
    while places[place] >= 0:
        if values[first + places[place]] == word:
            return places[place]
        place = (place + 1) & (PLACES - 1)
    if n_values < MOST_VALUES:
        places[place] = n_values
    return n_values


@helper
def _pack_column(words, c, numbers, first, codes, at, places):
    """Write the values and codes of a column; return how many values there are, RAW where they are too many."""
    places[:] = -1
    n_values, code = np.int64(0), np.int64(0)
    for row in range(words.shape[0]):
        word = words[row, c]
        if n_values == 0 or numbers[first + code] != word:
            code = _find_code(word, numbers, first, n_values, places)
            if code == n_values:
                if n_values == MOST_VALUES or n_values * 2 > words.shape[0]:
                    return np.int64(RAW)
                numbers[first + n_values] = word
                n_values += 1
        codes[at + row] = code
    return n_values


@helper
def _find_equal(words, c, kinds):
    """Return the first raw column before another that is equal to it, or -1."""
    for j in range(c):
        if kinds[j] == RAW:
            row = 0
            while row < words.shape[0] and words[row, j] == words[row, c]:
                row += 1
            if row == words.shape[0]:
                return j
    return -1


@kernel
def pack_columns(words, kinds, numbers, codes, places):
    """Write kinds, numbers and codes of columns; return how many numbers and codes there are.

    Parameters
    ----------
    words : int64 [n_rows, n_columns]
        The bits of numbers.
    kinds : int64 [n_columns]
    numbers : int64 [at least n_rows * n_columns + MOST_VALUES]
        Of each column its values, or the column as it is, or nothing.
    codes : uint8 [at least n_rows * n_columns]
        Of each column one per row, where it takes some values.
    places : int64 [PLACES]
        Scratch.
    """
    n_rows, n_columns = words.shape
    n_numbers, n_codes = np.int64(0), np.int64(0)
    for c in range(n_columns):  # c: column
        kinds[c] = kind = _pack_column(words, c, numbers, n_numbers, codes, n_codes, places)
        if kind == RAW:
            equal = _find_equal(words, c, kinds)
            if equal >= 0:
                kinds[c] = -1 - equal
                continue
            for row in range(n_rows):
                numbers[n_numbers + row] = words[row, c]
            n_numbers += n_rows
        else:
            n_numbers += kind
            n_codes += n_rows if kind > 1 else 0
    return n_numbers, n_codes


@kernel
def unpack_columns(kinds, number_places, code_places, numbers, codes, words):
    """Write columns as they were, int64 [n_rows, n_columns].

    The kinds, int64 [n_columns], are not negative: a column that is that of another has its kind and places. The places
    say where its numbers and codes begin.
    """
    n_rows, n_columns = words.shape
    for c in range(n_columns):  # c: column
        first, at = number_places[c], code_places[c]
        if kinds[c] == RAW:
            for row in range(n_rows):
                words[row, c] = numbers[first + row]
        elif kinds[c] == 1:
            for row in range(n_rows):
                words[row, c] = numbers[first]
        else:
            for row in range(n_rows):
                words[row, c] = numbers[first + codes[at + row]]
