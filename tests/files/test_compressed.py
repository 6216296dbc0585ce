"""Compressed files, known by their content; of several members, all are read, and a damaged one is an error."""

import bz2
import gzip
import lzma
import struct
import sys
from pathlib import Path

import pytest
from support.files import PREDS, TRUTH, Stdin, same_numbers, scored, write
from support.pieces import read_in_pieces
from test_formats import TRUTHS, _in_a_folder, refused  # noqa: F401 - a fixture for all tests

from xmceval import DataError
from xmceval.files.io import compressed as frames
from xmceval.files.io.streams import read_all_bytes, read_first_bytes


def zstd(content):
    return pytest.importorskip("zstandard").ZstdCompressor(write_checksum=True).compress(content)


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstd}
LONG = PREDS.encode() * 3000
DAMAGE = {
    "signature": lambda whole: b"XX" + whole[2:],
    "middle": lambda whole: whole[: len(whole) // 2] + b"\x55" * 40 + whole[len(whole) // 2 + 40 :],
    "cut": lambda whole: whole[: len(whole) // 2],
    "garbage": lambda whole: b"garbage",
    "last byte": lambda whole: whole[:-1],
}


def skippable(number=0, content=b"abcd"):
    return struct.pack("<II", 0x184D2A50 + number, len(content)) + content


def read(content):
    return read_all_bytes(Path(write("x", content)))


@pytest.mark.parametrize("packer", PACKERS)
def test_compression_is_recognised_by_content(packer, monkeypatch):
    pack = PACKERS[packer]
    for which, text in (("truth", TRUTH.encode()), ("preds", PREDS.encode())):
        for content in (pack(text), pack(text[:9]) + pack(text[9:])):
            same_numbers(scored(**{which: write("a", content)}))
        monkeypatch.setattr(sys, "stdin", Stdin(pack(text)))
        same_numbers(scored(**{which: "-"}))
    for form in ("npz CSR", "npz CSC", "npz COO", "npy indicator"):
        same_numbers(scored(write(f"a.{packer}", pack(Path(TRUTHS[form][0]()).read_bytes()))))
    refused("damaged or truncated", preds=write("b", pack(LONG)[:-9]))


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("size", [1, 7, 1 << 15])
def test_members_are_joined_and_padding_with_zero_bytes_is_skipped(monkeypatch, packer, size):
    read_in_pieces(monkeypatch, packed=size)
    pack = PACKERS[packer]
    assert read(pack(LONG) + pack(b"") + pack(b"tail")) == LONG + b"tail"
    assert read(pack(b"a") + bytes(8) + pack(b"b") + bytes(512)) == b"ab"


@pytest.mark.parametrize("packer", PACKERS)
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_later_member_is_refused(packer, damage):
    first, second = (PACKERS[packer](content) for content in (TRUTH.encode(), LONG))
    with pytest.raises(DataError, match="the compressed file is damaged or truncated"):
        read(first + DAMAGE[damage](second))


@pytest.mark.parametrize("number", [0, 15])
def test_skippable_frames_are_skipped(number):
    skip, packed = skippable(number), zstd(PREDS.encode())
    for content in (skip + packed, packed + skip, skip + packed + skip, skip + skip + packed + skippable(content=b"")):
        assert read(content) == PREDS.encode()
        assert read_first_bytes(Path("x"), 5) == PREDS.encode()[:5]
    same_numbers(scored(preds=write("p", skip + packed)))
    with pytest.raises(DataError, match="damaged or truncated"):
        read(packed + skip[:-1])


def test_an_xz_file_cannot_ask_for_any_memory(monkeypatch):
    monkeypatch.setattr(frames, "LARGEST_DICTIONARY", 1 << 20)
    with pytest.raises(DataError, match="Memory usage limit exceeded"):
        read(lzma.compress(LONG, preset=9))


@pytest.mark.parametrize("packer", ["bz2", "xz"])
def test_a_long_run_is_decompressed_in_pieces(packer):
    path = Path(write("x", PACKERS[packer](bytes(1 << 24))))
    with {"bz2": frames.open_bzip2, "xz": frames.open_xz}[packer](path.open("rb")) as opened:
        assert len(opened.read(1 << 22)) <= frames.OUTPUT_BYTES
