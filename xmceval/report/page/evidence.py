"""Evidence: what a page shows beyond the numbers: the files that were read, what was found in them, and the command."""

from __future__ import annotations

from xmceval.inspection.file import FileInspection
from xmceval.inspection.pair import PairInspection
from xmceval.lazily import dataclass


@dataclass(frozen=True)
class InputFile:
    """A file that was read: what it is for, its path, its bytes as they are on the disk, and their SHA-256."""

    role: str
    path: str
    n_bytes: int
    sha256: str


@dataclass(frozen=True)
class Evidence:
    """What a page shows beyond the numbers.

    Attributes
    ----------
    files : tuple of FileInspection
        The truth, then the predictions.
    pairs : tuple of PairInspection
        How predictions fit the truth.
    inputs : tuple of InputFile
        All files that were read.
    command : str
        The command that makes the page again.
    unread : tuple of str
        Why files could not be inspected.
    """

    files: tuple[FileInspection, ...] = ()
    pairs: tuple[PairInspection, ...] = ()
    inputs: tuple[InputFile, ...] = ()
    command: str = ""
    unread: tuple[str, ...] = ()


NOTHING = Evidence()
