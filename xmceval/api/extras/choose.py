"""Choose extras: only what an argument asks for is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xmceval.errors import UsageError, argument, names_flags

if TYPE_CHECKING:
    from xmceval.api.extras.extra import Extra
    from xmceval.api.scoring.setup import Named
    from xmceval.scoring.options import Options


def choose_extras(
    options: Options,
    systems: Sequence[Named],
    *,
    rows: bool = False,
    save_rows: str | Path | None = None,
    save_state: str | Path | None = None,
    shard: Any = None,
    force: bool = False,
) -> list[Extra]:
    """Return what scoring does besides, as `xmceval.score` and `xmceval.compare` document it."""
    is_shown = rows or save_rows is not None or options.by_group is not None
    if options.row_ids is not None and not is_shown:
        shown = argument("save_rows") if names_flags() else "rows, save_rows"
        ways = f"{shown} or {argument('by_group')}"
        raise UsageError(f"{argument('row_ids')} has no effect without {ways}")
    extras: list[Extra] = []
    if rows or save_rows is not None:
        from xmceval.api.extras.holdrows import HoldRows

        extras.append(HoldRows(in_results=rows, path=save_rows, force=force))
    if save_state is not None or shard is not None:
        from xmceval.api.extras.savestate import SaveState

        extras.append(SaveState.of(save_state, shard, options, systems, force=force))
    return extras
