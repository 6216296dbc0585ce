"""Keeping the values of rows while systems are scored, for `compare_kept`."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from xmceval.api.extras.extra import Extra, Outcome, Scoring


class KeepRows(Extra):
    """Write the values of rows of each run to a file of its own, with the result at the end.

    Parameters
    ----------
    paths : sequence of Path
        One per run, in their order; files that do not exist yet, in a folder of this machine.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths

    def start(self, scoring: Scoring, files: ExitStack) -> None:
        """Open the files."""
        raise NotImplementedError

    def finish(self, outcome: Outcome) -> Outcome:
        """Write what is known at the end."""
        raise NotImplementedError
