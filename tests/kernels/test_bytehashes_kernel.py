"""The kernel of byte hashes: the sums of products that plain integers give."""

import numpy as np
import pytest

from xmceval.files.io.contentdigests import BLOCK, PIECE, _keys, digest_array, digest_file
from xmceval.kernels.rows.bytehashes import hash_blocks

HALF, WORD = 1 << 32, 1 << 64


def add_products(words, keys):
    halves = [((w % HALF + k % HALF) % HALF, (w // HALF + k // HALF) % HALF) for w, k in zip(words, keys, strict=True)]
    return sum(low * high for low, high in halves) % WORD


def test_sums_are_those_of_plain_integers():
    rng = np.random.default_rng(11)
    words, keys = (rng.integers(0, WORD, size, dtype=np.uint64, endpoint=False) for size in ((5, 6), (2, 6)))
    words[1], words[2, :3], keys[0, 0] = 0, WORD - 1, WORD - 1
    sums = np.empty((5, 2), dtype=np.uint64)
    with np.errstate(over="ignore"):
        hash_blocks(words, keys, sums)
    assert sums.tolist() == [[add_products(row, key) for key in keys.tolist()] for row in words.tolist()]


def test_any_small_change_of_a_large_file_changes_its_digest(tmp_path):
    content = np.random.default_rng(12).random(2 * PIECE // 8 + 3)
    file = tmp_path / "large.bin"

    def digest(changed):
        file.write_bytes(changed.tobytes())
        return digest_file(file)

    def changed(at, value):
        other = content.copy()
        other[at] = value
        return other

    block = BLOCK // 8
    swapped = content.reshape(-1)[[*range(block, 2 * block), *range(block), *range(2 * block, content.size)]]
    others = [
        *(changed(at, -content[at]) for at in (0, 1, block - 1, PIECE // 8, content.size - 1)),
        changed([5, 6], -content[[5, 6]]),
        changed([7, 7 + block], content[[7 + block, 7]]),
        -content,
        swapped,
        content[:-1],
        np.append(content, 0.0),
    ]
    digests = [digest(each) for each in (content, *others)]
    assert len(set(digests)) == len(digests)
    assert digest(content.copy()) == digests[0]


def test_keys_have_no_pattern():
    halves = _keys().astype("<u8").view("<u4")
    assert _keys().shape == (2, BLOCK // 8)
    assert len(set(halves.ravel().tolist())) > halves.size - 3


@pytest.mark.parametrize("other", [np.arange(6.0).reshape(3, 2), np.arange(6.0, dtype=np.float32), np.arange(6)])
def test_arrays_of_another_dtype_or_shape_have_other_digests(other):
    assert digest_array(other) != digest_array(np.arange(6.0))
    assert digest_array(other) == digest_array(np.asfortranarray(other))
