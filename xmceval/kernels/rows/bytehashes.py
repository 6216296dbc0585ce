"""Byte hash kernel: sums of products that stand for blocks of a file, several times as fast as SHA-256."""

from __future__ import annotations

import numpy as np

from xmceval.kernels.compile.decorators import kernel

HALF, LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
ZERO = np.uint64(0)


@kernel
def hash_blocks(words, keys, sums):
    """Write two sums for each block of words, uint64 [n_blocks, n_words]; `keys` are uint64 [2, n_words].

    These are NH of UMAC (Black et al. 1999): the halves of a word, each plus a half of the key modulo 2^32, are
    multiplied, and the products are added modulo 2^64. Whatever two blocks differ in, at most 1 in 2^32 keys gives them
    the same sum, so that both sums are the same once in 2^64. `sums` are uint64 [n_blocks, 2].
    """
    for block in range(words.shape[0]):
        first, second = ZERO, ZERO
        for i in range(words.shape[1]):
            low, high = words[block, i] & LOW, words[block, i] >> HALF
            first += ((low + keys[0, i]) & LOW) * ((high + (keys[0, i] >> HALF)) & LOW)
            second += ((low + keys[1, i]) & LOW) * ((high + (keys[1, i] >> HALF)) & LOW)
        sums[block, 0], sums[block, 1] = first, second
