"""Inputs that change, cannot be read, are huge, or lie about what they hold."""

from __future__ import annotations

import ctypes
import gzip
import io
import os
import resource
import struct
import time
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import scipy.sparse as sp
from faults.harness import Ended, Running, Tried, chosen, run

GIB = 1 << 30
REFUSED = "refused with a message"


def score(truth: str, scores: str, *more: str, before: Callable[[], object] = lambda: None) -> Ended:
    """Score P@1."""
    return run("score", truth, scores, "-q", "-m", "P", "-k", "1", *more, before=before)


def refusal(what: str, ended: Ended) -> Tried:
    """Return what was tried of an input that must be refused."""
    words = str(ended) if ended.is_refusal else f"{ended}: {(ended.err or ended.out)[-150:]}"
    return Tried(what, REFUSED, words, ended.is_refusal)


def give_up_privileges() -> None:
    """Give up all capabilities of this process, so that permissions hold for the administrator too."""
    numbers = ctypes.c_uint32 * 6
    ctypes.CDLL(None).capset(numbers(0x20080522, 0), numbers())


def changing_files() -> Iterator[Tried]:
    """Truncate a file, or append to it, while it is read."""
    n_times = 30
    for name in ("t", "a"):
        head, _, body = Path(f"{name}.txt").read_text().partition("\n")
        n_rows, n_labels = map(int, head.split())
        Path(f"large-{name}.txt").write_text(f"{n_rows * n_times} {n_labels}\n{body * n_times}")
        run("convert", f"large-{name}.txt", f"large-{name}.npz")
    for ending in ("txt", "npz"):
        names = [f"large-{name}.{ending}" for name in "ta"]
        begin = time.perf_counter()
        expected = score(*names)
        seconds = time.perf_counter() - begin
        contents = {name: Path(name).read_bytes() for name in names}
        for i in range(24):
            for each, content in contents.items():
                Path(each).write_bytes(content)
            does_grow, name = i % 2 == 0, names[i // 2 % 2]
            kept = contents[name]
            running = Running(["score", *names, "-q", "-m", "P", "-k", "1"])
            time.sleep(chosen.uniform(0, seconds))
            if does_grow:
                with open(name, "ab") as file:
                    file.write(kept[: len(kept) // 7])
            else:
                os.truncate(name, chosen.randrange(len(kept)))
            ended = running.end()
            held = ended.is_refusal or ended == expected
            words = "the result of before" if ended == expected else str(ended)
            expectation = "the result of before, or refused"
            yield Tried(f"{ending} file that {'grows' if does_grow else 'shrinks'}", expectation, words, held)


def unreadable_files() -> Iterator[Tried]:
    """Read what is no file, or may not be read."""
    os.mkdir("folder")
    os.symlink("loop", "loop")
    yield refusal("a folder", score("t.txt", "folder"))
    yield refusal("a link to itself", score("t.txt", "loop"))
    yield refusal("a missing file", score("t.txt", "missing"))
    yield refusal("/proc/self/mem", score("t.txt", "/proc/self/mem"))
    yield refusal("an empty file", score("t.txt", "/dev/null"))
    os.chmod("a.txt", 0)
    ended = score("t.txt", "a.txt", before=give_up_privileges)
    os.chmod("a.txt", 0o644)
    yield refusal("a file without permission", ended)
    expected = score("t.txt", "a.txt")
    os.mkfifo("pipe")
    content = Path("a.txt").read_bytes()
    for n_bytes in (len(content), len(content) // 2, 0):
        running = Running(["score", "t.txt", "pipe", "-q", "-m", "P", "-k", "1"])
        with open("pipe", "wb") as file:
            file.write(content[:n_bytes])
        ended = running.end()
        if n_bytes == len(content):
            yield Tried("a named pipe", "as a file", "equal" if ended == expected else str(ended), ended == expected)
        else:
            yield refusal("a named pipe whose writer dies", ended)


def extreme_sizes() -> Iterator[Tried]:
    """Read a line of 100 MB, a million empty rows, and more labels and entries than 32 bits can number."""
    n = 12_000_000
    long = " ".join(f"{label}:1" for label in range(n))
    Path("long.txt").write_text(f"1 {n}\n{long}\n")
    size = f"a line of {len(long) // 10**6} MB"
    yield refusal(f"{size}, above a limit", score("long.txt", "long.txt", "--max-line", "50"))
    ended = score("long.txt", "long.txt", "--max-line", "1000")
    yield Tried(f"{size}, below it", "P@1 of 100", _value(ended), _value(ended) == "100.00")
    del long
    os.unlink("long.txt")

    Path("empty.txt").write_text("1000000 5\n" + "\n" * 999_999 + "3:1\n")
    ended = score("empty.txt", "empty.txt")
    held = "1,000,000 instances" in ended.out and ended.code == 0
    yield Tried("a million rows, all but one of them empty", "1,000,000 instances", str(ended), held)

    for label, wanted in ((2**31 - 2, "100.00"), (2**31 - 1, None), (2**31, None), (2**33, None), (2**64, None)):
        Path("wide.txt").write_text(f"2 {label + 1}\n{label}:1\n{label}:1 0:1\n")
        ended = score("wide.txt", "wide.txt")
        held = ended.is_refusal if wanted is None else _value(ended) == wanted
        held |= wanted is None and _value(ended) == "100.00"
        words = str(ended) if ended.is_refusal else _value(ended)
        yield Tried("labels around 2^31 and above", "P@1 of 100, or refused", words, held)

    n_rows = 1000 * (2**31 // 100_000 + 1)
    with zipfile.ZipFile("many.npz", "w") as archive:
        _write_member(archive, "shape", (2,), np.array([n_rows, 100]), 1)
        _write_member(archive, "indptr", (n_rows + 1,), np.arange(n_rows + 1, dtype=np.int64) * 100, 1)
        _write_member(archive, "indices", (n_rows * 100,), np.tile(np.arange(100, dtype=np.int8), 1000), n_rows // 1000)
        _write_member(
            archive, "data", (n_rows * 100,), np.tile(np.arange(100, 0, -1, dtype=np.int8), 1000), n_rows // 1000
        )
    with gzip.open("few.gz", "wb", 1) as file:
        file.write(f"{n_rows} 100\n".encode() + b"0:1\n" * n_rows)
    ended = score("few.gz", "many.npz")
    held = f"{n_rows:,} instances" in ended.out and "100 predictions" in ended.out and _value(ended) == "100.00"
    words = "so it was" if held else f"{ended}: {(ended.out or ended.err)[-200:]}"
    yield Tried(f"{n_rows * 100:,} entries, more than 2^31", "all rows and entries counted, P@1 of 100", words, held)
    os.unlink("many.npz")


def _write_member(archive: zipfile.ZipFile, name: str, shape: tuple[int, ...], piece: np.ndarray, n_times: int) -> None:
    """Write an array that is a piece over and over."""
    with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
        header = {"descr": piece.dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for _ in range(n_times):
            file.write(piece.tobytes())


def _value(ended: Ended) -> str:
    """Return P@1 as it is printed."""
    words = ended.out.split()
    return words[words.index("P") + 1] if "P" in words and ended.code == 0 else str(ended)


def limited(n_bytes: int = GIB) -> None:
    """Leave this process so much more memory than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + n_bytes, resource.RLIM_INFINITY))


def memory_limits() -> Iterator[Tried]:
    """Run commands with ever less memory than they need."""
    commands = [
        ["score", "t.txt", "a.txt", "-q"],
        ["compare", "t.txt", "a.txt", "b.txt", "-q", "-m", "P,PSP"],
        ["convert", "a.txt", "-"],
    ]
    for command in commands:
        expected = run(*command)
        for mebibytes in (1, 2, 4, 8, 16, 32, 64, 96, 128, 192, 256):
            ended = run(*command, before=partial(limited, mebibytes << 20))
            held = ended == expected or ended.is_refusal
            words = "the same" if ended == expected else str(ended)
            words = words if held else f"{mebibytes} MiB: {words}: {ended.err[-150:]}"
            yield Tried(f"{command[0]} with 1 to 256 MiB more", "a message, or the same output", words, held)


def bombs() -> Iterator[Tried]:
    """Read small files that ask for much memory, with a limit of 1 GiB."""
    zeros = _gzip_of(b" ", 4 * GIB)
    Path("line.gz").write_bytes(b"".join((gzip.compress(b"500 300\n"), zeros)))
    Path("labels.gz").write_bytes(b"".join((gzip.compress(b"500 300\n"), _gzip_of(b"1:1 ", 4 * GIB))))
    yield refusal("gzip, 4 GiB of blanks in a line", score("t.txt", "line.gz", before=limited))
    yield refusal("gzip, 4 GiB of entries in a line", score("t.txt", "labels.gz", before=limited))
    Path("rows.gz").write_bytes(_gzip_of(b"1:1\n", 1 << 27))
    yield refusal("gzip, 2^25 rows", score("t.txt", "rows.gz", before=limited))
    Path("blank.gz").write_bytes(_gzip_of(b"\n", 1 << 26))
    ended = run("score", "t.txt", "blank.gz", "-m", "P", "-k", "1", before=limited)
    is_warned = _value(ended) == "0.00" and "500 of 500 instances have no prediction" in ended.err
    words = "a warning, 0" if is_warned else str(ended)
    what = "gzip, 2^26 blank lines"
    yield Tried(what, "refused, or 0 with a warning", words, is_warned or ended.is_refusal)
    try:
        import zstandard
    except ImportError:
        yield Tried("zstd, 4 GiB in a line", REFUSED, "zstandard is not installed", None)
    else:
        with open("line.zst", "wb") as file, zstandard.ZstdCompressor().stream_writer(file) as writer:
            writer.write(b"500 300\n")
            for _ in range(4096):
                writer.write(b" " * (1 << 20))
        yield refusal("zstd, 4 GiB in a line", score("t.txt", "line.zst", before=limited))
    for what, shape, n_entries in (
        ("zip, 2^28 entries in one row", (500, 300), 1 << 28),
        ("zip, a shape of 2^40 rows", (2**40, 300), 1),
        ("zip, a shape of 2^40 labels", (500, 2**40), 1),
    ):
        _write_bomb(Path("x.npz"), shape, n_entries)
        yield refusal(what, score("t.txt", "x.npz", before=limited))
    start = b'{"schema": "xmceval/state/2", "digest": "'
    for what, content in (
        ("state, an array of 2^43 bytes", start + b"0" * 32 + b'", "arrays": [["a", "<i8", [1099511627776]]]}\n'),
        ("state, nested 10^6 times", start[:-1] + b"[" * 10**6),
        ("state, 512 MiB of zeros", start + bytes(GIB // 2)),
    ):
        Path("x.state").write_bytes(content)
        yield refusal(what, run("merge", "x.state", before=limited))
    for what, text in (
        ("pickle, numbers up to 2^32 in its memo", b"\x80\x02]r" + struct.pack("<I", 2**32 - 1) + b"."),
        ("pickle, a text of 2^40 bytes", b"\x80\x05\x8d" + struct.pack("<Q", 2**40) + b"abc"),
        ("pickle, one text encoded 3,000 times", _pickle_of_codecs(10**6, 3000)),
        ("pickle, which calls os.system", b"cos\nsystem\n(S'touch executed'\ntR."),
    ):
        file = io.BytesIO()
        np.lib.format.write_array_header_1_0(file, {"descr": "|O", "fortran_order": False, "shape": (500, 1)})
        Path("x-labels.npy").write_bytes(file.getvalue() + text)
        yield refusal(what, score("t.txt", "x", before=limited))
    done = not Path("executed").exists()
    yield Tried("pickle, which calls os.system: what it does", "nothing", "nothing" if done else "it ran", done)


def _gzip_of(text: bytes, n_bytes: int) -> bytes:
    """Return a gzip of a text that is repeated, made of copies of a small one."""
    piece = gzip.compress(text * ((1 << 26) // len(text)), 6)
    return piece * (n_bytes >> 26)


def _pickle_of_codecs(size: int, n_times: int) -> bytes:
    start = b"\x80\x02c_codecs\nencode\nq\x00X" + size.to_bytes(4, "little") + b"a" * size
    return start + b"q\x01X\x06\x00\x00\x00latin1q\x02(" + b"h\x00h\x01h\x02\x86R" * n_times + b"t."


def _write_bomb(path: Path, shape: tuple[int, int], n_entries: int) -> None:
    """Write a matrix whose one row has many entries, compressed."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        small = {"shape": np.array(shape), "format": np.array(b"csr"), "indptr": np.array([0, n_entries])}
        for name, array in small.items():
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, array)
        for name, kind in (("data", np.float32), ("indices", np.int32)):
            piece = np.zeros(min(n_entries, 1 << 22), kind)
            _write_member(archive, name, (n_entries,), piece, n_entries // piece.size)


def lying_members() -> Iterator[Tried]:
    """Let members of npz files declare what they do not hold."""
    matrix = sp.random(500, 300, 0.05, "csr", random_state=1, dtype=np.float32)
    sp.save_npz("good.npz", matrix, compressed=False)
    expected = score("t.txt", "good.npz")
    arrays = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr}
    arrays |= {"shape": np.array(matrix.shape), "format": np.array(b"csr")}
    wrong = matrix.indptr.copy()
    wrong[100:] += 1
    for what, changes in (
        ("indptr beyond the entries", {"indptr": wrong}),
        ("indptr that decreases", {"indptr": matrix.indptr[::-1].copy()}),
        ("fewer values than labels", {"data": matrix.data[:-1]}),
        ("fewer labels than values", {"indices": matrix.indices[:-1]}),
        ("labels beyond the shape", {"shape": np.array([500, 3])}),
        ("negative labels", {"indices": -1 - matrix.indices}),
        ("more rows than the shape", {"shape": np.array([499, 300])}),
        ("negative shape", {"shape": np.array([-500, 300])}),
        ("labels as fractions", {"indices": matrix.indices + 0.5}),
        ("another order of storage", {"format": np.array(b"csc")}),
    ):
        np.savez("bad.npz", **{**arrays, **changes})
        yield refusal(f"npz: {what}", score("t.txt", "bad.npz"))
    content = Path("good.npz").read_bytes()
    start = content.index(b"data.npy")
    places = {"checksum": 14 - 30, "packed size": 18 - 30, "size": 22 - 30}
    for what, at in places.items():
        for where, first in (("before a member", start), ("in the directory", content.rindex(b"data.npy"))):
            offset = first + (at if where == "before a member" else at + 30 - 46 + 2)
            damaged = content[:offset] + struct.pack("<I", 12345) + content[offset + 4 :]
            Path("bad.npz").write_bytes(damaged)
            ended = score("t.txt", "bad.npz")
            words = "the same values" if ended == expected else str(ended)
            held = ended == expected or ended.is_refusal
            yield Tried(f"npz: a wrong {what} {where}", "refused, or the same values", words, held)
    for name, shape in (("data", (10**9,)), ("indices", (3,)), ("indptr", (2**62,))):
        _write_lying_header(arrays, name, shape)
        ended = score("t.txt", "bad.npz", before=limited)
        words = "the same values" if ended == expected else str(ended)
        what = f"npz: a wrong length in the head of {name}"
        yield Tried(what, "refused, or the same values", words, ended == expected or ended.is_refusal)


def _write_lying_header(arrays: dict[str, np.ndarray], name: str, shape: tuple[int, ...]) -> None:
    with zipfile.ZipFile("bad.npz", "w") as archive:
        for each, array in arrays.items():
            with archive.open(f"{each}.npy", "w") as file:
                header = {"descr": array.dtype.str, "fortran_order": False}
                header["shape"] = shape if each == name else array.shape
                np.lib.format.write_array_header_1_0(file, header)
                file.write(array.tobytes())


CASES = (changing_files, unreadable_files, extreme_sizes, memory_limits, bombs, lying_members)
