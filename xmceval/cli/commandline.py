"""Command line: the command that a user gave, as a shell would read it again."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Iterator
from typing import Any

import click
from click.core import ParameterSource

from xmceval.files.io.addresses import redacted, shown
from xmceval.files.io.paths import is_address


def write_command(context: click.Context, *, without: Collection[str] = ()) -> str:
    """Write a command as it was passed, but for some parameters and secrets in addresses, quoted for a shell."""
    arguments: list[str] = []
    flags: list[str] = []
    for each in context.command.params:
        value = context.params.get(each.name or "")
        if isinstance(each, click.Argument):
            arguments += [without_secrets(str(part)) for part in (value if isinstance(value, tuple) else [value])]
        elif isinstance(each, click.Option) and each.name not in without and _was_passed(context, each):
            flags += [without_secrets(part) for part in _write_option(each, value)]
    words = context.command_path.split()
    if any(each.startswith("-") and each != "-" for each in arguments):
        return shlex.join([*words, *flags, "--", *arguments])
    return shlex.join([*words, *arguments, *flags])


def passed_flags(context: click.Context, names: Collection[str]) -> list[str]:
    """Return the flags of those options that were passed on the command line."""
    return [each.opts[0] for each in context.command.params if each.name in names and _was_passed(context, each)]


def _was_passed(context: click.Context, each: click.Parameter) -> bool:
    return context.get_parameter_source(each.name or "") is ParameterSource.COMMANDLINE


def _write_option(each: click.Option, value: Any) -> Iterator[str]:
    """Yield an option with its value, or each of them."""
    flag = max(each.opts, key=len)
    if each.is_flag:
        yield flag if value or not each.secondary_opts else each.secondary_opts[0]
        return
    for part in value if isinstance(value, (tuple, list)) else [value]:
        yield from (flag, str(part))


def without_secrets(text: str) -> str:
    """Return the address of a remote file without its user and its query; any other text as it is."""
    return shown(text) if is_address(text) else redacted(text)
