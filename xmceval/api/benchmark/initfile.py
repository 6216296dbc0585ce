"""Propose the file of a benchmark for a folder, from what its files are."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from xmceval.api.benchmark.plan import FILE_NAME
from xmceval.api.benchmark.proposing.cataloguematch import match_catalogue
from xmceval.api.benchmark.proposing.folderfiles import LABEL_FILES, SCORE_FILES, look_at_folder
from xmceval.api.benchmark.proposing.guesseddatasets import guess_datasets
from xmceval.api.benchmark.proposing.guessedsystems import guess_systems
from xmceval.api.benchmark.proposing.proposedfile import write_file
from xmceval.api.benchmark.proposing.proposedlines import describe, list_left_out
from xmceval.errors import DataError, argument, counted
from xmceval.files.io.paths import RemotePath, to_path
from xmceval.files.io.presence import is_present
from xmceval.files.writing.targets import save_text
from xmceval.report.forms.columns import clean


@dataclass(frozen=True)
class Proposal:
    """A proposed benchmark.

    Attributes
    ----------
    file : Path
        Where it is written.
    text : str
        What is written.
    lines : tuple of str
        What was taken for what and why, for people.
    """

    file: Path
    text: str
    lines: tuple[str, ...]


def propose(folder: str | Path, *, force: bool = False) -> Proposal:
    """Look at the files of a folder and propose a benchmark of them.

    Headers and first rows are read; rows are counted where a file does not declare them.

    Parameters
    ----------
    folder : path
        A local folder.
    force : bool
        Whether there may be a ``benchmark.toml`` already, which would be overwritten.

    Raises
    ------
    DataError
        A folder without predictions or their truth, or with a ``benchmark.toml``.
    """
    root = to_path(folder)
    if isinstance(root, RemotePath) or not root.is_dir():
        raise DataError(f"{root}: {'is remote' if isinstance(root, RemotePath) else 'no such folder'}; "
                        "expected a local folder")  # fmt: skip
    file = root / FILE_NAME
    if file.exists() and not force:
        raise DataError(f"{file}: already exists (hint: pass {argument('force', True)} to overwrite)")
    files = look_at_folder(root)
    scores = files.of_kind(SCORE_FILES)
    n_with_rows = Counter(each.peek.n_rows for each in scores)
    has_labels = bool(files.of_kind(LABEL_FILES))
    guessed = guess_datasets(files, root.resolve().name or "data")
    if not guessed:
        found = "predictions" if not scores else "a truth that predictions fit" if has_labels else "a truth"
        left_out = ", ".join(list_left_out(files.left_out))
        raise DataError(f"{root}: {counted(files.n_files, 'file')} examined, and none looks like {found}"
                        f"{f'; {left_out}' if left_out else ''}")  # fmt: skip

    def exists(name: str) -> bool:
        return is_present(root / name)

    systems = guess_systems(guessed, files)
    matches = [match_catalogue(each) for each in guessed]
    lines = tuple(describe(files, guessed, systems, matches, n_with_rows, exists))
    return Proposal(file, write_file(guessed, systems, matches, exists), lines)


def write_proposal(proposal: Proposal) -> str:
    """Write a proposed file; return what to say of it.

    Raises
    ------
    DataError
        A folder that cannot be written to.
    """
    save_text(proposal.file, proposal.text)
    name = clean(str(proposal.file))
    which = "" if str(proposal.file) == FILE_NAME else f" {name}"
    return f"wrote {name} (hint: name systems in it, then run xmceval benchmark{which})"
