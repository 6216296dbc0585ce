"""Inspect a saved state: which totals it holds, and whether they can be merged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xmceval.errors import DataError
from xmceval.labels.propensity import NO_PROPENSITIES
from xmceval.scoring.state_file import PROPENSITIES, load_state


@dataclass(frozen=True)
class StateInspection:
    """Description of a state.

    `version` is that of the xmceval that saved it. `n_labels` is None where no input declared the number. `options` are
    those that are not the default, besides the metrics; `propensities` are their source and constants. `truth` and
    `scores` name the files or arrays that were scored; `shards` are its numbers, of `n_shards` in all, empty where it
    was saved without a number. `fault` is why ``merge`` would refuse it, empty where it would not.
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
