"""Process text eight bytes at a time in 64-bit words: count digits, parse numbers, find a byte."""
# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from xmceval.kernels.load import helper

# With int literals numba turns uint64 into int64, and signed indices pay for Python's negative indices.
U0, U1, U2, U3, U4, U5, U6, U7, U8 = (np.uint64(i) for i in range(9))
U16, U32, U56 = np.uint64(16), np.uint64(32), np.uint64(56)

LOW, HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)  # lowest and highest bit of each byte
ZEROS, NEWLINES, QUOTES, BACKSLASHES = (np.uint64(byte) * LOW for byte in b'0\n"\\')
NOT_DIGIT = np.uint64(0x76) * LOW  # adding this sets the highest bit from 10 on
AFTER_BLANK, CONTROL = np.uint64(33) * LOW, np.uint64(32) * LOW


@helper
def word_at(text, at):
    """Return the eight bytes at an offset, the first byte lowest; compiles to one load."""
    word = np.uint64(text[at]) | np.uint64(text[at + U1]) << U8
    word |= np.uint64(text[at + U2]) << U16 | np.uint64(text[at + U3]) << np.uint64(24)
    word |= np.uint64(text[at + U4]) << U32 | np.uint64(text[at + U5]) << np.uint64(40)
    return word | np.uint64(text[at + U6]) << np.uint64(48) | np.uint64(text[at + U7]) << U56


@helper
def _count_ones(word):
    """Count the set bits (Warren, Hacker's Delight), which LLVM turns into one instruction."""
    word -= (word >> U1) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> U2) & np.uint64(0x3333333333333333))
    word = (word + (word >> U4)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * LOW) >> U56


@helper
def first_place(marks):
    """Return the position of the lowest byte whose highest bit is set, or 8; all other bits must be 0."""
    return _count_ones(~marks & (marks - U1)) >> U3


@helper
def n_digits(word):
    """Return the number of digits before the first other byte of a word."""
    digits = word ^ ZEROS
    return first_place(((digits + NOT_DIGIT) | digits) & HIGH)


@helper
def number_of(word, n):
    """Parse the first `n` bytes of a word, which are digits; `n` is from 1 to 8."""
    word = (word << ((U8 - n) << U3)) & np.uint64(0x0F0F0F0F0F0F0F0F)
    word = ((word * np.uint64(10 << 8 | 1)) >> U8) & np.uint64(0x00FF00FF00FF00FF)
    word = ((word * np.uint64(100 << 16 | 1)) >> U16) & np.uint64(0x0000FFFF0000FFFF)
    return (word * np.uint64(10000 << 32 | 1)) >> U32


@helper
def zero_marks(word):
    """Set the highest bit of each zero byte; marks above the first may be wrong."""
    return (word - LOW) & ~word & HIGH


@helper
def line_end(text, at):
    """Return the offset after the newline that ends the line."""
    marks = zero_marks(word_at(text, at) ^ NEWLINES)
    while marks == U0:
        at += U8
        marks = zero_marks(word_at(text, at) ^ NEWLINES)
    return at + first_place(marks) + U1


@helper
def blank_marks(word):
    """Set the highest bit of each blank or control character; marks above the first may be wrong."""
    return (word - AFTER_BLANK) & ~word & HIGH


@helper
def next_blank(text, at):
    """Return the offset of the next blank or control character, such as a newline."""
    marks = blank_marks(word_at(text, at))
    while marks == U0:
        at += U8
        marks = blank_marks(word_at(text, at))
    return at + first_place(marks)


@helper
def next_in_string(text, at):
    """Return the offset of the next quote, backslash or control character."""
    marks = U0
    while marks == U0:
        word = word_at(text, at)
        marks = zero_marks(word ^ QUOTES) | zero_marks(word ^ BACKSLASHES) | ((word - CONTROL) & ~word & HIGH)
        at += U8
    return at - U8 + first_place(marks)
