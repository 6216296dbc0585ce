"""Commands and options whose help shows them in groups."""

from __future__ import annotations

from typing import Any

import click

from xmceval.scoring.options import GROUPS


class GroupedOption(click.Option):
    """An option with the group under which help shows it."""

    def __init__(self, *args: Any, group: str = GROUPS[0], **how: Any) -> None:
        super().__init__(*args, **how)
        self.group = group


class GroupedCommand(click.Command):
    """A command whose help shows its options in GROUPS."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write one section per group."""
        records: dict[str, list[tuple[str, str]]] = {group: [] for group in GROUPS}
        for each in self.get_params(ctx):
            record = each.get_help_record(ctx) if isinstance(each, click.Option) else None
            if record is not None:
                records[getattr(each, "group", GROUPS[0])].append(record)
        is_one = sum(map(bool, records.values())) == 1
        for group, rows in records.items():
            if rows:
                with formatter.section("Options" if is_one else group):
                    formatter.write_dl(rows)
