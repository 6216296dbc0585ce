"""Inspection of a state: what totals a file holds, and whether they can be merged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xmceval.errors import DataError, counted, listed
from xmceval.labels.propensity import NO_PROPENSITIES
from xmceval.scoring.options import specs
from xmceval.scoring.states.file import PROPENSITIES, load_state
from xmceval.scoring.states.state import first_of

MOST_SHARDS = 10  # whose numbers are shown


@dataclass(frozen=True)
class StateInspection:
    """Description of a state.

    Attributes
    ----------
    path : str
    version : str
        Of the xmceval that saved it.
    n_rows : int
    n_labels : int or None
        None where no input declared the number.
    metrics : tuple of str
    options : dict
        Those that are not the default, beside the metrics.
    propensities : dict or None
        Source and constants.
    truth, scores : tuple of str
        The names of the files or arrays that were scored.
    shards : tuple of int
        The numbers of its shards, of `n_shards` in all; empty where it was saved without a number.
    n_shards : int
    fault : str
        Why ``merge`` would refuse it; empty where it would not.
    """

    path: str
    version: str = ""
    n_rows: int = 0
    n_labels: int | None = None
    metrics: tuple[str, ...] = ()
    options: dict[str, Any] | None = None
    propensities: dict[str, Any] | None = None
    truth: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()
    shards: tuple[int, ...] = ()
    n_shards: int = 0
    fault: str = ""

    @property
    def is_sound(self) -> bool:
        """Whether ``merge`` would accept it."""
        return not self.fault

    def judge(self) -> Iterator[str]:
        """Yield whether it is sound, and why not."""
        verdict = "valid" if self.is_sound else "not valid, merge refuses it"
        yield f"{self.path}: {verdict}"
        if self.fault:
            yield f"  error: {self.fault}"

    def describe(self) -> Iterator[str]:
        """Yield what it holds, line by line."""
        yield self.path
        if self.fault:
            yield "  state of xmceval; it cannot be read"
            return
        labels = "number of labels unknown" if self.n_labels is None else counted(self.n_labels, "label")
        yield f"  state of xmceval {self.version} · {counted(self.n_rows, 'row')} · {labels}"
        yield f"  metrics: {listed(self.metrics)}"
        shown = {name for name, spec in specs().items() if spec.shown == "options"}
        rest = {name: value for name, value in (self.options or {}).items() if name in shown}
        if rest:
            yield "  options: " + " · ".join(
                name if value is True else f"{name}={value}" for name, value in rest.items()
            )
        if self.propensities is not None:
            model = (
                f"{name.upper()}={self.propensities[name]:,}" for name in "abn" if self.propensities[name] is not None
            )
            yield f"  propensities: {' '.join([*model, 'from', str(self.propensities['source'])])}"
        if self.scores:
            yield f"  {first_of(self.scores)} on {first_of(self.truth)}"
        if self.shards:
            more = f" and {len(self.shards) - MOST_SHARDS:,} more" if len(self.shards) > MOST_SHARDS else ""
            noun = "shard" if len(self.shards) == 1 else "shards"
            yield f"  {noun} {listed(self.shards[:MOST_SHARDS])}{more} of {self.n_shards:,}"


def inspect_state(path: Path) -> StateInspection:
    """Describe a state."""
    try:
        state = load_state(path)
    except DataError as error:
        return StateInspection(str(path), fault=str(error))
    propensities = state.setup.propensities
    described = {name: getattr(propensities, name) for name in ("digest", *PROPENSITIES)}
    return StateInspection(
        str(path),
        state.version,
        state.n_rows,
        state.setup.width.or_none,
        tuple(str(measure) for measure in state.setup.program.measures),
        dict(state.setup.options.changed()),
        None if propensities is NO_PROPENSITIES else described,
        state.truth,
        state.scores,
        state.shards,
        state.n_shards,
    )
