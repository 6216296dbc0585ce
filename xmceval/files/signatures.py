"""Signatures: the first bytes and the endings by which files are recognised."""

from __future__ import annotations

UTF8_BOM = b"\xef\xbb\xbf"
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")

NPY = b"\x93NUMPY"
ZIP, EMPTY_ZIP = b"PK\x03\x04", b"PK\x05\x06"
MATLAB = b"MATLAB"
PARQUET = b"PAR1"
HDF5 = b"\x89HDF"
PICKLE = b"\x80"

GZIP, BZIP2, XZ, ZSTD = b"\x1f\x8b", b"BZh", b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"

# Endings of the two files of a pair, which may be compressed.
LABELS_ENDING, SCORES_ENDING = "-labels.npy", "-scores.npy"
