"""Formats that can be written: their separators and compressions, and the choice of one by the name of a file."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from xmceval.errors import UsageError, argument, listed, missing_package
from xmceval.files.io.paths import to_path
from xmceval.files.io.signatures import LABELS_ENDING, SCORES_ENDING

# Endings that promise a format, or a compression, which cannot be written, or text in which rows look otherwise.
FOREIGN_ENDINGS = frozenset(
    {
        *(".mat", ".zip", ".tar", ".tgz", ".tbz2", ".txz", ".7z", ".rar", ".pkl", ".pickle", ".joblib", ".h5", ".hdf5"),
        *(".parquet", ".feather", ".arrow", ".avro", ".orc", ".pt", ".pth", ".bin", ".safetensors", ".xls", ".xlsx"),
        *(".db", ".sqlite", ".lz4", ".lzma", ".lz", ".lzo", ".br", ".z", ".sz", ".snappy"),
        *(".csv", ".tsv", ".json", ".jsonl", ".ndjson", ".svm", ".libsvm", ".svmlight", ".arff", ".mtx", ".xml"),
        *(".yaml", ".yml", ".html", ".md", ".tex", ".run", ".qrels"),
    }
)


@dataclass(frozen=True)
class WrittenFormat:
    """A format in which rows can be written.

    Attributes
    ----------
    name, summary : str
        Its name, and a line about it.
    colon, blank : bytes
        The separators in text, of label and value and of entries. Without a colon only labels are written.
    has_header : bool
        Whether the text begins with ``rows cols``.
    """

    name: str
    summary: str
    colon: bytes = b""
    blank: bytes = b""
    has_header: bool = False

    @property
    def is_text(self) -> bool:
        """Whether it is text, which may be compressed."""
        return bool(self.blank)


_FORMATS = (
    WrittenFormat("xmc", "XMLRepository's text: header 'rows cols', rows of idx:value", b":", b" ", has_header=True),
    WrittenFormat("plain", "the same without a header, as napkinXC writes it", b":", b" "),
    WrittenFormat("omikuji", "rows of 'label value' with tabs between", b" ", b"\t"),
    WrittenFormat("lists", "truth only: rows of labels with commas between", b"", b","),
    WrittenFormat("npz", "scipy.sparse.save_npz, CSR"),
    WrittenFormat("npy", "predictions only: the pair NAME-labels.npy and NAME-scores.npy"),
)

WRITTEN_FORMATS: Mapping[str, WrittenFormat] = MappingProxyType({each.name: each for each in _FORMATS})


def _compress_zstd(text: bytes) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise missing_package("writing .zst", "zstandard", "zstd") from None
    compressed: bytes = zstandard.compress(text)
    return compressed


# Each block becomes a member of its own, in its thread: readers of all four take members one after the other.
COMPRESSORS: Mapping[str, Callable[[bytes], bytes]] = MappingProxyType(
    {
        ".gz": lambda text: gzip.compress(text, 6, mtime=0),
        ".bz2": bz2.compress,
        ".xz": lzma.compress,
        ".zst": _compress_zstd,
    }
)


def split_endings(dst: str | Path) -> tuple[str, str]:
    """Return the ending of a file's name, and that of a compression after it or an empty string, in lower case."""
    path = to_path(dst)
    ending = path.suffix.lower()
    return (Path(path.stem).suffix.lower(), ending) if ending in COMPRESSORS else (ending, "")


def find_format(dst: str | Path, name: str | None = None) -> WrittenFormat:
    """Return the format of a name, or of the ending of a file's name."""
    if name is not None and name not in WRITTEN_FORMATS:
        raise UsageError(f"unknown format {name!r}; expected one of {listed(WRITTEN_FORMATS)}")
    ending, compression = split_endings(dst)
    form = WRITTEN_FORMATS[name or (ending[1:] if ending in {".npz", ".npy"} else "xmc")]
    if name is None and ending in FOREIGN_ENDINGS:
        raise UsageError(
            f"{dst}: cannot write {ending} (hint: use a name ending in .npz or .txt, or pass "
            f"{argument('to', kind='FORMAT')}, one of {listed(WRITTEN_FORMATS)})"
        )
    if compression and not form.is_text:
        raise UsageError(f"{dst}: {form.name} cannot be compressed; only text can")
    if form.name == "npy" and name is None and not str(dst).endswith((LABELS_ENDING, SCORES_ENDING)):
        raise UsageError(f"{dst}: predictions are written as a pair of npy files; expected NAME{LABELS_ENDING}")
    return form
