"""Small files that ask for much memory are refused before they get it; limits have a message and an option."""

import bz2
import gzip
import io
import json
import lzma
import pickle
import pickletools
import struct
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
import zstandard
from hypothesis import given, strategies as st
from support.asked import p_at_1
from support.files import TRUTH, write
from support.pieces import read_in_pieces

import xmceval
from xmceval import DataError, UsageError
from xmceval.errors import naming_flags
from xmceval.files.arrays.npy import RefusedError, load_strings
from xmceval.files.io import chunks, streams
from xmceval.files.sidecars.values import read_names

MIB = 1 << 20


def peak_of(kind, message, call, *arguments, **options):
    """Return the peak of memory in MiB while a call is refused."""
    tracemalloc.start()
    try:
        with pytest.raises(kind, match=message):
            call(*arguments, **options)
        return tracemalloc.get_traced_memory()[1] / MIB
    finally:
        tracemalloc.stop()


def objects(values):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def npy_of(content, shape):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "|O", "fortran_order": False, "shape": shape})
    return file.getvalue() + content


# Pickles that ask for memory that they could not fill, and how each is refused
UNNUMBERED = {
    "one": b"q\1",
    "long": b"r" + struct.pack("<I", 2**28),
    "decimal": b"p268435456\n",
    "longer": b"r" + struct.pack("<I", 2**32 - 1),
}
HUGE = {
    "text": b"\x8d" + struct.pack("<Q", 2**40) + b"abc",
    "byte array": b"\x96" + struct.pack("<Q", 2**33) + b"abc",
    "negative": b"\x8d" + struct.pack("<Q", 2**64 - 1) + b"abc",
    "line": b"I12",
    "truncated": b"X\x09\0",
    "unknown": b"\xff",
    "empty": b"",
}


@pytest.mark.parametrize("name", UNNUMBERED)
def test_a_memo_that_a_pickle_could_not_fill_is_refused(name):
    write("names.npy", npy_of(b"\x80\x02]" + UNNUMBERED[name] + b".", (1,)))
    message = "the objects in it are not numbered one after the other"
    assert peak_of(DataError, message, read_names, "names.npy") < 2


@pytest.mark.parametrize("name", HUGE)
def test_an_argument_beyond_the_end_is_refused(name):
    content = io.BytesIO(b"\x80\x05" + HUGE[name])
    assert peak_of(RefusedError, "it is damaged or truncated", load_strings, content) < 2


@given(st.lists(st.text(max_size=300), max_size=12), st.integers(0, 5), st.booleans())
def test_pickles_of_strings_are_read_whatever_their_protocol(words, protocol, optimized):
    words = [*words, *words, "x" * 70000]
    content = pickle.dumps(objects(words), protocol=protocol)
    content = pickletools.optimize(content) if optimized else content
    assert load_strings(io.BytesIO(content)).tolist() == words


@given(st.permutations(range(6)), st.sampled_from(["q", "r", "p"]))
def test_objects_are_read_if_they_are_numbered_one_after_the_other(numbers, code):
    put = {"q": lambda i: bytes([i]), "r": lambda i: struct.pack("<I", i), "p": lambda i: b"%d\n" % i}[code]
    puts = b"".join(b"N" + code.encode() + put(number) + b"0" for number in numbers)
    problem = "it is damaged" if numbers == sorted(numbers) else "the objects in it are not numbered"
    with pytest.raises(RefusedError, match=problem):
        load_strings(io.BytesIO(b"\x80\x03" + puts + b"."))


def test_a_pickle_that_asks_again_and_again_for_the_bytes_of_a_string_is_refused():
    """Each REDUCE of _codecs.encode makes new bytes of the same string, so memory would grow by its size each time."""
    string = b"X" + (100_000).to_bytes(4, "little") + b"a" * 100_000
    text = b"\x80\x02c_codecs\nencode\nq\x00" + string + b"q\x01X\x06\x00\x00\x00latin1q\x02"
    text += b"(" + b"h\x00h\x01h\x02\x86R" * 3000 + b"t."
    message = "it asks for more bytes than it has"
    assert peak_of(RefusedError, message, load_strings, io.BytesIO(text)) * MIB < 20 * len(text)


def test_a_row_of_an_npz_longer_than_the_labels_is_refused_before_it_is_read(monkeypatch):
    read_in_pieces(monkeypatch, entries=1000)
    n = 50 * MIB
    arrays = {"data": np.zeros(n, np.int8), "indices": np.zeros(n, np.int8), "indptr": np.array([0, 1, n])}
    np.savez_compressed("m.npz", shape=np.array([2, 9]), format=b"csr", **arrays)
    write("t.txt", "2 9\n0:1\n1:1\n")
    message = (
        rf"^m.npz row 1: has {n - 1:,} entries, but the matrix has 9 columns; a label appears at most once in a row"
    )
    xmceval.score("t.txt", "t.txt", k=1, metrics="P")  # compiled
    assert peak_of(DataError, message, xmceval.score, "t.txt", "m.npz", k=1, metrics="P", threads=1) < 8


