"""Extra: something that scoring does besides, such as saving the values of rows; a plain score has none."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from xmceval.api.scoring.setup import Setup
from xmceval.files.io.paths import to_path
from xmceval.files.io.shardfiles import find_shards
from xmceval.report.result import Result
from xmceval.rows.shards import parts_of
from xmceval.scoring.observing.observers import Observer
from xmceval.scoring.system import System
from xmceval.scoring.totals import Totals


@dataclass(frozen=True)
class Scoring:
    """Systems that are about to be scored.

    Attributes
    ----------
    setup : Setup
    opened : sequence of System
        By run; most systems have one.
    """

    setup: Setup
    opened: Sequence[System]

    @property
    def files(self) -> list[Path]:
        """The files that are read, which no output may overwrite."""
        sources = [self.setup.truth.source, *(system.scores for system in self.opened)]
        others = [part for value in self.setup.options.files for part in parts_of(find_shards(value))]
        return [
            *(path for source in sources for path in source.files()),
            *(to_path(part) for part in others if isinstance(part, (str, Path))),
        ]


@dataclass(frozen=True)
class Outcome:
    """What came of scoring; extras add to it.

    Attributes
    ----------
    scoring : Scoring
    totals : sequence of Totals
        By run.
    results : tuple of Result
        By run.
    """

    scoring: Scoring
    totals: Sequence[Totals]
    results: tuple[Result, ...]


class Extra:
    """Something that scoring does besides: `start` is called before, and `finish` after.

    Attributes
    ----------
    observers : sequence of Observer
        They see the values of rows, from `start` on.
    """

    observers: Sequence[Observer] = ()

    def start(self, scoring: Scoring, files: ExitStack) -> None:
        """Make observers, and open files, which are completed or removed when `files` is closed."""

    def finish(self, outcome: Outcome) -> Outcome:
        """Write what was found, or return an outcome that has it."""
        return outcome
