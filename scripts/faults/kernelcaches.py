"""Folders of compiled kernels that are damaged, full, read-only, shared or somebody else's, in own processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from faults.harness import Tried, chosen, small_disk

# Counts labels by the smallest kernel, and prints the counts and how often it had to be compiled.
COUNT = """
import numpy as np
from xmceval.kernels.compile import entries
from xmceval.kernels.metrics.counts import count_labels
counts = np.zeros(3, np.uint8)
count_labels(np.array([2, 0, 2]), counts, np.zeros(3, np.int32))
print(*counts, len(entries.compiled), flush=True)
"""
# Flips bits of the file of that kernel, one after the other, and prints how many were taken for a kernel.
FLIP = f"""
import random
from xmceval.kernels.compile import cache, entries
made = []
entries.Slot = lambda *arguments: made.append(cache.Slot(*arguments)) or made[-1]
{COUNT}
[path] = [path for folder in cache.folders() for path in folder.glob("*.nbc")]
content, chosen, n_taken = path.read_bytes(), random.Random(25), 0
assert list(made[0].read()) == [content[cache.DIGEST_SIZE:]]
for _ in range(3000):
    damaged = bytearray(content)
    damaged[chosen.randrange(len(damaged))] ^= 1 << chosen.randrange(8)
    path.write_bytes(damaged)
    n_taken += len(list(made[0].read()))
print(n_taken)
"""
NOBODY = 65534
COMPILED, LOADED = "1 0 2 1\n", "1 0 2 0\n"


def start(folder: Path, code: str = COUNT) -> subprocess.Popen[str]:
    """Start a process with a cache of its own."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder.absolute())}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", code], env=environment, text=True, **pipes)


def count(folder: Path, code: str = COUNT) -> str:
    """Return what a process prints, or the end of what it died with."""
    process = start(folder, code)
    out, err = process.communicate(timeout=300)
    return out if process.returncode == 0 else err[-200:]


def files_of(folder: Path) -> list[Path]:
    """Return the saved kernels of a cache."""
    return sorted(folder.rglob("*.nbc"))


def caches_of_kernels() -> Iterator[Tried]:
    """Try what can be wrong with a cache; results must be right, and kernels compiled again where need be."""
    folder = Path("cache")
    again = "compiled again, the same result"

    def tried(what: str, found: str, expected: str = COMPILED) -> Tried:
        return Tried(what, again if expected == COMPILED else "the same result", found.strip(), found == expected)

    if count(folder) != COMPILED or count(folder) != LOADED:
        raise RuntimeError("kernels are not kept")
    [path] = files_of(folder)
    content = path.read_bytes()
    for what, damaged in (
        ("an empty file", b""),
        ("half a file", content[: len(content) // 2]),
        ("a file with other bytes", bytes(chosen.randbytes(len(content)))),
        ("a kernel after another digest", content[:16][::-1] + content[16:]),
    ):
        path.write_bytes(damaged)
        yield tried(what, count(folder))
    path.write_bytes(content)
    if os.geteuid() == 0:
        os.chown(path, NOBODY, NOBODY)
        yield tried("a file of somebody else", count(folder))
        for each in (folder, *folder.rglob("*")):
            os.chown(each, NOBODY, NOBODY)
        yield tried("a folder of somebody else, whose kernels are not taken", _code_of_other(folder), "not taken\n")
    else:
        yield Tried("a file of somebody else", again, "needs root", None)
    yield from _read_only()
    with small_disk(Path("full"), 4096) as disk:
        if disk is None:
            yield Tried("a full disk", again, "a file system cannot be mounted here", None)
        else:
            (disk / "filler").write_bytes(b"x" * 4096)
            yield from (tried("a full disk", count(disk)) for _ in range(2))
    processes = [start(Path("shared")) for _ in range(20)]
    found = [process.communicate(timeout=600)[0] for process in processes]
    n_compiled = found.count(COMPILED)
    held = n_compiled == 1 and found.count(LOADED) == 19 and len(files_of(Path("shared"))) == 1
    words = f"{found.count(LOADED) + n_compiled} right, {n_compiled} compiled"
    yield Tried("twenty processes at once", "20 right, 1 compiled", words, held)


def _code_of_other(folder: Path) -> str:
    """Say whether a process takes what is in a folder of another user."""
    code = (
        "from pathlib import Path\nfrom xmceval.kernels.compile import cache\n"
        f"print('taken' if any(each.is_relative_to({str(folder.absolute())!r}) for each in cache.folders()) "
        "else 'not taken')"
    )
    return count(folder, code)


def _read_only() -> Iterator[Tried]:
    """Use a cache on a file system that is mounted to be read only."""
    for what, is_damaged in (("a read-only cache", False), ("a read-only cache, damaged", True)):
        with small_disk(Path("readonly"), 1 << 22) as disk:
            if disk is None:
                yield Tried(what, "the same result", "a file system cannot be mounted here", None)
                continue
            count(disk)
            [path] = files_of(disk)
            kept = b"" if is_damaged else path.read_bytes()
            path.write_bytes(kept)
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
            out = count(disk)
            held = out == (COMPILED if is_damaged else LOADED) and path.read_bytes() == kept
            yield Tried(what, "the same result", out.strip(), held)


def flipped_bits_of_kernels() -> Iterator[Tried]:
    """Flip 3,000 bits of a compiled kernel, which must then count as missing."""
    counted, _, n_taken = count(Path("flips"), FLIP).partition("\n")
    n_taken = int(n_taken)
    if f"{counted}\n" != COMPILED:
        raise RuntimeError(counted)
    for i in range(3000):
        words = "taken" if i < n_taken else "counts as missing"
        yield Tried("a bit of a compiled kernel", "not loaded", words, i >= n_taken)


CASES = (caches_of_kernels, flipped_bits_of_kernels)
