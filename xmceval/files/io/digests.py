"""Digests: the sizes and SHA-256 of input files, for whoever wants to know that they are the same."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from xmceval.errors import as_here
from xmceval.files.arrays.npypairs import find_files
from xmceval.files.io.inputfiles import input_at


@dataclass(frozen=True)
class Digest:
    """A file as it is on the disk, compressed or not: its path, its bytes, and their SHA-256 in hexadecimal digits."""

    path: str
    n_bytes: int
    sha256: str


def digest_files(paths: Iterable[Path], threads: int) -> list[list[Digest]]:
    """Read files once more and return the digests of each path: two where it names a pair of npy files.

    The copy of a pipe must have been kept.
    """
    files = [find_files(path) for path in paths]
    unique = list(dict.fromkeys(file for of_path in files for file in of_path))
    with ThreadPoolExecutor(threads) as pool:
        digests = dict(zip(unique, pool.map(as_here(_digest), unique), strict=True))
    return [[digests[file] for file in of_path] for of_path in files]


def _digest(path: Path) -> Digest:
    file = input_at(path)
    with file.open() as stream:
        digest = hashlib.file_digest(stream, "sha256")  # type: ignore[arg-type]
    return Digest(str(path), file.size, digest.hexdigest())
