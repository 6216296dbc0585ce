"""The Shards class: one matrix passed in several parts. Imports no numpy, so that the command starts fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xmceval.errors import UsageError


@dataclass(frozen=True)
class Shards:
    """The parts of one truth, or of the predictions of one system, in the order of their rows.

    `score` also accepts a list; in `compare`, where lists are the runs of a system, shards need this class.

    Parameters
    ----------
    parts : sequence of path or matrix
        At least one; formats may differ.
    name : str, optional
        Their name in reports; by default made from the file names.
    is_listed : bool
        Whether the order was chosen by the caller, rather than by the file names.

    Raises
    ------
    UsageError
        No parts, or one path instead of a list.

    Examples
    --------
    >>> import numpy as np
    >>> from xmceval import Shards, compare
    >>> y_true = [np.eye(3), np.eye(3)]
    >>> a, b = Shards([np.eye(3), np.eye(3)[::-1]]), Shards([np.eye(3)[::-1], np.eye(3)[::-1]])
    >>> compare(Shards(y_true), {"b": b, "a": a}, k=1, metrics="P")["P@1", "a", "b"].wins
    2
    """

    parts: Sequence[Any]
    name: str = ""
    is_listed: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.parts, (str, Path)):
            raise UsageError(f"shards must be a list of paths or matrices, got the path {str(self.parts)!r}")
        object.__setattr__(self, "parts", tuple(self.parts))
        if not self.parts:
            raise UsageError("shards must be a list of paths or matrices, got none")
        object.__setattr__(self, "name", self.name or self._describe())

    def with_parts(self, parts: Sequence[Any]) -> Shards:
        """Return shards with other parts; a name made from file names changes accordingly.

        Parameters
        ----------
        parts : sequence of path or matrix
            At least one.
        """
        name = self.name
        if name == self._describe():
            name = ""
        return Shards(parts, name, self.is_listed)

    def __len__(self) -> int:
        return len(self.parts)

    def _describe(self) -> str:
        """Return a name made from the first and the last file."""
        if not all(isinstance(part, (str, Path)) for part in self.parts):
            return "array"
        first, last = (Path(self.parts[i]).name for i in (0, -1))
        if len(self.parts) == 1:
            return first
        return f"{first} to {last}"


def parts_of(matrix: Any) -> Sequence[Any]:
    """Return the parts of shards, or a single matrix or path as the only part."""
    if isinstance(matrix, Shards):
        return matrix.parts
    return (matrix,)
