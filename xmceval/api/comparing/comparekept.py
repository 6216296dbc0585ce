"""Compare kept systems: from the values of their rows that were kept while they were scored, as if they were scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xmceval.api.comparing.pairtests import Watch
from xmceval.report.comparison import Comparison
from xmceval.scoring.comparing.testoptions import Testing


@dataclass(frozen=True)
class KeptSystem:
    """A system that was scored before.

    Attributes
    ----------
    name : str
    y_score : matrix, path, shards, or list of these
        As `compare` takes it; it is not read.
    files : tuple of Path
        One per run, as `KeepRows` writes them.
    """

    name: str
    y_score: Any
    files: tuple[Path, ...]


def compare_kept(
    systems: Sequence[KeptSystem],
    testing: Testing,
    *,
    threads: int | None = None,
    watch: Watch | None = None,
    needs_pairs: bool = True,
) -> Comparison:
    """Compare systems by the values of rows that were kept of them; the Comparison is that of `compare_systems`.

    Raises
    ------
    DataError
        Files of other rows, metrics or propensities, or a damaged one.
    """
    raise NotImplementedError
