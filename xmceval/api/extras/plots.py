"""Plotting: what pictures need beside the figures, collected while systems are scored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xmceval.api.scoring.setup import Setup
from xmceval.report.pictures import COLLECTED, COMPARISON, RESULTS, check_kinds
from xmceval.report.result import Result
from xmceval.scoring.observing.observers import Observer
from xmceval.scoring.system import System

if TYPE_CHECKING:  # loaded where they are asked for: each start pays for what it loads
    from xmceval.scoring.comparing.densities import Densities, Density
    from xmceval.scoring.observing.reliability import Reliabilities
    from xmceval.scoring.per_label.labelgain import LabelGains

Pair = tuple[int, int]


@dataclass(frozen=True)
class PlotWatch:
    """What watches the rows of systems for pictures, as far as these were asked for.

    Attributes
    ----------
    densities : Densities or None
        For the picture ``rows``.
    gains : LabelGains or None
        For ``gain``.
    reliabilities : Reliabilities or None
        For ``calibration``.
    """

    densities: Densities | None = None
    gains: LabelGains | None = None
    reliabilities: Reliabilities | None = None

    @classmethod
    def of(cls, kinds: Iterable[str], setup: Setup, opened: Sequence[System], pairs: Sequence[Pair] = ()) -> PlotWatch:
        """Make the observers that kinds of pictures need; `pairs` are those that are compared.

        Raises
        ------
        UsageError
            A program that has not what a picture shows.
        """
        wanted, program = set(kinds), setup.program
        densities = gains = reliabilities = None
        if "rows" in wanted and pairs:
            from xmceval.scoring.comparing.densities import Densities

            densities = Densities(program, pairs)
        if "gain" in wanted:
            from xmceval.scoring.per_label.labelgain import LabelGains

            gains = LabelGains(program, setup.frequencies, [each.terms for each in opened])
        if "calibration" in wanted:
            from xmceval.scoring.observing.reliability import Reliabilities

            reliabilities = Reliabilities(program, len(opened), setup.terms)
        return cls(densities, gains, reliabilities)

    @property
    def observers(self) -> Iterator[Observer]:
        """What sees the rows."""
        yield from (each for each in (self.densities, self.gains, self.reliabilities) if each is not None)

    def finish(self, results: Sequence[Result]) -> list[Result]:
        """Return the results with what pictures of systems need."""
        finished = list(results)
        if self.gains is not None:
            gains = self.gains.finish([each.counts.n_labels for each in results])
            finished = [replace(each, gain=gain) for each, gain in zip(finished, gains, strict=True)]
        if self.reliabilities is not None:
            found = self.reliabilities.finish()
            finished = [replace(each, reliability=its) for each, its in zip(finished, found, strict=True)]
        return finished

    def finish_densities(self, names: Sequence[str]) -> tuple[Density, ...]:
        """Return in how many rows the systems of each pair have which values."""
        return () if self.densities is None else tuple(self.densities.finish(names))


def check_plots(plots: str | Iterable[str], *, has_pairs: bool) -> tuple[str, ...]:
    """Return the kinds of pictures for which something is collected.

    Raises
    ------
    UsageError
        A kind that is none of KINDS, or that needs a comparison where there is none.
    """
    return tuple(kind for kind in check_kinds(plots, COMPARISON if has_pairs else RESULTS) if kind in COLLECTED)
