"""Compressed files of several members: a damaged one is an error; padding and skippable frames are skipped."""

import bz2
import gzip
import lzma
import struct

import pytest
from support.files import PREDS, TRUTH, same_numbers, scored, write

from xmceval import DataError
from xmceval.files.io import compressed as frames
from xmceval.files.io.streams import read_all_bytes, read_first_bytes


def zstd(content):
    return pytest.importorskip("zstandard").ZstdCompressor(write_checksum=True).compress(content)


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd}
LONG = PREDS.encode() * 3000


def skippable(number=0, content=b"abcd"):
    return struct.pack("<II", 0x184D2A50 + number, len(content)) + content


def read(tmp_path, content):
    write("x", content)
    return read_all_bytes(tmp_path / "x")


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("size", [1, 7, 1 << 15])
def test_members_are_joined(tmp_path, monkeypatch, packer, size):
    monkeypatch.setattr(frames, "READ_BYTES", size)
    monkeypatch.setattr(frames, "ZSTD_READ_BYTES", size)
    pack = PACKERS[packer]
    assert read(tmp_path, pack(LONG) + pack(b"") + pack(b"tail")) == LONG + b"tail"


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("damage", ["signature", "middle", "cut", "garbage", "last byte"])
def test_a_damaged_later_member_is_refused(tmp_path, packer, damage):
    first, second = (PACKERS[packer](content) for content in (TRUTH.encode(), LONG))
    wrong = {
        "signature": b"XX" + second[2:],
        "middle": second[: len(second) // 2] + b"\x55" * 40 + second[len(second) // 2 + 40 :],
        "cut": second[: len(second) // 2],
        "garbage": b"garbage",
        "last byte": second[:-1],
    }[damage]
    with pytest.raises(DataError, match="the compressed file is damaged or truncated"):
        read(tmp_path, first + wrong)


@pytest.mark.parametrize("packer", PACKERS)
def test_padding_with_zero_bytes_is_skipped(tmp_path, packer):
    pack = PACKERS[packer]
    assert read(tmp_path, pack(b"a") + bytes(8) + pack(b"b") + bytes(512)) == b"ab"


@pytest.mark.parametrize("number", [0, 15])
def test_skippable_frames_are_skipped(tmp_path, number):
    skip, packed = skippable(number), zstd(PREDS.encode())
    for content in (skip + packed, packed + skip, skip + packed + skip, skip + skip + packed + skippable(content=b"")):
        assert read(tmp_path, content) == PREDS.encode()
        assert read_first_bytes(tmp_path / "x", 5) == PREDS.encode()[:5]
    write("t.txt", TRUTH)
    same_numbers(scored(preds=write("p", skip + packed)))
    with pytest.raises(DataError, match="damaged or truncated"):
        read(tmp_path, packed + skip[:-1])


def test_an_xz_file_cannot_ask_for_any_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(frames, "LARGEST_DICTIONARY", 1 << 20)
    with pytest.raises(DataError, match="Memory usage limit exceeded"):
        read(tmp_path, lzma.compress(LONG, preset=9))


@pytest.mark.parametrize("packer", ["bz2", "xz"])
def test_a_long_run_is_decompressed_in_pieces(tmp_path, packer):
    write("x", PACKERS[packer](bytes(1 << 24)))
    with {"bz2": frames.open_bzip2, "xz": frames.open_xz}[packer]((tmp_path / "x").open("rb")) as opened:
        assert len(opened.read(1 << 22)) <= frames.OUTPUT_BYTES
