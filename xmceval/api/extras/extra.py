"""Extra: something that scoring does besides, such as saving the values of rows; a plain score has none."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass

from xmceval.api.scoring.setup import Setup
from xmceval.report.result import Result
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
