"""Number the distinct words of text in order of first appearance."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from xmceval.rows.block import Int64

Int32 = NDArray[np.int32]
FEWEST_SLOTS = 1 << 10
LONG = 256  # bytes, a multiple of 8; few words are longer
PADDING = 8  # bytes beyond the end of text that kernels may read


class Words:
    """Distinct words in one array of bytes, with a hash table; grows as words are numbered."""

    def __init__(self) -> None:
        self._n_words = 0
        self.blob: NDArray[np.uint8] = np.zeros(1 << 12, dtype=np.uint8)  # the concatenated words
        self._ends: Int64 = np.zeros(FEWEST_SLOTS, dtype=np.int64)
        self._slots: Int64 = np.full(FEWEST_SLOTS, -1, dtype=np.int64)

    def __len__(self) -> int:
        return self._n_words

    @property
    def table(self) -> tuple[Int64, Int64, NDArray[np.uint8]]:
        """The arrays in which kernels look up words: slots, ends and blob."""
        return self._slots, self.ends, self.blob

    @property
    def ends(self) -> Int64:
        """The end of each word in the blob, after a 0: int64 [n_words + 1]."""
        return self._ends[: self._n_words + 1]

    def __getitem__(self, number: int) -> bytes:
        begin, end = self.ends[number : number + 2]
        return self.blob[begin:end].tobytes()

    def tolist(self, first: int = 0) -> list[bytes]:
        """Return the words from number `first` on."""
        blob = self.blob[: self.ends[-1]].tobytes()
        return [blob[begin:end] for begin, end in pairwise(self.ends[first:].tolist())]

    def number(self, text: NDArray[np.uint8], begins: Int64, ends: Int64) -> Int32:
        """Return the numbers of words in a padded text, given their bounds [n], adding new ones."""
        from xmceval.kernels.text.words import number_words

        begins, ends = np.ascontiguousarray(begins), np.ascontiguousarray(ends)  # may be columns of a table
        self._make_room(begins.size, int(ends.sum() - begins.sum()))
        numbers = np.empty(begins.size, dtype=np.int32)
        table = self._slots, self._ends, self.blob
        self._n_words = number_words(text, begins, ends, *table, self._n_words, numbers)
        return numbers

    def find(self, text: NDArray[np.uint8], begins: Int64, ends: Int64) -> Int64:
        """Return the numbers of words as `number` does, but -1 for unknown words instead of adding them."""
        from xmceval.kernels.text.words import find_words

        begins, ends = np.ascontiguousarray(begins), np.ascontiguousarray(ends)
        numbers = np.empty(begins.size, dtype=np.int64)
        find_words(text, begins, ends, *self.table, numbers)
        return numbers

    def plain_numbers(self) -> Int64:
        """Parse each word as a number without leading zeros, at most 2^63 - 2; -1 for other words."""
        from xmceval.kernels.text.words import parse_plain_numbers

        numbers = np.empty(len(self), dtype=np.int64)
        parse_plain_numbers(self.blob, self.ends, numbers)
        return numbers

    def in_order(self) -> Int64:
        """Return the numbers of the words in bytewise order."""
        begins = self.ends[:-1]
        lengths = np.diff(self.ends)
        order = np.argsort(lengths, kind="stable")
        ascending = lengths[order]
        # What follows the first bytes of long words is sorted at once: one long word would cost a pass per eight bytes.
        is_long = slice(int(np.searchsorted(ascending, LONG, side="right")), None)
        rests = {word: self[word][LONG:] for word in order[is_long].tolist()}
        order[is_long] = sorted(rests, key=rests.__getitem__)
        windows = np.lib.stride_tricks.sliding_window_view(self.blob, 8)
        # Eight bytes at a time are sorted, the last ones first; only words that are long enough have some.
        for offset in range((min(int(lengths.max(initial=1)), LONG) - 1) // 8 * 8, -1, -8):
            first = int(np.searchsorted(ascending, offset, side="right"))
            words = order[first:]
            keys = windows[begins[words] + offset].view(">u8").ravel().astype(np.uint64)
            n_beyond = np.maximum(8 - (lengths[words] - offset), 0).astype(np.uint64) * np.uint64(8)
            order[first:] = words[np.argsort(keys >> n_beyond << n_beyond, kind="stable")]
        return order

    def _make_room(self, n_more: int, n_bytes: int) -> None:
        """Grow the arrays for `n_more` words of `n_bytes` bytes in total."""
        from xmceval.kernels.text.words import fill_slots

        n_words = self._n_words + n_more
        n_bytes = int(self._ends[self._n_words]) + n_bytes + PADDING
        if n_words >= self._ends.size:
            self._ends = np.pad(self._ends, (0, n_words + n_words // 2 - self._ends.size))
        if n_bytes > self.blob.size:
            self.blob = np.pad(self.blob, (0, n_bytes + n_bytes // 2 - self.blob.size))
        if 2 * n_words > self._slots.size:
            self._slots = np.full(1 << (2 * n_words).bit_length(), -1, dtype=np.int64)
            fill_slots(self._slots, self.ends, self.blob)


def text_of(words: Sequence[bytes]) -> tuple[NDArray[np.uint8], Int64, Int64]:
    """Convert words to the form that `Words` takes: a text, and the start and end of each word."""
    ends = np.cumsum([0, *map(len, words)])
    return np.frombuffer(bytearray().join([*words, bytes(PADDING)]), dtype=np.uint8), ends[:-1], ends[1:]