def test_a_line_that_is_too_long_is_refused_with_its_place():
    write("t.txt", TRUTH)
    long = write("t.gz", gzip.compress(b"4 5\n0:1 2:1\n" + b" " * (3 * MIB) + b"1:1\n\n3:1 4:1\n", 1))
    expected = "t.gz:3: this line is longer than 2 MiB (hint: pass max_line= in Python)"
    for call in (
        lambda **limit: xmceval.score(long, "t.txt", k=1, metrics="P", **limit),
        lambda **limit: xmceval.score("t.txt", "t.txt", k=1, metrics="PSP", train=long, **limit),
        lambda **limit: xmceval.convert(long, "out.txt", kind="truth", **limit),
    ):
        with pytest.raises(DataError) as caught:
            call(max_line=2)
        assert str(caught.value) == expected
        call(max_line=4)
    assert [xmceval.inspect([long], max_line=limit).files[0].faults for limit in (2, 4)] == [(expected,), ()]


def test_the_limit_is_exact_and_bounds_memory(tmp_path, monkeypatch):
    read_in_pieces(monkeypatch, text=1 << 16)
    for n_bytes, fits in ((MIB, True), (MIB + 1, False)):
        write("x", b"a\nb\n" + b" " * n_bytes + b"\nc\n")
        lines = chunks.LineChunks(tmp_path / "x", 1)
        if fits:
            assert sum(chunk.stop - chunk.start for chunk in lines) == n_bytes + 7
        else:
            with pytest.raises(DataError, match="x:3: this line is longer than 1 MiB"):
                list(lines)
    write("y.gz", gzip.compress(b" " * (64 * MIB)))
    message = r"y.gz:1: this line is longer than 2 MiB \(hint: pass max_line= in Python\)"
    assert peak_of(DataError, message, list, chunks.LineChunks(tmp_path / "y.gz", 2)) < 9
    with naming_flags(), pytest.raises(DataError, match=r"\(hint: pass max_line= in Python\)$"):
        list(chunks.LineChunks(tmp_path / "y.gz", 2))


def test_a_long_line_does_not_make_the_next_chunks_long(tmp_path):
    write("x", b"0:1\n" * 1000 + b" " * (4 * MIB) + b"\n" + b"0:1 1:2\n" * (MIB // 2))
    sizes = [chunk.stop - chunk.start for chunk in chunks.LineChunks(tmp_path / "x")]
    assert sum(sizes) == 4000 + 4 * MIB + 1 + 4 * MIB
    assert sum(size > MIB for size in sizes) <= 2


COMPRESSORS = {
    "xz": lambda content: lzma.compress(content, preset=0),
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "zst": lambda content: zstandard.ZstdCompressor().compress(content),
}


@pytest.mark.parametrize("ending", COMPRESSORS)
def test_a_small_file_that_would_be_held_whole_may_not_expand_without_end(monkeypatch, ending):
    read_in_pieces(monkeypatch, held=MIB)
    truth = write("t.json", json.dumps({"q": {"d": 1}}).encode())
    xmceval.score(truth, truth, metrics="P", k=1)  # compiled
    small, large = (b'{"q": {"d": 1' + b" " * n_bytes + b"}}" for n_bytes in (MIB - 100, 16 * MIB))
    bomb = write(f"s.json.{ending}", COMPRESSORS[ending](large))
    message = r"^s.json.\w+: expands to more than 1 MiB, over 100 times its size, .* \(hint: decompress it first\)$"
    most = 24 if ending == "zst" else 12  # a few bytes of zstandard are decompressed at once, whatever they become
    assert peak_of(DataError, message, xmceval.score, truth, bomb, metrics="P", k=1) < most
    assert peak_of(DataError, message, xmceval.score, bomb, truth, metrics="P", k=1) < most
    texts = write("small", COMPRESSORS[ending](small)), write("plain", large)
    chance = write("large", COMPRESSORS[ending](small + np.random.default_rng(0).bytes(MIB).hex().encode()))
    for path in texts:
        assert p_at_1(truth, path) == 1.0
    assert len(streams.read_all_bytes(Path(chance))) == len(small) + 2 * MIB


@pytest.mark.parametrize("shape", [(0, 2**63), (0, 2**61), (2**63, 0), (2**40, 2**30), (0, 2**64)])
@pytest.mark.parametrize("form", ["npy", "npz"])
def test_a_shape_that_no_array_can_have_is_refused(run, shape, form):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
    write("t.txt", "2 9\n0:1\n1:1\n")
    write("a.npy", file.getvalue())
    if form == "npz":
        with zipfile.ZipFile("a.npz", "w") as archive:
            archive.write("a.npy", "data.npy")
            for name in ("indices", "indptr", "shape", "format"):
                archive.writestr(f"{name}.npy", npy_of(b"", (0,)).replace(b"|O", b"|b"))
    code, _, said = run("score", "t.txt", f"a.{form}", "-k", "1", "-m", "P")
    assert (code, said.startswith(f"Error: a.{form}"), "Traceback" in said) == (1, True, False)
    code, shown, said = run("inspect", f"a.{form}")
    assert (code, "Traceback" in said) == (1, False)
    if form == "npy":
        assert "is larger than any array" in " ".join(f"{shown} {said}".split())


def test_a_limit_below_one_is_refused():
    with pytest.raises(UsageError, match="max_line must be at least 1, got 0"):
        xmceval.convert(write("t.txt", TRUTH), "out.txt", max_line=0)
