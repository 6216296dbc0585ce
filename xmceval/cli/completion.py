"""Completion: what a shell offers for the word that is being typed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import click

VARIABLE = "_XMCEVAL_COMPLETE"

Completer = Callable[[click.Context, click.Parameter, str], list[str]]


def respond(command: click.Command) -> int | None:
    """Answer a shell that asks for completions, or for the script that makes it ask; return the exit code.

    None where no shell asks.
    """
    instruction = os.environ.get(VARIABLE)
    if not instruction:
        return None
    from click.shell_completion import shell_complete

    return shell_complete(command, {}, "xmceval", VARIABLE, instruction)


def of_names(names: Callable[[], Iterable[str]], *, are_listed: bool = False) -> Completer:
    """Complete names, in any case; where they are listed also the last of several, after a comma."""

    def complete(_: click.Context, __: click.Parameter, word: str) -> list[str]:
        before, comma, start = word.rpartition(",") if are_listed else ("", "", word)
        return [f"{before}{comma}{name}" for name in names() if name.lower().startswith(start.lower())]

    return complete
