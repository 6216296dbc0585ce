"""Signatures and file name endings by which formats are recognised."""

from __future__ import annotations

UTF8_BOM = b"\xef\xbb\xbf"
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")

NPY = b"\x93NUMPY"
ZIP, EMPTY_ZIP = b"PK\x03\x04", b"PK\x05\x06"
MATLAB = b"MATLAB"
TABLES = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}  # formats by signature
HDF5 = b"\x89HDF"
PICKLE = b"\x80"
LZ4 = b"\x04\x22\x4d\x18"
LFS = b"version https://git-lfs"
TAR, SAFETENSORS = b"ustar", b'\0\0\0\0{"'
OFFSETS = {TAR: 257, SAFETENSORS: 4}  # of signatures that do not begin the file

# Signatures of compressed files. A zstandard file may begin with a skippable frame, as pzstd writes.
GZIP, BZIP2, XZ, ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"
ZSTD_SKIPPABLE = tuple(bytes([first]) + b"\x2a\x4d\x18" for first in range(0x50, 0x60))

COMPRESSED_ENDINGS = (".gz", ".xz", ".bz2", ".zst")

TABLE_ENDINGS = (".parquet", ".csv", ".tsv", ".arrow", ".feather")

# Endings of the two files of a pair, which may be compressed.
LABELS_ENDING, SCORES_ENDING = "-labels.npy", "-scores.npy"

# Endings of files of labels and scores, apart from those of compressed ones.
DATA_ENDINGS = frozenset(
    {".txt", ".npz", ".npy", ".csv", ".tsv", ".json", ".jsonl", ".parquet", ".arrow", ".feather"}
    | {".trec", ".qrels", ".run", ".y", ".dat", ".svm", ".libsvm", ".pred", ".preds", ".scores", ".lst", ".xmc"}
)
