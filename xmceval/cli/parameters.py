"""Commands and options: help shows them in groups, and settings are read where an option was not passed."""

from __future__ import annotations

import os
from collections.abc import Collection
from functools import partial
from typing import Any, cast

import click

from xmceval.cli import settings
from xmceval.cli.messages import say
from xmceval.errors import UsageError, naming_flags
from xmceval.scoring.options import GROUPS
from xmceval.scoring.spec import Spec


class GroupedOption(click.Option):
    """An option with the group under which help shows it.

    Parameters
    ----------
    group : str
    setting : bool
        Whether the environment and pyproject.toml may set it.
    elsewhere : collection of str
        Values that a setting may have for other commands; this one has its default then.
    spec : Spec, optional
        Checks the number of a setting.
    """

    def __init__(
        self,
        *args: Any,
        group: str = GROUPS[0],
        setting: bool = False,
        elsewhere: Collection[str] = (),
        spec: Spec | None = None,
        **how: Any,
    ) -> None:
        super().__init__(*args, **how)
        self.group, self.elsewhere, self.spec = group, elsewhere, spec
        if setting:
            self.envvar = settings.PREFIX + find_word(self).upper()

    def value_from_envvar(self, ctx: click.Context) -> Any:
        """Return what the environment sets, if the command reads settings; click 8.2 takes a flag's 0 for 1."""
        text = os.environ.get(str(self.envvar)) if self.envvar and _reads_settings(ctx.command) else None
        return settings.Preset(text, str(self.envvar)) if text else None

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Convert a value; what is wrong with a setting is reported with its place."""
        if not isinstance(value, settings.Preset):
            return super().process_value(ctx, value)
        text = self.default if value.text in self.elsewhere else value.text
        try:
            if self.spec is not None and self.spec.kind is int:
                with naming_flags(False):
                    self.spec.check_whole(find_word(self), int(value.text) if value.text.isdecimal() else value.text)
            converted = super().process_value(ctx, text)
        except UsageError as error:
            raise UsageError(f"{value.place}: {error}") from None
        except click.BadParameter as error:
            flag_message = f"{find_word(self)} must be true or false, got {value.text!r}"
            message = flag_message if self.is_flag else error.message.removesuffix(".")
            raise UsageError(f"{value.place}: {message}") from None
        ctx.meta.setdefault(__name__, []).append(f"{find_word(self)} = {value.text} from {value.source}")
        return converted


class GroupedCommand(click.Command):
    """A command whose help shows its options in GROUPS, and which reads settings unless it is told not to."""

    def __init__(self, *args: Any, reads_settings: bool = True, **how: Any) -> None:
        super().__init__(*args, **how)
        self.reads_settings = reads_settings

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Read settings of a file as defaults, but not for help, which then shows mistakes in none."""
        is_help = not {"-h", "--help"}.isdisjoint(args)
        if parent is not None and _reads_settings(self) and not is_help and not extra.get("resilient_parsing"):
            own = {find_word(each): str(each.name) for each in self.params if each.envvar}
            presets = settings.read_presets(own, partial(_find_options, parent))
            extra["default_map"] = {own[word]: preset for word, preset in presets.items()}
        return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; with -v, write which settings it has first."""
        for line in ctx.meta.get(__name__, ()) if ctx.params.get("verbose") else ():
            say(f"note: {line}")
        return super().invoke(ctx)

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


def _reads_settings(command: click.Command) -> bool:
    return getattr(command, "reads_settings", False) and settings.are_read()


def find_word(each: click.Parameter) -> str:
    """Return the name of an option as TOML has it: its longest flag."""
    return _as_word(max(each.opts, key=len))


def _as_word(flag: str) -> str:
    return flag.lstrip("-").replace("-", "_")


def _find_options(context: click.Context) -> dict[str, click.Option]:
    """Return the options of all commands of a group by the words for them; a setting has one word."""
    group = cast(click.Group, context.command)
    commands = [group.get_command(context, name) for name in group.list_commands(context)]
    options = [each for one in commands if one for each in one.params if isinstance(each, click.Option)]
    words = {_as_word(flag): each for each in options if not each.envvar for flag in (str(each.name), *each.opts)}
    return words | {find_word(each): each for each in options if each.envvar}
