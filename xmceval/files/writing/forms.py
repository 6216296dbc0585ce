"""Writers: a source of rows as a file of another form, streamed; what is read back is the same bit for bit."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from xmceval.errors import UsageError, listed

LABELS, SCORES = "-labels.npy", "-scores.npy"

# Endings that promise a form which is not written.
FOREIGN = frozenset(
    {
        *(".mat", ".zip", ".tar", ".tgz", ".7z", ".pkl", ".pickle", ".joblib", ".h5", ".hdf5", ".parquet", ".feather"),
        *(".arrow", ".pt", ".pth", ".bin", ".safetensors"),
    }
)


@dataclass(frozen=True)
class Form:
    """One form of file; text has `colon` between label and value and `blank` between entries.

    Without a colon only labels are written.
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


_FORMS = (
    Form("xmc", "XMLRepository's text: header 'rows cols', rows of idx:value", b":", b" ", has_header=True),
    Form("plain", "the same without a header, as napkinXC writes it", b":", b" "),
    Form("omikuji", "rows of 'label value' with tabs between", b" ", b"\t"),
    Form("lists", "truth only: rows of labels with commas between", b"", b","),
    Form("npz", "scipy.sparse.save_npz, CSR"),
    Form("npy", "predictions only: the pair NAME-labels.npy and NAME-scores.npy"),
)

FORMS: Mapping[str, Form] = MappingProxyType({form.name: form for form in _FORMS})


def _zstd(text: bytes) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise UsageError("writing .zst needs the package zstandard (hint: pip install 'xmceval[zstd]')") from None
    compressed: bytes = zstandard.compress(text)
    return compressed


# Each block becomes a member of its own, in its thread: all four formats are read as their members one after the other.
COMPRESSIONS: Mapping[str, Callable[[bytes], bytes]] = MappingProxyType(
    {
        ".gz": lambda text: gzip.compress(text, 6, mtime=0),
        ".bz2": bz2.compress,
        ".xz": lzma.compress,
        ".zst": _zstd,
    }
)


def form_of(dst: str | Path, name: str | None = None) -> Form:
    """Find the form by its name, or by the ending of the file's name.

    Raises
    ------
    UsageError
        An unknown name, an ending of some other binary form, or a compression where there is none.
    """
    if name is not None and name not in FORMS:
        raise UsageError(f"unknown form {name!r}; known: {listed(FORMS)}")
    ending = Path(dst).suffix
    inner = Path(Path(dst).stem).suffix if ending in COMPRESSIONS else ending
    form = FORMS[name or inner.removeprefix(".")] if name or inner in {".npz", ".npy"} else FORMS["xmc"]
    if name is None and inner.lower() in FOREIGN:
        raise UsageError(
            f"{dst}: {inner} is not among what is written (hint: a name in .npz or .txt, or --to {listed(FORMS)})"
        )
    if ending in COMPRESSIONS and not form.is_text:
        raise UsageError(f"{dst}: {form.name} is written as it is, not compressed")
    if form.name == "npy" and name is None and not str(dst).endswith((LABELS, SCORES)):
        raise UsageError(f"{dst}: predictions are written as a pair of npy files: expected NAME{LABELS}")
    return form
