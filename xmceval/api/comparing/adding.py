"""Adding systems to a comparison whose rows were kept in memory, without scoring the others again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from typing import Any

from xmceval.api.comparing.comparekept import KeptSystem, compare_kept
from xmceval.api.comparing.runs import Lineup, check_lists
from xmceval.api.extras.choose import choose_extras
from xmceval.api.extras.keeprows import KeepRows
from xmceval.api.scoring.score import score_systems
from xmceval.api.scoring.setup import Named, Setup
from xmceval.errors import UsageError, listed, warn
from xmceval.report.comparison import Comparison
from xmceval.scoring.options import Options

TOGETHER = ("densities",)  # found while all systems are scored together


class KeptRuns:
    """Memory in which the values of rows of all runs of systems are kept while they are scored."""

    def __init__(self, systems: Sequence[Named]) -> None:
        self._systems, self.lineup = systems, Lineup.of(systems)
        self._memory = [BytesIO() for _ in self.lineup.runs]

    @property
    def extra(self) -> KeepRows:
        """What keeps them."""
        return KeepRows(self._memory)

    @property
    def systems(self) -> tuple[KeptSystem, ...]:
        """The systems with what was kept of them."""
        return tuple(
            KeptSystem(name, system.y_score, tuple(self._memory[run].getvalue() for run in group))
            for name, system, group in zip(self.lineup.names, self._systems, self.lineup.groups, strict=True)
        )


@dataclass(frozen=True)
class Adder:
    """Adds systems to a comparison.

    Attributes
    ----------
    y_true : matrix, path or shards
        As `compare` took it.
    options : Options
    kept : tuple of KeptSystem
        The systems of the comparison.
    """

    y_true: Any
    options: Options
    kept: tuple[KeptSystem, ...]

    def __call__(self, comparison: Comparison, systems: Mapping[str, Any]) -> Comparison:
        """Score systems, and return the comparison with them.

        Raises
        ------
        UsageError
            What needs all systems at once, or no system.
        """
        _check_extendable(comparison, self.options)
        named = [Named(y_score, name) for name, y_score in systems.items()]
        Lineup.of([*(Named(each.y_score, each.name) for each in self.kept), *named])  # refuses a name that is there
        check_lists(self.y_true, named)
        runs = KeptRuns(named)
        setup = Setup.of(self.y_true, self.options, named)
        extras = [*choose_extras(self.options, named, rows=True), runs.extra]
        own = score_systems(setup, runs.lineup.runs, extras).results
        kept = *self.kept, *runs.systems
        found = compare_kept(kept, comparison.testing, threads=self.options.threads)
        added = replace(found, results=(*comparison.results, *own), adder=replace(self, kept=kept))
        warn(line for line in added.doubts if line not in comparison.doubts)
        return added


def _check_extendable(comparison: Comparison, options: Options) -> None:
    """Refuse a comparison with what cannot be found for one system more."""
    has = [name for name in TOGETHER if getattr(comparison, name)]
    has += [] if options.by_group is None else ["differences within groups"]
    has += ["gain"] if any(each.gain for each in comparison.results) else []
    if has:
        raise UsageError(
            f"add: the comparison has {listed(has)}, which are only found while all systems are scored "
            "(hint: compare them all together)"
        )
