"""Signatures and file name endings by which formats are recognised."""

from __future__ import annotations

UTF8_BOM = b"\xef\xbb\xbf"
UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")

NPY = b"\x93NUMPY"
ZIP = b"PK\x03\x04"
EMPTY_ZIP = b"PK\x05\x06"
_NAME = 30  # where a zip archive has the name of its first member
TABLES = {b"PAR1": "parquet", b"ARROW1": "arrow", b"\xff\xff\xff\xff": "arrow"}  # formats by signature
PICKLE = b"\x80"

# What files with other signatures are, and what to do with them.
_SAVE = "save the matrix with scipy.sparse.save_npz"
_DECODE = "convert it with iconv -f UTF-16 -t UTF-8"
_LOAD = "load it with safetensors.numpy and save the matrix with numpy.save"
_TAR = b"ustar"
_SAFETENSORS = b'\0\0\0\0{"'
REFUSED = {
    b"MATLAB": ("a MATLAB file", _SAVE),
    PICKLE: ("a pickle, which runs code when it is loaded", _SAVE),
    b"\x89HDF": ("an HDF5 file", _SAVE),
    EMPTY_ZIP: ("an empty zip archive", _SAVE),
    UTF16_BOMS[0]: ("UTF-16 text", _DECODE),
    UTF16_BOMS[1]: ("UTF-16 text", _DECODE),
    b"\x04\x22\x4d\x18": ("compressed by lz4", "decompress it with lz4 -d"),
    _TAR: ("a tar archive", "extract it and pass the file inside"),
    _SAFETENSORS: ("a safetensors file", _LOAD),
    b"version https://git-lfs": ("a pointer of Git LFS, not the data", "git lfs pull"),
}
OFFSETS = {_TAR: 257, _SAFETENSORS: 4}  # of signatures that do not begin the file

# Signatures of compressed files. A zstandard file may begin with a skippable frame, as pzstd writes.
GZIP = b"\x1f\x8b"
BZIP2 = b"BZh"
XZ = b"\xfd7zXZ\0"
ZSTD = b"\x28\xb5\x2f\xfd"
ZSTD_SKIPPABLE = tuple(bytes([first]) + b"\x2a\x4d\x18" for first in range(0x50, 0x60))

COMPRESSED_ENDINGS = (".gz", ".xz", ".bz2", ".zst")

TABLE_ENDINGS = (".parquet", ".csv", ".tsv", ".arrow", ".feather")

# Endings of the two files of a pair, which may be compressed.
LABELS_ENDING = "-labels.npy"
SCORES_ENDING = "-scores.npy"

# Endings of files of labels and scores, before the endings of compression.
DATA_ENDINGS = frozenset(
    {".txt", ".npz", ".npy", ".csv", ".tsv", ".json", ".jsonl", ".parquet", ".arrow", ".feather"}
    | {".trec", ".qrels", ".run", ".y", ".dat", ".svm", ".libsvm", ".pred", ".preds", ".scores", ".lst", ".xmc"}
)


def begins_with_member(content: bytes, name: bytes) -> bool:
    """Return whether bytes begin a zip archive, with a member of this name."""
    return content.startswith(ZIP) and content.startswith(name, _NAME)
