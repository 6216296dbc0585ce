"""Saving: what scoring keeps besides its totals: values of rows in the results or in a file, and a state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xmceval.api.scoring.setup import Named, OpenedTruth
from xmceval.errors import UsageError, argument, names_flags
from xmceval.files.io.paths import to_path
from xmceval.files.io.shardfiles import find_shards
from xmceval.rows.shards import parts_of
from xmceval.scoring.options import Options
from xmceval.scoring.system import System


@dataclass(frozen=True)
class Saving:
    """What scoring keeps; by default nothing. What a plain score does not need is loaded where it is asked for."""

    rows: bool = False  # in the results
    save_rows: str | Path | None = None
    save_state: str | Path | None = None
    shard: tuple[int, int] | None = None  # its number from 1 on, and how many there are
    force: bool = False

    @classmethod
    def of(
        cls,
        options: Options,
        systems: Sequence[Named],
        *,
        rows: bool = False,
        save_rows: str | Path | None = None,
        save_state: str | Path | None = None,
        shard: Any = None,
        force: bool = False,
    ) -> Saving:
        """Refuse what cannot be saved, before anything is read; arguments are those of `xmceval.score`."""
        is_shown = rows or save_rows is not None or options.by_group is not None
        if options.row_ids is not None and not is_shown:
            shown = argument("save_rows") if names_flags() else "rows, save_rows"
            ways = f"{shown} or {argument('by_group')}"
            raise UsageError(f"{argument('row_ids')} has no effect without {ways}")
        if save_state is None and shard is None:
            return cls(rows, save_rows, force=force)
        from xmceval.api.scoring.savestate import check_state, parse_shard

        number = parse_shard(shard)
        check_state(save_state, options, systems, force=force)
        return cls(rows, save_rows, save_state, number, force)

    @property
    def holds_rows(self) -> bool:
        """Whether the values of all rows are held."""
        return self.rows or self.save_rows is not None


NOTHING = Saving()


def list_files(truth: OpenedTruth, systems: Sequence[System]) -> Iterator[Path]:
    """Yield the files that are read, which no output may overwrite."""
    for source in (truth.input.source, *(system.scores for system in systems)):
        yield from source.files()
    for value in truth.setup.options.files:
        for part in parts_of(find_shards(value)):
            if isinstance(part, (str, Path)):
                yield to_path(part)
