"""Signatures: the first bytes and the endings by which files are recognised."""

from __future__ import annotations

UTF8_BOM = b"\xef\xbb\xbf"
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")

NPY = b"\x93NUMPY"
ZIP, EMPTY_ZIP = b"PK\x03\x04", b"PK\x05\x06"
MATLAB = b"MATLAB"
PARQUET = b"PAR1"
ARROW_FILE, ARROW_STREAM = b"ARROW1", b"\xff\xff\xff\xff"
HDF5 = b"\x89HDF"
PICKLE = b"\x80"
LFS = b"version https://git-lfs"
PAGES = (b"<!doctype html", b"<html", b"<head", b"<?xml")  # in any case

# Signatures of compressed files. A zstandard file may begin with a frame to skip: pzstd writes such files.
GZIP, BZIP2, XZ, ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"
ZSTD_SKIPPABLE = tuple(bytes([first]) + b"\x2a\x4d\x18" for first in range(0x50, 0x60))

COMPRESSED_ENDINGS = (".gz", ".xz", ".bz2", ".zst")

# Endings of the two files of a pair, which may be compressed.
LABELS_ENDING, SCORES_ENDING = "-labels.npy", "-scores.npy"

# Endings of files of labels and scores, beside those of compressed ones.
DATA_ENDINGS = frozenset(
    {".txt", ".npz", ".npy", ".csv", ".tsv", ".json", ".jsonl", ".parquet", ".arrow", ".feather"}
    | {".trec", ".qrels", ".run", ".y", ".dat", ".svm", ".libsvm", ".pred", ".preds", ".scores", ".lst", ".xmc"}
)


def split_ending(name: str) -> tuple[str, str]:
    """Return a path without the ending that says how it is stored, and that ending, in any case.

    Examples
    --------
    >>> split_ending("runs/model.v2.txt.gz"), split_ending("model.v2"), split_ending("A.NPZ")
    (('runs/model.v2', '.txt.gz'), ('model.v2', ''), ('A', '.NPZ'))
    """
    rest = next((name[: -len(each)] for each in COMPRESSED_ENDINGS if name.lower().endswith(each)), name)
    stem, point, suffix = rest.rpartition(".")
    is_ending = f".{suffix}".lower() in DATA_ENDINGS and stem and not stem.endswith("/")
    stem = stem if point and is_ending else rest
    return (stem, name[len(stem) :]) if stem and not stem.endswith("/") else (name, "")
