"""Kernels that walk through the instructions of a pickle without executing them."""

from __future__ import annotations

import pickletools

import numpy as np

from xmceval.kernels.compile import kernel

FINE, DAMAGED, WILD_MEMO = 0, 1, 2

# How long the argument of an instruction is, if it is not a fixed number of bytes.
UNKNOWN, LINE, TWO_LINES, COUNTED_1, COUNTED_4, COUNTED_8 = -1, -2, -3, -4, -5, -6

_COUNTED = {
    pickletools.TAKEN_FROM_ARGUMENT1: COUNTED_1,
    pickletools.TAKEN_FROM_ARGUMENT4: COUNTED_4,
    pickletools.TAKEN_FROM_ARGUMENT4U: COUNTED_4,
    pickletools.TAKEN_FROM_ARGUMENT8U: COUNTED_8,
    pickletools.UP_TO_NEWLINE: LINE,
}


def _argument_lengths():
    lengths = np.full(256, UNKNOWN, np.int64)
    for opcode in pickletools.opcodes:
        n = 0 if opcode.arg is None else opcode.arg.n
        lengths[ord(opcode.code)] = n if n >= 0 else _COUNTED[n]
        if opcode.name in {"GLOBAL", "INST"}:
            lengths[ord(opcode.code)] = TWO_LINES
    return lengths


LENGTHS = _argument_lengths()

STOP, PUT, BINPUT, LONG_BINPUT, MEMOIZE, DIGIT_0, NEWLINE = b".pqr\x940\n"


@kernel
def check_pickle(text):
    """Return whether a pickle numbers its objects one after the other, so that its memo is no longer than it is.

    `text` is uint8 [n_bytes].
    """
    at, n_objects = 0, 0
    while at < text.size:
        code = text[at]
        at += 1
        if code == STOP:
            return FINE
        length = LENGTHS[code]
        if length == UNKNOWN:
            return DAMAGED
        if length >= 0:
            n_counted, end = 0, at + length
        elif length >= TWO_LINES:
            n_counted, end = 0, at
            for _ in range(-1 - length):
                while end < text.size and text[end] != NEWLINE:
                    end += 1
                end += 1
        else:
            n_counted = 1 if length == COUNTED_1 else 4 if length == COUNTED_4 else 8
            end = at + n_counted
        if end > text.size:
            return DAMAGED
        number, n_bytes = np.int64(0), n_counted
        if code == BINPUT or code == LONG_BINPUT:
            n_bytes = length
        for i in range(n_bytes):
            number += np.int64(text[at + i]) << (8 * i)
        if code == PUT:
            for i in range(at, min(end - 1, at + 18)):
                number = 10 * number + np.int64(text[i]) - DIGIT_0
        if code == PUT or code == BINPUT or code == LONG_BINPUT or code == MEMOIZE:
            if number < 0 or number > n_objects:
                return WILD_MEMO
            n_objects += 1
        if n_counted > 0:
            if number < 0 or number > text.size - end:
                return DAMAGED
            end += number
        at = end
    return DAMAGED
